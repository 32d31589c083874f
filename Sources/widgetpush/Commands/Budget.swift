import JSON

extension Command {
  /// `widgetpush budget`.
  static let budget = Command(
    "budget", "shows what a token may still spend, or changes it", operands: "TOKEN", count: 1...1,
    discussion: """
      Shows the budgets of a registered token: the allowance, what remains, which one binds and when the next credit comes.
      Each placed widget, each control, each Live Activity, each push-to-start token and each app token has one.
      After a change it also tells whether pushes that waited were released.
      """,
    options: [
      Option("--remaining", "N", "set what remains"), Option("--index", "N", "of this budget only (all)"),
      Option(switch: "--reset", "make them full again"), .json, .stateFolder,
    ],
    examples: ["widgetpush budget 3fa2c1", "widgetpush budget 3fa2c1 --reset"]
  ) { arguments in
    let client = try ControlClient(arguments)
    let token = try client.fullToken(arguments.operands[0])
    let path = "/v1/budgets/\(token)"
    let waited = try waiting(client, token)
    let isChange = arguments.has("--reset") || arguments.has("--remaining")
    if arguments.has("--reset") {
      guard !arguments.has("--remaining"), !arguments.has("--index") else {
        throw UsageError("--reset makes all budgets full, so it stands alone")
      }
      let answer = try client.call("DELETE", path)
      guard answer.isSuccess else { throw CommandError(answer) }
    } else if let remaining = try arguments.integer("--remaining", in: -1_000_000_000...1_000_000_000) {
      var body: JSONObject = ["remaining": .integer(remaining)]
      body["index"] = try arguments.integer("--index", in: 0...1000).map { .integer($0) }
      let answer = try client.call("PUT", path, .object(body))
      guard answer.isSuccess else { throw CommandError(answer) }
    } else if arguments.has("--index") {
      throw UsageError("--index needs --remaining")
    }
    let report = try client.get(path)
    if arguments.wantsJSON {
      Console.print(report.serialized(pretty: true))
    } else {
      let registration = try client.get("/v1/registrations/\(token)")
      Console.print(BudgetTable.text(of: report, registration))
      if isChange, let line = released(waited, registration["waiting"]?.intValue ?? 0) { Console.print(line) }
    }
    return 0
  }

  private static func waiting(_ client: ControlClient, _ token: String) throws(CommandError) -> Int64 {
    try client.call("GET", "/v1/registrations/\(token)").success?["waiting"]?.intValue ?? 0
  }

  /// What a change of budgets meant for the pushes that waited before it; nil when there were none.
  static func released(_ before: Int64, _ after: Int64) -> String? {
    guard before > 0 else { return nil }
    let gone = max(0, before - after)
    let released = gone == 1 ? "1 waiting push was released" : "\(gone) waiting pushes were released"
    let rest = after == 1 ? "1 push still waits" : "\(after) pushes still wait"
    return [gone > 0 ? released : nil, after > 0 ? rest : nil].compactMap { $0 }.joined(separator: "; ")
  }
}

/// The budgets of a token as a table for people.
enum BudgetTable {
  /// The table of the body of `GET /v1/budgets/{token}`, for the token's registration.
  static func text(of report: JSONValue, _ registration: JSONValue) -> String {
    // What the gateway reports is what would hold without it.
    if registration["developerMode"]?.boolValue == true { return "no budgets: developer mode" }
    let budgets = report["budgets"]?.arrayValue ?? []
    guard !budgets.isEmpty else { return "This token has no budget; those of widgets, controls, Live Activities and apps have one." }
    // Of one alone there is nothing to tell apart.
    let areSeveral = budgets.count > 1
    let control = registration["control"]?["kind"]?.stringValue.map { "control \($0)" }
    var rows = [["", "remaining", "allowance", "burst", "min. interval", "next push", "next credit"]]
    for budget in budgets {
      let widget = budget["widget"].map { "\($0["kind"]?.stringValue ?? "") \($0["family"]?.stringValue ?? "")" }
      let name =
        (widget ?? control ?? (areSeveral ? nil : budget["budget"]?.stringValue) ?? "budget \(budget["index"]?.intValue ?? 0)")
        + (areSeveral && budget["binds"]?.boolValue == true ? " *" : "")
      rows.append([
        name, number(budget["remaining"]), number(budget["allowance"]), number(budget["burst"]),
        number(budget["minimumIntervalSeconds"]) + " s", budget["payableAt"]?.stringValue ?? "–",
        budget["nextCredit"]?.stringValue ?? "full",
      ])
    }
    return (Table.lines(rows) + (areSeveral ? ["* the one that binds: a push goes when all can pay"] : [])).joined(separator: "\n")
  }

  private static func number(_ value: JSONValue?) -> String { value.map { $0.isNumber ? $0.serialized() : "?" } ?? "?" }
}
