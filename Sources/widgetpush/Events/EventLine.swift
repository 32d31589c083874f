import JSON
import Push

/// A push that has changed, as a line for people.
enum EventLine {
  /// Time, what became of it, type, token, id, and why.
  ///
  /// - Parameter isColored: Whether what became of it has a colour.
  static func text(of push: JSONValue, isColored: Bool) -> String {
    let steps = push["steps"]?.arrayValue ?? []
    let at = steps.last?["at"]?.stringValue ?? push["received"]?.stringValue ?? ""
    let name = push["disposition"]?.stringValue ?? ""
    let disposition = padded(name, 10)
    let words = [
      PushStory.time(at), isColored ? colored(disposition, name) : disposition, padded(push["type"]?.stringValue ?? "?", 12),
      push["token"]?.stringValue.map { padded("\($0.prefix(8))…", 9) } ?? padded("", 9), push["id"]?.stringValue ?? "",
    ]
    return "\(words.joined(separator: "  "))  \(why(push))".trimmedRight
  }

  /// The cause or reason, and in a sentence what happened where nothing comes of the push.
  private static func why(_ push: JSONValue) -> String {
    let name = push["cause"]?.stringValue ?? push["reason"]?.stringValue
    guard let disposition = push["disposition"]?.stringValue.flatMap(Disposition.init(name:)) else { return name ?? "" }
    switch disposition {
    case .refused, .ignored, .failed, .expired:
      let detail = push["detail"]?.stringValue ?? push["happened"]?.stringValue
      return [push["reason"]?.stringValue ?? push["cause"]?.stringValue, detail].compactMap(\.self).joined(separator: ": ")
    case .merged: return "into \(push["mergedInto"]?.stringValue ?? "another")"
    default: return name ?? ""
    }
  }

  private static func colored(_ text: String, _ name: String) -> String {
    let code =
      switch Disposition(name: name) {
      case .applied, .accepted: "32"
      case .ignored, .expired: "33"
      case .refused, .failed: "31"
      case .waiting, .merged: "36"
      default: "0"
      }
    return "\u{1B}[\(code)m\(text)\u{1B}[0m"
  }

  private static func padded(_ text: String, _ width: Int) -> String { text + String(repeating: " ", count: max(0, width - text.count)) }
}
