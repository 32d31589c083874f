import JSON
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

    /// What is not understood, which lets everything pass: it may be optional as well.
    static let anything = Written(schema: ["$comment": "not understood"], isOptional: true)
  }

  /// Where a type is written: the declarations around it, and what their generic parameters stand for.
  struct Scope {
    var path: [String]
    /// By the path of the declaration that has the parameter, and its name.
    var parameters: [String: Argument] = [:]
  }

  /// What a generic parameter stands for: a type, and where it is written.
  struct Argument {
    var type: SwiftType
    var scope: Scope
    /// The types that were being written there.
    var open: [String]
    /// Whether it is that of another name, which stands for the type itself. That of a type is unknown to the compiler within it.
    var isTransparent: Bool
  }

  let declarations: SwiftDeclarations
  private(set) var problems: [SourceProblem] = []
  /// Where a type is neither of the file nor known.
  var unknownPlaces: Set<SourcePlace> = []
  /// Types that are being written, of which none may hold itself.
  private var open: [String] = []
  /// Values and cases that the schemas so far describe.
  private var written = 0

  init(_ declarations: SwiftDeclarations) { self.declarations = declarations }

  /// Whether a problem at that place would be new, and there is room for it.
  func tells(at place: SourcePlace) -> Bool {
    problems.count < Limits.swiftSourceProblems && !problems.contains { $0.place == place }
  }

  /// Notes what is not understood, once for each place.
  @discardableResult mutating func refuse(_ message: @autoclosure () -> String, at place: SourcePlace) -> Written {
    if tells(at: place) { problems.append(SourceProblem(place: place, message: message())) }
    return .anything
  }

  /// Counts values of which each costs time and bytes.
  mutating func count(_ values: Int) { written += values }

  /// The schema of an attributes type itself.
  mutating func schema(of type: SwiftDeclaration) -> JSONValue {
    return declared(type, Scope(path: type.path), at: type.place, level: 1).json
  }

  /// The schema of the `ContentState` of an attributes type, or that an extension of one of its protocols gives it.
  mutating func contentState(of type: SwiftDeclaration) -> JSONValue? {
    let owners = [type] + declarations.conformances(of: type).protocols
    guard let owner = owners.first(where: { declarations.hasContentState($0) }) else {
      refuse("\(type.name) has no ContentState in this file; declare it within the struct or an extension of it", at: type.place)
      return nil
    }
    let written = schema(of: .named(["ContentState"], arguments: [], type.place), in: Scope(path: owner.path), level: 1)
    if let kind = written.schema["type"]?.stringValue, kind != "object" {
      return refuse(
        "\(owner.name).ContentState decodes from a JSON \(kind), and a content-state is an object; use a struct", at: owner.place
      ).json
    }
    return written.json
  }

  // MARK: Types as they are written

  /// - Parameter level: How many objects and arrays of the schema are open where this one stands, itself among them.
  mutating func schema(of type: SwiftType, in scope: Scope, level: Int) -> Written {
    written += 1
    switch type {
    case .other(let words, let place): return refuse("\(words) does not decode; use a struct, an array or a dictionary", at: place)
    case .tuple(_, let place): return refuse("a tuple does not decode; use a struct, an array or a dictionary", at: place)
    case .composition(_, let place):
      return refuse("a composition of protocols does not decode; use a struct, an array or a dictionary", at: place)
    case .optional(let wrapped):
      var result = schema(of: wrapped, in: scope, level: level)
      result.isOptional = true
      result.key = .other
      return result
    case .array(let element): return array(element, in: scope, isSet: false, level: level)
    case .dictionary(let key, let value, let place): return dictionary(key, value, in: scope, at: place, level: level)
    case .told(let names, let arguments, let form, let place):
      return told(names, arguments, form, in: scope, at: place).map { schema(of: $0, in: scope, level: level) }
        ?? refuse("the type is not written and cannot be told from this value; write it, as var name: Type = …", at: place)
    case .named(let names, let arguments, let place):
      guard level <= Limits.swiftSourceSchemaDepth else {
        return refuse(
          "the schema would be nested deeper than \(Limits.swiftSourceSchemaDepth) levels here, and JSON is read to \(JSONValue.depthMax); put fewer types within each other",
          at: place)
      }
      guard written <= Limits.swiftSourceSchemas else {
        return refuse(
          "the types from here on are too many: the schemas of one file describe \(Limits.swiftSourceSchemas) values and cases; write them by hand",
          at: place)
      }
      return named(names, arguments, in: scope, at: place, level: level)
    }
  }

  private mutating func named(_ names: [String], _ arguments: [SwiftType], in scope: Scope, at place: SourcePlace, level: Int) -> Written {
    let name = names.joined(separator: ".")
    switch declarations.meaning(of: names, from: scope.path) {
    case .parameter(let owner): return parameter(names[0], of: owner.joined(separator: "."), in: scope, at: place, level: level)
    case .type(let type):
      guard type.kind == .structure || type.kind == .reference || type.kind == .enumeration else {
        return refuse(
          "\(name) is \(type.kind == .actor ? "an actor" : "a protocol"), into which nothing decodes; use a struct or an enum", at: place)
      }
      guard let inner = inner(type.path, type.generics, arguments, scope, isAlias: false, at: place) else { return .anything }
      return declared(type, inner, at: place, level: level)
    case .alias(let alias, let path):
      let key = path.joined(separator: ".")
      guard !open.contains(key) else { return refuse("\(name) stands for itself", at: place) }
      guard var inner = inner(path, alias.generics, arguments, scope, isAlias: true, at: place) else { return .anything }
      open.append(key)
      defer { open.removeLast() }
      inner.path = alias.generics.isEmpty ? Array(path.dropLast()) : path
      return schema(of: alias.type, in: inner, level: level + 1)
    case nil:
      let plain = SwiftDeclarations.plain(names)
      if plain.count == 1, let known = standard(plain[0], arguments, in: scope, at: place, level: level) { return known }
      return unknown(name, arguments, at: place)
    }
  }

  /// The scope within a declaration, which knows the parameters of those around it and its own.
  private mutating func inner(
    _ path: [String], _ generics: [String], _ arguments: [SwiftType], _ scope: Scope, isAlias: Bool, at place: SourcePlace
  ) -> Scope? {
    let key = path.joined(separator: ".")
    guard generics.count == arguments.count else {
      refuse("\(key) has \(generics.count) generic parameters, and \(arguments.count) are given", at: place)
      return nil
    }
    var inner = Scope(path: path)
    for count in path.indices.dropFirst() {
      let owner = path.prefix(count).joined(separator: ".")
      for name in declarations.types[owner]?.generics ?? [] { inner.parameters["\(owner) \(name)"] = scope.parameters["\(owner) \(name)"] }
    }
    for (name, type) in zip(generics, arguments) {
      inner.parameters["\(key) \(name)"] = Argument(type: type, scope: scope, open: open, isTransparent: isAlias)
    }
    return inner
  }

  private mutating func parameter(_ name: String, of owner: String, in scope: Scope, at place: SourcePlace, level: Int) -> Written {
    guard let argument = scope.parameters["\(owner) \(name)"] else {
      return refuse(
        "\(name) is a generic parameter of \(owner), and what it stands for is not told; write the type in place of it, or the schema by hand",
        at: place)
    }
    let before = open
    open = argument.open
    defer { open = before }
    let result = schema(of: argument.type, in: argument.scope, level: level + 1)
    guard result.isOptional, result.schema["type"] != nil, !argument.isTransparent else { return result }
    // A generic type asks for a value of its parameter's type even where that is optional; it may be null.
    return Written(schema: result.json.objectValue ?? result.schema, key: result.key)
  }

  // MARK: Types that are declared in the file

  mutating func declared(_ type: SwiftDeclaration, _ scope: Scope, at place: SourcePlace, level: Int) -> Written {
    if let obstacle = obstacle(of: type) { return refuse(obstacle.message, at: obstacle.place) }
    guard !open.contains(type.name) else {
      return refuse("\(type.name) holds itself, which a schema has no word for; write the schema as deep as your values are", at: place)
    }
    open.append(type.name)
    defer { open.removeLast() }
    count(type.properties.count + type.cases.count)
    let names = declarations.conformances(of: type).names
    var result: Written
    if type.kind == .enumeration {
      result = enumeration(type, scope, level: level)
    } else if !names.isDisjoint(with: ["RawRepresentable", "OptionSet"]) {
      result = represented(type, scope, level: level)
    } else {
      return structure(type, scope, level: level)
    }
    result.key = .other
    guard names.contains("CodingKeyRepresentable") else { return result }
    result.key = .representable
    guard let key = type.computed["codingKey"] else { return result }
    return refuse("\(type.name) makes its coding keys itself, and what they are is not seen here; write its schema by hand", at: key.place)
  }

  mutating func structure(_ type: SwiftDeclaration, _ scope: Scope, level: Int) -> Written {
    guard let keys = codingKeys("CodingKeys", of: type) else { return .anything }
    var members: [(String, Written)] = []
    // A constant with a value keeps it, whatever the JSON has.
    for property in type.properties where !(property.isConstant && property.hasValue) {
      guard let key = keys.key(of: property.name) else { continue }
      members.append((key, self.property(property, scope, level: level + 2)))
    }
    return object(members)
  }

  private mutating func property(_ property: SwiftProperty, _ scope: Scope, level: Int) -> Written {
    if let wrapper = property.wrapper {
      return refuse(
        "\(property.name) is wrapped by @\(wrapper), and what that decodes from is not known here; write its schema by hand",
        at: property.place)
    }
    var type = property.type
    if case .told(let names, let arguments, let form, let place)? = type { type = told(names, arguments, form, in: scope, at: place) }
    guard let type else {
      return refuse(
        "the type of \(property.name) is not written and cannot be told from its value; write var \(property.name): Type = …",
        at: property.place)
    }
    return schema(of: type, in: scope, level: level)
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
}
