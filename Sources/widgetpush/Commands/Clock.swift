import JSON
import Primitives
import Push

extension Command {
  /// `widgetpush clock`.
  static let clock = Command(
    "clock", "shows the product's clock, stops it, or moves it ahead", operands: "[show | freeze | run | set TIME | advance SPAN|next]",
    count: 0...2,
    discussion: """
      Budgets, waiting pushes, expirations, quiet hours and what devices do by themselves go by a clock of the product's own, which `dev`
      lets you move; a gateway does where clock.permitted is true. advance goes through everything that becomes due on the way, in order,
      and ends when all of it is done; next stops at the first. freeze stops the clock where it is, and run lets it go on. It never goes
      back. Provider tokens, certificates and the delays of retries go by the machine's clock.
      The status is 1 when something that became due was not done after 10 s.
      """,
    options: [.json, .stateFolder],
    examples: [
      "widgetpush clock", "widgetpush clock advance 51m", "widgetpush clock advance next", "widgetpush clock set 2027-01-31T08:00:00Z",
      "widgetpush clock freeze",
    ]
  ) { arguments in
    let call = try ClockCall(arguments.operands)
    let client = try ControlClient(arguments)
    let answer = try client.call(call.method, call.path, call.body, timeout: .milliseconds(Limits.clockMilliseconds) + .seconds(20))
    guard answer.isSuccess else { throw CommandError(answer) }
    Console.print(arguments.wantsJSON ? answer.json.serialized(pretty: true) : ClockText.text(answer.json))
    return answer.json["complete"]?.boolValue == false && call.method != "GET" ? 1 : 0
  }
}

/// What the operands of `clock` ask of the control API.
struct ClockCall: Hashable {
  var method = "GET"
  var path = "/v1/clock"
  var body: JSONValue?

  /// The call that `operands` stand for.
  init(_ operands: [String]) throws(UsageError) {
    let verb = operands.first ?? "show"
    let value = operands.count > 1 ? operands[1] : nil
    switch verb {
    case "show": break
    case "freeze": (method, body) = ("PUT", ["frozen": true])
    case "run": (method, body) = ("PUT", ["frozen": false])
    case "set":
      guard let value else { throw UsageError("clock set needs a time such as 2027-01-31T08:00:00Z") }
      (method, body) = ("PUT", ["now": .string(value)])
    case "advance":
      guard let value else { throw UsageError("clock advance needs a span such as 5m, 8h or 1d, or next") }
      (method, path) = ("POST", "/v1/clock/advance")
      body = value == "next" ? ["to": "next"] : ["by": .string(value)]
    default:
      let nearest = nearestName(to: verb, among: Self.verbs).map { "; did you mean \($0)?" } ?? ""
      throw UsageError("clock takes \(Self.verbs.joined(separator: ", ")), not \"\(verb)\"\(nearest)")
    }
    if let value, !["set", "advance"].contains(verb) { throw UsageError("\"\(value)\" is more than clock \(verb) takes") }
  }

  private static let verbs = ["show", "freeze", "run", "set", "advance"]
}

/// The clock as people read it.
enum ClockText {
  /// The text of a body of `/v1/clock`.
  static func text(_ clock: JSONValue) -> String {
    let isFrozen = clock["frozen"]?.boolValue == true
    let offset = clock["offsetSeconds"]?.doubleValue ?? 0
    var first = "\(seconds(clock["now"]))\(isFrozen ? ", stopped" : "")"
    first += offset.magnitude < 1 ? ", the machine's time" : "; the machine's is \(seconds(clock["real"]))"
    var lines = [first]
    if clock["permitted"]?.boolValue == false { lines.append("It cannot be moved: the configuration has no clock.permitted.") }
    if let steps = clock["steps"]?.intValue, steps > 0 {
      lines.append("Went through \(steps == 1 ? "1 instant" : "\(steps) instants") at which something became due.")
    }
    if let next = clock["next"] {
      let subject = ["push", "reload", "activity", "token", "device"].compactMap { name in
        next[name]?.stringValue.map { "\(name) \(PushStory.shortened($0))" }
      }
      let at = next["at"]?.stringValue.flatMap { Instant(rfc3339: $0) }?.roundedUp(to: .seconds(1)).description
      let time = seconds(at.map(JSONValue.string) ?? next["at"])
      lines.append("Next: \(time)  \(next["what"]?.stringValue ?? "")  \(subject.joined(separator: "  "))")
    } else {
      lines.append("Nothing waits for it.")
    }
    guard let count = clock["outstandingCount"]?.intValue, count > 0 else { return lines.joined(separator: "\n") }
    lines.append("Not done yet (\(count)):")
    for work in clock["outstanding"]?.arrayValue ?? [] {
      lines.append("  \(work["push"]?.stringValue.map { "\($0)  " } ?? "")\(work["message"]?.stringValue ?? "")")
    }
    return lines.joined(separator: "\n")
  }

  /// A time without its fraction.
  private static func seconds(_ time: JSONValue?) -> String {
    let text = time?.stringValue ?? ""
    guard let point = text.firstIndex(of: ".") else { return text }
    return text[..<point] + "Z"
  }
}
