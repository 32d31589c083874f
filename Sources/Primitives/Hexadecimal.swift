/// Base 16 (RFC 4648 section 8).
public enum Hexadecimal {
  /// The value of one hexadecimal digit in either case, or nil.
  @inlinable public static func value(of digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit &- UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit &- UInt8(ascii: "a") &+ 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit &- UInt8(ascii: "A") &+ 10
    default: nil
    }
  }

  /// The four bytes that eight digits in either case spell, and which digits are upper-case letters; nil when one is no digit.
  ///
  /// `digits` holds the first digit in its lowest byte, as does `bytes` the first byte; bit n of `upperCase` stands for digit n.
  /// All eight are checked and converted together, each in its byte of the word: every push spells a token and an id.
  @inlinable public static func eight(_ digits: UInt64) -> (bytes: UInt32, upperCase: UInt8)? {
    let high: UInt64 = 0x8080_8080_8080_8080
    let each: UInt64 = 0x0101_0101_0101_0101
    guard digits & high == 0 else { return nil }
    // Within seven bits, adding 0x80 − n sets a byte's top bit exactly when the byte is at least n.
    let isDigit = (digits &+ each &* 0x50) & ~(digits &+ each &* 0x46) & high
    let lowered = digits | each &* 0x20
    let isLetter = (lowered &+ each &* 0x1F) & ~(lowered &+ each &* 0x19) & high
    guard isDigit | isLetter == high else { return nil }
    let values = (digits & (each &* 0x0F)) &+ (isLetter >> 7) &* 9
    var pairs = (values << 4 | values >> 8) & 0x00FF_00FF_00FF_00FF
    pairs = (pairs | pairs >> 8) & 0x0000_FFFF_0000_FFFF
    let isUpper = (isLetter & ~(digits << 2)) >> 7 & each
    return (UInt32(truncatingIfNeeded: pairs | pairs >> 16), UInt8(truncatingIfNeeded: (isUpper &* 0x0102_0408_1020_4080) >> 56))
  }

  /// The eight digits of `bytes`, whose lowest byte comes first; digit n is a capital when bit n of `upperCase` is set.
  ///
  /// The first digit is in the lowest byte. The way back from `eight`, and as often needed: all digits are made together.
  @inlinable @inline(__always) public static func digits(of bytes: UInt32, upperCase: UInt8 = 0) -> UInt64 {
    let each: UInt64 = 0x0101_0101_0101_0101
    var pairs = UInt64(bytes)
    pairs = (pairs | pairs << 16) & 0x0000_FFFF_0000_FFFF
    pairs = (pairs | pairs << 8) & 0x00FF_00FF_00FF_00FF
    let values = (pairs >> 4 | pairs << 8) & (each &* 0x0F)
    let isLetter = (values &+ each &* 6) >> 4 & each
    let lower = values &+ each &* 0x30 &+ isLetter &* 0x27
    guard upperCase != 0 else { return lower }
    guard upperCase != 0xFF else { return lower &- isLetter << 5 }
    // Bit n of `upperCase`, carried to the lowest bit of byte n.
    let isUpper = ((UInt64(upperCase) &* each & 0x8040_2010_0804_0201) &+ each &* 0x7F) >> 7 & each
    return lower &- (isLetter & isUpper) << 5
  }

  /// The lower-case digit of a value below 16.
  @inlinable public static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? value &+ UInt8(ascii: "0") : value &- 10 &+ UInt8(ascii: "a")
  }

  /// The bytes as lower-case text, two digits a byte.
  public static func encode(_ bytes: some Sequence<UInt8>) -> String {
    var digits: [UInt8] = []
    for byte in bytes { digits += [digit(byte >> 4), digit(byte & 15)] }
    return String(decoding: digits, as: UTF8.self)
  }

  /// The bytes that `text` spells in either case, or nil when it is odd in length or has another character.
  public static func decode(_ text: String) -> [UInt8]? {
    let digits = Array(text.utf8)
    guard digits.count % 2 == 0 else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(digits.count / 2)
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let high = value(of: digits[index]), let low = value(of: digits[index + 1]) else { return nil }
      bytes.append(high << 4 | low)
    }
    return bytes
  }
}
