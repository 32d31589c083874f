import COpenSSL

/// SHA-256 (FIPS 180-4).
public enum SHA256 {
  /// The 32 bytes of the digest of `bytes`.
  public static func hash(_ bytes: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 32)
    let done = COpenSSL.SHA256(bytes, bytes.count, &digest)
    precondition(done != nil, "OpenSSL has no memory for a digest")
    return digest
  }

  /// The 32 bytes of the digest of the text's UTF-8.
  public static func hash(_ text: String) -> [UInt8] { hash(Array(text.utf8)) }
}
