import COpenSSL
import Primitives

/// The two spellings of an ECDSA signature: r and s side by side (JOSE), and a DER sequence of two integers (X9.62).
///
/// The second of each pair below writes into a buffer, since verification allocates nothing.
enum ECDSASignature {
  /// The most bytes a DER signature on P-256 has: a header of 2, and twice a header of 2, a zero and 32 bytes.
  static let derBytesMax = 72

  /// r and s of 32 bytes each, from a DER signature; nil when it is malformed or a number is too large.
  static func raw(der: ArraySlice<UInt8>) -> [UInt8]? {
    der.withUnsafeBufferPointer { buffer -> [UInt8]? in
      var cursor = buffer.baseAddress
      guard let signature = d2i_ECDSA_SIG(nil, &cursor, buffer.count) else { return nil }
      defer { ECDSA_SIG_free(signature) }
      var raw = [UInt8](repeating: 0, count: 64)
      return raw.withUnsafeMutableBufferPointer { raw in
        BN_bn2binpad(ECDSA_SIG_get0_r(signature), raw.baseAddress, 32) == 32
          && BN_bn2binpad(ECDSA_SIG_get0_s(signature), raw.baseAddress.map { $0 + 32 }, 32) == 32
      } ? raw : nil
    }
  }

  /// Writes the DER form of `raw`, two halves of equal size with numbers of at most 32 bytes; the count of bytes written, or nil.
  static func writeDER(raw: RawSpan, into der: inout InlineArray<72, UInt8>) -> Int? {
    let half = raw.byteCount / 2
    guard raw.byteCount == 2 * half, half > 0 else { return nil }
    var end = 2
    for start in [0, half] {
      var first = start
      while first < start + half - 1 && raw.byte(first) == 0 { first += 1 }
      let digits = start + half - first
      guard digits <= 32 else { return nil }
      let sign = raw.byte(first) & 0x80 != 0 ? 1 : 0
      der[end] = 0x02
      der[end + 1] = UInt8(digits + sign)
      if sign == 1 { der[end + 2] = 0 }
      end += 2 + sign
      for index in 0..<digits { der[end + index] = raw.byte(first + index) }
      end += digits
    }
    der[0] = 0x30
    der[1] = UInt8(end - 2)
    return end
  }
}
