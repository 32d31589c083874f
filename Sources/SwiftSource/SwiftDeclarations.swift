/// A stored property.
struct SwiftProperty {
  var name: String
  var place: SourcePlace
  /// Nil where it is neither written nor to be told from the value.
  var type: SwiftType?
  var isConstant: Bool
  var hasValue: Bool
  /// A property wrapper or macro on it.
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

/// A struct, class, enumeration or protocol, with what its extensions add.
struct SwiftDeclaration {
  enum Kind {
    case structure, reference, enumeration, actor, protocolType
    /// One that is declared elsewhere, and extended here.
    case extended
  }

  var kind = Kind.extended
  var path: [String]
  var place: SourcePlace
  /// What its own clause names, in order.
  var inherits: [SwiftType] = []
  /// What its extensions name.
  var extensions: [SwiftType] = []
  var generics: [String] = []
  var properties: [SwiftProperty] = []
  /// Computed properties that decoding may go by, such as `rawValue`.
  var computed: [String: SwiftProperty] = [:]
  var cases: [SwiftCase] = []
  /// Each `init(from:)` of one parameter.
  var decodingInits: [DecodingInit] = []
  /// Where it decodes itself by an `init(from:)`.
  var ownDecoding: SourcePlace?
  /// An `init(rawValue:)` that may fail.
  var failableRawInit: SourcePlace?
  /// Any other initializer that may fail.
  var failableInit: SourcePlace?
  /// Why its source does not show what it decodes from, such as a macro.
  var unseen: SourceProblem?

  struct DecodingInit {
    /// What its parameter is, or must conform to.
    var type: SwiftType
    var isGeneric: Bool
    var place: SourcePlace
  }

  var name: String { path.joined(separator: ".") }
}

/// Another name for a type.
struct SwiftAlias {
  var generics: [String]
  var type: SwiftType
  var place: SourcePlace
}

/// All that a file declares, by dotted path.
struct SwiftDeclarations {
  var types: [String: SwiftDeclaration] = [:]
  var aliases: [String: SwiftAlias] = [:]
  /// The paths in the order in which they were declared.
  var order: [String] = []
  /// Why the whole file is not read as a compiler would read it.
  var problems: [SourceProblem] = []

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
