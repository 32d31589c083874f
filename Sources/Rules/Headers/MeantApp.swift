public import Primitives
public import Push

/// The app that the topic of a refused request means, as far as that is evident.
public struct MeantApp: Hashable, Sendable {
  /// Where its bundle id stands in the topic.
  public let bundleID: ByteRange
  /// Whether pushes to it are taken here. If not, the bundle id may as well be a mistyped one.
  public let isKnown: Bool
}

extension RequestRules {
  /// The app that a refused request means: the one that its topic names, also where the suffix is wrong, there twice, or missing.
  ///
  /// Only what can be nothing else counts as a wrong suffix, since whoever sees that app will see the push: `push-type.` with whatever
  /// follows, which no bundle id holds, and a push type's name behind the bundle id of an app that is listed.
  ///
  /// - Parameters:
  ///   - topic: All of `apns-topic`, whatever it holds.
  ///   - type: The push type, where it was understood.
  public func app(meantBy topic: RawSpan, _ type: PushType?) -> MeantApp {
    if let app = listedApp(topic, TopicFamily(of: topic), type: type) { return Self.meant(app.bundleBytes, true) }
    var rest = topic
    while let inner = TopicSuffix.type(of: rest) {
      rest = rest.extracting(first: rest.byteCount - inner.topicSuffix.utf8CodeUnitCount)
      if apps.listedIndex(of: rest) != nil { return Self.meant(rest.byteCount, true) }
    }
    if let bytes = TopicSuffix.bytes(beforePushTypeIn: topic) { rest = topic.extracting(first: bytes) }
    if TopicSuffix.mayBeBundleID(rest), apps.index(of: rest) != nil { return Self.meant(rest.byteCount, true) }
    if let bytes = TopicSuffix.bytes(beforeTypeNameIn: topic), apps.listedIndex(of: topic.extracting(first: bytes)) != nil {
      return Self.meant(bytes, true)
    }
    return Self.meant(rest.byteCount, false)
  }

  /// As much of it as a log takes: a header may be longer than any topic is.
  private static func meant(_ bytes: Int, _ isKnown: Bool) -> MeantApp {
    MeantApp(bundleID: ByteRange(offset: 0, count: min(bytes, Limits.topicBytes)), isKnown: isKnown)
  }
}

extension TopicSuffix {
  /// How many bytes stand before the first `.push-type.`; nil where there is none, or nothing before it.
  fileprivate static func bytes(beforePushTypeIn topic: RawSpan) -> Int? {
    let mark: StaticString = ".push-type."
    let count = mark.utf8CodeUnitCount
    guard topic.byteCount > count else { return nil }
    return (1...topic.byteCount - count).first { topic.extracting($0..<$0 + count).equals(mark) }
  }

  /// How many bytes stand before the period and the name of a push type with a suffix, such as `.widgets`, at the end; nil without one.
  fileprivate static func bytes(beforeTypeNameIn topic: RawSpan) -> Int? {
    for type in PushType.allCases where type.topicSuffix.utf8CodeUnitCount > 0 {
      let name = ".\(type)"
      let rest = topic.byteCount - name.utf8.count
      if rest > 0, topic.extracting(last: name.utf8.count).string == name { return rest }
    }
    return nil
  }
}
