/// What a Swift `Codable` type decodes from with a default `JSONDecoder`, written as a small JSON Schema.
///
/// Understood are `type` (`object`, `array`, `string`, `integer`, `number`, `boolean`, or one of them and `null` in a list for an optional
/// value), `properties`, `required`, `items`, `enum` (of strings or of integers) and `format: "date2001"` for a Swift `Date`, which by
/// default decodes from seconds since 2001-01-01 UTC. As with a real decoder unknown keys do no harm, `null` counts as absent where a
/// property need not be there, and an integer may be written with an empty fraction.
public indirect enum CodableSchema: Hashable, Sendable {
  /// One property of an object.
  public struct Property: Hashable, Sendable {
    /// Its key.
    public var name: String
    /// What its value decodes from.
    public var schema: CodableSchema
    /// Whether the decoder fails without it.
    public var isRequired: Bool
  }

  case anything
  case string
  case choice([String])
  case integer
  case integerChoice([Int64])
  case number
  case boolean
  case date
  /// A value that may be `null`.
  case optional(CodableSchema)
  case array(CodableSchema)
  case object([Property])

  /// Keywords that say something about the value.
  public static let keywords = ["type", "properties", "required", "items", "enum", "format"]
  /// Keywords that are for readers.
  public static let remarks = ["title", "description", "examples", "$schema", "$comment"]
  private static let types = ["object", "array", "string", "integer", "number", "boolean"]

  /// Reads a schema; throws for anything beyond the subset, naming the place.
  ///
  /// - Parameter path: Where the schema stands, for errors.
  public init(_ json: JSONValue, at path: String) throws(FieldError) {
    var reader = try JSONReader(json, at: path)
    for keyword in json.objectValue?.keys ?? [] where !(Self.keywords + Self.remarks).contains(keyword) {
      throw reader.error(
        keyword,
        "is no keyword that is understood here; those are \(Self.keywords.joined(separator: ", ")), and without effect \(Self.remarks.joined(separator: ", "))"
      )
    }
    let (type, isOptional) = try Self.type(&reader)
    let schema = try Self.schema(of: type, &reader, at: path)
    self = isOptional ? .optional(schema) : schema
  }

  /// The type that is named, or that the other keywords are of, and whether `null` is named beside it.
  private static func type(_ reader: inout JSONReader) throws(FieldError) -> (String?, isOptional: Bool) {
    guard let value = reader.optionalValue("type") else { return (told(&reader), false) }
    let names = value.arrayValue.map { $0.compactMap(\.stringValue) } ?? value.stringValue.map { [$0] } ?? []
    let isOptional = value.arrayValue != nil && names.contains("null")
    let rest = names.filter { !isOptional || $0 != "null" }
    guard rest.count == 1, types.contains(rest[0]), value.arrayValue.map({ $0.count == names.count && names.count <= 2 }) ?? true else {
      throw reader.error(
        "type", "must be one of \(types.joined(separator: ", ")), or one of them and \"null\" in a list, not \(value.serialized())")
    }
    return (rest[0], isOptional)
  }

  /// A keyword tells the type that it belongs to.
  private static let owners = [("format", "number"), ("properties", "object"), ("required", "object"), ("items", "array")]

  /// The type that the other keywords tell; nil for that of an `enum`, and where nothing is told.
  private static func told(_ reader: inout JSONReader) -> String? {
    if reader.optionalValue("enum") != nil { return nil }
    for (keyword, owner) in owners where reader.optionalValue(keyword) != nil { return owner }
    return nil
  }

  private static func schema(of type: String?, _ reader: inout JSONReader, at path: String) throws(FieldError) -> CodableSchema {
    let format = try reader.optionalChoice("format", of: ["date2001"])
    // One that stands at another type has been forgotten there, or would let everything pass.
    for (keyword, owner) in owners where owner != type && reader.optionalValue(keyword) != nil {
      throw reader.error(keyword, "belongs to the type \"\(owner)\", and the type is \(type.map { "\"\($0)\"" } ?? "that of enum")")
    }
    if let choices = reader.optionalValue("enum") { return try choice(choices, of: type, reader) }
    switch type {
    case nil: return .anything
    case "string": return .string
    case "integer": return .integer
    case "number": return format == nil ? .number : .date
    case "boolean": return .boolean
    case "array":
      guard let items = reader.optionalValue("items") else { return .array(.anything) }
      return .array(try CodableSchema(items, at: "\(path).items"))
    default: return .object(try properties(&reader, at: path))
    }
  }

  /// The raw values of a Swift enumeration.
  private static func choice(_ value: JSONValue, of type: String?, _ reader: JSONReader) throws(FieldError) -> CodableSchema {
    let elements = value.arrayValue ?? []
    let (strings, integers) = (elements.compactMap(\.stringValue), elements.compactMap(\.intValue))
    if !elements.isEmpty, strings.count == elements.count, type == nil || type == "string" { return .choice(strings) }
    if !elements.isEmpty, integers.count == elements.count, type == nil || type == "integer" { return .integerChoice(integers) }
    throw reader.error("enum", "must be a list of strings, or of integers, as the raw values of a Swift enumeration are")
  }

  private static func properties(_ reader: inout JSONReader, at path: String) throws(FieldError) -> [Property] {
    let required = try reader.optionalStrings("required") ?? []
    var members: [Property] = []
    if let properties = reader.optionalValue("properties") {
      guard let object = properties.objectValue else { throw reader.error("properties", "must be an object") }
      for (name, value) in object {
        let schema = try CodableSchema(value, at: "\(path).properties.\(name)")
        members.append(Property(name: name, schema: schema, isRequired: required.contains(name)))
      }
    }
    for name in required where !members.contains(where: { $0.name == name }) {
      members.append(Property(name: name, schema: .anything, isRequired: true))
    }
    return members
  }
}
