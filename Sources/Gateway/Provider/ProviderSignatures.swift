import Primitives
import Rules
import Security

/// The rules' question about a provider token's signature, answered with OpenSSL.
struct ProviderSignatures: ProviderTokenVerifier {
  private let verifier: SignatureVerifier

  /// Signatures of `keys`, in the order of the provider directory.
  init(keys: [P256PublicKey]) throws(CryptoError) { verifier = try SignatureVerifier(keys: keys) }

  func verify(_ signature: RawSpan, of message: RawSpan, key index: Int, algorithm: ProviderTokenAlgorithm) -> Bool {
    let algorithm: SignatureAlgorithm =
      switch algorithm {
      case .es256: .es256
      case .es512: .es512
      }
    return verifier.verify(signature, of: message, key: index, algorithm: algorithm)
  }
}
