import HTTPClient
import JSON

extension Command {
  /// `widgetpush reset`.
  static let reset = Command(
    "reset", "forgets what was sent to an app, and makes its budgets full",
    discussion: """
      Has the gateway forget the pushes of an app, those that wait included, and fill its budgets, and the mock device forget what they
      did. Registrations, devices, and what is placed and running stay. Other apps notice nothing, so a test that has an app of its own
      can begin afresh beside others.
      """,
    options: [
      Option("--bundle-id", "BUNDLE", "the app (com.example.app)"), Option(switch: "--all", "every app"), .json, .stateFolder,
    ],
    examples: ["widgetpush reset --bundle-id com.example.app", "widgetpush reset --all"]
  ) { arguments in
    guard !arguments.has("--all") || !arguments.has("--bundle-id") else { throw UsageError("--all and --bundle-id exclude each other") }
    let folder = StateFolder(arguments)
    let gateway = try ControlClient(arguments)
    let bundleID = arguments.has("--all") ? nil : arguments.value("--bundle-id") ?? defaultBundleID
    let path = "/v1/reset" + (bundleID.map { "?bundleID=\(BlockingHTTPClient.percentEncoded($0))" } ?? "")
    var report: JSONObject = [:]
    // A gateway in front of Apple has no mock device behind it.
    let device = gateway.credentials.device == nil ? nil : try ControlClient(deviceOf: folder, isForPeople: !arguments.wantsJSON)
    for (name, client) in [("gateway", gateway), ("device", device)] {
      guard let answer = try client?.call("POST", path) else { continue }
      guard answer.isSuccess else { throw CommandError(answer) }
      report[name] = answer.json
    }
    if arguments.wantsJSON {
      Console.print(JSONValue.object(report).serialized(pretty: true))
    } else {
      let pushes = report["gateway"]?["pushes"]?.intValue ?? 0
      let tokens = report["gateway"]?["tokens"]?.intValue ?? 0
      let events = report["device"]?["events"]?.intValue ?? 0
      Console.print("forgotten of \(bundleID ?? "every app"): pushes \(pushes), events \(events); tokens that are full again: \(tokens)")
    }
    return 0
  }
}
