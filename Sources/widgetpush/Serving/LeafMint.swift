import Configuration
import Primitives
import Push
import Security
import Synchronization

/// Makes certificates for the names of this machine and of Apple's push service that the standard one does not have: `x.localhost`, how the
/// machine calls itself, hosts below `push.apple.com`. Any other name is told, once, with what would have the certificate have it.
///
/// Safe to use from any thread: loops of several faces ask it in their handshakes.
final class LeafMint: Sendable {
  /// Days that such a certificate is valid; it lives no longer than the process.
  private static let days: Int64 = 397
  /// Names below which all are ours: loopback's (RFC 6761 section 6.3), and those that clients of Apple's are redirected from.
  private static let domains = ["localhost", "push.apple.com"]

  private struct State {
    var identities: [String: TLSIdentity] = [:]
    /// The names that have one, the oldest first.
    var names: [String] = []
    var told: Set<String> = []
  }

  private let authority: CertificateAuthority
  private let covered: Set<String>
  private let own: Set<String>
  private let clock: @Sendable () -> Instant
  private let tell: @Sendable (String) -> Void
  private let state = Mutex(State())

  /// A mint for the folder's authority; nil when its key is not there.
  ///
  /// - Parameter tell: Told of a name that a client asked for and that no certificate is made for; called in handshakes, so that it must
  ///   not wait.
  init?(_ state: DevState, clock: @escaping @Sendable () -> Instant, tell: @escaping @Sendable (String) -> Void) throws(CryptoError) {
    guard let authority = state.authority else { return nil }
    self.authority = authority
    self.clock = clock
    self.tell = tell
    covered = Set(try Certificate(pem: state.identity.certificatePEM).names.map { $0.lowercased() })
    own = Set(AuthorityFile.machineNames)
  }

  /// The identity for a client that asks for `name`; nil where the standard certificate will do, or has to.
  func identity(for name: String) -> TLSIdentity? {
    let name = name.lowercased()
    guard !isCovered(name), CertificateAuthority.canName(name), !name.hasPrefix("*") else { return nil }
    let isOurs = own.contains(name) || Self.domains.contains { name.hasSuffix(".\($0)") }
    guard isOurs, authority.certificate.constraints?.permits(name) ?? true else {
      tellOnce(name)
      return nil
    }
    return state.withLock { state in
      if let known = state.identities[name] { return known }
      guard let leaf = try? authority.issue(names: [name], now: clock(), days: Self.days),
        let certificate = try? leaf.certificate.pem(), let key = try? leaf.key.pem(),
        let identity = try? TLSIdentity(certificatePEM: certificate, keyPEM: key)
      else { return nil }
      if state.names.count >= Limits.leafNames { state.identities[state.names.removeFirst()] = nil }
      state.names.append(name)
      state.identities[name] = identity
      return identity
    }
  }

  /// Whether the standard certificate has the name, by itself or by a wild card, which stands for one label.
  private func isCovered(_ name: String) -> Bool {
    covered.contains(name) || name.firstIndex(of: ".").map { covered.contains("*\(name[$0...])") } ?? false
  }

  private func tellOnce(_ name: String) {
    let isNew = state.withLock { $0.told.count < Limits.leafNames && $0.told.insert(name).inserted }
    guard isNew else { return }
    tell("a client asked for the server \(name), which the certificate does not name; start with --san \(name) where that is this one")
  }
}
