import Glibc
import JSON
import Primitives

extension Command {
  /// `widgetpush reload`.
  static let reload = Command(
    "reload", "reloads many widgets and controls, or shows how far such a reload is", operands: "[ID]", count: 0...1,
    discussion: """
      Asks the gateway for one push to each registered widget and control that is meant: by kind, by user, by device, or all of an
      app. The pushes are the gateway's own, and budgets, intervals and merging hold for them as for any other. It goes on by itself,
      also when the gateway is restarted; --wait stays until each match has got its push and none is on its way.
      With the id that it printed, it shows that reload, or stops it.
      """,
    options: [
      Option("--bundle-id", "ID", "the app (com.example.app)"),
      Option("--kind", "KIND", "widgets of this kind", repeatable: true),
      Option("--control", "KIND", "controls of this kind", repeatable: true),
      Option("--user", "NAME", "of this user only", repeatable: true),
      Option("--device", "NAME", "on this device only", repeatable: true),
      Option(switch: "--all", "every widget and control of the app"),
      Option(switch: "--dry-run", "send nothing; count the matches, and what would go now"),
      Option("--spread", "TIME", "spread the pushes evenly over this time, such as 10m (at once)"),
      Option("--key", "TEXT", "an Idempotency-Key: the same request again begins nothing new"),
      Option(switch: "--wait", "wait for the end, with progress on a terminal"),
      Option(switch: "--stop", "with an ID: make no further pushes"), .json, .stateFolder,
    ],
    examples: [
      "widgetpush reload --kind Steps --user alice", "widgetpush reload --all --dry-run", "widgetpush reload --all --spread 10m --wait",
    ]
  ) { arguments in
    let client = try ControlClient(arguments)
    var reload: JSONValue
    if let id = arguments.operands.first {
      reload = try known(id, arguments, client)
    } else {
      guard !arguments.has("--stop") else { throw UsageError("--stop needs the id of a reload") }
      let isDryRun = arguments.has("--dry-run")
      // A dry run looks at every registration before it answers.
      let answer = try client.call(
        "POST", "/v1/reloads", .object(try body(arguments)), fields: arguments.value("--key").map { [("idempotency-key", $0)] } ?? [],
        timeout: isDryRun ? .seconds(120) : nil)
      guard answer.isSuccess else { throw CommandError(answer) }
      reload = isDryRun ? answer.json : try counted(answer.json, client)
    }
    if arguments.has("--wait"), let id = reload["id"]?.stringValue { reload = try ReloadProgress(client: client).wait(for: id) }
    Console.print(arguments.wantsJSON ? reload.serialized(pretty: true) : ReloadSummary.text(reload))
    return 0
  }

  /// A reload that was asked for before, after it was stopped where that is wanted.
  private static func known(_ id: String, _ arguments: Arguments, _ client: ControlClient) throws -> JSONValue {
    for option in ["--kind", "--control", "--user", "--device", "--all", "--dry-run", "--spread", "--key"] where arguments.has(option) {
      throw UsageError("\(option) is for a new reload, and \(id) names one that is there")
    }
    guard id.allSatisfy({ $0.isHexDigit || $0 == "-" }) else { throw UsageError("\"\(id)\" is not the id of a reload") }
    if arguments.has("--stop") {
      let answer = try client.call("DELETE", "/v1/reloads/\(id)")
      guard answer.isSuccess else { throw CommandError(answer) }
    }
    return try client.get("/v1/reloads/\(id)")
  }

  /// The reload with the number of its matches, which the gateway finds out after its answer; without it where that takes longer.
  private static func counted(_ reload: JSONValue, _ client: ControlClient) throws -> JSONValue {
    guard let id = reload["id"]?.stringValue else { return reload }
    var reload = reload
    for _ in 0..<countingLooks where reload["matches"] == nil && reload["state"]?.stringValue == "running" {
      Machine.sleep(.milliseconds(50))
      reload = try client.get("/v1/reloads/\(id)")
    }
    return reload
  }

