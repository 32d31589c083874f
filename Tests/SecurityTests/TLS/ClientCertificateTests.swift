import Foundation
import Primitives
import Security
import Testing

private let bounds = ClientCertificate.Bounds(topics: 4, topicBytes: 40)

/// Certificates of senders, made with openssl as Apple makes them.
@Suite("Client certificates") struct ClientCertificateTests {
  /// A folder with an authority and a function that makes certificates of it.
  private final class Office {
    let folder: URL

    init() throws {
      folder = FileManager.default.temporaryDirectory.appendingPathComponent("widgetpush-office-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try openssl("req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key -out ca.pem -subj /CN=WWDR -days 10")
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func openssl(_ arguments: String) throws {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      process.arguments = ["openssl"] + arguments.split(separator: " ").map(String.init)
      process.currentDirectoryURL = folder
      process.standardError = FileHandle.nullDevice
      process.standardOutput = FileHandle.nullDevice
      try process.run()
      process.waitUntilExit()
      try #require(process.terminationStatus == 0, "openssl \(arguments)")
    }

    func text(_ name: String) throws -> String { try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8) }

    /// A certificate with this subject and these lines of extensions.
    func make(_ subject: String, _ extensions: [String], days: String = "5") throws -> TLSIdentity {
      let lines = ["[v3]", "extendedKeyUsage=clientAuth"] + extensions
      try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: folder.appendingPathComponent("v3.cnf"))
      try openssl("req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout leaf.key -out leaf.csr -subj \(subject)")
      try openssl("x509 -req -in leaf.csr -CA ca.pem -CAkey ca.key -out leaf.pem -extfile v3.cnf -extensions v3 -days \(days)")
      return try TLSIdentity(certificatePEM: text("leaf.pem"), keyPEM: text("leaf.key"))
    }

    func read() throws -> ClientCertificate { ClientCertificate(try Certificate(pem: text("leaf.pem")), bounds) }
  }

  private static let environments = ["1.2.840.113635.100.6.3.1=DER:05:00", "1.2.840.113635.100.6.3.2=DER:05:00"]
  private static let topics = [
    "1.2.840.113635.100.6.3.6=ASN1:SEQUENCE:topics", "[topics]", "a=UTF8:com.example.app", "b=SEQUENCE:app", "c=UTF8:com.example.app.voip",
    "d=SEQUENCE:voip", "e=UTF8:com.example.app.complication", "f=SEQUENCE:complication", "[app]", "a=UTF8:app", "[voip]", "a=UTF8:voip",
    "[complication]", "a=UTF8:complication",
  ]

  @Test func aUniversalCertificateNamesItsTopics() throws {
    let office = try Office()
    _ = try office.make("/UID=com.example.app/CN=Apple", Self.environments + Self.topics)
    let certificate = try office.read()
    #expect(certificate.topics == ["com.example.app", "com.example.app.voip", "com.example.app.complication"])
    #expect(certificate.permitsDevelopment && certificate.permitsProduction)
    #expect(certificate.commonName == "Apple")
    #expect(certificate.notAfter > Instant(unixSeconds: Int64(Date().timeIntervalSince1970)))
  }

  @Test(arguments: [
    (["1.2.840.113635.100.6.3.1=DER:05:00"], true, false), (["1.2.840.113635.100.6.3.2=DER:05:00"], false, true), ([], true, true),
  ])
  func theEnvironmentsAreThoseThatItNames(extensions: [String], development: Bool, production: Bool) throws {
    let office = try Office()
    _ = try office.make("/UID=com.example.app", extensions)
    let certificate = try office.read()
    #expect((certificate.permitsDevelopment, certificate.permitsProduction) == (development, production))
    #expect(certificate.topics == ["com.example.app"])
  }

  /// What lists topics in another form, or too many of them, makes the certificate one for nothing at all: nobody knows what it is for.
  @Test(arguments: [
    ("no sequence", "05:00"), ("a string alone", "0c:01:61"), ("a topic without kinds", "30:03:0c:01:61"),
    ("kinds without a topic", "30:02:30:00"), ("the length too long", "30:06:0c:05:61:30:00"), ("cut off", "30:05:0c:01:61:30"),
    ("something behind", "30:05:0c:01:61:30:00:00"), ("an indefinite length", "30:80:0c:01:61:30:00:00:00"),
    ("a length of three bytes", "30:83:00:00:05:0c:01:61:30:00"), ("a length not in its shortest form", "30:81:05:0c:01:61:30:00"),
    ("an empty topic", "30:04:0c:00:30:00"), ("no UTF-8", "30:05:0c:01:ff:30:00"), ("a PrintableString", "30:05:13:01:61:30:00"),
    ("a kind that is no text", "30:08:0c:01:61:30:03:02:01:01"), ("a tag alone", "30"), ("nothing known", "ff"),
    ("five topics", "30:19:0c:01:61:30:00:0c:01:62:30:00:0c:01:63:30:00:0c:01:64:30:00:0c:01:65:30:00"),
    ("a topic of 41 bytes", "30:2d:0c:29:" + [String](repeating: "61", count: 41).joined(separator: ":") + ":30:00"),
  ])
  func anotherFormOfTheListNamesNothing(what: String, der: String) throws {
    let office = try Office()
    _ = try office.make("/UID=com.example.app", ["1.2.840.113635.100.6.3.6=DER:\(der)"])
    #expect(try office.read().topics == [], "\(what)")
  }

