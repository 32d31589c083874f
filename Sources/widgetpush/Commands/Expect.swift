import JSON
import Primitives
import Push

extension Command {
  /// `widgetpush expect`.
  static let expect = Command(
    "expect", "waits for pushes, and fails when they do not come",
    discussion: """
      Waits until as many pushes match as are expected, those that were there before included, and prints them, the newest first.
      When the time is up it prints what nearly matched, and in what it differs, and ends with the status 1.
      """,
    options: [
      Option("--count", "N", "how many, at least (1)"), Option("--token", "TOKEN", "the push token, or its first digits (any)"),
      Option("--bundle-id", "ID", "the app (any)"), Option("--type", "TYPE", "the push type (any)"),
      Option("--disposition", "NAME", "what became of it, such as applied (any)"),
      Option("--cause", "NAME", "why, of what became of it or of one of its steps, such as priorityLowered (any)"),
      Option("--reload", "ID", "the reload that it was made for (any)"),
      Option("--timeout", "TIME", "how long to wait, such as 10s (10s)"), .json, .stateFolder,
    ],
    examples: ["widgetpush expect --count 3 --token 3fa2c19e --timeout 10s", "widgetpush expect --disposition applied --type widgets"]
  ) { arguments in
    let client = try ControlClient(arguments)
    let count = try arguments.integer("--count", in: 1...Int64(Limits.pageRows)) ?? 1
    let timeout = try arguments.span("--timeout") ?? .seconds(10)
    let expectation = try Expectation(arguments, client)
    let page = try expectation.wait(for: count, timeout, client)
    Console.print(arguments.wantsJSON ? page.serialized(pretty: true) : expectation.text(of: page, expected: count, within: timeout))
    return page["complete"]?.boolValue == true ? 0 : 1
  }
}

/// Which pushes are waited for.
struct Expectation {
  private let criteria: PushCriteria

  /// The criteria that the options name.
  init(_ arguments: Arguments, _ client: ControlClient) throws { self.init(try PushCriteria(arguments, client)) }

  /// Pushes that meet these criteria.
  init(_ criteria: PushCriteria) { self.criteria = criteria }

  /// The page of matches once there are `count`, or when the time is up.
  func wait(for count: Int64, _ timeout: TimeSpan, _ client: ControlClient) throws -> JSONValue {
    let end = Machine.steady + timeout
    while true {
      let left = min(end - Machine.steady, .seconds(Limits.waitSeconds))
      let query = criteria.query(["count=\(count)", "limit=\(Limits.pageRows)", "wait=\(max(0, left.milliseconds))ms"])
      let page = try client.get("/v1/pushes" + query, timeout: max(.zero, left) + .seconds(10))
      if page["complete"]?.boolValue == true || Machine.steady >= end { return page }
    }
  }

  /// What came, or what nearly did.
  func text(of page: JSONValue, expected: Int64, within timeout: TimeSpan) -> String {
    let pushes = (page["pushes"]?.arrayValue ?? []).map(Self.line)
    guard page["complete"]?.boolValue != true else { return pushes.joined(separator: "\n") }
    let matched = page["matched"]?.intValue ?? 0
    var lines = ["\(matched) of \(expected) came within \(timeout.seconds.formatted) s"] + pushes
    let misses = (page["nearMisses"]?.arrayValue ?? []).filter(isTelling)
    lines += misses.map { miss in
      "nearly: \(Self.line(miss["push"] ?? .null)), but its \(miss["differs"]?.stringValue ?? "") differs"
    }
    if misses.isEmpty { lines.append("and no other push was nearly one of them; `widgetpush explain --last` shows the newest") }
    return lines.joined(separator: "\n")
  }

  /// Whether a push that nearly matches says anything: where only a token is asked for, every push to another one differs in nothing else,
  /// and those are worth a line whose token may be the same, mistyped.
  private func isTelling(_ miss: JSONValue) -> Bool {
    guard let token = criteria.onlyToken, miss["differs"]?.stringValue == "token" else { return true }
    return miss["push"]?["token"]?.stringValue.map { Symptom.likeness($0, token) != nil } ?? false
  }

  private static func line(_ push: JSONValue) -> String {
    let reason = push["reason"]?.stringValue.map { " \($0)" } ?? ""
    let lowered = push["lowered"]?["sentence"]?.stringValue.map { " at priority 5: \($0)" } ?? ""
    let cause = (push["cause"]?.stringValue.map { " (\($0))" } ?? "") + lowered
    return [
      push["id"]?.stringValue, push["type"]?.stringValue, push["token"]?.stringValue.map { "to \($0.prefix(8))…" },
      push["disposition"]?.stringValue.map { $0 + reason + cause },
    ].compactMap { $0 }.joined(separator: "  ")
  }
}

extension Double {
  /// Without a fraction where there is none.
  fileprivate var formatted: String { self == rounded(.down) ? "\(Int(self))" : "\(self)" }
}
