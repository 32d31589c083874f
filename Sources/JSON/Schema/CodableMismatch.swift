public import Primitives

/// What stands between a value and what a Swift type makes of it.
public struct CodableMismatch: Hashable, Sendable {
  /// What comes of it.
  public enum Consequence: Hashable, Sendable {
    /// The decoder fails.
    case fails
    /// It decodes, into another date than was meant.
    case misreads
    /// It decodes, and a key that is nearly the name of an optional property goes unread.
    case leavesUnread
  }

  /// The value at fault, such as `aps.content-state.eta`.
  public var path: String
  /// What is wrong and what would be right, as a sentence that begins with the path, without a period.
  public var message: String
  /// What comes of it.
  public var consequence = Consequence.fails

  /// Whether the value decodes, though hardly into what was meant.
  public var isDecodable: Bool { consequence != .fails }

  /// Mismatches of one value that are looked for where not all are asked for: a payload has room for some thousand.
  public static let countMax = 100
  /// Mismatches that say what may have been meant: at least as many as sentences name.
  static let hintsMax = 5
}

extension [CodableMismatch] {
  /// All of them as one sentence without a period: the first few, and how many more there are.
  ///
  /// - Parameters:
  ///   - named: The most that are named.
  ///   - bytesMax: The bytes that those may take together; the first is named whatever it takes.
  public func sentence(naming named: Int, bytesMax: Int) -> String {
    var text = ""
    for (index, mismatch) in enumerated() {
      let isRoom = index == 0 || (index < named && text.utf8.count + mismatch.message.utf8.count + 24 <= bytesMax)
      guard isRoom else { return text + "; and \(count < CodableMismatch.countMax ? "" : "at least ")\(count - index) more" }
      text += index == 0 ? mismatch.message : "; and \(mismatch.message)"
    }
    return text
  }
}

extension CodableSchema {
  /// Why a default `JSONDecoder` would fail on `value`; nil when it would not.
  public func problem(in value: JSONValue, at path: String) -> CodableMismatch? {
    var judge = CodableJudge(now: nil, countMax: 1)
    judge.judge(value, by: self, at: path)
    return judge.found.first
  }

  /// Everything that stands between `value` and what it decodes into, in the order of the value.
  ///
  /// - Parameters:
  ///   - path: Where the value stands.
  ///   - now: The time, of which dates are expected to be near.
  ///   - notesNearMisses: Whether keys that nearly name an absent optional property are told of the object at that path.
  public func mismatches(
    in value: JSONValue, at path: String, now: Instant, notesNearMisses: @escaping (String) -> Bool = { _ in false }
  ) -> [CodableMismatch] {
    var judge = CodableJudge(now: now, countMax: .max, notesNearMisses: notesNearMisses)
    judge.judge(value, by: self, at: path)
    return judge.found
  }
}
