/// The members of a JSON object, in the order in which they were written; each key stands once.
///
/// Two objects are equal when they have the same members, in whatever order.
public struct JSONObject: Sendable {
  /// The keys in order.
  public private(set) var keys: [String] = []
  private var values: [String: JSONValue] = [:]

  /// An object without members.
  public init() {}

  /// An object with these members; a later one replaces an earlier one of the same key.
  public init(_ members: some Sequence<(String, JSONValue)>) {
    for (key, value) in members { self[key] = value }
  }

  /// How many members there are.
  public var count: Int { keys.count }

  /// Whether there are no members.
  public var isEmpty: Bool { keys.isEmpty }

  /// The value of `key`; assigning replaces it in place, appends it at the end, or with nil removes it.
  public subscript(key: String) -> JSONValue? {
    get { values[key] }
    set {
      if let newValue {
        if values.updateValue(newValue, forKey: key) == nil { keys.append(key) }
      } else if values.removeValue(forKey: key) != nil {
        keys.removeAll { $0 == key }
      }
    }
  }

  /// Appends a member; false, without a change, when the key exists.
  mutating func insert(_ key: String, _ value: JSONValue) -> Bool {
    guard values[key] == nil else { return false }
    self[key] = value
    return true
  }
}

extension JSONObject: Hashable {
  /// Whether both have the same members.
  public static func == (a: JSONObject, b: JSONObject) -> Bool { a.values == b.values }

  /// Feeds the members to `hasher`, without their order.
  public func hash(into hasher: inout Hasher) { hasher.combine(values) }
}

extension JSONObject: Sequence {
  /// The members in order.
  public func makeIterator() -> AnyIterator<(key: String, value: JSONValue)> {
    var index = 0
    return AnyIterator { [keys, values] in
      guard index < keys.count else { return nil }
      defer { index += 1 }
      return (keys[index], values[keys[index]]!)
    }
  }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
  /// The object with the literal's members.
  public init(dictionaryLiteral elements: (String, JSONValue)...) { self.init(elements) }
}
