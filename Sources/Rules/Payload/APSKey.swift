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

  /// The key that `text` spells, or nil.
  init?(_ text: JSONText, in scanner: borrowing JSONScanner) {
    for rawValue in 0..<UInt8(Self.count) {
      guard let key = APSKey(rawValue: rawValue) else { return nil }
      guard text.isEscaped || Int(text.range.count) == key.name.utf8CodeUnitCount, scanner.matches(text, key.name) else { continue }
      self = key
      return
    }
    return nil
  }
}
