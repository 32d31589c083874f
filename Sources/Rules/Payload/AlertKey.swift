import JSON
import Primitives

/// The keys of an `alert` object.
///
/// Source: Apple, "Generating a remote notification" (with the older keys that iOS still takes), and "Starting and updating Live Activities
/// with ActivityKit push notifications" for `sound`.
enum AlertKey {
  /// What every alert may have, those first that nearly every alert has.
  private static let names: [StaticString] = [
    "title", "body", "subtitle", "loc-key", "loc-args", "title-loc-key", "title-loc-args", "subtitle-loc-key", "subtitle-loc-args",
    "launch-image", "action-loc-key", "action", "summary-arg", "summary-arg-count",
  ]

  /// The names of all, of which `sound` is one only in a Live Activity push.
  static func all(inActivity: Bool) -> [String] { names.map { "\($0)" } + (inActivity ? ["sound"] : []) }

  /// Whether `text` spells one of them, `sound` apart; allocates nothing.
  static func isKnown(_ text: JSONText, in body: RawSpan) -> Bool {
    for name in names where text.matches(name, in: body) { return true }
    return false
  }
}

/// The name of a sound file.
enum SoundName {
  private static let wordsForNone: [StaticString] = ["nil", "null", "none", "undefined"]

  /// Whether the name is a word by which its sender means no sound, or empty; whatever it is, a device takes it for the name of a file.
  static func saysNone(_ name: RawSpan) -> Bool {
    if name.isEmpty { return true }
    guard name.byteCount <= 9 else { return false }
    for word in wordsForNone where name.equalsIgnoringCase(word) { return true }
    return false
  }
}
