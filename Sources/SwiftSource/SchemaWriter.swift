import JSON
import Primitives
import Push

/// Writes the schemas of types: it knows what the synthesised `init(from:)` of each reads.
struct SchemaWriter {
  /// What a type decodes from, and whether it is optional.
  struct Written {
    var schema: JSONObject
    var isOptional = false
    /// What a dictionary makes of it as a key.
    var key = Key.other

    enum Key { case string, integer, representable, other }

    /// The schema where an optional stands alone, such as in an array.
    var json: JSONValue {
      guard isOptional, let type = schema["type"]?.stringValue else { return .object(schema) }
      var result = schema
      result["type"] = .array([.string(type), "null"])
      return .object(result)
    }

    static let anything = Written(schema: ["$comment": "not understood"])
  }

  /// Where a type is written: the declarations around it, and what their generic parameters stand for.
  struct Scope {
    var path: [String]
    var parameters: [String: Written] = [:]
  }

  let declarations: SwiftDeclarations
  var problems: [SourceProblem] = []
  /// Types that are being written, of which none may hold itself.
  private var open: [String] = []
  private var written = 0

  init(_ declarations: SwiftDeclarations) { self.declarations = declarations }

  /// Notes what is not understood, once for each place.
  mutating func refuse(_ message: String, at place: SourcePlace) -> Written {
    if problems.count < Limits.swiftSourceProblems, !problems.contains(where: { $0.place == place }) {
      problems.append(SourceProblem(place: place, message: message))
    }
    return .anything
  }

  /// The schema of an attributes type itself.
  mutating func schema(of type: SwiftDeclaration) -> JSONValue {
    written = 0
    return declared(type, Scope(path: type.path), at: type.place).json
  }

  /// The schema of the `ContentState` of an attributes type.
  mutating func contentState(of type: SwiftDeclaration) -> JSONValue? {
    let name = (type.path + ["ContentState"]).joined(separator: ".")
    guard declarations.types[name] != nil || declarations.aliases[name] != nil else {
      _ = refuse(
        "\(type.path.joined(separator: ".")) has no ContentState in this file; declare it within the struct or an extension of it",
        at: type.place)
      return nil
    }
    written = 0
    return schema(of: .named(["ContentState"], arguments: [], type.place), in: Scope(path: type.path)).json
  }

  // MARK: Types as they are written

  mutating func schema(of type: SwiftType, in scope: Scope, depth: Int = 0) -> Written {
    written += 1
    switch type {
    case .other(let words, let place): return refuse("\(words) does not decode; use a struct, an array or a dictionary", at: place)
    case .optional(let wrapped):
      var result = schema(of: wrapped, in: scope, depth: depth + 1)
      result.isOptional = true
      result.key = .other
      return result
    case .array(let element): return array(element, in: scope, isSet: false, depth: depth)
    case .dictionary(let key, let value, let place): return dictionary(key, value, in: scope, at: place, depth: depth)
    case .named(let names, let arguments, let place):
      guard written <= Limits.swiftSourceSchemas, depth <= Limits.swiftSourceDepth else {
        return refuse("the types from here on are nested too deep or too often for one schema; write it by hand", at: place)
      }
      return named(names, arguments, in: scope, at: place, depth: depth)
    }
  }

  private mutating func named(_ names: [String], _ arguments: [SwiftType], in scope: Scope, at place: SourcePlace, depth: Int) -> Written {
    if names.count == 1, let parameter = scope.parameters[names[0]] { return parameter }
    if let found = lookUp(names, from: scope.path) {
      let own = declarations.types[found.key]?.generics ?? declarations.aliases[found.key]?.generics ?? []
      guard own.count == arguments.count else {
        return refuse("\(names.joined(separator: ".")) has \(own.count) generic parameters, and \(arguments.count) are given", at: place)
      }
      var inner = Scope(path: found.path, parameters: scope.parameters)
      for (name, argument) in zip(own, arguments) { inner.parameters[name] = schema(of: argument, in: scope, depth: depth + 1) }
      if let type = declarations.types[found.key] {
        return declared(type, inner, at: place)
      }
      guard let alias = declarations.aliases[found.key], !open.contains(found.key) else {
        return refuse("\(names.joined(separator: ".")) stands for itself", at: place)
      }
      open.append(found.key)
      defer { open.removeLast() }
      inner.path = Array(found.path.dropLast())
      return schema(of: alias.type, in: inner, depth: depth + 1)
    }
    let plain = names.count > 1 && ["Swift", "Foundation", "CoreFoundation"].contains(names[0]) ? Array(names.dropFirst()) : names
    guard plain.count == 1, let known = standard(plain[0], arguments, in: scope, at: place, depth: depth) else {
      return unknown(names.joined(separator: "."), at: place)
    }
    return known
  }

