import Gateway
import JSON
import Primitives
import Push

/// What became of the pushes of a recording when it was played, beside what had become of them before.
struct ReplayReport {
  /// What may become of a push, and where it is not known.
  enum Ending: Hashable, Comparable {
    case known(String)
    case unknown

    init(_ outcome: RecordedOutcome?) { self = outcome.map { .known($0.description) } ?? .unknown }

    var text: String {
      switch self {
      case .known(let text): text.escapingSteering()
      case .unknown: "not known"
      }
    }
  }

  /// Pushes that became something else, or the same.
  struct Change: Hashable {
    var from: Ending
    var to: Ending
  }

  /// How many there are of a change, and one of them.
  struct Cases {
    var count = 0
    var recorded: PushID
    var replayed: String?
  }

  /// How much time the recording has.
  let span: TimeSpan
  private(set) var cases: [Change: Cases] = [:]
  /// Pushes that the server has not answered.
  private(set) var unanswered = 0

  /// A report of a recording of that length.
  init(span: TimeSpan) { self.span = span }

  /// Adds a push: what became of it, and of the one that was sent in its place, which has that id.
  mutating func add(_ id: PushID, _ recorded: RecordedOutcome?, as replayed: String?, _ outcome: RecordedOutcome?) {
    let change = Change(from: Ending(recorded), to: Ending(outcome))
    if replayed == nil { unanswered += 1 }
    cases[change, default: Cases(recorded: id, replayed: replayed)].count += 1
  }

  /// How many pushes there were.
  var total: Int { cases.values.reduce(0) { $0 + $1.count } }

  /// How many became the same.
  var same: Int { cases.reduce(0) { $0 + ($1.key.from == $1.key.to && $1.key.from != .unknown ? $1.value.count : 0) } }

  /// What pushes became, each with how many were recorded and how many replayed.
  var endings: [(ending: Ending, recorded: Int, replayed: Int)] {
    let all = Set(cases.keys.flatMap { [$0.from, $0.to] }).sorted()
    return all.map { ending in
      let recorded = cases.filter { $0.key.from == ending }.values.reduce(0) { $0 + $1.count }
      let replayed = cases.filter { $0.key.to == ending }.values.reduce(0) { $0 + $1.count }
      return (ending, recorded, replayed)
    }
  }

  /// What became something else, the most frequent first.
  var changes: [(change: Change, cases: Cases)] {
    cases.filter { $0.key.from != $0.key.to }.sorted {
      ($1.value.count, $0.key.from, $0.key.to) < ($0.value.count, $1.key.from, $1.key.to)
    }.map { ($0.key, $0.value) }
  }

  /// For people.
  var text: String {
    var lines = Table.lines(
      [["", "recorded", "replayed"]] + endings.map { [$0.ending.text, "\($0.recorded)", "\($0.replayed)"] })
    lines.append("\(same) of \(total) became the same")
    for (change, cases) in changes {
      let example = cases.replayed.map { ", such as \($0)" } ?? ""
      lines.append("\(cases.count): \(change.from.text) → \(change.to.text)\(example)")
    }
    if unanswered > 0 { lines.append("\(unanswered) were not answered") }
    return lines.joined(separator: "\n")
  }

  /// For scripts.
  var json: JSONObject {
    var object: JSONObject = [
      "pushes": .integer(Int64(total)), "spanSeconds": .number(span.seconds), "same": .integer(Int64(same)),
      "unanswered": .integer(Int64(unanswered)),
    ]
    object["outcomes"] = .array(
      endings.map { row in
        ["outcome": row.ending.json, "recorded": .integer(Int64(row.recorded)), "replayed": .integer(Int64(row.replayed))]
      })
    object["changes"] = .array(
      changes.map { change, cases in
        var example: JSONObject = ["recorded": .string(cases.recorded.description)]
        example["replayed"] = cases.replayed.map(JSONValue.string)
        return [
          "from": change.from.json, "to": change.to.json, "count": .integer(Int64(cases.count)), "example": .object(example),
        ]
      })
    return object
  }
}

extension ReplayReport.Ending {
  fileprivate var json: JSONValue {
    switch self {
    case .known(let text): .string(text)
    case .unknown: .null
    }
  }
}
