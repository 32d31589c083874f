/// A stored property.
struct SwiftProperty {
  var name: String
  var place: SourcePlace
  /// Nil where it is neither written nor to be told from the value.
  var type: SwiftType?
  var isConstant: Bool
  var hasValue: Bool
  /// A property wrapper on it.
  var wrapper: String?
}

/// A case of an enumeration.
struct SwiftCase {
  var name: String
  var place: SourcePlace
  var rawValue: SwiftToken.Kind?
  var isNegative = false
  /// The associated values with their labels; nil where there are no parentheses.
  var values: [(label: String?, type: SwiftType)]?
}

/// A struct, class or enumeration, with what its extensions add.
struct SwiftDeclaration {
  enum Kind { case structure, enumeration, other }

  var kind = Kind.other
  var path: [String]
  var place: SourcePlace
  var inherits: [SwiftType] = []
  var generics: [String] = []
  var properties: [SwiftProperty] = []
  var cases: [SwiftCase] = []
  /// Where it decodes itself by an `init(from:)`.
  var ownDecoding: SourcePlace?

  /// Whether it is said to conform to, or inherit from, that.
  func conforms(to names: String...) -> Bool { inherits.contains { $0.lastName.map(names.contains) ?? false } }
}

/// Another name for a type.
struct SwiftAlias {
  var generics: [String]
  var type: SwiftType
}

/// All that a file declares, by dotted path.
struct SwiftDeclarations {
  var types: [String: SwiftDeclaration] = [:]
  var aliases: [String: SwiftAlias] = [:]
  /// The paths in the order in which they were declared.
  var order: [String] = []

  /// Adds to the type of that path what `change` does.
  mutating func update(_ path: [String], at place: SourcePlace, _ change: (inout SwiftDeclaration) -> Void) {
    let key = path.joined(separator: ".")
    if types[key] == nil { order.append(key) }
    change(&types[key, default: SwiftDeclaration(path: path, place: place)])
  }
}

extension SwiftType {
  /// The last of its names, such as `Codable` of `Swift.Codable`.
  var lastName: String? {
    if case .named(let names, _, _) = self { names.last } else { nil }
  }
}
