import JSON
import Primitives
import Push

extension Command {
  /// `widgetpush replay`.
  static let replay = Command(
    "replay", "sends recorded pushes again, and tells what becomes of them now", operands: "FILE", count: 1...1,
    discussion: """
      Sends what `widgetpush record` has written to a running server, mostly `dev`, in its order and at its times, in apps and to push
      tokens of its own, and shows what became of it beside what had become of it then. Where the server's clock may be moved it goes along
      with the recording: a day takes seconds, and budgets fill as they did. Settings of the apps are those that were
      recorded, but for what the options change. Nothing of the server's own apps is touched; afterwards the replay's are gone.
      """,
    options: [
      Option("--speed", "N", "so many times as fast as it was, or max (max where the clock may be moved, else 1)"),
      Option("--to", "TIME", "only what came until then by the recording's times, such as 2027-01-31T12:00:00Z, or in its first 10m (all)"),
      Option("--bundle-id", "ID", "only what was sent to this app (all)"),
      Option("--budget-mode", "MODE", "enforce, reject or observe (as recorded)"),
      Option(
        "--budget", "KIND.PARAMETER=N", "such as widgets.allowance=20: allowance, burst, window or interval (as recorded)", repeatable: true
      ),
      Option("--budgets", "FILE", "JSON in the form of PUT /v1/apps/BUNDLE-ID: what is in it holds in place of what was recorded"),
      Option(switch: "--developer-mode", "all devices have WidgetKit Developer Mode: no budgets"),
      Option(switch: "--server-settings", "the apps' settings are the server's, not those that were recorded"),
      Option(switch: "--real-time", "leave the server's clock alone"), .json, .stateFolder,
    ],
    examples: [
      "widgetpush replay day.ndjson", "widgetpush replay day.ndjson --budget-mode reject --budget widgets.allowance=20",
      "widgetpush replay day.ndjson --to 2h --json",
      "widgetpush replay day.ndjson --speed 10 --real-time --bundle-id com.example.app",
    ]
  ) { arguments in
    var options = ReplayRun.Options(
      path: arguments.operands[0], bundleID: arguments.value("--bundle-id"), profile: try BudgetProfile(arguments))
    guard options.path != "-" else { throw UsageError("a recording is read twice, so it must be a file") }
    if let text = arguments.value("--speed") {
      guard let pace = ReplayPace(text: text) else {
        throw UsageError("--speed must be max or a number from 0.001 to 1000000, not \"\(text)\"")
      }
      options.pace = pace
    }
    if let text = arguments.value("--to") {
      guard let end = RecordingDigest.Limit(text: text) else {
        throw UsageError("--to must be a time such as 2027-01-31T12:00:00Z, or a span such as 10m or 2h, not \"\(text)\"")
      }
      options.end = end
    }
    options.usesRecordedSettings = !arguments.has("--server-settings")
    options.mayMoveClock = !arguments.has("--real-time")
    var replay = try ReplayRun(options, StateFolder(arguments), try Interruption.flag())
    for gap in replay.gaps { Console.complain("widgetpush replay: \(gap)") }
    if !replay.movesClock, options.pace.map({ $0 != .times(1) }) ?? false {
      Console.complain("widgetpush replay: the server's clock is not moved, so its budgets fill by the machine's time, whatever the speed")
    }
    let report = try replay.run()
    for refusal in replay.refusals.prefix(3) { Console.complain("widgetpush replay: a registration was refused: \(refusal)") }
    if replay.refusals.count > 3 { Console.complain("widgetpush replay: and \(replay.refusals.count - 3) more registrations") }
    if replay.incomplete > 0 {
      Console.complain("widgetpush replay: \(replay.incomplete) times the server had not done within 10 s what was due")
    }
    if arguments.wantsJSON {
      var json = report.json
      json["clockMoved"] = .bool(replay.movesClock)
      json["seconds"] = .number(replay.duration.seconds)
      json["gaps"] = .array(replay.gaps.map(JSONValue.string))
      json["registrationsRefused"] = .integer(Int64(replay.refusals.count))
      json["interrupted"] = .bool(replay.isInterrupted)
      Console.print(JSONValue.object(json).serialized(pretty: true))
    } else {
      Console.print(report.text)
    }
    return replay.isInterrupted || !replay.refusals.isEmpty || report.unanswered > 0 ? 1 : 0
  }
}
