/// An entity tag (RFC 9110 section 8.8.3), which one state of a resource has.
public struct EntityTag: Hashable, Sendable {
  /// What stands between the quotes.
  public let opaque: String
  /// Whether it says only that two states mean the same, rather than that they are the same bytes.
  public let isWeak: Bool

  /// A strong one of that text, which has neither quotes nor spaces.
  public init(_ opaque: String) { (self.opaque, isWeak) = (opaque, false) }

  private init(_ opaque: Substring, isWeak: Bool) { (self.opaque, self.isWeak) = (String(opaque), isWeak) }

  /// As it stands in `ETag`.
  public var text: String { "\(isWeak ? "W/" : "")\"\(opaque)\"" }

  /// The tags of a list such as `"a", W/"b"`, in which empty elements do no harm; nil when it is none, or names none.
  static func list(_ text: String) -> [EntityTag]? {
    var tags: [EntityTag] = []
    var rest = Substring(text)
    while true {
      rest = rest.drop { $0 == " " || $0 == "\t" || $0 == "," }
      guard !rest.isEmpty else { return tags.isEmpty ? nil : tags }
      let isWeak = rest.hasPrefix("W/")
      if isWeak { rest = rest.dropFirst(2) }
      guard rest.first == "\"" else { return nil }
      // A tag may have commas in it.
      let opaque = rest.dropFirst().prefix { $0 != "\"" }
      guard opaque.endIndex < rest.endIndex, opaque.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else { return nil }
      tags.append(EntityTag(opaque, isWeak: isWeak))
      rest = rest[opaque.endIndex...].dropFirst().drop { $0 == " " || $0 == "\t" }
      guard rest.isEmpty || rest.first == "," else { return nil }
    }
  }
}

/// What a request asks of the state of its resource before it is carried out: `If-Match` and `If-None-Match` (RFC 9110 section 13.1).
public struct EntityCondition: Sendable {
  /// How a state meets a condition.
  public enum Outcome: Sendable {
    /// The request may go on.
    case met
    /// A reader has that state already: 304.
    case notModified
    /// It is another: 412. The field that says so.
    case failed(field: String)
  }

  private enum Wanted {
    case any
    case tags([EntityTag])

    init(_ name: String, of lines: [String]) throws(ControlError) {
      let text = lines.joined(separator: ",")
      if trimmed(text) == "*" {
        self = .any
      } else if let tags = EntityTag.list(text) {
        self = .tags(tags)
      } else {
        throw .badRequest("\(name) must be * or entity tags in quotes, such as \"5f2c\", with commas between them", field: name)
      }
    }
  }

  private let match: Wanted?
  private let noneMatch: Wanted?
  private let isReading: Bool

  /// The condition of a request; throws when a field is neither `*` nor a list of entity tags.
  public init(_ request: HTTPRequest) throws(ControlError) {
    func wanted(_ name: String) throws(ControlError) -> Wanted? {
      let lines = request.fields.all(name)
      return lines.isEmpty ? nil : try Wanted(name, of: lines)
    }
    match = try wanted("if-match")
    noneMatch = try wanted("if-none-match")
    isReading = request.method == .get || request.method == .head
  }

  /// How the state with that tag meets it; nil where there is none (RFC 9110 section 13.2.2).
  public func outcome(_ current: EntityTag?) -> Outcome {
    switch match {
    case .any where current == nil: return .failed(field: "if-match")
    case .tags(let tags) where !tags.contains(where: { $0 == current && !$0.isWeak }): return .failed(field: "if-match")
    default: break
    }
    let isPresent =
      switch noneMatch {
      case nil: false
      case .any: current != nil
      case .tags(let tags): tags.contains { $0.opaque == current?.opaque }
      }
    return !isPresent ? .met : isReading ? .notModified : .failed(field: "if-none-match")
  }
}
