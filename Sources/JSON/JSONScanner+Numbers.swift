public import Primitives

/// A number's place in the scanned bytes.
public struct JSONNumber: Hashable, Sendable {
  /// The bytes of the number.
  public var range: ByteRange
  /// Whether it is written without a fraction and without an exponent.
  public var isInteger: Bool
}

extension JSONScanner {
  /// Reads the number that comes next.
  public mutating func readNumber() throws(JSONError) -> JSONNumber {
    let start = offset
    var isInteger = true
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
      offset += 1
      if next(is: UInt8(ascii: "+")) || next(is: UInt8(ascii: "-")) { offset += 1 }
      try readDigits()
    }
    didReadValue()
    return JSONNumber(range: ByteRange(offset: start, count: offset - start), isInteger: isInteger)
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

  /// The number's nearest double; infinite when beyond the range.
  public func double(of number: JSONNumber) -> Double {
    if let integer = integer(of: number) { return Double(integer) }
    return Double(bytes[number.range].string) ?? .infinity
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
