import Foundation

/// A certificate authority that makes certificates for senders with openssl, as Apple's developer account does.
final class CertificateOffice: Sendable {
  /// A client certificate, and its key, as files.
  struct Paper: Sendable {
    let certificate: String
    let key: String

    /// What makes curl show it.
    var options: [String] { ["--cert", certificate, "--key", key] }
  }

  /// What Apple's extensions say.
  struct Extensions: Sendable {
    var development = false
    var production = false
    /// Topics, each with what it is for; nil has no such list.
    var topics: [(String, String)]?
  }

  let folder: Folder

  /// A new authority in a folder of its own.
  init() async throws {
    folder = try Folder()
    try await openssl("req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key -out ca.pem -subj /CN=Office -days 10")
    try folder.write("ca.cnf", "[ca]\ndefault_ca=d\n[d]\ndatabase=index.txt\ndefault_md=sha256\ncrlnumber=number\n")
    try folder.write("index.txt", "")
    try folder.write("number", "01\n")
  }

  /// The authority's certificate.
  var authority: String { folder.path("ca.pem") }

  /// Makes a certificate with this subject, such as `/UID=com.example.app`; one of -1 days is over.
  func make(_ name: String, subject: String, _ extensions: Extensions = Extensions(), days: Int = 5) async throws -> Paper {
    var lines = ["[v3]", "extendedKeyUsage=clientAuth"]
    if extensions.development { lines.append("1.2.840.113635.100.6.3.1=DER:05:00") }
    if extensions.production { lines.append("1.2.840.113635.100.6.3.2=DER:05:00") }
    if let topics = extensions.topics {
      lines += ["1.2.840.113635.100.6.3.6=ASN1:SEQUENCE:topics", "[topics]"]
      for (index, topic) in topics.enumerated() { lines += ["t\(index)=UTF8:\(topic.0)", "k\(index)=SEQUENCE:\(topic.1)"] }
      for kind in Set(topics.map(\.1)) { lines += ["[\(kind)]", "a=UTF8:\(kind)"] }
    }
    try folder.write("\(name).cnf", lines.joined(separator: "\n") + "\n")
    try await openssl("req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout \(name).key -out \(name).csr -subj \(subject)")
    try await openssl(
      "x509 -req -in \(name).csr -CA ca.pem -CAkey ca.key -out \(name).pem -extfile \(name).cnf -extensions v3 -days \(days)"
    )
    return Paper(certificate: folder.path("\(name).pem"), key: folder.path("\(name).key"))
  }

  /// Revokes a certificate, and returns the list of all that are revoked.
  func revoke(_ paper: Paper) async throws -> String {
    try await openssl("ca -config ca.cnf -cert ca.pem -keyfile ca.key -revoke \(paper.certificate)")
    try await openssl("ca -config ca.cnf -cert ca.pem -keyfile ca.key -gencrl -crldays 5 -out list.pem")
    return String(decoding: try folder.read("list.pem"), as: UTF8.self)
  }

  private func openssl(_ arguments: String) async throws {
    let words = arguments.split(separator: " ").map(String.init)
    _ = try await output(["bash", "-c", "cd \"$0\" && exec openssl \"$@\"", folder.path] + words)
  }
}
