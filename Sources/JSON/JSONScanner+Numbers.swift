public import Primitives

/// A number's place in the scanned bytes.
public struct JSONNumber: Hashable, Sendable {
  /// The bytes of the number.
  public var range: ByteRange
  /// Whether it is written without a fraction and without an exponent.
  public var isInteger: Bool
}

extension JSONScanner {
  /// Reads the number that comes next; one beyond the range of a double is an error, as it is to Foundation's `JSONSerialization`.
  public mutating func readNumber() throws(JSONError) -> JSONNumber {
    let start = offset
    var isInteger = true
    var mayBeHuge = false
    if next(is: UInt8(ascii: "-")) { offset += 1 }
    if next(is: UInt8(ascii: "0")) {
      offset += 1
      if nextIsDigit { throw error(.leadingZero, at: offset - 1) }
    } else {
      try readDigits()
    }
    if next(is: UInt8(ascii: ".")) {
      isInteger = false
      offset += 1
      try readDigits()
    }
    if next(is: UInt8(ascii: "e")) || next(is: UInt8(ascii: "E")) {
      isInteger = false
      mayBeHuge = true
      offset += 1
      if next(is: UInt8(ascii: "+")) || next(is: UInt8(ascii: "-")) { offset += 1 }
      try readDigits()
    }
    didReadValue()
    let number = JSONNumber(range: ByteRange(offset: start, count: offset - start), isInteger: isInteger)
    // Without an exponent it takes as many digits as a double's greatest value has.
    if mayBeHuge || offset - start > 308, !double(of: number).isFinite { throw error(.numberOutOfRange, at: start) }
    return number
  }

  /// The number's value when it is written as an integer that 64 bits hold, else nil.
  public func integer(of number: JSONNumber) -> Int64? {
    guard number.isInteger else { return nil }
    let digits = bytes[number.range]
    let isNegative = digits.byte(0) == UInt8(ascii: "-")
    var value: Int64 = 0
    for index in (isNegative ? 1 : 0)..<digits.byteCount {
      let digit = Int64(digits.byte(index) &- UInt8(ascii: "0"))
      let (product, overflow) = value.multipliedReportingOverflow(by: 10)
      let (sum, overflow2) = isNegative ? product.subtractingReportingOverflow(digit) : product.addingReportingOverflow(digit)
      guard !overflow, !overflow2 else { return nil }
      value = sum
    }
    return value
  }

  /// The number's nearest double; finite for every number that was read.
  public func double(of number: JSONNumber) -> Double {
    if let integer = integer(of: number) { return Double(integer) }
    return shortDouble(of: number) ?? Double(bytes[number.range].string) ?? .infinity
  }

  /// The value of a fraction without an exponent and with at most 15 digits, which no text needs to be made for; else nil.
  ///
  /// Digits and power of ten are then exact in a double, so their quotient is correctly rounded (Clinger, 1990).
  private func shortDouble(of number: JSONNumber) -> Double? {
    let text = bytes[number.range]
    guard text.byteCount <= 16 else { return nil }
    var digits: Int64 = 0
    var divisor: Int64 = 0
    for index in 0..<text.byteCount {
      switch text.byte(index) {
      case UInt8(ascii: "-"): break
      case UInt8(ascii: "."): divisor = 1
      case let byte where byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9"):
        digits = digits * 10 + Int64(byte - UInt8(ascii: "0"))
        divisor *= 10
      default: return nil
      }
    }
    guard digits < 1_000_000_000_000_000, divisor > 0 else { return nil }
    let magnitude = Double(digits) / Double(divisor)
    return text.byte(0) == UInt8(ascii: "-") ? -magnitude : magnitude
  }

  private func next(is byte: UInt8) -> Bool { offset < bytes.byteCount && bytes.byte(offset) == byte }

  private var nextIsDigit: Bool {
    offset < bytes.byteCount && (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes.byte(offset))
  }

  private mutating func readDigits() throws(JSONError) {
    guard nextIsDigit else { throw error(offset < bytes.byteCount ? .digitExpected : .unexpectedEnd) }
    while nextIsDigit { offset += 1 }
  }
}
