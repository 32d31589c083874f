import JSON
import Primitives
import Push

extension Command {
  /// `widgetpush faults`.
  static let faults = Command(
    "faults", "has pushes go wrong on purpose, lists such faults, and takes them away", operands: "add | list | remove ID|all",
    count: 1...2,
    discussion: """
      add sets a fault on the gateway, which then answers backends that way, or with --device on the mock device, which then answers
      the gateway that way. It strikes the pushes that match, as often as --times and --probability say; the same --seed strikes the
      same ones again. It does one thing: --status, --reason, --goaway, --reset, --streams, --close, --stall or --outage; with --delay
      it holds the push back first, or does nothing else.
      list shows each fault with how many pushes matched, and how many it struck. remove takes one away, or all.
      A gateway permits faults where its configuration says faults.allowed; dev does. They are forgotten at the end of the process.
      """,
    options: [
      Option(switch: "--device", "on the mock device, not on the gateway"), Option("--token", "TOKEN", "pushes to this token (any)"),
      Option("--bundle-id", "ID", "pushes to this app (any)"), Option("--type", "TYPE", "pushes of this type (any)"),
      Option("--status", "N", "answer with this status"), Option("--reason", "NAME", "answer with this reason of Apple's"),
      Option("--delay", "TIME", "hold the push back: 200ms, or anything between two such as 50ms-2s"),
      Option("--goaway", "WHEN", "GOAWAY before the push, which is not done, or after it"),
      Option("--reset", "CODE", "RST_STREAM with an error code such as INTERNAL_ERROR"),
      Option("--streams", "N", "permit so many streams on the push's connection"), Option(switch: "--close", "close the push's connection"),
      Option(switch: "--stall", "never answer"),
      Option("--outage", "TIME", "close every connection that brings a push for so long; 0 for as long as the fault stands"),
      Option("--times", "N", "strike so many pushes at most (no end)"),
      Option("--probability", "P", "strike this part of them, 0 to 1 (1)"),
      Option("--seed", "N", "what all choices follow from (the fault's number)"), .json, .stateFolder,
    ],
    examples: [
      "widgetpush faults add --status 503 --times 2", "widgetpush faults add --device --reason Unregistered --token 3fa2c19e",
      "widgetpush faults add --delay 50ms-2s --probability 0.1 --seed 7", "widgetpush faults list", "widgetpush faults remove all",
    ]
  ) { arguments in
    let verb = try arguments.verb(of: ["add", "list", "remove"])
    let folder = StateFolder(arguments)
    let client =
      try arguments.has("--device") ? ControlClient(deviceOf: folder, isForPeople: !arguments.wantsJSON) : ControlClient(arguments)
    if verb != "add", let option = FaultOptions.names.first(where: arguments.has) { throw UsageError("\(option) is for add") }
    if verb != "remove", arguments.operands.count > 1 { throw UsageError("\(verb) takes nothing more than options") }
    switch verb {
    case "add":
      let body = try FaultOptions.body(arguments) { prefix throws(CommandError) in try ControlClient(folder).fullToken(prefix) }
      let answer = try client.call("POST", "/v1/faults", body)
      guard answer.isSuccess else { throw CommandError(answer) }
      Console.print(arguments.wantsJSON ? answer.json.serialized(pretty: true) : "fault \(answer.json["id"]?.intValue ?? 0) is set")
    case "remove":
      let id = try arguments.subject("ID or all", of: verb)
      guard id == "all" || Int64(id) != nil else { throw UsageError("remove needs a fault's number, or all, not \"\(id)\"") }
      let answer = try client.call("DELETE", id == "all" ? "/v1/faults" : "/v1/faults/\(id)")
      guard answer.isSuccess else { throw CommandError(answer) }
      let removed = id == "all" ? answer.json["removed"]?.intValue ?? 0 : 1
      let text = "removed \(removed) \(removed == 1 ? "fault" : "faults")"
      Console.print(arguments.wantsJSON ? JSONValue.object(["removed": .integer(removed)]).serialized() : text)
    default:
      let list = try client.get("/v1/faults")
      Console.print(arguments.wantsJSON ? list.serialized(pretty: true) : FaultOptions.table(of: list))
    }
    return 0
  }
}

