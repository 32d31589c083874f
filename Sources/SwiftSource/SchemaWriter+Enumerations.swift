import JSON

// Enumerations: by raw values, or by the names of cases with their associated values.
extension SchemaWriter {
  mutating func enumeration(_ type: SwiftDeclaration, _ scope: Scope) -> Written {
    let name = type.path.joined(separator: ".")
    guard !type.cases.isEmpty else { return refuse("\(name) has no cases, so that nothing decodes into it", at: type.place) }
    guard let raw = type.inherits.first?.lastName, type.cases.allSatisfy({ $0.values == nil }) else { return casesWithValues(type, scope) }
    switch raw {
    case "String":
      var names: [JSONValue] = []
      for one in type.cases {
        switch one.rawValue {
        case nil: names.append(.string(one.name))
        case .string(let text?): names.append(.string(text))
        default: return refuse("the raw value of \(name).\(one.name) is not understood; write it as a string on one line", at: one.place)
        }
      }
      return Written(schema: ["type": "string", "enum": .array(names)])
    case "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32", "UInt64": return integers(type)
    case "Float", "Double", "Character", "CGFloat", "Float32", "Float64", "Decimal":
      return refuse("\(name) has raw values of type \(raw), which a schema has no word for", at: type.place)
    default:
      // The raw type may be given by another name.
      if type.cases.contains(where: { $0.rawValue != nil }) {
        return refuse("\(name) has raw values of type \(raw), which is not understood; use String or Int", at: type.place)
      }
      return casesWithValues(type, scope)
    }
  }

  /// A raw value that is not written is one more than that before, and at first 0.
  private mutating func integers(_ type: SwiftDeclaration) -> Written {
    var (values, next): ([JSONValue], Int64?) = ([], 0)
    for one in type.cases {
      switch one.rawValue {
      case nil: break
      case .integer(let value?): next = one.isNegative ? -value : value
      default: next = nil
      }
      guard let value = next else {
        return refuse("the raw value of \(type.path.joined(separator: ".")).\(one.name) is no whole number of 64 bits", at: one.place)
      }
      values.append(.integer(value))
      next = value == .max ? nil : value + 1
    }
    return Written(schema: ["type": "integer", "enum": .array(values)])
  }

  /// For each case an object with its name as the one key, as the synthesised `init(from:)` reads it.
  private mutating func casesWithValues(_ type: SwiftDeclaration, _ scope: Scope) -> Written {
    let keys = codingKeys("CodingKeys", of: type)
    var alternatives: [JSONValue] = []
    for one in type.cases {
      guard let key = keys == nil ? one.name : keys?[one.name] else { continue }
      let labels = codingKeys(one.name.prefix(1).uppercased() + one.name.dropFirst() + "CodingKeys", of: type)
      var members: [(String, Written)] = []
      for (index, value) in (one.values ?? []).enumerated() {
        let label = value.label ?? "_\(index)"
        guard let key = labels == nil ? label : labels?[label] else { continue }
        members.append((key, schema(of: value.type, in: scope)))
      }
      alternatives.append(["type": "object", "properties": .object([key: .object(object(members).schema)]), "required": [.string(key)]])
    }
    return Written(schema: ["type": "object", "oneOf": .array(alternatives)])
  }
}
