// What stands in the way of a type's schema, and types that are represented by others.
extension SchemaWriter {
  /// Why the source does not show what a type decodes from, and where; nil where it does.
  func obstacle(of type: SwiftDeclaration) -> (message: String, place: SourcePlace)? {
    let name = type.name
    if let own = type.ownDecoding {
      return ("\(name) has an init(from:) of its own, and what that reads is not seen here; write its schema by hand", own)
    }
    if let unseen = type.unseen { return (unseen.message, unseen.place) }
    let conformances = declarations.conformances(of: type)
    if let superclass = superclass(of: type, conformances) { return superclass }
    for one in conformances.protocols {
      guard let own = one.ownDecoding ?? one.unseen?.place else { continue }
      return ("\(name) decodes by the init(from:) of \(one.name), and what that reads is not seen here; write its schema by hand", own)
    }
    for container in ["KeyedDecodingContainer", "KeyedDecodingContainerProtocol"] {
      guard let extended = declarations.types[container] else { continue }
      return (
        "an extension of \(container) may change what types decode from, and is not followed; write the schemas by hand", extended.place
      )
    }
    if !conformances.mayDecode {
      return (
        "\(name) is not said to be Codable in this file, and what another file makes it decode from is not seen here; declare it as \(name): Codable",
        type.place
      )
    }
    return nil
  }

  /// A class decodes by the `init(from:)` of its superclass, which does not know its properties.
  private func superclass(of type: SwiftDeclaration, _ conformances: SwiftConformances) -> (message: String, place: SourcePlace)? {
    guard type.kind == .reference else { return nil }
    if let superclass = conformances.superclasses.first {
      return (
        "\(type.name) inherits from the class \(superclass.name), whose init(from:) reads none of its properties; put all of them into one struct",
        type.place
      )
    }
    guard let first = type.inherits.first?.lastName, let unknown = conformances.unknown.first,
      unknown.name.split(separator: ".").last ?? "" == first
    else { return nil }
    return (
      "\(unknown.name) is not known here; where it is a class, \(type.name) decodes by its init(from:), so put all properties into one struct",
      unknown.place
    )
  }

  /// Types whose values `RawRepresentable` decodes from by itself; with any other, the compiler makes an object of the properties.
  private static let rawTypes: Set<String> = [
    "Bool", "String", "Double", "Float", "Float64", "Float32", "TimeInterval", "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8",
    "UInt16", "UInt32", "UInt64",
  ]

  /// A struct or class that a raw value stands for.
  mutating func represented(_ type: SwiftDeclaration, _ scope: Scope, level: Int) -> Written {
    guard let raw = (type.properties.first { $0.name == "rawValue" } ?? type.computed["rawValue"])?.type else {
      return refuse(
        "\(type.name) is RawRepresentable, and no type of a rawValue is seen here; write var rawValue: Type within it", at: type.place)
    }
    guard case .foreign(let name, _) = declarations.followed(raw, from: type.path), Self.rawTypes.contains(name) else {
      return structure(type, scope, level: level)
    }
    if let place = type.failableRawInit {
      return refuse(
        "the init?(rawValue:) of \(type.name) may refuse values, and which is not seen here; write its schema by hand", at: place)
    }
    return schema(of: raw, in: scope, level: level)
  }

  /// What the keys of a type's members are: those that it names, or else the names of the members.
  struct Keys {
    var named: [String: String]?

    /// The key of a member; nil for one that is left out.
    func key(of member: String) -> String? { if let named { named[member] } else { member } }
  }

  /// The keys of a type; nil where they are not understood, which is told.
  mutating func codingKeys(_ name: String, of type: SwiftDeclaration) -> Keys? {
    let key = (type.path + [name]).joined(separator: ".")
    guard let keys = declarations.types[key], keys.kind != .extended else {
      if let alias = declarations.aliases[key] {
        refuse("\(name) stands for another type, which is not followed; declare it as an enum", at: alias.place)
        return nil
      }
      return Keys()
    }
    guard keys.kind == .enumeration else {
      refuse("\(key) is no enum, and its keys are not known here; write the schema by hand", at: keys.place)
      return nil
    }
    if let own = keys.computed["stringValue"] ?? keys.computed["rawValue"] {
      refuse("\(key) makes its keys itself, and what they are is not seen here; write the schema by hand", at: own.place)
      return nil
    }
    count(keys.cases.count)
    var result: [String: String] = [:]
    for one in keys.cases {
      switch one.rawValue {
      case .string(let text?): result[one.name] = text
      case .string(nil), .mark, .word, .quotedName, .regularExpression, .directive:
        refuse("the key of \(key).\(one.name) is not understood; write it as a string on one line", at: one.place)
        return nil
      case nil, .integer, .fraction: result[one.name] = one.name
      }
    }
    return Keys(named: result)
  }

  // MARK: Types of values

  /// Members of known types that are of the same type.
  private static let constants: Set<String> = [
    "now", "distantPast", "distantFuture", "zero", "max", "min", "pi", "infinity", "greatestFiniteMagnitude", "leastNormalMagnitude",
  ]

  /// The type of a call or a member, as far as it can be told: any other function or property may give whatever it likes.
  func told(_ names: [String], _ arguments: [SwiftType], _ form: SwiftType.ToldForm, in scope: Scope, at place: SourcePlace) -> SwiftType? {
    let type = SwiftType.named(names, arguments: arguments, place)
    switch (declarations.followed(type, from: scope.path), form) {
    case (.declared(let found), .member(let name)): return found.cases.contains { $0.name == name && $0.values == nil } ? type : nil
    case (.declared(let found), .call(let hasArguments)):
      let canFail = found.failableInit != nil || found.failableRawInit != nil || found.kind == .enumeration && hasArguments
      return canFail ? nil : type
    case (.foreign(let name, _), .member(let member)): return Self.plainNames.contains(name) && Self.constants.contains(member) ? type : nil
    // With arguments the initializers of many types may fail.
    case (.foreign(let name, _), .call(let hasArguments)): return !hasArguments || name == "Date" ? type : nil
    case (.other, .call(hasArguments: false)): return type
    case (.other, _): return nil
    }
  }
}

extension SwiftDeclarations {
  /// Whether a type declares a `ContentState`, or another name of it.
  func hasContentState(_ type: SwiftDeclaration) -> Bool {
    let name = (type.path + ["ContentState"]).joined(separator: ".")
    return types[name].map { $0.kind != .extended } ?? false || aliases[name] != nil
  }
}
