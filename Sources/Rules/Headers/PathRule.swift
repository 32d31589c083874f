import Primitives
import Push

/// `POST /3/device/<token>`: the method, the path, and the push token at its end (apns.md section 2).
enum PathRule {
  static let prefix: StaticString = "/3/device/"

  static func checkMethod(_ method: ByteRange?, _ headers: RawSpan) throws(Violation) {
    guard let method, headers[method].equals("POST") else {
      throw Violation(.methodNotAllowed, ":method", "the method must be POST, not \(method.map { headers[$0].quoted } ?? "absent")")
    }
  }

  /// What follows the prefix: the token where it is plain hexadecimal, and else the text that must yet become one.
  ///
  /// The path is judged long before the token in it, so a bad token is no concern here.
  static func check(_ path: ByteRange?, _ headers: RawSpan) throws(Violation) -> (token: DeviceToken?, text: ByteRange) {
    guard let path else { throw Violation(.badPath, ":path", "the path must be \(prefix) followed by the push token in hexadecimal") }
    let text = headers[path]
    let start = prefix.utf8CodeUnitCount
    guard text.byteCount >= start, text.extracting(first: start).equals(prefix) else { throw badPath(text) }
    if let token = DeviceToken(hex: text.extracting(start...)) { return (token, .empty) }
    var end = start
    while end < text.byteCount, text.byte(end) != UInt8(ascii: "?"), text.byte(end) != UInt8(ascii: "#") {
      guard text.byte(end) != UInt8(ascii: "/") else { throw badPath(text) }
      end += 1
    }
    return (nil, ByteRange(offset: Int(path.offset) + start, count: end - start))
  }

  /// The token that `text` spells without its query and with percent-encoding undone, since a client is known to encode it.
  static func token(_ text: RawSpan) throws(Violation) -> DeviceToken {
    guard !text.isEmpty else {
      throw Violation(.missingDeviceToken, ":path", "the path must end with the push token after \(prefix)")
    }
    if let token = DeviceToken(hex: text) { return token }
    var decoded = InlineArray<256, UInt8>(repeating: 0)
    var count = 0
    var index = 0
    while index < text.byteCount, count < 256 {
      if text.byte(index) == UInt8(ascii: "%"), index + 2 < text.byteCount, let high = Hexadecimal.value(of: text.byte(index + 1)),
        let low = Hexadecimal.value(of: text.byte(index + 2))
      {
        decoded[count] = high << 4 | low
        index += 3
      } else {
        decoded[count] = text.byte(index)
        index += 1
      }
      count += 1
    }
    let bytes = unsafe decoded.span.bytes.extracting(first: count)
    if index == text.byteCount, let token = DeviceToken(hex: bytes) { return token }
    throw Violation(.badDeviceToken, ":path", complaint(bytes))
  }

  private static func badPath(_ path: RawSpan) -> Violation {
    return Violation(.badPath, ":path", "the path must be \(prefix) followed by the push token in hexadecimal, not \(path.quoted)")
  }

  /// What is wrong with a token, by the mistakes that are often made.
  private static func complaint(_ text: RawSpan) -> String {
    if let complaint = DeviceToken.complaint(aboutPrinted: text.string) { return complaint }
    var digits = 0
    for index in 0..<text.byteCount {
      switch text.byte(index) {
      case UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: " "):
        return "the push token must be hexadecimal digits alone, without the brackets and spaces of a printed Data value"
      case UInt8(ascii: ":"):
        return "the push token must be the one from APNs in hexadecimal, not a registration token of another push service"
      case let byte where Hexadecimal.value(of: byte) == nil:
        return "the push token must be hexadecimal, and character \(index + 1) of \(text.quoted) is not a digit of it"
      default: digits += 1
      }
    }
    return digits > 2 * DeviceToken.bytesMax
      ? "the push token must have at most \(DeviceToken.bytesMax) bytes"
      : "the push token must have two hexadecimal digits for each byte, not \(digits) digits"
  }
}
