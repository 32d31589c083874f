import JSON
import Primitives
import Push

/// What the payload of an alert has a device present, which is what counts most of it: words, else a sound, else a number on the icon.
///
/// Source: Apple, "Generating a remote notification": each of `alert`, `badge` and `sound` is optional, and works by itself.
enum AlertPayload: Equatable {
  /// The alert's title, or its text where it has none.
  case words(String)
  /// The sound's file, where it is named.
  case sound(String?)
  /// The number on the icon; 0 takes it away.
  case badge(JSONValue)

  /// Reads `aps`; throws when nothing in it is of the form that iOS presents.
  init(aps: JSONValue) throws(PayloadProblem) {
    if let text = aps["alert"]?.stringValue {
      self = .words(text)
    } else if let alert = aps["alert"]?.objectValue, !alert.isEmpty {
      self = .words(["title", "body", "title-loc-key", "loc-key"].compactMap { alert[$0]?.stringValue }.first ?? "")
    } else if let sound = aps["sound"], sound.stringValue != nil || sound.objectValue != nil {
      self = .sound(sound.stringValue ?? sound["name"]?.stringValue)
    } else if let badge = aps["badge"], badge.isNumber {
      self = .badge(badge)
    } else {
      throw PayloadProblem(
        cause: .payloadNotUnderstood,
        sentence: "aps.alert must be a string or an object with title and body, or there must be a number aps.badge or a string aps.sound",
        missing: ["alert", "badge", "sound"].allSatisfy { aps[$0] == nil } ? "alert" : nil)
    }
  }
}
