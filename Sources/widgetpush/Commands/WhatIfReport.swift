import JSON
import Push

extension ProviderClient.Push {
  /// The push as `POST /v1/what-if` takes it.
  var described: JSONObject {
    var object: JSONObject = ["token": .string(token), "body": .string(String(decoding: payload, as: UTF8.self))]
    object["type"] = type.map(JSONValue.string)
    object["topic"] = topic.map(JSONValue.string)
    object["priority"] = priority.map(JSONValue.string)
    object["expiration"] = expiration.map(JSONValue.string)
    object["collapseID"] = collapseID.map(JSONValue.string)
    object["id"] = id.map(JSONValue.string)
    return object
  }
}

/// What `send --what-if` says.
enum WhatIfReport {
  /// Whether the push would do nothing.
  static func isInVain(_ answer: JSONValue) -> Bool {
    if answer["deviceIgnores"]?.boolValue == true { return true }
    return switch answer["disposition"]?.stringValue.flatMap({ Disposition(name: $0) }) {
    case .refused, .ignored, .expired, .failed: true
    case nil, .waiting, .merged, .forwarding, .accepted, .applied: false
    }
  }

  /// For people: the answer that it would have, what follows, and what it would cost.
  static func text(_ answer: JSONValue) -> String {
    let reason = answer["reason"]?.stringValue.map { " \($0)" } ?? ""
    let cause = answer["cause"]?.stringValue.map { " (\($0))" } ?? ""
    let end = answer["deviceIgnores"]?.boolValue == true ? ", and ignored by the device" : ""
    var lines = [
      "would be answered \(answer["status"]?.intValue ?? 0)\(reason): \(answer["disposition"]?.stringValue ?? "unknown")\(cause)\(end)"
    ]
    for field in ["happened", "detail"] { if let sentence = answer[field]?.stringValue { lines.append("  \(sentence)") } }
    if let due = answer["due"]?.stringValue { lines.append("  It would go at \(due).") }
    if let id = answer["mergedInto"]?.stringValue { lines.append("  It would merge into push \(id).") }
    if answer["sentPriority"]?.intValue != nil { lines.append("  It would go on at priority 5.") }
    if answer["registersToken"]?.boolValue == true { lines.append("  It would register its token.") }
    if let before = answer["budgetBefore"]?.intValue, let after = answer["budgetAfter"]?.intValue {
      lines.append("  budget \(answer["budget"]?.stringValue ?? ""): \(before) before, \(after) after")
    }
    if !reason.isEmpty || isInVain(answer), let remedy = answer["remedy"]?.stringValue { lines.append("  \(remedy)") }
    for warning in answer["warnings"]?.arrayValue ?? [] where warning["message"] != answer["remedy"] {
      lines.append("  warning: \(WarningText.sentence(warning))")
    }
    return lines.joined(separator: "\n")
  }
}
