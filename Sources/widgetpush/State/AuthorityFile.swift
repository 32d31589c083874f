import Primitives
import Push
import Security
import Synchronization

/// `ca.pem` and `ca.key` of a state folder: the authority that clients trust, limited to the names of its servers.
struct AuthorityFile {
  /// Days that an authority is valid: nobody wants to trust a new one often.
  private static let days: Int64 = 3650

  /// How the authorities are called that we have made.
  private static let commonName = "widgetpush dev CA "

  private let folder: StateFolder
  private var certificateFile: String { folder.file("ca.pem") }
  private var keyFile: String { folder.file("ca.key") }

  /// The authority of that folder.
  init(_ folder: StateFolder) { self.folder = folder }

  /// How this machine calls itself, where a certificate can name that: whole, by its first label, and as the local network has it.
  static var machineNames: [String] { names(ofMachine: Machine.hostName) }

  /// How a machine of that host name calls itself.
  static func names(ofMachine host: String) -> [String] {
    guard CertificateAuthority.canName(host) else { return [] }
    let first = host.prefix { $0 != "." }
    var names = [host.lowercased()]
    for name in [first.lowercased(), "\(first.lowercased()).local"] where !first.allSatisfy(\.isNumber) && !names.contains(name) {
      names.append(name)
    }
    return names.filter(CertificateAuthority.canName)
  }

  /// The certificate as PEM, with the authority itself where the folder has its key, and what clients have to know of.
  ///
  /// One that may not sign for a name, or may for any, as earlier builds made them, is made anew with the same key: what it has signed stays
  /// good for clients that trust the one before, as long as that may sign for all of its names.
  func prepare(for names: [String], now: Instant) throws -> (pem: String, CertificateAuthority?, notes: [String]) {
    if Files.exists(certificateFile) {
      let pem = try Files.read(certificateFile)
      let certificate = try describing(certificateFile) { () throws(CryptoError) in try Certificate(pem: pem) }
      if certificate.notAfter > now + ServerCertificates.renewal {
        guard Files.exists(keyFile) else { return (pem, nil, []) }
        let key = try Files.read(keyFile)
        let authority = try describing(keyFile) { () throws(CryptoError) in try CertificateAuthority(certificatePEM: pem, keyPEM: key) }
        return try renewed(authority, pem, for: names, now: now)
      }
    }
    // The suffix keeps authorities of several folders apart in a browser's or system's list.
    let suffix = Hexadecimal.encode(SecureRandom.bytes(3))
    let authority = try CertificateAuthority.make(
      commonName: "\(Self.commonName)\(suffix)", constraints: Self.constraints(names), now: now, days: Self.days)
    try Files.write(try authority.key.pem(), to: keyFile, mode: 0o600)
    return (try write(authority), authority, [])
  }

  private func renewed(
    _ authority: CertificateAuthority, _ pem: String, for names: [String], now: Instant
  ) throws -> (pem: String, CertificateAuthority?, notes: [String]) {
    // An authority of somebody else's stays as it is; what it may not sign for, clients refuse.
    guard authority.certificate.commonName.hasPrefix(Self.commonName) else {
      let refused = names.filter { !(authority.certificate.constraints?.permits($0) ?? true) }
      guard !refused.isEmpty else { return (pem, authority, []) }
      return (
        pem, authority, ["\(certificateFile) may not sign for \(refused.joined(separator: ", ")), so that clients refuse what it signs"]
      )
    }
    let constraints: NameConstraints?
    let note: String
    if let present = authority.certificate.constraints {
      let missing = names.filter { !present.permits($0) }
      guard !missing.isEmpty else { return (pem, authority, []) }
      guard let sum = present.adding(missing) else {
        throw CommandError(
          "\(certificateFile) cannot be made for \(missing.joined(separator: ", ")): each must be a DNS name or an address")
      }
      constraints = sum
      note = "so that it may sign for \(missing.joined(separator: ", ")); clients that have the one before need this one"
    } else {
      constraints = Self.constraints(names + (try ServerCertificates.namesToKeep(folder, signedBy: authority.certificate)))
      note = "limited to the names of these servers; clients that have the one before may go on, and do better to trust this one alone"
    }
    let authority = try authority.renewed(constraints: constraints, now: now, days: Self.days)
    return (try write(authority), authority, ["\(certificateFile) was made anew with the same key, \(note)"])
  }

  private static func constraints(_ names: [String]) -> NameConstraints {
    // Every name of Apple's push service, at whatever host a client is redirected from.
    guard let constraints = NameConstraints(names: ["push.apple.com"] + names + machineNames) else {
      preconditionFailure("the names have been checked, and loopback's are among them")
    }
    return constraints
  }

  private func write(_ authority: CertificateAuthority) throws -> String {
    let pem = try authority.certificate.pem()
    try Files.write(pem, to: certificateFile, mode: 0o644)
    return pem
  }
}

/// What the processes of one folder trust each other by: its authority, for whatever names it has come to sign since they began.
enum PeerAuthority {
  private static let made = Mutex<[String: String]>([:])
  /// Folders of one process are few; a test has more.
  private static let countMax = 64

  /// The certificate of the authority without a limit, in memory alone; always the same one, since what changes is told.
  static func pem(of authority: CertificateAuthority, now: Instant) throws -> String {
    let key = try authority.key.pem()
    if let known = made.withLock({ $0[key] }) { return known }
    let pem = try authority.renewed(constraints: nil, now: now, days: 3650).certificate.pem()
    return made.withLock { made in
      if made.count >= countMax { made.removeAll() }
      if let known = made[key] { return known }
      made[key] = pem
      return pem
    }
  }
}
