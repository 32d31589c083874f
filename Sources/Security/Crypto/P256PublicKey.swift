import COpenSSL

/// A P-256 public key: what a provider token's signature is checked with.
///
/// `@unchecked Sendable`: the key is never changed after `init`, and OpenSSL counts its references atomically.
public final class P256PublicKey: @unchecked Sendable {
  let key: OpaquePointer

  init(takingOwnership key: OpaquePointer) { self.key = key }

  deinit { EVP_PKEY_free(key) }

  /// Counts one more owner of `key`; that fails for a count below one alone, which would be our mistake.
  static func retain(_ key: OpaquePointer) {
    let isCounted = EVP_PKEY_up_ref(key) == 1
    precondition(isCounted, "a key that is owned has a count")
  }

  /// The key in `pem`: SubjectPublicKeyInfo (`BEGIN PUBLIC KEY`, RFC 5480), or the public half of a private key.
  ///
  /// Throws when the text is no key, is encrypted, or holds a key of another kind or curve.
  public convenience init(pem: String) throws(CryptoError) {
    if pem.contains("PRIVATE KEY-----") {
      let half = try P256PrivateKey(pem: pem).publicKey
      Self.retain(half.key)
      self.init(takingOwnership: half.key)
      return
    }
    let key = PEM.reading(pem) { bio in PEM_read_bio_PUBKEY(bio, nil, answerNoPassphrase, nil) }
    let reason = CryptoError.takeReason()
    guard let key else {
      throw CryptoError(
        .unreadable, "not a public key in PEM form, which begins with -----BEGIN PUBLIC KEY----- (\(reason ?? "no such block"))")
    }
    guard isP256(key) else {
      defer { EVP_PKEY_free(key) }
      throw CryptoError(.wrongKind, "the public key is \(keyDescription(key)); provider tokens need an EC key on P-256")
    }
    self.init(takingOwnership: key)
  }

  /// The key as SubjectPublicKeyInfo PEM.
  public func pem() throws(CryptoError) -> String {
    try PEM.writing("write a key") { bio in PEM_write_bio_PUBKEY(bio, key) }
  }
}