  @Test(arguments: [
    ("30:00", []), ("30:05:0c:01:61:30:00", ["a"]), ("30:0a:0c:01:61:30:00:0c:01:61:30:00", ["a"]),
    ("30:14:0c:01:61:30:00:0c:01:62:30:00:0c:01:63:30:00:0c:01:64:30:00", ["a", "b", "c", "d"]),
    ("30:0a:0c:01:61:30:05:0c:03:61:70:70", ["a"]),
  ])
  func theListJoinsTheSubject(der: String, topics: [String]) throws {
    let office = try Office()
    _ = try office.make("/UID=com.example.app", ["1.2.840.113635.100.6.3.6=DER:\(der)"])
    #expect(try office.read().topics == ["com.example.app"] + topics)
    _ = try office.make("/CN=nobody", ["1.2.840.113635.100.6.3.6=DER:\(der)"])
    #expect(try office.read().topics == topics)
  }

  /// Lengths of one, two and three bytes are all there in a list of long topics.
  @Test func longListsAreRead() throws {
    let office = try Office()
    let names = (0..<4).map { "\($0)" + String(repeating: "a", count: 39) }
    let lines = names.enumerated().flatMap { ["t\($0)=UTF8:\($1)", "u\($0)=SEQUENCE:kinds"] }
    let kinds = (0..<30).map { "k\($0)=UTF8:complication" }
    _ = try office.make("/CN=long", ["1.2.840.113635.100.6.3.6=ASN1:SEQUENCE:topics", "[topics]"] + lines + ["[kinds]"] + kinds)
    #expect(try office.read().topics == names)
  }

  @Test(arguments: [
    ("/UID=com.example.app", ["com.example.app.voip"]), ("/UID=com.example.app.voip", ["com.example.app.voip"]), ("/CN=nobody", []),
    ("/UID=com.example.app-that-is-far-too-long-for-the-bound", []), ("/UID=com.example\tapp", []),
  ])
  func aCertificateForVoIPIsForItsVoIPTopic(subject: String, topics: [String]) throws {
    let office = try Office()
    _ = try office.make(subject, ["1.2.840.113635.100.6.3.4=DER:05:00"])
    #expect(try office.read().topics == topics)
  }

  @Test(arguments: [["com.example.app"], ["com.example.app", "com.example.app.voip", "com.example.app.complication", "b"]])
  func anAuthorityMakesWhatIsReadBack(topics: [String]) throws {
    let now = Instant(unixSeconds: Int64(Date().timeIntervalSince1970))
    let authority = try CertificateAuthority.make(commonName: "authority", now: now, days: 1)
    for (development, production) in [(true, false), (false, true), (true, true)] {
      let leaf = try authority.issueClient(topics: topics, development: development, production: production, now: now, days: 1)
      let certificate = ClientCertificate(leaf.certificate, bounds)
      #expect(certificate.topics == topics && certificate.commonName == "Push com.example.app")
      #expect((certificate.permitsDevelopment, certificate.permitsProduction) == (development, production))
      #expect(leaf.certificate.isSigned(by: authority.certificate) && leaf.certificate.belongs(to: leaf.key))
    }
    for wrong in [[], [""], ["a b"], ["é"], [String(repeating: "a", count: 121)]] {
      #expect(throws: CryptoError.self) { try authority.issueClient(topics: wrong, development: true, production: true, now: now, days: 1) }
    }
  }

  /// Runs both ends of a handshake against each other in memory, and then one byte more for what TLS 1.3 tells late.
  private func shake(_ office: Office, client identity: TLSIdentity?, authorities: String?, chainBytesMax: Int = 16 << 10) throws -> (
    certificate: ClientCertificate?, server: TLSSession.State, client: TLSSession.State
  ) {
    let server = try TLSContext.server(
      try TLSIdentity(certificatePEM: office.text("server.pem"), keyPEM: office.text("server.key")), protocols: [.http2],
      clients: .optional(authorityPEM: authorities, chainBytesMax: chainBytesMax))
    let client = try TLSContext.client(.authorities(pem: office.text("server.pem")), protocols: [.http2], identity: identity)
    var a = TLSSession(server: server)
    var b = TLSSession(client: client, name: "localhost")
    var toServer = ByteQueue(capacity: 1 << 17)
    var toClient = ByteQueue(capacity: 1 << 17)
    var plain = ByteQueue(capacity: 1 << 17)
    var (first, second) = (TLSSession.State.open, TLSSession.State.open)
    for _ in 0..<6 {
      var out = ByteQueue(capacity: 1 << 17)
      if second == .open { second = b.receive(toClient.bytes, plaintext: &plain, output: &out) }
      toClient.removeAll()
      toServer.append(out.bytes)
      out.removeAll()
      if first == .open { first = a.receive(toServer.bytes, plaintext: &plain, output: &out) }
      toServer.removeAll()
      toClient.append(out.bytes)
    }
    return (a.clientCertificate(bounds), first, second)
  }

