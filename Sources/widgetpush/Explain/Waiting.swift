import Configuration
import JSON
import Primitives
import Push

/// What a push waits for, and how long still.
struct Waiting: Hashable {
  /// When it goes, as RFC 3339 text.
  var due: String
  /// How long that is from now; nil where the gateway's time is not known.
  var left: TimeSpan?
  /// What it waits for, such as `StreakWidget's budget`.
  var subject: String

  /// Reads what the budgets of the push's token say, as `GET /v1/budgets/TOKEN` tells them; nil unless the push waits for one of them, for
  /// its minimum interval, or for the end of the night.
  init?(_ push: JSONValue, _ report: JSONValue) {
    guard push["disposition"]?.stringValue == Disposition.waiting.name,
      let cause = push["cause"]?.stringValue.flatMap(Cause.init(name:)),
      let budget = report["budgets"]?.arrayValue?.first(where: { $0["binds"]?.boolValue == true }),
      let due = budget["payableAt"]?.stringValue
    else { return nil }
    let owner = budget["widget"]?["kind"]?.stringValue ?? budget["budget"]?.stringValue.map { "the token's \($0)" } ?? "the token"
    switch cause {
    case .waitingForBudget: subject = budget["widget"] == nil ? "\(owner) budget" : "\(owner)'s budget"
    case .minimumInterval: subject = budget["widget"] == nil ? "the minimum interval" : "\(owner)'s minimum interval"
    case .quietHours: subject = "the end of the quiet hours"
    default: return nil
    }
    self.due = due
    if let now = report["now"]?.stringValue.flatMap({ Instant(rfc3339: $0) }), let due = Instant(rfc3339: due) {
      left = max(.zero, due - now)
    }
  }

  /// `waiting 4 min 12 s for StreakWidget's budget`.
  var sentence: String { "waiting \(left.map { Self.text(of: $0) + " " } ?? "")for \(subject)" }

  /// A span in its two largest units, such as `4 min 12 s`; part of the smaller one counts as one, so that after it there is nothing left.
  static func text(of span: TimeSpan) -> String {
    var seconds = max(0, span.secondsRoundedUp)
    let units: [(Int64, String)] = [(86_400, "d"), (3600, "h"), (60, "min"), (1, "s")]
    // Twice: what is rounded up may fill the unit above.
    for _ in 0..<2 {
      guard let first = units.firstIndex(where: { seconds >= $0.0 }), first + 1 < units.count else { break }
      let smaller = units[first + 1].0
      seconds = (seconds + smaller - 1) / smaller * smaller
    }
    guard let first = units.firstIndex(where: { seconds >= $0.0 }) else { return "0 s" }
    var words = ["\(seconds / units[first].0) \(units[first].1)"]
    if first + 1 < units.count {
      let rest = seconds % units[first].0 / units[first + 1].0
      if rest > 0 { words.append("\(rest) \(units[first + 1].1)") }
    }
    return words.joined(separator: " ")
  }
}
