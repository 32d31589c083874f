import Primitives
import Push

/// The suffixes that a topic may have after the bundle id (apns.md section 3).
enum TopicSuffix {
  /// The type whose suffix `topic` ends with, after at least one other byte; nil when it has none.
  static func type(of topic: RawSpan) -> PushType? {
    if hasSuffix(topic, .widgets) { return .widgets }
    if hasSuffix(topic, .liveactivity) { return .liveactivity }
    if hasSuffix(topic, .controls) { return .controls }
    if hasSuffix(topic, .voip) { return .voip }
    if hasSuffix(topic, .pushtotalk) { return .pushtotalk }
    if hasSuffix(topic, .complication) { return .complication }
    if hasSuffix(topic, .fileprovider) { return .fileprovider }
    return hasSuffix(topic, .location) ? .location : nil
  }

  /// Whether `text` could be the bundle id of an app that is not listed: letters, digits, hyphens, periods and underscores, and
  /// no suffix of a push type within.
  static func mayBeBundleID(_ text: RawSpan) -> Bool {
    for index in 0..<text.byteCount {
      switch text.byte(index) {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
        break
      default: return false
      }
      if index + 10 <= text.byteCount, text.extracting(index..<index + 10).equals("push-type.") { return false }
    }
    return !text.isEmpty
  }

  private static func hasSuffix(_ topic: RawSpan, _ type: PushType) -> Bool {
    let suffix = type.topicSuffix
    return topic.byteCount > suffix.utf8CodeUnitCount && topic.extracting(last: suffix.utf8CodeUnitCount).equals(suffix)
  }
}
