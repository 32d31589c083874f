import JSON
import Primitives
import Push

/// What one pass over a payload finds, as plain values; what it means is for the rules of each push type.
struct PayloadFacts {
  /// One value of `aps`.
  struct Value {
    /// Nil when the key is absent.
    var kind: JSONKind?
    /// A string between its quotes, or a number, as written.
    var text = ByteRange.empty
    /// A number's value.
    var number = 0.0

    /// Whether the key is there with anything but `null`.
    var isPresent: Bool { kind != nil && kind != .null }
  }

  /// The kind of the whole body.
  var root: JSONKind
  /// The kind of `aps`; nil when it is absent.
  var aps: JSONKind?
  /// Whether there are keys beside `aps`.
  var hasCustomKeys = false
  /// Whether `aps` has keys that no push type knows.
  var hasUnknownKeys = false
  /// The event that `event` names exactly, else `none`.
  var event = ActivityEvent.none

  private var values = InlineArray<23, Value>(repeating: Value())

  /// The value of `key` in `aps`.
  subscript(key: APSKey) -> Value { values[Int(key.rawValue)] }

  /// Reads `body`; throws when it is not one strict JSON value.
  init(_ body: RawSpan) throws(JSONError) {
    var scanner = JSONScanner(body, depthMax: Limits.jsonDepth)
    root = try scanner.kind()
    if root == .object { try readRoot(&scanner) } else { try scanner.skipValue() }
    try scanner.finish()
  }

  private mutating func readRoot(_ scanner: inout JSONScanner) throws(JSONError) {
    try scanner.beginObject()
    while let key = try scanner.nextKey() {
      guard scanner.matches(key, "aps") else {
        hasCustomKeys = true
        try scanner.skipValue()
        continue
      }
      aps = try scanner.kind()
      if aps == .object { try readAPS(&scanner) } else { try scanner.skipValue() }
    }
  }

  private mutating func readAPS(_ scanner: inout JSONScanner) throws(JSONError) {
    try scanner.beginObject()
    while let text = try scanner.nextKey() {
      guard let key = APSKey(text, in: scanner) else {
        hasUnknownKeys = true
        try scanner.skipValue()
        continue
      }
      var value = Value(kind: try scanner.kind())
      switch value.kind {
      case .string:
        let string = try scanner.readString()
        value.text = string.range
        if key == .event { event = Self.event(string, scanner) }
      case .number:
        let number = try scanner.readNumber()
        value.text = number.range
        value.number = scanner.double(of: number)
      default: try scanner.skipValue()
      }
      values[Int(key.rawValue)] = value
    }
  }

  private static func event(_ text: JSONText, _ scanner: borrowing JSONScanner) -> ActivityEvent {
    if scanner.matches(text, ActivityEvent.update.text) { return .update }
    if scanner.matches(text, ActivityEvent.start.text) { return .start }
    return scanner.matches(text, ActivityEvent.end.text) ? .end : .none
  }
}
