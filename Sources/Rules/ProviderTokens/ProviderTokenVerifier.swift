/// The `alg` of a provider token that is taken.
public enum ProviderTokenAlgorithm: String, CaseIterable, Sendable {
  /// ECDSA with SHA-256: 64 bytes of r and s, or ASN.1 DER.
  case es256 = "ES256"
  /// ECDSA with SHA-512 by a P-256 key, as a widespread PHP client sends it: 132 bytes of r and s, or ASN.1 DER.
  case es512 = "ES512"
}

/// Checks signatures with public keys that are named by their index; the rules themselves hold no cryptography.
public protocol ProviderTokenVerifier {
  /// Whether `signature`, in either of the algorithm's forms, was made over `message` by the key at `index`.
  func verify(_ signature: RawSpan, of message: RawSpan, key index: Int, algorithm: ProviderTokenAlgorithm) -> Bool
}
