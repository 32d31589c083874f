import JSON
import Primitives
import Push

/// The payload of a widgets or controls push: `{"aps":{"content-changed":true}}`, which says only that something has changed.
///
/// Source: Apple, "Updating widgets with WidgetKit push notifications" and "Updating controls locally and remotely".
enum ReloadPayload {
  /// Throws what would make WidgetKit do nothing.
  ///
  /// The bytes that nearly every sender writes are compared as they stand; anything else is parsed.
  static func check(_ payload: RawSpan) throws(PayloadProblem) {
    if payload.equals(#"{"aps":{"content-changed":true}}"#) { return }
    let aps = try JSONValue.aps(of: payload)
    let value = aps["content-changed"]
    if value != true {
      let found = value.map { ", not \($0.kindName)" } ?? ", and is missing"
      throw PayloadProblem(
        cause: .payloadNotUnderstood, sentence: "aps.content-changed must be the JSON value true\(found)",
        missing: value == nil ? "content-changed" : nil)
    }
  }
}