  /// How often it looks: for two seconds, in which a gateway looks through some hundred thousand registrations.
  private static let countingLooks = 40

  private static func body(_ arguments: Arguments) throws -> JSONObject {
    var body: JSONObject = ["bundleID": .string(arguments.value("--bundle-id") ?? "com.example.app")]
    let lists = [("kinds", "--kind"), ("controls", "--control"), ("users", "--user"), ("devices", "--device")]
    for (field, option) in lists where arguments.has(option) { body[field] = .array(arguments.all(option).map { .string($0) }) }
    guard arguments.has("--all") != lists.contains(where: { arguments.has($0.1) }) else {
      throw UsageError(
        arguments.has("--all")
          ? "--all stands alone: --kind, --control, --user and --device narrow down"
          : "say what to reload: --kind, --control, --user, --device, or --all for every widget and control of the app")
    }
    if arguments.has("--all") { body["all"] = true }
    if arguments.has("--dry-run") { body["dryRun"] = true }
    if let spread = try arguments.span("--spread") { body["spreadSeconds"] = .number(spread.seconds) }
    return body
  }
}

/// Waits for a reload, and shows how far it is.
struct ReloadProgress {
  let client: ControlClient

  /// Returns the reload once each match has got its push and none is on its way, or somebody has stopped it.
  func wait(for id: String) throws -> JSONValue {
    var progress = Progress("pushes made")
    defer { progress.end() }
    while true {
      let reload = try client.get("/v1/reloads/\(id)")
      let isOnItsWay = (reload["dispositions"]?["forwarding"]?.intValue ?? 0) > 0
      if reload["state"]?.stringValue != "running", !isOnItsWay { return reload }
      progress.show(Int(reload["visited"]?.intValue ?? 0), of: reload["matches"]?.intValue.map { Int($0) })
      Machine.sleep(.milliseconds(200))
    }
  }
}

/// A reload, or what one would do, as text for people.
enum ReloadSummary {
  /// The text of an answer of `/v1/reloads`.
  static func text(_ reload: JSONValue) -> String {
    let matches = reload["matches"]?.intValue
    let counts = reload["dispositions"]?.objectValue
    let parts = (counts?.keys ?? []).compactMap { name -> String? in
      guard let count = counts?[name]?.intValue, count > 0 else { return nil }
      return "\(count) \(name)"
    }
    if matches == 0 { return "0 registrations match \(selector(reload)): nothing is sent" }
    let skipped = reload["skipped"]?.intValue ?? 0
    let rest = parts + (skipped > 0 ? ["\(skipped) skipped, since their tokens are dead"] : [])
    let sum = rest.isEmpty ? "" : ": " + rest.joined(separator: ", ")
    if reload["dryRun"]?.boolValue == true {
      let now = counts?["forwarding"]?.intValue ?? 0
      let match = matches == 1 ? "1 registration matches" : "\(matches ?? 0) registrations match"
      return "\(match); nothing was sent, and \(now) would go now\(sum)"
    }
    let visited = reload["visited"]?.intValue ?? 0
    let total = matches.map { " of \($0)" } ?? ""
    return "reload \(reload["id"]?.stringValue ?? "") \(reload["state"]?.stringValue ?? ""), \(visited)\(total) done\(sum)"
  }

  /// What was to be reloaded: `kind Steps, user alice of com.example.app`.
  private static func selector(_ reload: JSONValue) -> String {
    let parts = [("kind", "kinds"), ("control", "controls"), ("user", "users"), ("device", "devices")].compactMap { word, field in
      reload[field]?.arrayValue.map { names in "\(word) \(names.compactMap(\.stringValue).joined(separator: " or "))" }
    }
    let what = parts.isEmpty ? "any widget or control" : parts.joined(separator: ", ")
    return "\(what) of \(reload["bundleID"]?.stringValue ?? "")"
  }
}
