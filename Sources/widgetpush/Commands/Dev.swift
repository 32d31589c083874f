import Gateway
import JSON
import Primitives
import Push

extension Command {
  /// `widgetpush dev`.
  static let dev = Command(
    "dev", "runs gateway and mock device in one process, with keys and certificates made on the spot", takesCommand: true,
    discussion: """
      Makes what is missing in the state folder (certificates, a provider key, access tokens, credentials.json), starts both, and
      prints one line when they answer:
        ready provider=URL control=URL device=URL plain=URL
      Then it prints each refused request, each push that was ignored or went at priority 5, and each connection that failed, with what to
      do about it.
      SIGHUP has it read the state folder's keys and certificates again; the end of its terminal ends it.
      It knows the app com.example.app and one device, phone. With a command after -- it runs that command with the URLs and
      credentials in WIDGETPUSH_… variables, and ends with its status.
      """,
    options: [
      Option("--state-dir", "FOLDER", "where everything is kept (WIDGETPUSH_STATE_DIR, else .widgetpush)"),
      Option("--provider-port", "PORT", "provider API, 0 takes a free port (2197)"),
      Option("--control-port", "PORT", "control API, 0 takes a free port (8443)"),
      Option("--device-port", "PORT", "mock device, 0 takes a free port (8444)"),
      Option("--plain-port", "PORT", "control API in plain HTTP on loopback, 0 takes a free port (8025)"),
      Option("--app", "BUNDLE", "a further app", repeatable: true), Option(switch: "--any-app", "take pushes for every app"),
      Option("--validation", "RULES", "strict refuses what a device would drop; apple takes what Apple takes (strict)"),
      Option("--key", "FILE", "a provider key of your own, such as AuthKey_ABCDE12345.p8"),
      Option("--key-id", "ID", "its id (the one in the file's name)"), Option("--team", "ID", "the team of provider tokens (made up)"),
      Option("--san", "NAME", "further name or address of the certificate", repeatable: true),
      Option("--clock-provider-times", "SCALE", "clock of those who send: real or virtual (real)"),
      Option("--clock-token-age", "SCALE", "clock that provider tokens age by: real or virtual (real)"),
      Option("--push-log-payloads", "BOOL", "whether the push log keeps payloads: true or false (true)"),
      Option("--bind", "ADDRESS", "IP address to listen on (127.0.0.1)"),
      Option("--advertise", "HOST", "name by which others reach this process (the address it listens on)"), .json,
    ],
    examples: ["widgetpush dev", "widgetpush dev --app org.example.other --provider-port 0", "widgetpush dev -- npm test"]
  ) { arguments in
    let stop = try ServerStop()
    let folder = StateFolder(arguments)
    let options = try serverOptions(arguments)
    let wishes = try wishes(arguments, options)
    let locks = try folder.occupy(StateFolder.Server.allCases)
    defer { withExtendedLifetime(locks) {} }
    let state = try DevState.prepare(folder, wishes, now: Machine.now)
    for note in state.notes { Console.complain(note) }
    // With a command, standard output is the command's.
    let isQuiet = arguments.command != nil
    let printer = LinePrinter { _ = isQuiet ? Console.complain($0) : Console.print($0) }
    for complaint in folder.secretFiles.compactMap({ FilePermissions.complaint(about: $0) }) { Console.complain("warning: \(complaint)") }
    let wantsJSON = arguments.wantsJSON
    let server = try DevServer(options, state) { event, credentials in
      let line = wantsJSON ? EventText.json(event, credentials)?.serialized() : EventText.text(event, credentials)
      if let line { printer.print(line) }
    }
    defer {
      server.drain()
      printer.flush()
    }
    stop.endsWithTerminal = true
    stop.onHangup = { printer.print(reload(server, folder, wishes, json: wantsJSON)) }
    printer.print(ReadyLine.text(server.faces, json: wantsJSON))
    let child = try arguments.command.map { command in
      let variables = CommandEnvironment.variables(server.credentials, folder)
      return try ChildProcess(command, environment: Machine.environment.merging(variables) { $1 })
    }
    let status = try stop.wait(for: child)
    try folder.forget(server.faces)
    return status
  }

  /// Reads the state folder anew, and says what came of it.
  private static func reload(_ server: DevServer, _ folder: StateFolder, _ wishes: DevState.Wishes, json: Bool) -> String {
    do {
      let changed = try server.reload(DevState.prepare(folder, wishes, now: Machine.now)).changed
      if json { return JSONValue.object(["event": "reloaded", "changed": .array(changed.map(JSONValue.string))]).serialized() }
      return "the state folder was read again; changed: \(changed.isEmpty ? "nothing" : changed.joined(separator: "; "))"
    } catch {
      if json { return JSONValue.object(["event": "reloadFailed", "happened": .string("\(error)")]).serialized() }
      return "the state folder was read again and is not used, since \(error); what held before still does"
    }
  }

  private static func serverOptions(_ arguments: Arguments) throws(UsageError) -> DevServer.Options {
    func port(_ option: String, _ standard: UInt16) throws(UsageError) -> UInt16 {
      try arguments.integer(option, in: 0...65_535).map { UInt16($0) } ?? standard
    }
    var options = DevServer.Options()
    options.bind = arguments.value("--bind") ?? options.bind
    options.providerPort = try port("--provider-port", options.providerPort)
    options.controlPort = try port("--control-port", options.controlPort)
    options.devicePort = try port("--device-port", options.devicePort)
    options.plainPort = try port("--plain-port", options.plainPort)
    options.apps = arguments.all("--app")
    for app in options.apps where !isBundleID(app) {
      throw UsageError("--app must be a bundle id of letters, digits, hyphens and periods such as com.example.app, not \"\(app)\"")
    }
    options.acceptsAnyApp = arguments.has("--any-app")
    let rules = try arguments.choice("--validation", of: AppPolicy.Validation.allCases.map(\.rawValue))
    options.validation = rules.flatMap(AppPolicy.Validation.init) ?? options.validation
    func scale(_ option: String) throws(UsageError) -> TimeScale {
      try arguments.choice(option, of: TimeScale.allCases.map(\.rawValue)).flatMap(TimeScale.init) ?? .real
    }
    options.clock.providerTimes = try scale("--clock-provider-times")
    options.clock.tokenAge = try scale("--clock-token-age")
    options.keepsPayloads = try arguments.choice("--push-log-payloads", of: ["true", "false"]) != "false"
    options.advertised = arguments.value("--advertise")
    return options
  }

  private static func isBundleID(_ text: String) -> Bool {
    (1...Limits.bundleIDBytes).contains(text.utf8.count)
      && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == ".") }
  }

  private static func wishes(_ arguments: Arguments, _ options: DevServer.Options) throws(UsageError) -> DevState.Wishes {
    var wishes = DevState.Wishes()
    wishes.names = arguments.all("--san") + (options.advertised.map { [$0] } ?? [])
    if !["0.0.0.0", "::"].contains(options.bind) { wishes.names.append(options.bind) }
    wishes.teamID = arguments.value("--team")
    if let file = arguments.value("--key") {
      guard wishes.teamID != nil else { throw UsageError("--key needs --team, the id of the key's team") }
      guard let keyID = arguments.value("--key-id") ?? ProviderKeys.keyID(ofFile: file) else {
        throw UsageError("--key needs --key-id, since the file is not called AuthKey_ABCDE12345.p8")
      }
      wishes.providerKey = (file, keyID)
    } else if arguments.has("--key-id") {
      throw UsageError("--key-id needs --key")
    }
    return wishes
  }
}
