/// A value in a YAML document, with the place where it begins.
public struct YAMLNode: Hashable, Sendable {
  /// One key with its value.
  public struct Entry: Hashable, Sendable {
    /// The key.
    public var key: String
    /// Where the key stands.
    public var keyMark: YAMLMark
    /// The value.
    public var value: YAMLNode

    /// An entry with these values.
    public init(key: String, keyMark: YAMLMark, value: YAMLNode) {
      self.key = key
      self.keyMark = keyMark
      self.value = value
    }
  }

  /// What a value is.
  public indirect enum Content: Hashable, Sendable {
    /// Text; what it means (a number, a date, nothing) is the reader's to say. `isPlain` when it stands without quotes.
    case scalar(String, isPlain: Bool)
    /// A list.
    case sequence([YAMLNode])
    /// Keys with values, in their order; no key comes twice.
    case mapping([Entry])
  }

  /// What the value is.
  public var content: Content
  /// Where it begins.
  public var mark: YAMLMark

  /// A value at `mark`.
  public init(_ content: Content, at mark: YAMLMark) {
    self.content = content
    self.mark = mark
  }

  /// Whether it is nothing: an empty plain scalar, `~` or `null`.
  public var isNull: Bool {
    guard case .scalar(let text, isPlain: true) = content else { return false }
    return ["", "~", "null", "Null", "NULL"].contains(text)
  }

  /// The value under `key`, where this is a mapping that has it.
  public subscript(key: String) -> YAMLNode? {
    guard case .mapping(let entries) = content else { return nil }
    return entries.first { $0.key == key }?.value
  }

  /// What it is, for an error: `a list`.
  public var kind: String {
    switch content {
    case .scalar: isNull ? "nothing" : "a single value"
    case .sequence: "a list"
    case .mapping: "a mapping"
    }
  }
}