  private func office() throws -> Office {
    let office = try Office()
    try office.openssl(
      "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout server.key -out server.pem -subj /CN=localhost -days 10 -addext subjectAltName=DNS:localhost"
    )
    return office
  }

  @Test func aClientMayShowOneOrNone() throws {
    let office = try office()
    let identity = try office.make("/UID=com.example.app", Self.environments)
    let shown = try shake(office, client: identity, authorities: office.text("ca.pem"))
    #expect(shown.certificate?.topics == ["com.example.app"])
    #expect(shown.server == .open && shown.client == .open)
    let none = try shake(office, client: nil, authorities: office.text("ca.pem"))
    #expect(none.certificate == nil && none.server == .open && none.client == .open)
  }

  @Test func anExpiredOneIsToldByAlert() throws {
    let office = try office()
    let identity = try office.make("/UID=com.example.app", [], days: "-1")
    let shown = try shake(office, client: identity, authorities: office.text("ca.pem"))
    guard case .failed(let ours) = shown.server, case .failed(let theirs) = shown.client else {
      Issue.record("\(shown.server) \(shown.client)")
      return
    }
    #expect(ours.kind == .certificateExpired && ours.message.contains("client"))
    #expect(theirs.kind == .certificateRejected(alert: 45), "\(theirs)")
  }

  @Test(arguments: [true, false]) func anotherAuthoritysIsRefused(hasAuthorities: Bool) throws {
    let (office, other) = (try office(), try Office())
    let identity = try other.make("/UID=com.example.app", [])
    let shown = try shake(office, client: identity, authorities: hasAuthorities ? office.text("ca.pem") : nil)
    guard case .failed(let failure) = shown.server else {
      Issue.record("\(shown.server)")
      return
    }
    #expect(failure.kind == .certificateUntrusted)
    #expect(shown.certificate == nil)
  }

  @Test func aRevokedOneIsToldByAlert() throws {
    let office = try office()
    let identity = try office.make("/UID=com.example.app", [])
    let other = try office.make("/UID=com.example.other", [])
    _ = try office.make("/UID=com.example.app", [])
    try Data("[ca]\ndefault_ca=d\n[d]\ndatabase=index.txt\ndefault_md=sha256\ncrlnumber=number\n".utf8).write(
      to: office.folder.appendingPathComponent("ca.cnf"))
    try Data("01\n".utf8).write(to: office.folder.appendingPathComponent("number"))
    try Data().write(to: office.folder.appendingPathComponent("index.txt"))
    try office.openssl("ca -config ca.cnf -cert ca.pem -keyfile ca.key -revoke leaf.pem")
    try office.openssl("ca -config ca.cnf -cert ca.pem -keyfile ca.key -gencrl -crldays 5 -out list.pem")
    let revoked = try TLSIdentity(certificatePEM: office.text("leaf.pem"), keyPEM: office.text("leaf.key"))
    let authorities = try office.text("ca.pem") + office.text("list.pem")
    let shown = try shake(office, client: revoked, authorities: authorities)
    guard case .failed(let ours) = shown.server, case .failed(let theirs) = shown.client else {
      Issue.record("\(shown.server) \(shown.client)")
      return
    }
    #expect(ours.kind == .certificateRevoked)
    #expect(theirs.kind == .certificateRejected(alert: 44))
    for good in [identity, other] { #expect(try shake(office, client: good, authorities: authorities).server == .open) }
  }

  @Test func aChainThatIsTooLongIsNotHeld() throws {
    let office = try office()
    let identity = try office.make("/UID=com.example.app", [])
    let shown = try shake(office, client: identity, authorities: office.text("ca.pem"), chainBytesMax: 100)
    guard case .failed = shown.server else {
      Issue.record("\(shown.server)")
      return
    }
    #expect(shown.certificate == nil)
  }

  @Test func authoritiesAreChecked() throws {
    let office = try Office()
    try TLSContext.checkAuthorities(office.text("ca.pem"))
    #expect(throws: CryptoError.self) { try TLSContext.checkAuthorities("nothing") }
    #expect(throws: CryptoError.self) { try TLSContext.checkAuthorities("") }
  }
}
