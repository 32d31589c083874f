import JSON
import Primitives
import Push

/// The whole life of one push as a text for people: what became of it, its steps with times, why, and what to do.
enum PushStory {
  /// The story of a push as `GET /v1/pushes/{apns-id}` tells it; `waiting` is what it waits for, and `kin` what its unknown token may have
  /// been meant for, where that is known.
  static func text(of push: JSONValue, waiting: Waiting? = nil, kin: Kin? = nil) -> String {
    let paragraphs = [heading(push), verdict(push, waiting), steps(push), advice(push, kin), warnings(push), payload(push)]
    return paragraphs.filter { !$0.isEmpty }.joined(separator: "\n\n")
  }

  /// One line: time, id, what it was and what became of it.
  static func line(of push: JSONValue) -> String {
    let what = [push["type"]?.stringValue, push["disposition"]?.stringValue, push["cause"]?.stringValue ?? push["reason"]?.stringValue]
    let words = [time(push["received"]?.stringValue ?? ""), push["id"]?.stringValue ?? ""] + what.compactMap { $0 }
    return words.joined(separator: "  ")
  }

  private static func heading(_ push: JSONValue) -> String {
    let channel = push["channelID"]?.stringValue
    var lines = ["\(channel == nil ? "push" : "broadcast") \(push["id"]?.stringValue ?? "without an id")"]
    let type = push["type"]?.stringValue.map { "\($0.first == "a" ? "an" : "a") \($0) push" } ?? "a push of unknown type"
    let app = push["bundleID"]?.stringValue.map { " for \($0)" } ?? ""
    let token = push["token"]?.stringValue.map { " to token \(shortened($0))" } ?? channel.map { " to channel \($0)" } ?? ""
    lines.append("  \(type)\(app)\(token)")
    var received = "  received \(push["received"]?.stringValue ?? "?")"
    if let priority = push["priority"]?.intValue { received += ", priority \(priority)" }
    if let status = push["status"]?.intValue { received += ", answered \(status)" }
    if let reason = push["reason"]?.stringValue, push["upstreamStatus"] == nil { received += " \(reason)" }
    lines.append(received)
    if let date = push["expiration"] { lines.append("  apns-expiration \(date.stringValue ?? "0, so it is not to be stored")") }
    if let id = push["collapseID"]?.stringValue { lines.append("  apns-collapse-id \(id)") }
    if let name = push["activity"]?.stringValue { lines.append("  made by the gateway for the activity \(name)") }
    if let reload = push["reload"]?.stringValue { lines.append("  made by the gateway for the reload \(reload)") }
    return lines.joined(separator: "\n")
  }

  private static func verdict(_ push: JSONValue, _ waiting: Waiting?) -> String {
    var what = waiting?.sentence ?? push["disposition"]?.stringValue ?? "unknown"
    if let cause = push["cause"]?.stringValue { what += " (\(cause))" }
    if let why = push["lowered"]?["sentence"]?.stringValue { what += " at priority 5: \(why)" }
    if let status = push["upstreamStatus"]?.intValue {
      what += ", the upstream said \(status) \(push["reason"]?.stringValue ?? "")".trimmedRight
    }
    var lines = [what]
    if let happened = push["happened"]?.stringValue { lines.append("  \(happened)") }
    // Where the remedy is the detail itself, once is enough.
    let isSaid = push["remedy"]?.stringValue?.lowercased().hasPrefix(push["detail"]?.stringValue?.lowercased() ?? "-") ?? false
    if let detail = push["detail"]?.stringValue, !detail.isEmpty, !isSaid { lines.append("  \(detail)") }
    if let activities = push["activities"], let reached = activities["reached"]?.intValue, let applied = activities["applied"]?.intValue {
      lines.append("  It reached \(reached) running \(reached == 1 ? "activity" : "activities"), and \(applied) did what it asks.")
    }
    for upstream in push["upstreams"]?.arrayValue ?? [] {
      if let detail = upstream["detail"]?.stringValue { lines.append("  \(upstream["upstream"]?.stringValue ?? ""): \(detail)") }
    }
    if let other = push["mergedInto"]?.stringValue {
      lines += ["  Merged into push \(other).", "  Follow that push: widgetpush explain \(other)"]
    }
    if push["atLeastOnce"]?.boolValue == true {
      lines.append(
        "  It was delivered at least once: an attempt was not answered in time, and it was sent again, so that it may have come twice.")
    }
    if let due = waiting?.due { lines.append("  It goes at \(moment(due, after: push["received"]?.stringValue ?? "")) UTC.") }
    return lines.joined(separator: "\n")
  }

