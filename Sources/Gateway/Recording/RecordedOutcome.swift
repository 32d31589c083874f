package import JSON
import Push
import Storage

/// What became of a push, as far as a recording tells it.
package struct RecordedOutcome: Hashable, Sendable {
  /// What it was.
  package var disposition: String
  /// The reason that was answered, or that the upstream had.
  package var reason: String?
  /// Why, beyond the reason.
  package var cause: String?
  /// Whether it went at priority 5 in place of 10, for want of budget.
  package var isLowered: Bool

  /// An outcome with these values.
  package init(disposition: String, reason: String? = nil, cause: String? = nil, isLowered: Bool = false) {
    self.disposition = disposition
    self.reason = reason
    self.cause = cause
    self.isLowered = isLowered
  }

  /// What `GET /v1/pushes/{id}` tells.
  package init?(pushJSON json: JSONValue) {
    guard let disposition = json["disposition"]?.stringValue else { return nil }
    let isLowered = (json["steps"]?.arrayValue ?? []).contains { $0["cause"]?.stringValue == Cause.priorityLowered.name }
    self.init(
      disposition: disposition, reason: json["reason"]?.stringValue, cause: json["cause"]?.stringValue, isLowered: isLowered)
  }

  init(_ push: PushRecord) {
    self.init(
      disposition: push.disposition.name, reason: push.reason?.description, cause: push.cause == .none ? nil : push.cause.name,
      isLowered: push.steps.contains { $0.cause == .priorityLowered })
  }
}

extension RecordedOutcome: CustomStringConvertible {
  /// Such as `refused TooManyRequests (budgetSpent)`.
  package var description: String {
    var text = disposition
    if let reason { text += " \(reason)" }
    if let cause, cause != Cause.priorityLowered.name { text += " (\(cause))" }
    if isLowered { text += " at priority 5" }
    return text
  }
}

// MARK: In a file

extension RecordedOutcome {
  /// The outcome of push `id` as a line of a recording has it.
  func json(id: PushID) -> JSONValue {
    var object = json.objectValue ?? [:]
    object["id"] = .string(id.description)
    return .object(object)
  }

  /// The outcome by itself.
  package var json: JSONValue {
    var object: JSONObject = ["disposition": .string(disposition)]
    object["reason"] = reason.map(JSONValue.string)
    object["cause"] = cause.map(JSONValue.string)
    if isLowered { object["lowered"] = true }
    return .object(object)
  }

  /// The push's id and what became of it.
  static func read(_ reader: inout JSONReader) throws(FieldError) -> (PushID, RecordedOutcome) {
    let text = try reader.string("id")
    guard let id = PushID(text) else { throw reader.error("id", "must be a UUID, not \"\(text.prefix(64))\"") }
    let outcome = RecordedOutcome(
      disposition: try reader.string("disposition"), reason: try reader.optionalString("reason"),
      cause: try reader.optionalString("cause"), isLowered: try reader.optionalBool("lowered") ?? false)
    try reader.finish()
    return (id, outcome)
  }
}
