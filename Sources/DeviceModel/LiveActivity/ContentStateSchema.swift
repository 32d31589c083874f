public import JSON
public import Primitives

/// What a Swift `ContentState` decodes from with a default `JSONDecoder`, written as a small JSON Schema.
///
/// Understood are `type` (`object`, `array`, `string`, `integer`, `number`, `boolean`), `properties`, `required`, `items`, `enum` (of
/// strings) and `format: "date2001"` for a Swift `Date`, which by default decodes from seconds since 2001-01-01 UTC. As with a real
/// decoder, unknown keys do no harm and a `null` counts as absent.
public indirect enum ContentStateSchema: Hashable, Sendable {
  /// One property of an object.
  public struct Property: Hashable, Sendable {
    /// Its key.
    public var name: String
    /// What its value decodes from.
    public var schema: ContentStateSchema
    /// Whether the decoder fails without it.
    public var isRequired: Bool
  }

  case anything
  case string
  case choice([String])
  case integer
  case number
  case boolean
  case date
  case array(ContentStateSchema)
  case object([Property])

  /// Seconds from the Unix epoch to 2001-01-01 UTC, where Swift's `Date` counts from.
  static let referenceDateSeconds: Double = 978_307_200

  /// Reads a schema; throws for anything beyond the subset, naming the place.
  ///
  /// - Parameter path: Where the schema stands, for errors.
  public init(_ json: JSONValue, at path: String) throws(FieldError) {
    var reader = try JSONReader(json, at: path)
    let choices = try reader.optionalStrings("enum")
    let types = ["object", "array", "string", "integer", "number", "boolean"]
    let declared = try reader.optionalChoice("type", of: types)
    let format = try reader.optionalChoice("format", of: ["date2001"])
    let properties = reader.optionalValue("properties")
    let required = try reader.optionalStrings("required")
    let items = reader.optionalValue("items")
    try reader.finish()
    // A keyword tells the type that it belongs to, and stands beside no other.
    let told = [
      ("enum", "string", choices != nil), ("format", "number", format != nil), ("properties", "object", properties != nil),
      ("required", "object", required != nil), ("items", "array", items != nil),
    ].filter(\.2)
    let type = declared ?? told.first?.1
    for (keyword, owner, _) in told where owner != type {
      throw reader.error(keyword, "belongs to the type \"\(owner)\", and the type is \"\(type ?? "")\"")
    }
    switch type {
    case nil: self = .anything
    case "string": self = choices.map { .choice($0) } ?? .string
    case "integer": self = .integer
    case "number": self = format == nil ? .number : .date
    case "boolean": self = .boolean
    case "array":
      self = try .array(items.map { value throws(FieldError) in try ContentStateSchema(value, at: "\(path).items") } ?? .anything)
    default:
      var members: [Property] = []
      if let properties {
        guard let object = properties.objectValue else { throw reader.error("properties", "must be an object") }
        for (name, value) in object {
          let schema = try ContentStateSchema(value, at: "\(path).properties.\(name)")
          members.append(Property(name: name, schema: schema, isRequired: required?.contains(name) ?? false))
        }
      }
      for name in required ?? [] where !members.contains(where: { $0.name == name }) {
        members.append(Property(name: name, schema: .anything, isRequired: true))
      }
      self = .object(members)
    }
  }

  /// Why a default `JSONDecoder` would fail on `value`, as one sentence that names the key; nil when it would not.
  ///
  /// - Parameter path: Where the value stands.
  public func problem(in value: JSONValue, at path: String) -> String? {
    switch self {
    case .anything: nil
    case .string: value.stringValue == nil ? "\(path) must be a string, not \(value.kindName)" : nil
    case .integer: value.intValue == nil ? "\(path) must be an integer, not \(value.serialized())" : nil
    case .number: value.isNumber ? nil : "\(path) must be a number, not \(value.kindName)"
    case .boolean: value.boolValue == nil ? "\(path) must be true or false, not \(value.kindName)" : nil
    case .choice(let choices):
      choices.contains { value.stringValue == $0 }
        ? nil : "\(path) must be one of \(choices.joined(separator: ", ")), not \(value.serialized())"
    case .date:
      value.isNumber
        ? nil : "\(path) must be a number of seconds since 2001-01-01 UTC, as Swift's Date decodes by default, not \(value.kindName)"
    case .array(let element): Self.problem(inElements: value, of: element, at: path)
    case .object(let properties): Self.problem(inMembers: value, of: properties, at: path)
    }
  }

  /// A hint at a value that decodes, but hardly as it was meant: a Unix time where Swift counts from 2001. Nil when there is none.
  public func hint(in value: JSONValue, at path: String, now: Instant) -> String? {
    switch self {
    case .date:
      guard let seconds = value.doubleValue, abs(seconds - Double(now.unixSeconds)) < 10 * 365 * 86_400 else { return nil }
      let shown = Instant(unixSeconds: Int64(seconds + Self.referenceDateSeconds)).description.prefix(10)
      return "\(path) looks like a Unix time; Swift's Date shows \(shown), send \(Int64(seconds - Self.referenceDateSeconds))"
    case .array(let element):
      for (index, value) in (value.arrayValue ?? []).enumerated() {
        if let hint = element.hint(in: value, at: "\(path)[\(index)]", now: now) { return hint }
      }
      return nil
    case .object(let properties):
      for property in properties {
        guard let member = value[property.name] else { continue }
        if let hint = property.schema.hint(in: member, at: "\(path).\(property.name)", now: now) { return hint }
      }
      return nil
    case .anything, .string, .choice, .integer, .number, .boolean: return nil
    }
  }

  private static func problem(inElements value: JSONValue, of element: ContentStateSchema, at path: String) -> String? {
    guard let elements = value.arrayValue else { return "\(path) must be an array, not \(value.kindName)" }
    for (index, value) in elements.enumerated() {
      if let problem = element.problem(in: value, at: "\(path)[\(index)]") { return problem }
    }
    return nil
  }

  private static func problem(inMembers value: JSONValue, of properties: [Property], at path: String) -> String? {
    guard let object = value.objectValue else { return "\(path) must be an object, not \(value.kindName)" }
    for property in properties {
      if let member = object[property.name], !member.isNull {
        if let problem = property.schema.problem(in: member, at: "\(path).\(property.name)") { return problem }
      } else if property.isRequired {
        let hint = nearestName(to: property.name, among: object.keys).map { "; is \($0) meant for it?" } ?? ""
        return "\(path).\(property.name) is missing\(hint)"
      }
    }
    return nil
  }
}
