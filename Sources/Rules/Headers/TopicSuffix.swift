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

/// What a topic names.
enum TopicFamily: UInt8 {
  /// An app, or what it has on a device.
  case app
  /// The passes of a pass type id (`pass.`) in Wallet, or a website (`web.`) in Safari: no push type of their own, and no suffix.
  case pass, website
  /// The UID of an MDM push certificate (`com.apple.mgmt.`).
  case management

  static let managementPrefix: StaticString = "com.apple.mgmt."

  /// The family of `topic`. The bundle id of an app may begin as a pass type id does; a suffix that only apps have tells it.
  init(of topic: RawSpan) {
    if Self.begins(topic, "pass.") || Self.begins(topic, "web.") {
      switch TopicSuffix.type(of: topic) {
      case .widgets, .controls, .liveactivity: self = .app
      default: self = topic.byte(0) == UInt8(ascii: "p") ? .pass : .website
      }
    } else {
      self = Self.begins(topic, Self.managementPrefix) ? .management : .app
    }
  }

  private static func begins(_ topic: RawSpan, _ prefix: StaticString) -> Bool {
    topic.byteCount > prefix.utf8CodeUnitCount && topic.extracting(first: prefix.utf8CodeUnitCount).equals(prefix)
  }
}
