public import Primitives
import Security

/// The gateway's own provider tokens, one for each key, made when first needed and renewed in time.
///
/// Apple wants a token to be used for 20 to 60 minutes (Apple, "Establishing a token-based connection to APNs"); it is
/// renewed at 40. Its date is the machine's, and its age is what has passed: where the machine's clock was set, a new one has the new date.
/// Belongs to one loop, so that using it takes no lock.
public final class UpstreamAuthorization {
  /// How old a token becomes before it is renewed.
  public static let lifetime = TimeSpan.seconds(40 * 60)

  private struct Credential {
    let signer: ProviderTokenSigner
    var header: [UInt8] = []
    /// By the steady clock.
    var madeAt = Instant.distantPast
    /// The date in it, by the machine's clock.
    var date = Instant.distantPast

    func isStale(at moment: Moment) -> Bool {
      moment.steady - madeAt >= UpstreamAuthorization.lifetime || moment.real - date >= UpstreamAuthorization.lifetime || moment.real < date
    }
  }

  private let signers: ProviderTokenSigners
  private let credentials: Confined<[Credential]>

  /// Authorization by `signers`.
  public init(_ signers: ProviderTokenSigners) {
    self.signers = signers
    credentials = Confined(signers.all.map { Credential(signer: $0) })
  }

  /// Gives `body` the value of `authorization` that the signer of that number makes.
  ///
  /// - Throws: When OpenSSL cannot sign.
  @inline(__always)
  func with<R>(signer index: Int, at moment: Moment, _ body: (RawSpan) -> R) throws(CryptoError) -> R {
    if index >= credentials.value.count { adoptNewSigners() }
    if credentials.value[index].isStale(at: moment) { try renew(index, moment) }
    // Lent where it lies: a copy would cost each push a retain and a release.
    return unsafe credentials.value[index].header.withUnsafeBytes { unsafe body(RawSpan(_unsafeBytes: $0)) }
  }

  /// Has the next value be a new one: the upstream says that this one is too old.
  func renewNext(signer index: Int) {
    if index < credentials.value.count { credentials.value[index].madeAt = .distantPast }
  }

  private func adoptNewSigners() {
    for signer in signers.all.dropFirst(credentials.value.count) { credentials.value.append(Credential(signer: signer)) }
  }

  private func renew(_ index: Int, _ moment: Moment) throws(CryptoError) {
    credentials.value[index].header = Array("bearer \(try credentials.value[index].signer.token(now: moment.real))".utf8)
    (credentials.value[index].madeAt, credentials.value[index].date) = (moment.steady, moment.real)
  }
}
