import JSON
import Primitives
import Push

/// What `send` says about a push that was answered.
enum SendReport {
  /// Whether waiting longer would tell nothing soon: it has ended, or it waits for a budget, an interval or an upstream.
  static func isSettled(_ record: JSONValue) -> Bool {
    guard let disposition = record["disposition"]?.stringValue.flatMap({ Disposition(name: $0) }) else { return true }
    if disposition.isFinal { return true }
    let cause = record["cause"]?.stringValue.flatMap { Cause(name: $0) }
    switch cause {
    case .waitingForBudget, .minimumInterval, .waitingForBatch, .quietHours, .upstreamUnavailable, .upstreamFailed, .upstreamPaused,
      .appNotConfigured, .upstreamNotConfigured, .noSigningKey:
      return disposition == .waiting
    default: return false
    }
  }

  /// Whether the push is known to do nothing.
  static func isInVain(_ answer: ProviderClient.Answer, _ record: JSONValue?) -> Bool {
    guard answer.status == 200 else { return true }
    switch record?["disposition"]?.stringValue.flatMap({ Disposition(name: $0) }) {
    case .refused, .ignored, .expired, .failed: return true
    case nil, .waiting, .merged, .forwarding, .accepted, .applied: return false
    }
  }

  /// For people: the answer, what became of the push, and what to do when that is not what was meant.
  static func text(_ answer: ProviderClient.Answer, _ record: JSONValue?) -> String {
    let reason = answer.reason.map { " \($0.escapingSteering())" } ?? ""
    var lines = ["\(answer.status)\(reason)  apns-id \(answer.id ?? "none")"]
    guard let record else {
      // Without a record, what the reason means is still known.
      if let remedy = answer.reason.flatMap({ Reason($0) })?.remedy { lines += ["  \(remedy.happened)", "  \(remedy.advice)"] }
      if let detail = answer.detail { lines.append("  \(detail.escapingSteering())") }
      return lines.joined(separator: "\n")
    }
    let cause = record["cause"]?.stringValue.map { " (\($0))" } ?? ""
    lines.append("\(record["disposition"]?.stringValue ?? "unknown")\(cause)")
    for field in ["happened", "detail"] {
      if let sentence = record[field]?.stringValue, !sentence.isEmpty { lines.append("  \(sentence)") }
    }
    if let other = record["mergedInto"]?.stringValue { lines.append("  Merged into push \(other).") }
    if record["disposition"]?.stringValue != Disposition.applied.name, let remedy = record["remedy"]?.stringValue {
      lines.append("  \(remedy)")
    }
    for warning in record["warnings"]?.arrayValue ?? [] { lines.append("  warning: \(WarningText.sentence(warning))") }
    return lines.joined(separator: "\n")
  }

  /// For scripts: the answer, and the push as `GET /v1/pushes/{apns-id}` tells it.
  static func json(_ answer: ProviderClient.Answer, _ record: JSONValue?) -> JSONValue {
    var object: JSONObject = ["status": .integer(Int64(answer.status))]
    object["apnsID"] = answer.id.map(JSONValue.string)
    object["reason"] = answer.reason.map(JSONValue.string)
    object["detail"] = answer.detail.map(JSONValue.string)
    object["push"] = record
    return .object(object)
  }
}
