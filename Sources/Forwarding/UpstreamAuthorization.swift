public import Primitives
public import Security

/// The gateway's own provider tokens, one for each key, made when first needed and renewed in time.
///
/// Apple wants a token to be used for 20 to 60 minutes (Apple, "Establishing a token-based connection to APNs"); it is
/// renewed at 40. Belongs to one loop, so that using it takes no lock.
public final class UpstreamAuthorization {
  /// How old a token becomes before it is renewed.
  public static let lifetime = TimeSpan.seconds(40 * 60)

  private struct Credential {
    let signer: ProviderTokenSigner
    var header: [UInt8] = []
    var madeAt = Instant.distantPast
  }

  private let credentials: Confined<[Credential]>
  private let signerOfApp: [Int]

  /// Authorization by `signers`; `signerOfApp` has the index of the signer for each app of the directory.
  public init(signers: [ProviderTokenSigner], signerOfApp: [Int]) {
    precondition(!signers.isEmpty && signerOfApp.allSatisfy { signers.indices.contains($0) })
    credentials = Confined(signers.map { Credential(signer: $0) })
    self.signerOfApp = signerOfApp
  }

  /// Gives `body` the value of `authorization` for a push of `app`; the first signer serves apps that have none.
  ///
  /// - Throws: When OpenSSL cannot sign.
  @inline(__always)
  func with<R>(app: Int?, at now: Instant, _ body: (RawSpan) -> R) throws(CryptoError) -> R {
    let index = app.map { signerOfApp[$0] } ?? 0
    if now - credentials.value[index].madeAt >= Self.lifetime || now < credentials.value[index].madeAt { try renew(index, now) }
    // Lent where it lies: a copy would cost each push a retain and a release.
    return unsafe credentials.value[index].header.withUnsafeBytes { unsafe body(RawSpan(_unsafeBytes: $0)) }
  }

  private func renew(_ index: Int, _ now: Instant) throws(CryptoError) {
    credentials.value[index].header = Array("bearer \(try credentials.value[index].signer.token(now: now))".utf8)
    credentials.value[index].madeAt = now
  }
}
