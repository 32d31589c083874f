public import Primitives

/// A string's place in the scanned bytes, between its quotes.
public struct JSONText: Hashable, Sendable {
  /// The bytes between the quotes, as written.
  public var range: ByteRange
  /// Whether they hold escapes, so that the string differs from its bytes.
  public var isEscaped: Bool

  /// Whether the string in these scanned bytes is, after its escapes are undone, exactly `other`.
  public func matches(_ other: StaticString, in bytes: RawSpan) -> Bool {
    isEscaped ? string(in: bytes) == "\(other)" : bytes[range].equals(other)
  }

  /// The string in these scanned bytes, with its escapes undone.
  public func string(in bytes: RawSpan) -> String {
    guard isEscaped else { return bytes[range].string }
    var decoded: [UInt8] = []
    decoded.reserveCapacity(Int(range.count))
    JSONEscapes.forEachByte(of: bytes[range]) { decoded.append($0) }
    return String(decoding: decoded, as: UTF8.self)
  }
}

extension JSONScanner {
  /// Reads the string that comes next: its UTF-8, its escapes and its end.
  public mutating func readString() throws(JSONError) -> JSONText {
    precondition(offset < bytes.byteCount && bytes.byte(offset) == UInt8(ascii: "\""), "ask for kind() first")
    let start = offset + 1
    var index = start
    var isEscaped = false
    while true {
      index = firstSpecial(from: index)
      guard index < bytes.byteCount else { throw error(.unexpectedEnd, at: bytes.byteCount) }
      let byte = bytes.byte(index)
      if byte == UInt8(ascii: "\"") { break }
      if byte == UInt8(ascii: "\\") {
        isEscaped = true
        index = try checkEscape(at: index)
      } else if byte < 0x20 {
        throw error(.controlCharacter, at: index)
      } else {
        index += try checkMultibyte(at: index)
      }
    }
    offset = index + 1
    didReadValue()
    return JSONText(range: ByteRange(offset: start, count: index - start), isEscaped: isEscaped)
  }

  /// The index of the first byte from `start` that is a quote, a backslash, a control character or beyond ASCII; else the end.
  ///
  /// Eight bytes are tried together: `x ^ quote` is zero exactly where x is the quote, and subtracting one then borrows into
  /// the byte's top bit. A borrow can reach only higher bytes, so the lowest marked byte is truly special.
  @inline(__always) private func firstSpecial(from start: Int) -> Int {
    let each: UInt64 = 0x0101_0101_0101_0101
    var index = start
    while index + 8 <= bytes.byteCount {
      let word = bytes.word(index)
      let quotes = (word ^ (each &* 0x22)) &- each
      let backslashes = (word ^ (each &* 0x5C)) &- each
      let controls = word &- (each &* 0x20)
      let special = (quotes | backslashes | controls | word) & (each &* 0x80)
      guard special == 0 else { return index + special.trailingZeroBitCount >> 3 }
      index += 8
    }
    while index < bytes.byteCount {
      let byte = bytes.byte(index)
      if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte < 0x20 || byte >= 0x80 { return index }
      index += 1
    }
    return index
  }

  /// Whether `text` is, after its escapes are undone, exactly `other`.
  public func matches(_ text: JSONText, _ other: StaticString) -> Bool { text.matches(other, in: bytes) }

  /// The string with its escapes undone.
  public func string(of text: JSONText) -> String { text.string(in: bytes) }

  /// Checks the escape at `index` and returns the index after it; a surrogate pair counts as one.
  private func checkEscape(at index: Int) throws(JSONError) -> Int {
    guard index + 1 < bytes.byteCount else { throw error(.unexpectedEnd, at: bytes.byteCount) }
    guard bytes.byte(index + 1) == UInt8(ascii: "u") else {
      guard JSONEscapes.simple(bytes.byte(index + 1)) != nil else { throw error(.badEscape, at: index) }
      return index + 2
    }
    guard let unit = JSONEscapes.unit(in: bytes, at: index) else {
      throw error(index + 6 > bytes.byteCount ? .unexpectedEnd : .badEscape, at: index)
    }
    switch unit {
    case 0xD800...0xDBFF:
      guard let low = JSONEscapes.unit(in: bytes, at: index + 6), (0xDC00...0xDFFF).contains(low) else {
        throw error(.unpairedSurrogate, at: index)
      }
      return index + 12
    case 0xDC00...0xDFFF: throw error(.unpairedSurrogate, at: index)
    default: return index + 6
    }
  }

  /// The length of the UTF-8 sequence at `index`, which is well-formed (RFC 3629 section 4).
  private func checkMultibyte(at index: Int) throws(JSONError) -> Int {
    let first = bytes.byte(index)
    let count: Int
    var second: ClosedRange<UInt8> = 0x80...0xBF
    switch first {
    case 0xC2...0xDF: count = 2
    case 0xE0...0xEF:
      count = 3
      if first == 0xE0 { second = 0xA0...0xBF } else if first == 0xED { second = 0x80...0x9F }
    case 0xF0...0xF4:
      count = 4
      if first == 0xF0 { second = 0x90...0xBF } else if first == 0xF4 { second = 0x80...0x8F }
    default: throw error(.invalidUTF8, at: index)
    }
    guard index + count <= bytes.byteCount, second.contains(bytes.byte(index + 1)) else { throw error(.invalidUTF8, at: index) }
    for next in index + 2..<max(index + 2, index + count) where bytes.byte(next) & 0xC0 != 0x80 {
      throw error(.invalidUTF8, at: index)
    }
    return count
  }
}

/// The escapes of JSON strings (RFC 8259 section 7).
enum JSONEscapes {
  /// What a one-letter escape stands for, or nil.
  static func simple(_ letter: UInt8) -> UInt8? {
    switch letter {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): letter
    case UInt8(ascii: "b"): 0x08
    case UInt8(ascii: "f"): 0x0C
    case UInt8(ascii: "n"): 0x0A
    case UInt8(ascii: "r"): 0x0D
    case UInt8(ascii: "t"): 0x09
    default: nil
    }
  }

  /// The UTF-16 unit of the `\uXXXX` at `index`, or nil when there is none.
  static func unit(in bytes: RawSpan, at index: Int) -> UInt32? {
    guard index + 6 <= bytes.byteCount, bytes.byte(index) == UInt8(ascii: "\\"), bytes.byte(index + 1) == UInt8(ascii: "u")
    else { return nil }
    var unit: UInt32 = 0
    for digit in index + 2..<index + 6 {
      guard let value = Hexadecimal.value(of: bytes.byte(digit)) else { return nil }
      unit = unit << 4 | UInt32(value)
    }
    return unit
  }

  /// Calls `body` with each UTF-8 byte of a string whose escapes have been checked.
  static func forEachByte(of text: RawSpan, _ body: (UInt8) -> Void) {
    var index = 0
    while index < text.byteCount {
      let byte = text.byte(index)
      if byte != UInt8(ascii: "\\") {
        body(byte)
        index += 1
      } else if let unit = unit(in: text, at: index) {
        index += 6
        var value = unit
        if (0xD800...0xDBFF).contains(unit), let low = self.unit(in: text, at: index) {
          value = 0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00)
          index += 6
        }
        if let scalar = Unicode.Scalar(value) { for byte in UTF8.encode(scalar)! { body(byte) } }
      } else {
        if let simple = simple(text.byte(index + 1)) { body(simple) }
        index += 2
      }
    }
  }
}
