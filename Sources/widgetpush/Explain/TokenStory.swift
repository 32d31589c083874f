import JSON
import Push

/// A push token as a text for people: what it stands for, and what was sent to it.
enum TokenStory {
  /// The story of a token; `pushes` are its latest, newest first, `waiting` is what the newest waits for, `symptom` what came nearest
  /// where there is none, and `kin` what may have been meant where it is not registered.
  static func text(
    of token: String, _ registration: JSONValue?, _ pushes: [JSONValue], waiting: Waiting? = nil, symptom: Symptom? = nil, kin: Kin? = nil
  ) -> String {
    var paragraphs = [heading(token, registration, pushes, kin)]
    guard let newest = pushes.first else {
      paragraphs.append((symptom ?? Symptom(token, registration, pushes: [], tokens: [])).text)
      return paragraphs.joined(separator: "\n\n")
    }
    paragraphs.append(PushStory.text(of: newest, waiting: waiting))
    if pushes.count > 1 {
      paragraphs.append((["before it"] + pushes.dropFirst().map { "  \(PushStory.line(of: $0))" }).joined(separator: "\n"))
    }
    return paragraphs.joined(separator: "\n\n")
  }

  private static func heading(_ token: String, _ registration: JSONValue?, _ pushes: [JSONValue], _ kin: Kin?) -> String {
    guard let registration else {
      let hint = kin.map { "\n  \($0.sentence)" } ?? ""
      // None but a registered token's push is taken.
      if pushes.contains(where: { $0["disposition"]?.stringValue != Disposition.refused.name }) {
        return
          "token \(token)\n  is registered no more: its registration was removed; delete the token on your side, unless the app reports it again\(hint)"
      }
      return "token \(token)\n  is not registered; register it with `widgetpush register TOKEN` or PUT /v1/registrations/TOKEN\(hint)"
    }
    var lines = ["token \(token)"]
    let type = registration["type"]?.stringValue ?? "?"
    let app = registration["bundleID"]?.stringValue ?? "?"
    lines.append("  \(type) of \(app), environment \(registration["environment"]?.stringValue ?? "?")")
    let names = ["device", "user", "platform", "upstream"].compactMap { name in
      registration[name]?.stringValue.map { "\(name) \($0)" }
    }
    if !names.isEmpty { lines.append("  \(names.joined(separator: ", "))") }
    for widget in registration["widgets"]?.arrayValue ?? [] {
      let id = widget["id"]?.stringValue.map { " (\($0))" } ?? ""
      lines.append("  widget \(widget["kind"]?.stringValue ?? "?") \(widget["family"]?.stringValue ?? "?")\(id)")
    }
    if let kind = registration["control"]?["kind"]?.stringValue { lines.append("  control \(kind)") }
    if let activity = registration["activity"] {
      lines.append("  activity \(activity["id"]?.stringValue ?? "?") of \(activity["attributesType"]?.stringValue ?? "?")")
    }
    if let since = registration["retiredSince"]?.stringValue {
      lines.append("  retired since \(since): pushes are answered 410 Unregistered until it is registered again")
    }
    if registration["suspect"]?.boolValue == true {
      lines.append("  suspect: its upstream does not know it; the environment may be wrong")
    }
    if let waiting = registration["waiting"]?.intValue, waiting > 0 { lines.append("  \(waiting) waiting") }
    return lines.joined(separator: "\n")
  }
}
