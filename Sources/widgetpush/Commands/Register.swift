import DeviceModel
import JSON
import Primitives
import Push
import Security

extension Command {
  /// `widgetpush register`.
  static let register = Command(
    "register", "registers a push token, or takes it back", operands: "[TOKEN]", count: 0...1,
    discussion: """
      Tells the gateway what a push token stands for, as an app's push handler would; a second call replaces the first. Without a
      token it makes one up and prints it: the mock device gives it a device, an app and a widget at the first push.
      Types: widgets, controls, liveactivity, pushToStart, app (alert and background), voip, pushtotalk, location, complication,
      fileprovider, mdm.
      """,
    options: [
      Option(
        "--type", "TYPE",
        "widgets, controls, liveactivity, pushToStart, app, voip or the like (widgets)"),
      Option("--bundle-id", "ID", "the app (com.example.app)"),
      Option("--environment", "NAME", "development or production (development)"),
      Option("--widget", "KIND:FAMILY", "a placed widget, such as Steps:systemSmall", repeatable: true),
      Option("--control", "KIND", "the control of a controls token"),
      Option("--activity", "ID:TYPE", "the activity of a liveactivity token and its attributes type"),
      Option("--device", "NAME", "the device"), Option("--user", "NAME", "the user"), Option("--platform", "NAME", "such as iOS"),
      Option("--upstream", "NAME", "where its pushes go (the app's upstream)"),
      Option("--minimum-interval", "SECONDS", "least time between two reloads (the app's)"),
      Option("--coalesce", "SECONDS", "how long a first reload is held for others (the app's)"),
      Option("--quiet-hours", "FROM-TO", "local time in which nothing is reloaded, such as 22:30-07:00 (none)"),
      Option("--utc-offset", "MINUTES", "of the quiet hours' local time, such as 120 (0)"),
      Option("--replaces", "TOKEN", "the token that this one has taken the place of: its budgets go on"),
      Option(switch: "--frequent-updates", "the app has frequent updates enabled"),
      Option(switch: "--developer-mode", "the device has WidgetKit Developer Mode: no budgets"),
      Option(switch: "--remove", "take the registration back"), .json, .stateFolder,
    ],
    examples: ["widgetpush register --widget Steps:systemSmall", "widgetpush register 3fa2c19e --type controls --control Timer"]
  ) { arguments in
    let client = try ControlClient(arguments)
    if arguments.has("--remove") {
      guard let prefix = arguments.operands.first else { throw UsageError("--remove needs the token") }
      let token = try client.fullToken(prefix)
      let answer = try client.call("DELETE", "/v1/registrations/\(token)")
      guard answer.isSuccess else { throw CommandError(answer) }
      Console.print(arguments.wantsJSON ? JSONValue.object(["token": .string(token), "removed": true]).serialized() : "removed \(token)")
      return 0
    }
    let token = arguments.operands.first ?? Hexadecimal.encode(SecureRandom.bytes(32))
    guard DeviceToken(hex: token) != nil else {
      throw UsageError(
        DeviceToken.complaint(aboutPrinted: token)
          ?? "a token has an even number of hexadecimal digits, at most \(2 * DeviceToken.bytesMax); \"\(token)\" is none")
    }
    let body = JSONValue.object(try registration(arguments))
    let before = try client.call("GET", "/v1/registrations/\(token)").success
    let answer = try client.call("PUT", "/v1/registrations/\(token)", body)
    guard answer.isSuccess else { throw CommandError(answer) }
    if arguments.wantsJSON {
      Console.print(answer.json.serialized(pretty: true))
    } else if arguments.operands.isEmpty {
      Console.print(token)
    } else {
      Console.print("\(answer.status == 201 ? "registered" : "replaced") \(token)")
      if let before, let lost = RegistrationLoss.text(before, body) { Console.complain(lost) }
    }
    return 0
  }

  /// The body that the options stand for; whether its parts fit together is the gateway's to say.
  private static func registration(_ arguments: Arguments) throws(UsageError) -> JSONObject {
    let kind = try arguments.choice("--type", of: TokenKind.allCases.map(\.name)) ?? TokenKind.widgets.name
    let environment = try arguments.choice("--environment", of: PushEnvironment.allCases.map(\.name)) ?? PushEnvironment.development.name
    var body: JSONObject = [
      "type": .string(kind), "bundleID": .string(arguments.value("--bundle-id") ?? defaultBundleID), "environment": .string(environment),
    ]
    let widgets = try arguments.all("--widget").map { text throws(UsageError) -> JSONValue in
      let (kind, family) = try halves(text, "--widget KIND:FAMILY, such as Steps:systemSmall")
      let families = WidgetFamily.allCases.map(\.rawValue)
      guard families.contains(family) else {
        let nearest = nearestName(to: family, among: families).map { "; did you mean \($0)?" } ?? ""
        throw UsageError("the family of --widget must be one of \(families.joined(separator: ", ")), not \"\(family)\"\(nearest)")
      }
      return ["kind": .string(kind), "family": .string(family)]
    }
    if !widgets.isEmpty { body["widgets"] = .array(widgets) }
    body["control"] = arguments.value("--control").map { ["kind": .string($0)] }
    if let text = arguments.value("--activity") {
      let (id, type) = try halves(text, "--activity ID:TYPE, such as 7:DeliveryAttributes")
      body["activity"] = ["id": .string(id), "attributesType": .string(type)]
    }
    for name in ["device", "user", "platform", "upstream"] { body[name] = arguments.value("--\(name)").map(JSONValue.string) }
    body["minimumIntervalSeconds"] = try arguments.span("--minimum-interval").map { .number($0.seconds) }
    body["coalesceSeconds"] = try arguments.span("--coalesce").map { .number($0.seconds) }
    body["replaces"] = arguments.value("--replaces").map(JSONValue.string)
    if let text = arguments.value("--quiet-hours") {
      let parts = text.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 2 else { throw UsageError("\"\(text)\" is not of the form --quiet-hours FROM-TO, such as 22:30-07:00") }
      var hours: JSONObject = ["from": .string(parts[0]), "to": .string(parts[1])]
      hours["utcOffsetMinutes"] = try arguments.integer("--utc-offset", in: -840...840).map(JSONValue.integer)
      body["quietHours"] = .object(hours)
    } else if arguments.has("--utc-offset") {
      throw UsageError("--utc-offset needs --quiet-hours")
    }
    if arguments.has("--frequent-updates") { body["frequentUpdates"] = true }
    if arguments.has("--developer-mode") { body["developerMode"] = true }
    return body
  }

  private static func halves(_ text: String, _ form: String) throws(UsageError) -> (String, String) {
    guard let colon = text.lastIndex(of: ":"), colon != text.startIndex, text.index(after: colon) != text.endIndex else {
      throw UsageError("\"\(text)\" is not of the form \(form)")
    }
    return (String(text[..<colon]), String(text[text.index(after: colon)...]))
  }

  /// The app that `dev` knows.
  static let defaultBundleID = "com.example.app"
}
