import Primitives
public import Rules
public import Security

/// The rules' question about a provider token's signature, answered with OpenSSL.
public struct ProviderSignatures: ProviderTokenVerifier {
  private let verifier: SignatureVerifier

  /// Signatures of `keys`, in the order of the provider directory; throws when OpenSSL cannot use one.
  public init(keys: [P256PublicKey]) throws(CryptoError) { verifier = try SignatureVerifier(keys: keys) }

  /// Whether `signature` was made over `message` by the key at `index`.
  public func verify(_ signature: RawSpan, of message: RawSpan, key index: Int, algorithm: ProviderTokenAlgorithm) -> Bool {
    let algorithm: SignatureAlgorithm =
      switch algorithm {
      case .es256: .es256
      case .es512: .es512
      }
    return verifier.verify(signature, of: message, key: index, algorithm: algorithm)
  }
}
