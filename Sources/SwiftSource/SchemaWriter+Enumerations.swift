import JSON

// Enumerations: by raw values, or by the names of cases with their associated values.
extension SchemaWriter {
  /// What the raw values of an enumeration are, by the first name that it inherits itself.
  private enum RawType {
    case none, strings, integers
    /// One that a schema has no word for.
    case other(String)
    case unknown(String, SourcePlace)
  }

  mutating func enumeration(_ type: SwiftDeclaration, _ scope: Scope, level: Int) -> Written {
    let name = type.name
    guard !type.cases.isEmpty else { return refuse("\(name) has no cases, so that nothing decodes into it", at: type.place) }
    if let own = type.computed["rawValue"]?.place ?? type.failableRawInit {
      return refuse("\(name) makes its raw values itself, and what they are is not seen here; write its schema by hand", at: own)
    }
    let raw = rawType(of: type)
    switch raw {
    case .strings: return strings(type)
    case .integers: return integers(type)
    case .other(let raw): return refuse("\(name) has raw values of type \(raw), which a schema has no word for", at: type.place)
    case .unknown(let raw, let place):
      return refuse(
        "\(raw) is no type of raw values, and no protocol that is known here; write \(name): String, or another raw type, with protocols behind it",
        at: place)
    case .none: break
    }
    if let one = type.cases.first(where: { $0.rawValue != nil }) {
      return refuse("\(name).\(one.name) has a raw value, and \(name) no raw type; write \(name): String, or Int, first", at: one.place)
    }
    if declarations.conformances(of: type).names.contains("RawRepresentable") {
      return refuse("\(name) makes its raw values itself, and what they are is not seen here; write its schema by hand", at: type.place)
    }
    return casesWithValues(type, scope, level: level)
  }

  /// Extensions give no raw type, and what an enumeration inherits itself names it first.
  private func rawType(of type: SwiftDeclaration) -> RawType {
    guard let first = type.inherits.first else { return .none }
    switch declarations.followed(first, from: type.path) {
    case .declared(let found) where found.kind == .protocolType: return .none
    case .declared(let found): return .other(found.name)
    case .foreign(let name, let place):
      switch name {
      case "String": return .strings
      case "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32", "UInt64": return .integers
      case "Float", "Double", "Character", "CGFloat", "Float32", "Float64", "TimeInterval", "Decimal", "Bool": return .other(name)
      case _ where SwiftConformances.known.contains(name): return .none
      default: return .unknown(name, place)
      }
    case .other(.composition): return .none
    case .other(let type):
      if case .named(let names, _, let place) = type { return .unknown(names.joined(separator: "."), place) }
      return .other("that is not understood")
    }
  }

  private mutating func strings(_ type: SwiftDeclaration) -> Written {
    var names: [JSONValue] = []
    for one in type.cases {
      switch one.rawValue {
      case nil: names.append(.string(one.name))
      case .string(let text?): names.append(.string(text))
      default:
        return refuse("the raw value of \(type.name).\(one.name) is not understood; write it as a string on one line", at: one.place)
      }
    }
    return Written(schema: ["type": "string", "enum": .array(names)])
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
        return refuse("the raw value of \(type.name).\(one.name) is no whole number of 64 bits", at: one.place)
      }
      values.append(.integer(value))
      next = value == .max ? nil : value + 1
    }
    return Written(schema: ["type": "integer", "enum": .array(values)])
  }

  /// For each case an object with its name as the one key, as the synthesised `init(from:)` reads it.
  private mutating func casesWithValues(_ type: SwiftDeclaration, _ scope: Scope, level: Int) -> Written {
    guard let keys = codingKeys("CodingKeys", of: type) else { return .anything }
    var alternatives: [JSONValue] = []
    for one in type.cases {
      guard let key = keys.key(of: one.name) else { continue }
      guard let labels = codingKeys(one.name.prefix(1).uppercased() + one.name.dropFirst() + "CodingKeys", of: type) else {
        return .anything
      }
      var members: [(String, Written)] = []
      for (index, value) in (one.values ?? []).enumerated() {
        let label = value.label ?? "_\(index)"
        guard let key = labels.key(of: label) else { continue }
        members.append((key, schema(of: value.type, in: scope, level: level + 6)))
      }
      alternatives.append(["type": "object", "properties": .object([key: .object(object(members).schema)]), "required": [.string(key)]])
    }
    return Written(schema: ["type": "object", "oneOf": .array(alternatives)])
  }
}
