import COpenSSL
import Primitives

/// How a provider token says that it was signed: the `alg` of its header.
public enum SignatureAlgorithm: Sendable {
  /// ECDSA with SHA-256, 32-byte halves (RFC 7518 section 3.4).
  case es256
  /// ECDSA with SHA-512 and 66-byte halves, made with a P-256 key; a widespread PHP client sends it and Apple takes it.
  case es512
}

/// Checks ECDSA signatures with a fixed list of P-256 keys.
///
/// OpenSSL 3 looks algorithms up by name in each `EVP_…Init`, under a lock and with allocations. So every look-up happens
/// here, in `init`, and a check only feeds contexts that are ready. The contexts are not thread-safe: one verifier
/// belongs to one thread, which is why the type is not Sendable.
public final class SignatureVerifier {
  private let keys: [P256PublicKey]
  private let contexts: [OpaquePointer]
  private let digestContext: OpaquePointer
  private let sha256: OpaquePointer
  private let sha512: OpaquePointer

  /// A verifier for `keys`, which are named by their index; throws when OpenSSL has no memory.
  public init(keys: [P256PublicKey]) throws(CryptoError) {
    guard let digestContext = EVP_MD_CTX_new() else { throw .library("prepare a digest") }
    guard let sha256 = EVP_MD_fetch(nil, "SHA256", nil), let sha512 = EVP_MD_fetch(nil, "SHA512", nil) else {
      EVP_MD_CTX_free(digestContext)
      throw .library("find SHA-2")
    }
    var contexts: [OpaquePointer] = []
    for key in keys {
      guard let context = EVP_PKEY_CTX_new(key.key, nil) else { break }
      guard EVP_PKEY_verify_init(context) == 1 else {
        EVP_PKEY_CTX_free(context)
        break
      }
      contexts.append(context)
    }
    self.keys = keys
    self.contexts = contexts
    self.digestContext = digestContext
    self.sha256 = sha256
    self.sha512 = sha512
    guard contexts.count == keys.count else { throw .library("prepare a key") }
  }

  deinit {
    for context in contexts { EVP_PKEY_CTX_free(context) }
    EVP_MD_CTX_free(digestContext)
    EVP_MD_free(sha256)
    EVP_MD_free(sha512)
  }

  /// Whether `signature` of `message` was made by the key at `index`.
  ///
  /// The signature may be raw (64 bytes, or 132 with `es512`) or DER, as real provider tokens come in both.
  public func verify(_ signature: RawSpan, of message: RawSpan, key index: Int, algorithm: SignatureAlgorithm) -> Bool {
    var der = InlineArray<72, UInt8>(repeating: 0)
    let rawBytes = algorithm == .es256 ? 64 : 132
    if signature.byteCount == rawBytes {
      guard let count = ECDSASignature.writeDER(raw: signature, into: &der) else { return false }
      return der.span.bytes.withUnsafeBytes { verify(der: $0, count: count, of: message, key: index, algorithm: algorithm) }
    }
    guard signature.byteCount <= ECDSASignature.derBytesMax else { return false }
    return signature.withUnsafeBytes { verify(der: $0, count: $0.count, of: message, key: index, algorithm: algorithm) }
  }

  private func verify(
    der: UnsafeRawBufferPointer, count: Int, of message: RawSpan, key index: Int, algorithm: SignatureAlgorithm
  ) -> Bool {
    var digest = InlineArray<64, UInt8>(repeating: 0)
    var digestBytes: UInt32 = 0
    var span = digest.mutableSpan
    let verdict: Int32 = span.withUnsafeMutableBufferPointer { digest in
      let hashed = message.withUnsafeBytes { message in
        EVP_DigestInit_ex2(digestContext, algorithm == .es256 ? sha256 : sha512, nil) == 1
          && EVP_DigestUpdate(digestContext, message.baseAddress, message.count) == 1
          && EVP_DigestFinal_ex(digestContext, digest.baseAddress, &digestBytes) == 1
      }
      guard hashed else { return 0 }
      let bytes = der.bindMemory(to: UInt8.self).baseAddress
      // A digest longer than the curve's order is cut to its leftmost 256 bits (FIPS 186-4 section 6.4).
      return EVP_PKEY_verify(contexts[index], bytes, count, digest.baseAddress, Int(digestBytes))
    }
    if verdict != 1 { ERR_clear_error() }
    return verdict == 1
  }
}
