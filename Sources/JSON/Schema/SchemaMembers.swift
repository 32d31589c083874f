import Primitives

/// A part of a schema that a key of an object names.
public protocol NamedSchemaMember: Hashable, Sendable {
  /// The key.
  var name: String { get }
  /// Whether an object must have it.
  var isRequired: Bool { get }
}

/// Properties or cases in their order. Each is found by its name in a time that does not depend on how many there are: what a push costs is
/// then bounded by its own size, whatever schema somebody has set.
public struct SchemaMembers<Member: NamedSchemaMember>: RandomAccessCollection, ExpressibleByArrayLiteral, Hashable, Sendable {
  private let list: [Member]
  private let places: [String: Int]
  /// Those that an object must have, in their order.
  public let required: [Member]

  /// Those, in this order; of several with one name the first is found.
  public init(_ list: [Member]) {
    self.list = list
    places = Dictionary(list.enumerated().map { ($1.name, $0) }) { first, _ in first }
    required = list.filter(\.isRequired)
  }

  /// Those, in this order.
  public init(arrayLiteral elements: Member...) { self.init(elements) }

  /// The one of that name.
  public subscript(name: String) -> Member? { places[name].map { list[$0] } }

  /// 0.
  public var startIndex: Int { list.startIndex }
  /// Their number.
  public var endIndex: Int { list.endIndex }
  /// The one at that place.
  public subscript(position: Int) -> Member { list[position] }
}

/// The raw values of an enumeration in their order, among which one is found in a time that does not depend on how many there are.
public struct SchemaChoices<Value: Hashable & Sendable>: RandomAccessCollection, ExpressibleByArrayLiteral, Hashable, Sendable {
  private let list: [Value]
  private let all: Set<Value>

  /// Those, in this order.
  public init(_ list: [Value]) { (self.list, all) = (list, Set(list)) }

  /// Those, in this order.
  public init(arrayLiteral elements: Value...) { self.init(elements) }

  /// Whether it is one of them.
  public func contains(_ value: Value) -> Bool { all.contains(value) }

  /// 0.
  public var startIndex: Int { list.startIndex }
  /// Their number.
  public var endIndex: Int { list.endIndex }
  /// The one at that place.
  public subscript(position: Int) -> Value { list[position] }
}

extension Collection<String> {
  /// The name that `name` nearly is; nil where there is none, or there are so many that looking costs too much for each push.
  func nearest(to name: String) -> String? { count <= SchemaTexts.comparedMax ? nearestName(to: name, among: Array(self)) : nil }
}

extension Collection {
  /// The first few of names as a list for people, and how many more there are.
  var listed: String {
    let shown = prefix(SchemaTexts.namesMax).map { "\($0)" }.joined(separator: ", ")
    return count > SchemaTexts.namesMax ? "\(shown) and \(count - SchemaTexts.namesMax) more" : shown
  }
}

/// Bounds of what is said of a schema.
enum SchemaTexts {
  /// Names that a sentence lists: an enumeration may have thousands, and each refused push is told with them.
  static let namesMax = 12
  /// Names among which the nearest is looked for: each comparison takes about a microsecond.
  static let comparedMax = 200
}
