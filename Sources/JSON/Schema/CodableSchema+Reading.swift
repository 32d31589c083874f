import Primitives

extension CodableSchema {
  /// Keywords that say something about the value.
  public static let keywords = [
    "type", "properties", "required", "items", "enum", "format", "additionalProperties", "propertyNames", "prefixItems", "uniqueItems",
    "oneOf",
  ]
  /// Keywords that are for readers.
  public static let remarks = ["title", "description", "examples", "$schema", "$comment"]
  /// The formats, by the type that they belong to.
  public static let formats: [(type: String, names: [String])] = [
    ("integer", IntegerWidth.allCases.map(\.rawValue)),
    ("number", Fraction.allCases.map(\.rawValue) + DateForm.allCases.filter { $0 != .dateTime }.map(\.rawValue)),
    ("string", Text.allCases.map(\.rawValue) + [DateForm.dateTime.rawValue]),
    ("array", RangeForm.allCases.map(\.rawValue)),
  ]
  private static let types = ["object", "array", "string", "integer", "number", "boolean"]
  /// The type that a keyword belongs to, which it tells where none is named.
  private static let owners = [
    ("properties", "object"), ("required", "object"), ("additionalProperties", "object"), ("propertyNames", "object"), ("oneOf", "object"),
    ("items", "array"), ("prefixItems", "array"), ("uniqueItems", "array"),
  ]

  /// Reads a schema; throws for anything beyond the subset, naming the place.
  ///
  /// - Parameter path: Where the schema stands, for errors.
  public init(_ json: JSONValue, at path: String) throws(FieldError) {
    var reader = try JSONReader(json, at: path)
    for keyword in json.objectValue?.keys ?? [] where !(Self.keywords + Self.remarks).contains(keyword) {
      let hint = nearestName(to: keyword, among: Self.keywords).map { "; did you mean \"\($0)\"?" } ?? ""
      throw reader.error(
        keyword,
        "is no keyword that is understood here; those are \(Self.keywords.joined(separator: ", ")), and without effect \(Self.remarks.joined(separator: ", "))\(hint)"
      )
    }
    let format = try Self.format(&reader)
    let (type, isOptional) = try Self.type(&reader, format: format)
    let schema = try Self.schema(of: type, format: format, &reader, at: path)
    self = isOptional ? .optional(schema) : schema
  }

  /// The format, which must be a known one.
  private static func format(_ reader: inout JSONReader) throws(FieldError) -> String? {
    try reader.optionalChoice("format", of: formats.flatMap(\.names))
  }

  /// The type that is named, or that the other keywords are of, and whether `null` is named beside it.
  private static func type(_ reader: inout JSONReader, format: String?) throws(FieldError) -> (String?, isOptional: Bool) {
    guard let value = reader.optionalValue("type") else { return (told(&reader, format: format), false) }
    let names = value.arrayValue.map { $0.compactMap(\.stringValue) } ?? value.stringValue.map { [$0] } ?? []
    let isOptional = value.arrayValue != nil && names.contains("null")
    let rest = names.filter { !isOptional || $0 != "null" }
    guard rest.count == 1, types.contains(rest[0]), value.arrayValue.map({ $0.count == names.count && names.count <= 2 }) ?? true else {
      throw reader.error(
        "type", "must be one of \(types.joined(separator: ", ")), or one of them and \"null\" in a list, not \(value.serialized())")
    }
    return (rest[0], isOptional)
  }

  /// The type that the other keywords tell; nil for that of an `enum`, and where nothing is told.
  private static func told(_ reader: inout JSONReader, format: String?) -> String? {
    if reader.optionalValue("enum") != nil { return nil }
    if let format { return formats.first { $0.names.contains(format) }?.type }
    for (keyword, owner) in owners where reader.optionalValue(keyword) != nil { return owner }
    return nil
  }

