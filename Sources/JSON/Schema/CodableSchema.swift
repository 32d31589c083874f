/// What a Swift `Codable` type decodes from with a default `JSONDecoder`, written as a small JSON Schema.
///
/// The cases are the kinds of Swift type, since a decoder knows no others. As with a real decoder unknown keys do no harm, `null` counts as
/// absent where a property need not be there, and an integer may be written with an empty fraction.
public indirect enum CodableSchema: Hashable, Sendable {
  /// One property of an object.
  public struct Property: NamedSchemaMember {
    /// Its key.
    public var name: String
    /// What its value decodes from.
    public var schema: CodableSchema
    /// Whether the decoder fails without it.
    public var isRequired: Bool
  }

  /// One case of an enumeration whose cases have associated values.
  public struct Case: NamedSchemaMember {
    /// Its name, which is the key.
    public var name: String
    /// Its values by their labels; `_0` and so on without one.
    public var values: SchemaMembers<Property>
    /// One case is named, and no one by itself must be.
    public var isRequired: Bool { false }
  }

  /// Swift's integer types of a fixed width.
  public enum IntegerWidth: String, CaseIterable, Hashable, Sendable {
    case int8, int16, int32, int64, uint8, uint16, uint32, uint64
  }

  /// A type for numbers with a fraction.
  public enum Fraction: String, CaseIterable, Hashable, Sendable {
    case double, float, decimal
  }

  /// A type that is a string of a certain form.
  public enum Text: String, CaseIterable, Hashable, Sendable {
    /// `UUID`.
    case uuid
    /// `URL`.
    case url
    /// `Data`, in base 64.
    case byte
  }

  /// How a date is written.
  public enum DateForm: String, CaseIterable, Hashable, Sendable {
    /// Seconds since 2001-01-01 UTC: Swift's `Date` by default.
    case date2001
    /// Seconds since 1970-01-01 UTC, by an `init(from:)` or a decoding strategy of the app's own.
    case unix
    /// Milliseconds since 1970-01-01 UTC, likewise.
    case unixMilliseconds = "unix-milliseconds"
    /// A string of ISO 8601, such as `2026-12-01T09:30:00Z`, likewise.
    case dateTime = "date-time"
  }

  /// A type of range, which decodes from an array of its bounds.
  public enum RangeForm: String, CaseIterable, Hashable, Sendable {
    /// `Range` and `ClosedRange`: two bounds, the lower one first.
    case range
    /// `PartialRangeFrom` and its like: one bound.
    case partialRange
  }

  /// What the keys of a dictionary are.
  public enum Keys: Hashable, Sendable {
    case strings, integers
    /// The raw values of an enumeration that is `CodingKeyRepresentable`.
    case choices(SchemaChoices<String>)
  }

  case anything
  case string
  case text(Text)
  case choice(SchemaChoices<String>)
  case integer(IntegerWidth)
  case integerChoice(SchemaChoices<Int64>)
  case number(Fraction)
  case boolean
  case date(DateForm)
  /// A value that may be `null`.
  case optional(CodableSchema)
  /// An array, or a set.
  case array(CodableSchema)
  case range(RangeForm, of: CodableSchema)
  /// A dictionary with string or integer keys: an object.
  case dictionary(Keys, CodableSchema)
  /// A dictionary with other keys: an array of keys and values in turn.
  case pairs(CodableSchema, CodableSchema)
  case object(SchemaMembers<Property>)
  /// An enumeration with associated values: an object with the case's name as its key.
  case cases(SchemaMembers<Case>)

  /// Whether the value may be `null`.
  var isOptional: Bool { if case .optional = self { true } else { false } }

  /// Whether an object may decode.
  var mayBeObject: Bool {
    switch self {
    case .anything, .object, .dictionary, .cases: true
    case .optional(let wrapped): wrapped.mayBeObject
    case .string, .text, .choice, .integer, .integerChoice, .number, .boolean, .date, .array, .range, .pairs: false
    }
  }
}
