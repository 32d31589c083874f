/// A JSON value as a tree, for the control side; the data path uses `JSONScanner`.
public indirect enum JSONValue: Hashable, Sendable {
  case null
  case bool(Bool)
  /// A number written without fraction and exponent that 64 bits hold.
  case integer(Int64)
  /// Any other number that a double holds as it is written.
  case number(Double)
  /// A number of more digits than a double holds, or of a large exponent.
  case decimal(JSONDecimal)
  case string(String)
  case array([JSONValue])
  case object(JSONObject)

  /// Whether this is `null`.
  public var isNull: Bool { self == .null }

  /// The truth value, if it is one.
  public var boolValue: Bool? {
    if case .bool(let value) = self { value } else { nil }
  }

  /// The number as an integer, if it is one; `5.0` is.
  public var intValue: Int64? {
    switch self {
    case .integer(let value): value
    case .number(let value): Self.integer(value)
    case .decimal(let value): Self.integer(value.double)
    default: nil
    }
  }

  /// The integer that `value` is, or nil; by conversion and back, since `Int64(exactly:)` would need the C library's `trunc`.
  private static func integer(_ value: Double) -> Int64? {
    guard value >= -0x1p63, value < 0x1p63 else { return nil }
    let integer = Int64(value)
    return Double(integer) == value ? integer : nil
  }

  /// The number, if it is one.
  public var doubleValue: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .number(let value): value
    case .decimal(let value): value.double
    default: nil
    }
  }

  /// Whether this is a number.
  public var isNumber: Bool { doubleValue != nil }

  /// The string, if it is one.
  public var stringValue: String? {
    if case .string(let value) = self { value } else { nil }
  }

  /// The elements, if it is an array.
  public var arrayValue: [JSONValue]? {
    if case .array(let value) = self { value } else { nil }
  }

  /// The members, if it is an object.
  public var objectValue: JSONObject? {
    if case .object(let value) = self { value } else { nil }
  }

  /// The member of that key, if this is an object that has one.
  public subscript(key: String) -> JSONValue? { objectValue?[key] }

  /// The element at that index, if this is an array that has one.
  public subscript(index: Int) -> JSONValue? {
    guard let elements = arrayValue, elements.indices.contains(index) else { return nil }
    return elements[index]
  }

  /// The kind of value with its article, for messages: `a string`, `an object`, `null`.
  public var kindName: String {
    switch self {
    case .null: "null"
    case .bool(let value): "\(value)"
    case .integer, .number, .decimal: "a number"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByStringInterpolation, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  /// `null`.
  public init(nilLiteral: ()) { self = .null }
  /// A truth value.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// An integer.
  public init(integerLiteral value: Int64) { self = .integer(value) }
  /// A number.
  public init(floatLiteral value: Double) { self = .number(value) }
  /// A string.
  public init(stringLiteral value: String) { self = .string(value) }
  /// An array.
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  /// An object with its members in the literal's order.
  public init(dictionaryLiteral elements: (String, JSONValue)...) { self = .object(JSONObject(elements)) }
}