  /// The declaration that a name means: the innermost that has it.
  private func lookUp(_ names: [String], from path: [String]) -> (key: String, path: [String])? {
    for count in stride(from: path.count, through: 0, by: -1) {
      let full = Array(path.prefix(count)) + names
      let key = full.joined(separator: ".")
      if let type = declarations.types[key], type.kind != .other { return (key, full) }
      if declarations.aliases[key] != nil { return (key, full) }
    }
    return nil
  }

  private mutating func unknown(_ name: String, at place: SourcePlace) -> Written {
    let known = Self.plainNames + declarations.types.keys.filter { declarations.types[$0]?.kind != .other }.sorted()
    let near = nearestName(to: name, among: known).map { "; did you mean \($0)?" } ?? ""
    let advice = near.isEmpty ? "; put its declaration into the file, or write the schema of what it decodes from by hand" : near
    return refuse(
      "\(name) is no type of this file, and none of the known ones, which are \(Self.plainNames.joined(separator: ", ")), and arrays, dictionaries, sets, ranges and optionals of these\(advice)",
      at: place)
  }

  // MARK: Types that are declared in the file

  mutating func declared(_ type: SwiftDeclaration, _ scope: Scope, at place: SourcePlace) -> Written {
    let key = type.path.joined(separator: ".")
    if let own = type.ownDecoding {
      return refuse("\(key) has an init(from:) of its own, and what that reads is not seen here; write its schema by hand", at: own)
    }
    guard !open.contains(key) else {
      return refuse("\(key) holds itself, which a schema has no word for; write the schema as deep as your values are", at: place)
    }
    open.append(key)
    defer { open.removeLast() }
    let scope = Scope(path: type.path, parameters: scope.parameters)
    if type.kind == .enumeration {
      var result = enumeration(type, scope)
      result.key = type.conforms(to: "CodingKeyRepresentable") ? .representable : .other
      return result
    }
    // A type that is represented by a raw value decodes as that.
    if type.conforms(to: "RawRepresentable", "OptionSet"), let raw = type.properties.first(where: { $0.name == "rawValue" })?.type {
      var result = schema(of: raw, in: scope)
      result.key = type.conforms(to: "CodingKeyRepresentable") ? .representable : .other
      return result
    }
    return structure(type, scope)
  }

  private mutating func structure(_ type: SwiftDeclaration, _ scope: Scope) -> Written {
    let keys = codingKeys("CodingKeys", of: type)
    var members: [(String, Written)] = []
    // A constant with a value keeps it, whatever the JSON has.
    for property in type.properties where !(property.isConstant && property.hasValue) {
      guard let key = keys == nil ? property.name : keys?[property.name] else { continue }
      members.append((key, self.property(property, scope)))
    }
    return object(members)
  }

  private mutating func property(_ property: SwiftProperty, _ scope: Scope) -> Written {
    if let wrapper = property.wrapper {
      return refuse(
        "\(property.name) is wrapped by @\(wrapper), and what that decodes from is not known here; write its schema by hand",
        at: property.place)
    }
    guard let type = property.type else {
      return refuse(
        "the type of \(property.name) is not written and cannot be told from its value; write var \(property.name): Type = …",
        at: property.place)
    }
    return schema(of: type, in: scope)
  }

  /// An object with these members, of which those that are not optional are required.
  func object(_ members: [(String, Written)]) -> Written {
    var properties: JSONObject = [:]
    var required: [JSONValue] = []
    for (key, member) in members {
      properties[key] = .object(member.schema)
      if !member.isOptional { required.append(.string(key)) }
    }
    var schema: JSONObject = ["type": "object", "properties": .object(properties)]
    if !required.isEmpty { schema["required"] = .array(required) }
    return Written(schema: schema)
  }

  /// The keys by what they stand for, where a type names them; nil where it does not.
  mutating func codingKeys(_ name: String, of type: SwiftDeclaration) -> [String: String]? {
    let key = (type.path + [name]).joined(separator: ".")
    guard let keys = declarations.types[key] else {
      if let alias = declarations.aliases[key], case .named(_, _, let place) = alias.type {
        _ = refuse("\(name) stands for another type, which is not followed; declare it as an enum", at: place)
      }
      return nil
    }
    guard keys.kind == .enumeration else {
      _ = refuse("\(key) is no enum, and its keys are not known here; write the schema by hand", at: keys.place)
      return nil
    }
    return Dictionary(
      keys.cases.map { one in
        if case .string(let text?)? = one.rawValue { return (one.name, text) }
        return (one.name, one.name)
      }, uniquingKeysWith: { first, _ in first })
  }
}