  private static func steps(_ push: JSONValue) -> String {
    guard let steps = push["steps"]?.arrayValue, !steps.isEmpty else { return "" }
    let times = steps.map { $0["at"]?.stringValue ?? "" }
    let isOfOneDay = times.allSatisfy { $0.prefix(10) == times[0].prefix(10) }
    let rows = zip(steps.indices, times).map { index, at -> [String] in
      let step = steps[index]
      var notes: [String] = []
      if let cause = step["cause"]?.stringValue { notes.append(cause) }
      if let upstream = step["upstream"]?.stringValue { notes.append("upstream \(upstream)") }
      if let attempt = step["attempt"]?.intValue { notes.append(isSent(index, steps) ? "attempt \(attempt)" : "nothing was sent") }
      switch (step["budgetBefore"]?.intValue, step["budgetAfter"]?.intValue) {
      case (let before?, let after?) where before != after: notes.append("budget \(before) → \(after)")
      case (_, let left?), (let left?, nil): notes.append("budget \(left)")
      case (nil, nil): break
      }
      let moment = isOfOneDay ? time(at) : "\(at.prefix(10)) \(time(at))"
      return [moment, step["disposition"]?.stringValue ?? "", notes.joined(separator: ", ")]
    }
    return (["steps"] + Table.lines(rows).map { "  \($0)" }).joined(separator: "\n")
  }

  /// Whether something was written to the upstream: a push that comes back to wait without having been sent has no attempt more than before.
  private static func isSent(_ index: Int, _ steps: [JSONValue]) -> Bool {
    guard steps[index]["disposition"]?.stringValue == Disposition.forwarding.name, index + 1 < steps.count,
      case let next = steps[index + 1], next["disposition"]?.stringValue == Disposition.waiting.name
    else { return true }
    return (next["attempt"]?.intValue ?? 0) >= (steps[index]["attempt"]?.intValue ?? 0)
  }

  private static func advice(_ push: JSONValue, _ kin: Kin?) -> String {
    guard let remedy = push["remedy"]?.stringValue else { return "" }
    if let kin { return "what to do\n  \(kin.sentence)\n  Or: \(remedy)" }
    let certainty =
      switch push["certainty"]?.stringValue {
      case "likely": " (likely)"
      case "cannotSee": " (what the device does cannot be seen from here)"
      default: ""
      }
    return "what to do\(certainty)\n  \(remedy)"
  }

  private static func warnings(_ push: JSONValue) -> String {
    // What the remedy says need not be said twice.
    let remedy = push["remedy"]?.stringValue ?? ""
    let sentences = (push["warnings"]?.arrayValue ?? []).map(WarningText.sentence)
    let lines = sentences.filter { !remedy.contains($0) }.map { "  \($0)" }
    return lines.isEmpty ? "" : (["warnings"] + lines).joined(separator: "\n")
  }

  private static func payload(_ push: JSONValue) -> String {
    guard let payload = push["payload"] else { return "" }
    let text = payload.stringValue ?? payload.serialized(pretty: true)
    return (["payload"] + text.split(separator: "\n").map { "  \($0)" }).joined(separator: "\n")
  }

  /// From when on something is possible, to the second, with its date where that is another than that of `earlier`.
  private static func moment(_ instant: String, after earlier: String) -> String {
    let instant = Instant(rfc3339: instant).map { $0.roundedUp(to: .seconds(1)).description } ?? instant
    let clock = String(time(instant).prefix(8))
    return instant.prefix(10) == earlier.prefix(10) ? clock : "\(instant.prefix(10)) \(clock)"
  }

  /// The time of day of RFC 3339 text, which a story repeats too often to tell the date each time.
  static func time(_ instant: String) -> String {
    guard let separator = instant.firstIndex(of: "T") else { return instant }
    let time = instant[instant.index(after: separator)...]
    return String(time.hasSuffix("Z") ? time.dropLast() : time)
  }

  /// A token's first digits; whole ones fill the line and nobody reads them.
  static func shortened(_ token: String) -> String { token.count > 20 ? "\(token.prefix(16))…" : token }
}

extension String {
  /// Without the spaces at the end.
  var trimmedRight: String {
    var text = self[...]
    while text.last == " " { text.removeLast() }
    return String(text)
  }
}
