/// A number as it was written, for those who must know more of it than the nearest double.
public struct JSONDecimal: Hashable, Sendable {
  /// The number's text, in JSON's own form.
  public let text: String
  /// Whether it is written without a fraction and without an exponent.
  public let isIntegral: Bool
  /// Whether it begins with a minus sign.
  public let isNegative: Bool
  /// The significant digits, 0 to 9 each, without zeros at either end; none for zero.
  public let digits: [UInt8]
  /// The power of ten that the digits, read as an integer, are multiplied by.
  public let exponent: Int
  /// The power of ten behind the `e`, and the digits behind the point, as written.
  let written: (exponent: Int, fractionDigits: Int)

  /// The number that `text` spells, which must be a number of JSON.
  public init(_ text: String) {
    self.text = text
    isNegative = text.utf8.first == UInt8(ascii: "-")
    let mark = text.utf8.firstIndex { $0 | 0x20 == UInt8(ascii: "e") }
    let mantissa = text.utf8[..<(mark ?? text.utf8.endIndex)]
    // An exponent that no Int holds is as good as the greatest.
    let power = mark.map { text[text.utf8.index(after: $0)...] }.map { Int($0) ?? ($0.hasPrefix("-") ? -1_000_000 : 1_000_000) }
    let point = mantissa.firstIndex(of: UInt8(ascii: "."))
    let fractionDigits = point.map { mantissa.distance(from: $0, to: mantissa.endIndex) - 1 } ?? 0
    isIntegral = mark == nil && point == nil
    written = (min(max(power ?? 0, -1_000_000), 1_000_000), fractionDigits)
    var digits = mantissa.compactMap { (0x30...0x39).contains($0) ? $0 - 0x30 : nil }
    var exponent = written.exponent - fractionDigits
    while digits.last == 0 {
      digits.removeLast()
      exponent += 1
    }
    self.digits = Array(digits.drop { $0 == 0 })
    self.exponent = self.digits.isEmpty ? 0 : exponent
  }

  /// The nearest double.
  public var double: Double { Double(text) ?? 0 }

  /// Whether both are the same number, however they are written.
  public func equals(_ other: JSONDecimal) -> Bool {
    digits == other.digits && exponent == other.exponent && (isNegative == other.isNegative || digits.isEmpty)
  }

  /// The number without its fraction, where 64 bits hold its magnitude.
  var truncatedMagnitude: UInt64? {
    var value: UInt64 = 0
    for place in 0..<max(0, digits.count + min(exponent, 20)) {
      let digit = place < digits.count ? UInt64(digits[place]) : 0
      let (product, overflow) = value.multipliedReportingOverflow(by: 10)
      let (sum, overflow2) = product.addingReportingOverflow(digit)
      guard !overflow, !overflow2 else { return nil }
      value = sum
    }
    return value
  }

  /// Whether both were written in the same way.
  public static func == (a: JSONDecimal, b: JSONDecimal) -> Bool { a.text == b.text }

  /// Feeds the text to `hasher`.
  public func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

extension JSONValue {
  /// The number as it was written, or as its value is written, if this is one.
  public var decimalValue: JSONDecimal? {
    switch self {
    case .integer(let value): JSONDecimal(String(value))
    case .number(let value): JSONDecimal("\(value)")
    case .decimal(let value): value
    default: nil
    }
  }

  /// The value of a number's text: an integer, a double where that says the same, else the text itself.
  ///
  /// A large exponent stays as it is written, since what Foundation's `Decimal` takes hangs on that.
  static func number(_ text: String, double: Double) -> JSONValue {
    let written = JSONDecimal(text)
    let isSaid = abs(written.written.exponent) < 100 && JSONDecimal("\(double)").equals(written)
    return isSaid ? .number(double) : .decimal(written)
  }
}
