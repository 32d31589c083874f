import JSON
import Primitives

/// The keys of `aps` that Apple documents for the push types served, and one that is often written by mistake.
///
/// Source: Apple, "Generating a remote notification", and the pages on WidgetKit and ActivityKit push notifications.
enum APSKey: UInt8 {
  case contentChanged
  case timestamp, event, contentState, alert, staleDate, dismissalDate, relevanceScore, attributesType, attributes
  case inputPushToken, inputPushChannel
  case badge, sound, contentAvailable, mutableContent, threadID, category, targetContentID, interruptionLevel, filterCriteria, urlArgs
  /// What some libraries wrote for `event`.
  case events

  /// How many keys there are.
  static let count = 23

  var name: StaticString {
    switch self {
    case .contentChanged: "content-changed"
    case .timestamp: "timestamp"
    case .event: "event"
    case .contentState: "content-state"
    case .alert: "alert"
    case .staleDate: "stale-date"
    case .dismissalDate: "dismissal-date"
    case .relevanceScore: "relevance-score"
    case .attributesType: "attributes-type"
    case .attributes: "attributes"
    case .inputPushToken: "input-push-token"
    case .inputPushChannel: "input-push-channel"
    case .badge: "badge"
    case .sound: "sound"
    case .contentAvailable: "content-available"
    case .mutableContent: "mutable-content"
    case .threadID: "thread-id"
    case .category: "category"
    case .targetContentID: "target-content-id"
    case .interruptionLevel: "interruption-level"
    case .filterCriteria: "filter-criteria"
    case .urlArgs: "url-args"
    case .events: "events"
    }
  }

  /// The key that `text` spells in the payload's bytes, or nil.
  init?(_ text: JSONText, in body: RawSpan) {
    guard !text.isEscaped else {
      guard let key = (0..<UInt8(Self.count)).lazy.compactMap(APSKey.init).first(where: { text.matches($0.name, in: body) })
      else { return nil }
      self = key
      return
    }
    guard let key = Self.find(body[text.range]) else { return nil }
    self = key
  }

  /// The key of that name, by its length first.
  private static func find(_ name: RawSpan) -> APSKey? {
    switch name.byteCount {
    case 5: of(name, .event, .alert, .badge, .sound)
    case 6: of(name, .events)
    case 8: of(name, .category, .urlArgs)
    case 9: of(name, .timestamp, .threadID)
    case 10: of(name, .staleDate, .attributes)
    case 13: of(name, .contentState)
    case 14: of(name, .dismissalDate)
    case 15: of(name, .contentChanged, .relevanceScore, .attributesType, .mutableContent) ?? of(name, .filterCriteria)
    case 16: of(name, .inputPushToken)
    case 17: of(name, .contentAvailable, .targetContentID)
    case 18: of(name, .inputPushChannel, .interruptionLevel)
    default: nil
    }
  }

  @inline(__always)
  private static func of(_ name: RawSpan, _ a: APSKey, _ b: APSKey? = nil, _ c: APSKey? = nil, _ d: APSKey? = nil) -> APSKey? {
    if name.equals(a.name) { return a }
    if let b, name.equals(b.name) { return b }
    if let c, name.equals(c.name) { return c }
    if let d, name.equals(d.name) { return d }
    return nil
  }
}

/// A set of keys.
struct APSKeys: OptionSet {
  let rawValue: UInt32

  init(rawValue: UInt32) { self.rawValue = rawValue }

  /// The set of one key.
  init(_ key: APSKey) { rawValue = 1 << UInt32(key.rawValue) }

  /// The set of these keys.
  private init(of keys: [APSKey]) { rawValue = keys.reduce(0) { $0 | 1 << UInt32($1.rawValue) } }

  /// Whether `key` is in the set.
  func contains(_ key: APSKey) -> Bool { rawValue & (1 << UInt32(key.rawValue)) != 0 }

  /// What makes an alert push show something.
  static let shown = APSKeys(of: [.alert, .badge, .sound])
  /// What is at times added to a reload push in the hope that it helps.
  static let alertLike = APSKeys(of: [.alert, .sound, .badge, .contentAvailable, .mutableContent])
  /// What a reload push has no use for at all.
  static let uselessInReload = APSKeys(rawValue: .max).subtracting(alertLike).subtracting(APSKeys(.contentChanged))
  /// What only the start of an activity has.
  static let startOnly = APSKeys(of: [.attributesType, .attributes])
  /// What only Live Activity pushes have.
  static let activityOnly = APSKeys(of: [
    .timestamp, .event, .events, .contentState, .staleDate, .dismissalDate, .attributesType, .attributes, .inputPushToken,
    .inputPushChannel,
  ])
  /// What Live Activity pushes have.
  static let activity = activityOnly.union(APSKeys(of: [.alert, .relevanceScore])).subtracting(APSKeys(.events))
  /// What only alert pushes have.
  static let alertOnly = APSKeys(of: [
    .badge, .sound, .contentAvailable, .mutableContent, .threadID, .category, .targetContentID, .interruptionLevel, .filterCriteria,
    .urlArgs, .events,
  ])
  /// The same, and what an activity has no use for after its start: it has a token, or a channel, already.
  static let alertOrStart = alertOnly.union(APSKeys(of: [.inputPushToken, .inputPushChannel]))
}
