/// Which numbers Foundation's `JSONDecoder` takes for which type, as that of Swift 6.3 was seen to do.
extension CodableSchema.IntegerWidth {
  /// The least value, as it is, and the greatest.
  var bounds: (min: Int64, max: UInt64) {
    switch self {
    case .int8: (-0x80, 0x7F)
    case .int16: (-0x8000, 0x7FFF)
    case .int32: (-0x8000_0000, 0x7FFF_FFFF)
    case .int64: (.min, UInt64(Int64.max))
    case .uint8: (0, 0xFF)
    case .uint16: (0, 0xFFFF)
    case .uint32: (0, 0xFFFF_FFFF)
    case .uint64: (0, .max)
    }
  }

  /// The name of the type in Swift.
  var swiftName: String {
    switch self {
    case .int64: "Int"
    case .int8, .int16, .int32: "Int" + rawValue.dropFirst(3)
    case .uint8, .uint16, .uint32, .uint64: "UInt" + rawValue.dropFirst(4)
    }
  }

  /// Whether a number decodes.
  ///
  /// A number with a fraction or an exponent is read as a double first, which must be an integer within the bounds; from 2^53 on, where
  /// doubles are further apart than integers, it is read as a decimal number once more, whose fraction is cut off.
  func takes(_ value: JSONValue) -> Bool {
    if case .integer(let integer) = value { return holds(isNegative: integer < 0, magnitude: integer.magnitude) }
    guard let decimal = value.decimalValue else { return false }
    if decimal.isIntegral {
      return decimal.truncatedMagnitude.map { holds(isNegative: decimal.isNegative, magnitude: $0) } ?? false
    }
    let double = decimal.double
    guard abs(double) < 0x1p64 else { return false }
    let magnitude = UInt64(abs(double))
    guard Double(magnitude) == abs(double), holds(isNegative: double < 0, magnitude: magnitude) else { return false }
    guard magnitude >= 1 << 53 else { return true }
    return decimal.truncatedMagnitude.map { holds(isNegative: decimal.isNegative, magnitude: $0) } ?? false
  }

  private func holds(isNegative: Bool, magnitude: UInt64) -> Bool {
    isNegative ? magnitude <= bounds.min.magnitude : magnitude <= bounds.max
  }
}

extension CodableSchema.Fraction {
  /// The name of the type in Swift.
  var swiftName: String {
    switch self {
    case .double: "Double"
    case .float: "Float"
    case .decimal: "Decimal"
    }
  }

  /// Whether a number decodes: it must be finite, and only zero may become zero.
  func takes(_ value: JSONValue) -> Bool {
    guard let decimal = value.decimalValue else { return false }
    switch self {
    case .double: return decimal.double.isFinite && (decimal.double != 0 || decimal.digits.isEmpty)
    case .float:
      guard let float = Float(decimal.text) else { return false }
      return float.isFinite && (float != 0 || decimal.digits.isEmpty)
    case .decimal: return (-128...127).contains(decimal.foundationExponent)
    }
  }
}

extension JSONDecimal {
  /// The exponent that Foundation's `Decimal` would have: it reads digits until its 128 bits are full; a digit before the point that has no
  /// room raises the exponent, one behind it is dropped.
  fileprivate var foundationExponent: Int {
    var (mantissa, exponent) = (UInt128(0), written.exponent)
    var isFull = false
    var isFraction = false
    for byte in text.utf8 {
      if byte == UInt8(ascii: ".") {
        isFraction = true
        continue
      }
      if byte | 0x20 == UInt8(ascii: "e") { break }
      guard byte != UInt8(ascii: "-") else { continue }
      let (product, overflow) = mantissa.multipliedReportingOverflow(by: 10)
      let (sum, overflow2) = product.addingReportingOverflow(UInt128(byte - 0x30))
      if isFull || overflow || overflow2 {
        isFull = true
        if !isFraction { exponent += 1 }
      } else {
        mantissa = sum
        if isFraction { exponent -= 1 }
      }
    }
    return exponent
  }
}
