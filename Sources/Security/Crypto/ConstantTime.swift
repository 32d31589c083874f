import COpenSSL

/// Comparison whose time tells nothing of where two secrets differ.
public enum ConstantTime {
  /// Whether both hold the same bytes; only the lengths may be learnt from the time it takes.
  public static func equal(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    a.count == b.count && CRYPTO_memcmp(a, b, a.count) == 0
  }
}
