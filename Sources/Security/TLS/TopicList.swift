/// The content of Apple's extension 1.2.840.113635.100.6.3.6 in DER (ITU-T X.690): a SEQUENCE in which each topic, a UTF8String, is
/// followed by the SEQUENCE of what it is for, UTF8Strings such as `app`, `voip` and `complication` (apns.md section 4.4).
enum TopicList {
  private static let utf8String: UInt8 = 0x0C
  private static let sequence: UInt8 = 0x30

  /// The topics in `der`, in their order; nil when it has another form, or more topics or longer ones than the bounds allow.
  static func read(_ der: [UInt8], topicsMax: Int, topicBytesMax: Int) -> [String]? {
    var outer = DERReader(der[...])
    guard let list = outer.take(sequence), outer.isAtEnd else { return nil }
    var items = DERReader(list)
    var topics: [String] = []
    while !items.isAtEnd {
      guard topics.count < topicsMax, let bytes = items.take(utf8String), (1...topicBytesMax).contains(bytes.count),
        let topic = String(validating: bytes, as: UTF8.self), let kinds = items.take(sequence), isListOfTexts(kinds)
      else { return nil }
      topics.append(topic)
    }
    return topics
  }

  /// The content for `topics`, each for `app`, or for what its last part says.
  static func der(_ topics: [String]) -> [UInt8] {
    let items = topics.flatMap { topic in
      let suffix = topic.split(separator: ".").last.map(String.init) ?? ""
      let kind = ["voip", "complication"].contains(suffix) ? suffix : "app"
      return value(utf8String, Array(topic.utf8)) + value(sequence, value(utf8String, Array(kind.utf8)))
    }
    return value(sequence, items)
  }

  private static func value(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
    let count = content.count
    precondition(count < 1 << 16, "no list is that long")
    let length: [UInt8] =
      count < 0x80 ? [UInt8(count)] : count < 0x100 ? [0x81, UInt8(count)] : [0x82, UInt8(count >> 8), UInt8(count & 0xFF)]
    return [tag] + length + content
  }

  private static func isListOfTexts(_ content: ArraySlice<UInt8>) -> Bool {
    var items = DERReader(content)
    while !items.isAtEnd {
      guard let text = items.take(utf8String), String(validating: text, as: UTF8.self) != nil else { return false }
    }
    return true
  }
}

/// Takes one DER value after another from bytes.
private struct DERReader {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  var isAtEnd: Bool { rest.isEmpty }

  /// The content of the next value, which must have that tag; nil when it has another, or is cut off.
  mutating func take(_ tag: UInt8) -> ArraySlice<UInt8>? {
    guard rest.popFirst() == tag, let length = takeLength(), length <= rest.count else { return nil }
    defer { rest = rest.dropFirst(length) }
    return rest.prefix(length)
  }

  /// A definite length of at most two bytes behind the first, in its shortest form (X.690 sections 8.1.3 and 10.1).
  private mutating func takeLength() -> Int? {
    guard let first = rest.popFirst() else { return nil }
    switch first {
    case 0..<0x80: return Int(first)
    case 0x81:
      guard let length = rest.popFirst(), length >= 0x80 else { return nil }
      return Int(length)
    case 0x82:
      guard let high = rest.popFirst(), let low = rest.popFirst(), high > 0 else { return nil }
      return Int(high) << 8 | Int(low)
    default: return nil
    }
  }
}
