import JSON
import Primitives
import Push
import Security

extension Command {
  /// Days that a client certificate is valid: Apple's are for 13 months.
  private static let certificateDays: Int64 = 397

  private static func newAuthority(of folder: StateFolder) throws -> (authority: CertificateAuthority?, notes: [String]) {
    let state = try DevState.prepare(folder, now: Machine.now)
    return (state.authority, state.notes)
  }

  /// Makes a client certificate, and its key, for a backend that sends to the app of that bundle id.
  static func makeCertificate(for bundleID: String, _ arguments: Arguments, _ folder: StateFolder) throws {
    let environment = try arguments.choice("--environment", of: PushEnvironment.allCases.map(\.name)).flatMap { PushEnvironment(name: $0) }
    // Apple's present certificates, of the kind Apple Push Services, list these of each app.
    let own = [bundleID, "\(bundleID)\(PushType.voip.topicSuffix)", "\(bundleID)\(PushType.complication.topicSuffix)"]
    let topics = own + arguments.all("--topic").filter { !own.contains($0) }
    guard topics.count <= Limits.certificateTopics else { throw UsageError("a certificate has at most \(Limits.certificateTopics) topics") }
    guard !bundleID.contains("/") else { throw UsageError("a bundle id has letters, digits, hyphens and periods, not \"\(bundleID)\"") }
    // What a server that runs was started with stands in the credentials of its folder, and stays.
    let isNew = try folder.existingCredentials() == nil
    let (found, notes) = isNew ? try Self.newAuthority(of: folder) : try ServerCertificates.authority(of: folder, now: Machine.now)
    for note in notes { Console.complain(note) }
    guard let authority = found else {
      throw CommandError("\(folder.file("ca.key")) is missing, so no certificate can be made")
    }
    let leaf = try authority.issueClient(
      topics: topics, development: environment != .production, production: environment != .development, now: Machine.now,
      days: certificateDays)
    let file = folder.file("Push_\(bundleID).pem")
    try Files.write(try leaf.certificate.pem() + leaf.key.pem(), to: file, mode: 0o600)
    if arguments.wantsJSON {
      var object: JSONObject = ["file": .string(file), "topics": .array(topics.map(JSONValue.string))]
      object["environment"] = environment.map { .string($0.name) }
      Console.print(JSONValue.object(object).serialized(pretty: true))
    } else {
      Console.print("certificate for \(topics.joined(separator: ", ")) and its key are in \(file)")
    }
  }
}
