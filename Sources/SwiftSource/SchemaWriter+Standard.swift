import JSON

// The types of Swift and Foundation that a schema has words for.
extension SchemaWriter {
  /// The names of those that are not generic.
  static let plainNames = plain.map(\.0)

  private static let plain: [(String, JSONObject)] = [
    ("String", ["type": "string"]), ("Bool", ["type": "boolean"]), ("Int", ["type": "integer"]), ("Int8", integer("int8")),
    ("Int16", integer("int16")), ("Int32", integer("int32")), ("Int64", ["type": "integer"]), ("UInt", integer("uint64")),
    ("UInt8", integer("uint8")), ("UInt16", integer("uint16")), ("UInt32", integer("uint32")), ("UInt64", integer("uint64")),
    ("Double", ["type": "number"]), ("Float", ["type": "number", "format": "float"]), ("Float64", ["type": "number"]),
    ("Float32", ["type": "number", "format": "float"]), ("CGFloat", ["type": "number"]), ("TimeInterval", ["type": "number"]),
    ("Decimal", ["type": "number", "format": "decimal"]), ("Date", ["type": "number", "format": "date2001"]),
    ("UUID", ["type": "string", "format": "uuid"]), ("URL", ["type": "string", "format": "url"]),
    ("Data", ["type": "string", "format": "byte"]),
  ]

  private static func integer(_ format: String) -> JSONObject { ["type": "integer", "format": .string(format)] }

  /// A type of the standard library or of Foundation; nil where it is none that is known.
  mutating func standard(_ name: String, _ arguments: [SwiftType], in scope: Scope, at place: SourcePlace, level: Int) -> Written? {
    switch (name, arguments.count) {
    case ("Optional", 1): return schema(of: .optional(arguments[0]), in: scope, level: level)
    case ("Array", 1), ("ContiguousArray", 1), ("ArraySlice", 1): return array(arguments[0], in: scope, isSet: false, level: level)
    case ("Set", 1): return array(arguments[0], in: scope, isSet: true, level: level)
    case ("Dictionary", 2): return dictionary(arguments[0], arguments[1], in: scope, at: place, level: level)
    case ("Range", 1), ("ClosedRange", 1): return range("range", of: arguments[0], in: scope, level: level)
    case ("PartialRangeFrom", 1), ("PartialRangeThrough", 1), ("PartialRangeUpTo", 1):
      return range("partialRange", of: arguments[0], in: scope, level: level)
    case (_, 0):
      return Self.plain.first { $0.0 == name }.map {
        Written(schema: $0.1, key: name == "String" ? .string : name == "Int" ? .integer : .other)
      }
    default: return nil
    }
  }

  mutating func array(_ element: SwiftType, in scope: Scope, isSet: Bool, level: Int) -> Written {
    var result: JSONObject = ["type": "array", "items": schema(of: element, in: scope, level: level + 1).json]
    if isSet { result["uniqueItems"] = true }
    return Written(schema: result)
  }

  private mutating func range(_ form: String, of bound: SwiftType, in scope: Scope, level: Int) -> Written {
    Written(schema: ["type": "array", "format": .string(form), "items": schema(of: bound, in: scope, level: level + 1).json])
  }

  /// With keys that are strings or integers, or `CodingKeyRepresentable`, an object; else an array of keys and values in turn.
  mutating func dictionary(_ key: SwiftType, _ value: SwiftType, in scope: Scope, at place: SourcePlace, level: Int) -> Written {
    let keys = schema(of: key, in: scope, level: level + 2)
    let values = schema(of: value, in: scope, level: level + 2).json
    switch keys.key {
    case .string: return Written(schema: ["type": "object", "additionalProperties": values])
    case .integer: return Written(schema: ["type": "object", "propertyNames": ["type": "integer"], "additionalProperties": values])
    case .representable:
      guard keys.schema["type"]?.stringValue == "string" else {
        return refuse("the keys are CodingKeyRepresentable without being strings, which a schema has no word for", at: place)
      }
      return Written(schema: ["type": "object", "propertyNames": .object(keys.schema), "additionalProperties": values])
    case .other: return Written(schema: ["type": "array", "prefixItems": [keys.json, values]])
    }
  }
}
