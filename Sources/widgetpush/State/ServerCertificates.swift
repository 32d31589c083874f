import Configuration
import Primitives
import Push
import Security

/// The certificates of a state folder: `ca.pem` and `ca.key`, `server.pem` and `server.key`.
struct ServerCertificates {
  /// Names that every server certificate has: how this machine, containers and compose stacks call it, and Apple's push hosts, for
  /// clients whose host is fixed and redirected by a network alias.
  static let standardNames = [
    "localhost", "127.0.0.1", "::1", "host.docker.internal", "gateway", "device", "widgetpush", "api.push.apple.com",
    "api.sandbox.push.apple.com", "api.development.push.apple.com", "api-manage-broadcast.push.apple.com",
    "api-manage-broadcast.sandbox.push.apple.com",
  ]

  /// Days that a server certificate is valid; browsers and Apple's clients take 398 at most.
  private static let serverDays: Int64 = 397
  /// A certificate that ends within this span is renewed.
  static let renewal = TimeSpan.seconds(30 * 86_400)

  let authorityPEM: String
  let authority: CertificateAuthority?
  let identity: ServerIdentity
  /// What was done that clients have to know of, one sentence each.
  let notes: [String]

  /// Makes what is missing, renews what is near its end or lacks a name, and reads the rest.
  ///
  /// The machine's own name is among the names where the authority may sign for it. It does not ask for another authority's certificate:
  /// containers that share the folder have ever new host names, and each would take the clients' trust from the rest.
  static func prepare(_ folder: StateFolder, names: [String], now: Instant) throws -> ServerCertificates {
    for name in names where !CertificateAuthority.canName(name) {
      throw CommandError("\"\(name)\" is neither a DNS name nor an IP address, so that no certificate can name it")
    }
    var wanted = standardNames
    for name in names where !wanted.contains(name) { wanted.append(name) }
    let (authorityPEM, authority, notes) = try AuthorityFile(folder).prepare(for: wanted, now: now)
    let authorityCertificate = try Certificate(pem: authorityPEM)
    let constraints = authorityCertificate.constraints
    for name in AuthorityFile.machineNames where !wanted.contains(name) && constraints?.permits(name) ?? true { wanted.append(name) }
    if let identity = try existing(folder, signedBy: authorityCertificate, names: wanted, mayRenew: authority != nil, now: now) {
      return ServerCertificates(authorityPEM: authorityPEM, authority: authority, identity: identity, notes: notes)
    }
    guard let authority else {
      throw CommandError(
        "\(folder.file("ca.key")) is missing, so no server certificate can be made; put it back, or remove \(folder.file("ca.pem")) to have a new authority"
      )
    }
    for name in try namesToKeep(folder, signedBy: authorityCertificate) where !wanted.contains(name) && constraints?.permits(name) ?? true {
      wanted.append(name)
    }
    let leaf = try authority.issue(names: wanted, now: now, days: serverDays)
    let identity = ServerIdentity(certificatePEM: try leaf.certificate.pem(), keyPEM: try leaf.key.pem())
    try Files.write(identity.keyPEM, to: folder.file("server.key"), mode: 0o600)
    try Files.write(identity.certificatePEM, to: folder.file("server.pem"), mode: 0o644)
    return ServerCertificates(authorityPEM: authorityPEM, authority: authority, identity: identity, notes: notes)
  }

  /// Names of the certificate that is there. Servers that share the folder may have been given different names: each adds its own, so that
  /// they do not replace each other's certificate at every start.
  static func namesToKeep(_ folder: StateFolder, signedBy authority: Certificate) throws -> [String] {
    guard Files.exists(folder.file("server.pem")), let certificate = try? Certificate(pem: Files.read(folder.file("server.pem"))),
      certificate.isSigned(by: authority)
    else { return [] }
    return Array(certificate.names.filter(CertificateAuthority.canName).suffix(Limits.keptCertificateNames))
  }

  /// The authority of a folder, made where there is none; nil when only its certificate is there. And what clients have to know of it.
  static func authority(of folder: StateFolder, now: Instant) throws -> (authority: CertificateAuthority?, notes: [String]) {
    let (_, authority, notes) = try FileLock.holding(folder.file(".lock")) {
      try AuthorityFile(folder).prepare(for: standardNames, now: now)
    }
    return (authority, notes)
  }

  /// The server certificate that is there, when it will do; nil asks for a new one.
  private static func existing(
    _ folder: StateFolder, signedBy authority: Certificate, names: [String], mayRenew: Bool, now: Instant
  ) throws -> ServerIdentity? {
    let (certificateFile, keyFile) = (folder.file("server.pem"), folder.file("server.key"))
    guard Files.exists(certificateFile), Files.exists(keyFile) else { return nil }
    let identity = ServerIdentity(certificatePEM: try Files.read(certificateFile), keyPEM: try Files.read(keyFile))
    let certificate = try describing(certificateFile) { () throws(CryptoError) in try Certificate(pem: identity.certificatePEM) }
    guard mayRenew else { return certificate.notAfter > now ? identity : nil }
    let key = try describing(keyFile) { () throws(CryptoError) in try P256PrivateKey(pem: identity.keyPEM) }
    let willDo =
      certificate.isSigned(by: authority) && certificate.belongs(to: key) && certificate.notBefore <= now
      && certificate.notAfter > now + renewal && Set(names.map { $0.lowercased() }).isSubset(of: certificate.names.map { $0.lowercased() })
    return willDo ? identity : nil
  }
}

/// Runs `body` and puts the file's path before what it throws.
func describing<Value>(_ file: String, _ body: () throws(CryptoError) -> Value) throws(CommandError) -> Value {
  do {
    return try body()
  } catch {
    throw CommandError("\(file): \(error)")
  }
}
