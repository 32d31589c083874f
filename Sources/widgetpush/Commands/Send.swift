import Glibc
import JSON
import Primitives
import Push

extension Command {
  /// `widgetpush send`.
  static let send = Command(
    "send", "sends a push as a backend would, and waits for what becomes of it", operands: "TOKEN", count: 1...1,
    discussion: """
      Signs a provider token with the state folder's key and sends one push to the provider API. Type, topic and payload follow
      from the token's registration unless given. Then it waits until the push has ended, or is held for a budget, an interval or
      an upstream, and says what became of it.
      The status is 0 when the push was accepted and not known to be in vain; 1 when it was refused, ignored, expired or failed.
      """,
    options: [
      Option("--type", "TYPE", "widgets, controls, liveactivity or alert (by the registration, else widgets)"),
      Option("--bundle-id", "ID", "the app (by the registration, else com.example.app)"),
      Option("--topic", "TOPIC", "apns-topic (by bundle id and type)"),
      Option("--payload", "JSON", "the body; @FILE reads a file, - standard input (by the type)"),
      Option("--event", "EVENT", "liveactivity: start, update or end (update, or start for a pushToStart token)"),
      Option("--content-state", "JSON", "liveactivity: the content-state ({})"),
      Option("--attributes-type", "TYPE", "liveactivity start: the attributes' Swift type"),
      Option("--attributes", "JSON", "liveactivity start: the attributes ({})"),
      Option("--alert", "TITLE", "the alert's title (alert: Hello from widgetpush; liveactivity: Started for a start, else no alert)"),
      Option("--priority", "N", "apns-priority: 10, 5 or 1; empty sends none (5 for widgets, controls and background, else 10)"),
      Option("--expiration", "SECONDS", "apns-expiration: Unix time, or 0 for one attempt (none)"),
      Option("--collapse-id", "TEXT", "apns-collapse-id; empty sends none (the type for widgets and controls, else none)"),
      Option("--id", "UUID", "apns-id (the gateway makes one)"),
      Option(switch: "--what-if", "send nothing; tell what would become of it, and what it would cost"),
      Option(switch: "--no-wait", "do not wait for what becomes of it"),
      Option("--timeout", "TIME", "how long to wait for an answer, and then for the outcome, such as 10s (10s)"), .json, .stateFolder,
    ],
    examples: [
      "widgetpush send 3fa2c1", "widgetpush send 3fa2c1 --payload '{\"aps\":{\"content-changed\":true}}' --priority 5",
      "widgetpush send 77ab --event update --content-state '{\"stops\":2}'",
    ]
  ) { arguments in
    let folder = StateFolder(arguments)
    let control = try ControlClient(arguments)
    let now = Machine.now
    let push = try PushDraft.push(arguments, control, now: now)
    if arguments.has("--what-if") {
      let answer = try control.call("POST", "/v1/what-if", .object(push.described))
      guard answer.isSuccess else { throw CommandError(answer) }
      Console.print(arguments.wantsJSON ? answer.json.serialized(pretty: true) : WhatIfReport.text(answer.json))
      return WhatIfReport.isInVain(answer.json) ? 1 : 0
    }
    let patience = try arguments.span("--timeout") ?? .seconds(10)
    let answer = try ProviderClient(folder, now: now).send(push, timeout: patience)
    var record: JSONValue?
    if let id = answer.id, !arguments.has("--no-wait") { record = try outcome(of: id, control, for: patience) }
    Console.print(arguments.wantsJSON ? SendReport.json(answer, record).serialized(pretty: true) : SendReport.text(answer, record))
    return SendReport.isInVain(answer, record) ? 1 : 0
  }

  /// The push's record once nothing more is to be expected of it, or as it is when the time is up; nil when the gateway tells none.
  private static func outcome(of id: String, _ control: ControlClient, for span: TimeSpan) throws -> JSONValue? {
    let end = Machine.steady + span
    var pause = TimeSpan.milliseconds(10)
    while true {
      let answer = try control.call("GET", "/v1/pushes/\(id)")
      if answer.isSuccess && SendReport.isSettled(answer.json) || Machine.steady >= end { return answer.success }
      Machine.sleep(pause)
      pause = min(pause * 2, .milliseconds(250))
    }
  }
}