/// A fault as options of a command line, and as a row of a table.
enum FaultOptions {
  /// The options that only a fault to be set has.
  static let names = [
    "--token", "--bundle-id", "--type", "--status", "--reason", "--delay", "--goaway", "--reset", "--streams", "--close", "--stall",
    "--outage", "--times", "--probability", "--seed",
  ]

  /// The body of `POST /v1/faults` that the options ask for; `fullToken` completes a token of which the beginning is given.
  static func body(_ arguments: Arguments, fullToken: (String) throws(CommandError) -> String) throws -> JSONValue {
    var match: JSONObject = [:]
    if let token = arguments.value("--token") { match["token"] = .string(try fullToken(token)) }
    match["bundleID"] = arguments.value("--bundle-id").map(JSONValue.string)
    match["type"] = try arguments.choice("--type", of: PushType.allCases.map(\.description)).map(JSONValue.string)
    var then: JSONObject = [:]
    then["status"] = try arguments.integer("--status", in: 100...599).map(JSONValue.integer)
    then["reason"] = arguments.value("--reason").map(JSONValue.string)
    if let text = arguments.value("--delay") { then["delayMilliseconds"] = try delay(text) }
    then["goaway"] = try arguments.choice("--goaway", of: ["before", "after"]).map(JSONValue.string)
    then["reset"] = arguments.value("--reset").map(JSONValue.string)
    then["concurrentStreams"] = try arguments.integer("--streams", in: 1...Int64(Limits.concurrentStreams)).map(JSONValue.integer)
    if arguments.has("--close") { then["close"] = true }
    if arguments.has("--stall") { then["stall"] = true }
    if let span = try arguments.span("--outage") {
      then["outage"] = span == .zero ? true : ["milliseconds": .integer(max(1, span.milliseconds))]
    }
    guard !then.keys.isEmpty else {
      throw UsageError("what the fault does is missing; give --status, --delay or another option that --help lists")
    }
    var body: JSONObject = ["then": .object(then)]
    if !match.keys.isEmpty { body["match"] = .object(match) }
    body["times"] = try arguments.integer("--times", in: 1...1_000_000_000).map(JSONValue.integer)
    if let text = arguments.value("--probability") {
      guard let part = Double(text), part > 0, part <= 1 else {
        throw UsageError("--probability must be a number above 0 and up to 1, not \"\(text)\"")
      }
      body["probability"] = .number(part)
    }
    body["seed"] = try arguments.integer("--seed", in: 0...Int64.max).map(JSONValue.integer)
    return .object(body)
  }

  private static func delay(_ text: String) throws(UsageError) -> JSONValue {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false).map { TimeSpan(text: String($0))?.milliseconds }
    switch parts.count {
    case 1: if let fixed = parts[0], fixed > 0 { return .integer(fixed) }
    case 2: if let from = parts[0], let to = parts[1], from <= to { return ["from": .integer(from), "to": .integer(to)] }
    default: break
    }
    throw UsageError("--delay must be a time such as 200ms, or two such as 50ms-2s, not \"\(text)\"")
  }

  /// The body of `GET /v1/faults` for people.
  static func table(of list: JSONValue) -> String {
    let faults = list["faults"]?.arrayValue ?? []
    guard !faults.isEmpty else { return "no faults" }
    let rows = faults.map { fault in
      let times = fault["times"]?.intValue.map { " of \($0)" } ?? ""
      let match =
        fault["match"]?.objectValue.map { object in object.keys.map { "\($0) \(object[$0]?.stringValue.map(PushStory.shortened) ?? "")" } }
        ?? []
      return [
        "\(fault["id"]?.intValue ?? 0)", match.isEmpty ? "every push" : match.joined(separator: ", "), fault["then"]?.serialized() ?? "",
        fault["probability"]?.serialized() ?? "", fault["seed"]?.serialized() ?? "", "\(fault["matched"]?.intValue ?? 0)",
        "\(fault["applied"]?.intValue ?? 0)\(times)",
      ]
    }
    return Table.lines([["fault", "strikes", "with", "probability", "seed", "matched", "struck"]] + rows).joined(separator: "\n")
  }
}