  private static func schema(of type: String?, format: String?, _ reader: inout JSONReader, at path: String) throws(FieldError)
    -> CodableSchema
  {
    // One that stands at another type has been forgotten there, or would let everything pass.
    for (keyword, owner) in owners where owner != type && reader.optionalValue(keyword) != nil {
      throw reader.error(keyword, "belongs to the type \"\(owner)\", and the type is \(type.map { "\"\($0)\"" } ?? "that of enum")")
    }
    if let format, let owner = formats.first(where: { $0.names.contains(format) })?.type, owner != type {
      throw reader.error(
        "format", "\"\(format)\" belongs to the type \"\(owner)\", and the type is \(type.map { "\"\($0)\"" } ?? "that of enum")")
    }
    if let choices = reader.optionalValue("enum") { return try choice(choices, of: type, reader) }
    switch type {
    case nil: return .anything
    case "string":
      if let text = format.flatMap(Text.init) { return .text(text) }
      return format == nil ? .string : .date(.dateTime)
    case "integer": return .integer(format.flatMap(IntegerWidth.init) ?? .int64)
    case "number":
      if let date = format.flatMap(DateForm.init) { return .date(date) }
      return .number(format.flatMap(Fraction.init) ?? .double)
    case "boolean": return .boolean
    case "array": return try array(&reader, format: format, at: path)
    default: return try object(&reader, at: path)
    }
  }

  /// The raw values of a Swift enumeration.
  private static func choice(_ value: JSONValue, of type: String?, _ reader: JSONReader) throws(FieldError) -> CodableSchema {
    let elements = value.arrayValue ?? []
    let (strings, integers) = (elements.compactMap(\.stringValue), elements.compactMap(\.intValue))
    if !elements.isEmpty, strings.count == elements.count, type == nil || type == "string" { return .choice(SchemaChoices(strings)) }
    if !elements.isEmpty, integers.count == elements.count, type == nil || type == "integer" {
      return .integerChoice(SchemaChoices(integers))
    }
    throw reader.error("enum", "must be a list of strings, or of integers, as the raw values of a Swift enumeration are")
  }

  /// An array, a set, a range, or a dictionary whose keys are neither strings nor integers.
  private static func array(_ reader: inout JSONReader, format: String?, at path: String) throws(FieldError) -> CodableSchema {
    _ = try reader.optionalBool("uniqueItems")
    let items = try reader.optionalValue("items").map { value throws(FieldError) in try CodableSchema(value, at: "\(path).items") }
    if let prefix = reader.optionalValue("prefixItems") {
      guard let elements = prefix.arrayValue, elements.count == 2, items == nil, format == nil else {
        throw reader.error(
          "prefixItems", "must be a list of two schemas, of the keys and of the values that follow each other, without items and format")
      }
      return .pairs(
        try CodableSchema(elements[0], at: "\(path).prefixItems[0]"), try CodableSchema(elements[1], at: "\(path).prefixItems[1]"))
    }
    if let form = format.flatMap(RangeForm.init) {
      guard let items else {
        throw reader.error("items", "is missing; with the format \"\(form.rawValue)\" it is what each bound decodes from")
      }
      return .range(form, of: items)
    }
    return .array(items ?? .anything)
  }

  /// A struct, a dictionary, or an enumeration with associated values.
  private static func object(_ reader: inout JSONReader, at path: String) throws(FieldError) -> CodableSchema {
    let others = ["properties", "required"].filter { reader.optionalValue($0) != nil }
    if let alternatives = reader.optionalValue("oneOf") {
      try refuse(others + ["additionalProperties", "propertyNames"].filter { reader.optionalValue($0) != nil }, beside: "oneOf", reader)
      return .cases(SchemaMembers(try cases(alternatives, reader, at: "\(path).oneOf")))
    }
    if let value = reader.optionalValue("additionalProperties") {
      try refuse(others, beside: "additionalProperties", reader)
      guard value.objectValue != nil else {
        throw reader.error("additionalProperties", "must be the schema of a dictionary's values, not \(value.serialized())")
      }
      let keys = try reader.optionalValue("propertyNames").map { names throws(FieldError) in
        try CodableSchema(names, at: "\(path).propertyNames")
      }
      return .dictionary(try self.keys(keys ?? .string, reader), try CodableSchema(value, at: "\(path).additionalProperties"))
    }
    if reader.optionalValue("propertyNames") != nil { throw reader.error("propertyNames", "needs additionalProperties beside it") }
    return .object(SchemaMembers(try properties(&reader, at: path)))
  }

  private static func refuse(_ names: [String], beside other: String, _ reader: JSONReader) throws(FieldError) {
    if let name = names.first { throw reader.error(name, "cannot stand beside \(other): no Swift type has both") }
  }

  private static func keys(_ schema: CodableSchema, _ reader: JSONReader) throws(FieldError) -> Keys {
    switch schema {
    case .string: return .strings
    case .integer(.int64): return .integers
    case .choice(let names): return .choices(names)
    default: throw reader.error("propertyNames", "must be {\"type\":\"string\"}, {\"type\":\"integer\"}, or an enum of strings")
    }
  }

  /// Each alternative is an object that has one property and requires it.
  private static func cases(_ value: JSONValue, _ reader: JSONReader, at path: String) throws(FieldError) -> [Case] {
    var cases: [Case] = []
    for (index, alternative) in (value.arrayValue ?? []).enumerated() {
      let place = "\(path)[\(index)]"
      guard case .object(let properties) = try CodableSchema(alternative, at: place), properties.count == 1, properties[0].isRequired else {
        throw FieldError(
          field: place, message: "\(place) must be an object that has one property and requires it, as each case of a Swift enumeration is")
      }
      switch properties[0].schema {
      case .object(let values): cases.append(Case(name: properties[0].name, values: values))
      case .anything: cases.append(Case(name: properties[0].name, values: []))
      default:
        let place = "\(place).properties.\(properties[0].name)"
        throw FieldError(field: place, message: "\(place) must be an object with the case's values")
      }
    }
    guard !cases.isEmpty else { throw reader.error("oneOf", "must be a list with a schema for each case of a Swift enumeration") }
    return cases
  }

  private static func properties(_ reader: inout JSONReader, at path: String) throws(FieldError) -> [Property] {
    let required = try reader.optionalStrings("required") ?? []
    let isRequired = Set(required)
    var members: [Property] = []
    if let properties = reader.optionalValue("properties") {
      guard let object = properties.objectValue else { throw reader.error("properties", "must be an object") }
      for (name, value) in object {
        let schema = try CodableSchema(value, at: "\(path).properties.\(name)")
        members.append(Property(name: name, schema: schema, isRequired: isRequired.contains(name)))
      }
    }
    let names = Set(members.map(\.name))
    let others = required.filter { !names.contains($0) }
    // A misspelt name would have every push refused.
    if let name = others.first, let near = nearestName(to: name, among: members.filter { !$0.isRequired }.map(\.name)) {
      throw reader.error("required", "has \"\(name)\", which properties does not have; did you mean \"\(near)\"?")
    }
    members += others.map { Property(name: $0, schema: .anything, isRequired: true) }
    return members
  }
}
