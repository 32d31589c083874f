/// Base 64 in both alphabets (RFC 4648 sections 4 and 5).
public enum Base64 {
  /// Which two characters stand for 62 and 63, and whether the end is padded.
  public enum Alphabet: Sendable {
    /// `+` and `/`, padded with `=`.
    case standard
    /// `-` and `_`, not padded.
    case urlSafe
  }

  /// The bytes as text in `alphabet`.
  public static func encode(_ bytes: some Collection<UInt8>, _ alphabet: Alphabet) -> String {
    let digits = alphabet == .standard ? standardDigits : urlSafeDigits
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    var accumulator: UInt32 = 0
    var bits = 0
    for byte in bytes {
      accumulator = accumulator << 8 | UInt32(byte)
      bits += 8
      while bits >= 6 {
        bits -= 6
        text.append(digits[Int(accumulator >> UInt32(bits) & 63)])
      }
    }
    if bits > 0 { text.append(digits[Int(accumulator << UInt32(6 - bits) & 63)]) }
    while alphabet == .standard && text.count % 4 != 0 { text.append(UInt8(ascii: "=")) }
    return String(decoding: text, as: UTF8.self)
  }

  /// The bytes that `text` spells, in either alphabet, padded or not; nil when it holds anything else.
  ///
  /// Real provider tokens come in every mixture (see the encodings of `ProviderToken`), so one decoder takes them all.
  public static func decode(_ text: RawSpan) -> [UInt8]? {
    var length = text.byteCount
    var padding = 0
    while length > 0, padding < 2, text.byte(length - 1) == UInt8(ascii: "=") {
      length -= 1
      padding += 1
    }
    guard length % 4 != 1, padding == 0 || (length + padding) % 4 == 0 else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(length * 3 / 4)
    var accumulator: UInt32 = 0
    var bits = 0
    for index in 0..<length {
      guard let value = value(of: text.byte(index)) else { return nil }
      accumulator = accumulator << 6 | UInt32(value)
      bits += 6
      if bits >= 8 {
        bits -= 8
        bytes.append(UInt8(truncatingIfNeeded: accumulator >> UInt32(bits)))
      }
    }
    return bytes
  }

  /// The bytes that `text` spells, in either alphabet, padded or not; nil when it holds anything else.
  public static func decode(_ text: String) -> [UInt8]? {
    let utf8 = Array(text.utf8)
    return unsafe decode(utf8.span.bytes)
  }

  private static let standardDigits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let urlSafeDigits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  private static func value(of digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit &- UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): digit &- UInt8(ascii: "a") &+ 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit &- UInt8(ascii: "0") &+ 52
    case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
    case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
    default: nil
    }
  }
}
