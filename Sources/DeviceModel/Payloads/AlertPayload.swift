import JSON
import Primitives
import Push

/// The payload of an alert.
enum AlertPayload {
  /// What a person sees first: the alert's title, or its text where it has none.
  static func title(of payload: RawSpan) throws(PayloadProblem) -> String {
    let aps = try JSONValue.aps(of: payload)
    guard let alert = aps["alert"], alert.stringValue != nil || alert.objectValue?.isEmpty == false else {
      throw PayloadProblem(
        cause: .payloadNotUnderstood, sentence: "aps.alert must be a string or an object with title and body, and is missing")
    }
    if let text = alert.stringValue { return text }
    return ["title", "body", "title-loc-key", "loc-key"].compactMap { alert[$0]?.stringValue }.first ?? ""
  }
}
