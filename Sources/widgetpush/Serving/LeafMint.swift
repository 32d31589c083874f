import Configuration
import Primitives
import Push
import Security
import Synchronization

/// Makes certificates for server names that nobody thought of beforehand, so that any network alias works in `dev`.
///
/// Safe to use from any thread: loops of several faces ask it in their handshakes.
final class LeafMint: Sendable {
  /// Days that such a certificate is valid; it lives no longer than the process.
  private static let days: Int64 = 397

  private let authority: CertificateAuthority
  private let covered: Set<String>
  private let clock: @Sendable () -> Instant
  private let made = Mutex<[String: TLSIdentity]>([:])

  /// A mint for the folder's authority; nil when its key is not there.
  init?(_ state: DevState, clock: @escaping @Sendable () -> Instant) throws(CryptoError) {
    guard let authority = state.authority else { return nil }
    self.authority = authority
    self.clock = clock
    covered = Set(try Certificate(pem: state.identity.certificatePEM).names.map { $0.lowercased() })
  }

  /// The identity for a client that asks for `name`; nil where the standard certificate will do, or has to.
  func identity(for name: String) -> TLSIdentity? {
    let name = name.lowercased()
    guard !covered.contains(name), CertificateAuthority.canName(name), !name.hasPrefix("*") else { return nil }
    return made.withLock { made in
      if let known = made[name] { return known }
      guard made.count < Limits.leafNames, let leaf = try? authority.issue(names: [name], now: clock(), days: Self.days),
        let certificate = try? leaf.certificate.pem(), let key = try? leaf.key.pem(),
        let identity = try? TLSIdentity(certificatePEM: certificate, keyPEM: key)
      else { return nil }
      made[name] = identity
      return identity
    }
  }
}
