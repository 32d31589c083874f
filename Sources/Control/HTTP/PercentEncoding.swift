import Primitives

/// Percent-encoding of paths and queries (RFC 3986 section 2.1).
enum PercentEncoding {
  /// The text that `encoded` spells; nil when a percent sign is not followed by two hexadecimal digits, or when the
  /// bytes are not UTF-8.
  ///
  /// - Parameter plusIsSpace: Whether `+` stands for a space, as HTML forms write queries.
  static func decode(_ encoded: some StringProtocol, plusIsSpace: Bool = false) -> String? {
    var bytes: [UInt8] = []
    var rest = Array(encoded.utf8)[...]
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "%"):
        guard let high = rest.popFirst().flatMap(Hexadecimal.value), let low = rest.popFirst().flatMap(Hexadecimal.value) else {
          return nil
        }
        bytes.append(high << 4 | low)
      case UInt8(ascii: "+") where plusIsSpace: bytes.append(UInt8(ascii: " "))
      default: bytes.append(byte)
      }
    }
    return String(validating: bytes, as: UTF8.self)
  }
}
