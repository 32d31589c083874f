import COpenSSL

/// A P-256 private key (FIPS 186-4), such as the `.p8` file that Apple hands out once.
///
/// `@unchecked Sendable`: the key is never changed after `init`, and OpenSSL counts its references atomically.
public final class P256PrivateKey: @unchecked Sendable {
  let key: OpaquePointer

  init(takingOwnership key: OpaquePointer) { self.key = key }

  deinit { EVP_PKEY_free(key) }

  /// A new random key; throws when OpenSSL has no entropy.
  public static func generate() throws(CryptoError) -> P256PrivateKey {
    guard let context = EVP_PKEY_CTX_new_id(EVP_PKEY_EC, nil) else { throw .library("make a key") }
    defer { EVP_PKEY_CTX_free(context) }
    var key: OpaquePointer?
    guard EVP_PKEY_keygen_init(context) == 1,
      EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, NID_X9_62_prime256v1) == 1,
      EVP_PKEY_keygen(context, &key) == 1, let key
    else { throw .library("make a key") }
    return P256PrivateKey(takingOwnership: key)
  }

  /// The key in `pem`: PKCS#8 (`BEGIN PRIVATE KEY`, RFC 5958) or SEC 1 (`BEGIN EC PRIVATE KEY`, RFC 5915).
  ///
  /// Throws when the text is no key, is encrypted, or holds a key of another kind or curve.
  public convenience init(pem: String) throws(CryptoError) {
    var asked = false
    let key = PEM.reading(pem) { bio in PEM_read_bio_PrivateKey(bio, nil, answerNoPassphrase, &asked) }
    let reason = CryptoError.takeReason()
    guard let key else {
      if asked { throw CryptoError(.encrypted, "the private key is encrypted; write it without a passphrase") }
      throw CryptoError(
        .unreadable, "not a private key in PEM form, which begins with -----BEGIN PRIVATE KEY----- (\(reason ?? "no such block"))")
    }
    guard isP256(key) else {
      defer { EVP_PKEY_free(key) }
      throw CryptoError(.wrongKind, "the private key is \(keyDescription(key)); provider tokens need an EC key on P-256")
    }
    self.init(takingOwnership: key)
  }

  /// The key as PKCS#8 PEM, unencrypted: the form of Apple's `.p8` files.
  public func pem() throws(CryptoError) -> String {
    try PEM.writing("write a key") { bio in PEM_write_bio_PKCS8PrivateKey(bio, key, nil, nil, 0, nil, nil) }
  }

  /// The public half.
  public var publicKey: P256PublicKey {
    P256PublicKey.retain(key)
    return P256PublicKey(takingOwnership: key)
  }

  /// An ES256 signature of `message` (RFC 7518 section 3.4): r and s of 32 bytes each.
  public func sign(_ message: [UInt8]) throws(CryptoError) -> [UInt8] {
    let digest = SHA256.hash(message)
    guard let context = EVP_PKEY_CTX_new(key, nil) else { throw .library("sign") }
    defer { EVP_PKEY_CTX_free(context) }
    var der = [UInt8](repeating: 0, count: 80)
    var count = der.count
    guard EVP_PKEY_sign_init(context) == 1, EVP_PKEY_sign(context, &der, &count, digest, digest.count) == 1 else {
      throw .library("sign")
    }
    guard let raw = ECDSASignature.raw(der: der[..<count]) else { throw .library("sign") }
    return raw
  }
}

/// Whether `key` is an EC key on P-256.
func isP256(_ key: OpaquePointer) -> Bool {
  EVP_PKEY_get_base_id(key) == EVP_PKEY_EC && groupName(key) == "prime256v1"
}

/// What a key is, for an error: `an RSA key of 2048 bits`.
func keyDescription(_ key: OpaquePointer) -> String {
  if EVP_PKEY_get_base_id(key) == EVP_PKEY_EC { return "an EC key on \(groupName(key))" }
  let name = EVP_PKEY_get0_type_name(key).map { String(cString: $0) } ?? "unknown"
  return "a key of type \(name) with \(EVP_PKEY_get_bits(key)) bits"
}

private func groupName(_ key: OpaquePointer) -> String {
  var name = [CChar](repeating: 0, count: 64)
  var count = 0
  guard EVP_PKEY_get_group_name(key, &name, name.count, &count) == 1 else { return "an unnamed curve" }
  return String(decoding: name.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
