import Configuration
import Control
import Gateway
import Primitives
import Reactor
import Telemetry

extension Command {
  /// `widgetpush gateway`.
  static let gateway = Command(
    "gateway", "runs the gateway: the provider API and the control API",
    discussion: """
      Takes pushes and broadcasts as APNs would, checks them, spends budgets, and forwards them to its upstreams: mock devices or Apple.
      What the configuration leaves open (certificate, keys, access tokens, store, upstream) comes from the state folder, which is
      made when missing. Prints `ready provider=URL control=URL` and runs until SIGTERM, which drains it. SIGHUP has it read
      certificates, authorities, keys, access tokens, apps, budgets and answers again; when something is wrong with them, the old ones hold.
      """,
    options: ServerOptions.all(GatewayConfiguration.keys),
    examples: [
      "widgetpush gateway --config Config/gateway.yaml", "widgetpush gateway --state-dir /state --bind 0.0.0.0 --advertise gateway",
    ]
  ) { arguments in
    let stop = try ServerStop()
    let trace = ConfigurationTrace()
    let (configuration, state, options) = try gatewayConfiguration(arguments, trace)
    let locks = try state?.folder.occupy([.gateway])
    defer { withExtendedLifetime(locks) {} }
    let log = Log(format: LogFormat(configuration.logFormat), clock: { Machine.now })
    var storeFolder: String?
    var mark: StoreMark?
    if case .folder(let store)? = configuration.store {
      mark = state.map { StoreMark(of: store, in: $0.folder) }
      try mark?.check()
      try Files.makeFolder(store, mayBeLink: store != state?.folder.store)
      storeFolder = store
    }
    let clock = try ClockDriver.opened(configuration.clock, folder: storeFolder) { log.write(.warning, $0) }
    var surroundings = Gateway.Surroundings(version: Version.text, clock: clock)
    surroundings.appStorage = storeFolder.map { AppStorage(folder: $0) }
    surroundings.numberKey = try storeFolder.map { try NumberKey.prepare($0) }
    let sockets = try GatewaySockets.bind(configuration)
    if let complaint = OpenFiles.complaint(loops: configuration.loops) { log.write(.warning, complaint) }
    warnOfReadableSecrets(trace, state, log)
    for note in state?.notes ?? [] { log.write(.warning, note) }
    surroundings.explainsAlways = configuration.explainHeaders
    let warnings = WarningLog(log)
    surroundings.observer = { event in
      if case .warned(let push) = event { warnings.write(push) } else { log.write(event) }
    }
    if state != nil || options.namesFolder {
      let accessTokens = try LiveAccessTokens(options.folder) {
        log.write(.error, "access tokens cannot be read", [LogField("reason", $0)])
      }
      surroundings.accessTokens = { accessTokens.current }
    }
    if let state {
      let credentials = LiveCredentials(state.folder)
      surroundings.locateDevice = { credentials.device }
    }
    let gateway = try Gateway(configuration, sockets, surroundings)
    try mark?.make()

    let provider = ServerURL.text("https", bind: configuration.bind, port: sockets.providerAddress.port, advertised: options.advertised)
    let control = ServerURL.text("https", bind: configuration.bind, port: sockets.controlAddress.port, advertised: options.advertised)
    if let state {
      _ = try state.folder.updateCredentials {
        ($0.provider, $0.control) = (provider, control)
        $0.plain = nil
      }
    }
    stop.onHangup = { reload(gateway, arguments, log) }
    let faces = [(name: "provider", url: provider), (name: "control", url: control)]
    Console.print(ReadyLine.text(faces, json: arguments.wantsJSON))
    let status = try stop.wait()
    try state?.folder.forget(faces)
    gateway.drain()
    log.flush()
    return status
  }

  /// What the command line, the environment, the file and the state folder say at the moment.
  private static func gatewayConfiguration(
    _ arguments: Arguments, _ trace: ConfigurationTrace
  ) throws -> (GatewayConfiguration, DevState?, ServerOptions) {
    let options = try ServerOptions(arguments, keys: GatewayConfiguration.keys)
    var configuration = try GatewayConfiguration.load(options.sources, otherVariables: ServerOptions.otherVariables, trace: trace)
    guard !configuration.isComplete else { return (configuration, nil, options) }
    let state = try DevState.prepare(options.folder, options.wishes, now: Machine.now)
    try configuration.fill(from: state)
    return (configuration, state, options)
  }

  /// Reads everything anew and has the gateway go by it; what is wrong is told, and then nothing has changed.
  private static func reload(_ gateway: Gateway, _ arguments: Arguments, _ log: Log) {
    let trace = ConfigurationTrace()
    do {
      let (configuration, state, _) = try gatewayConfiguration(arguments, trace)
      let report = try gateway.reload(configuration)
      warnOfReadableSecrets(trace, state, log)
      let changed = report.changed.joined(separator: "; ")
      if report.needRestart.isEmpty {
        log.write(.info, "the configuration was read again", [LogField("changed", changed.isEmpty ? "nothing" : changed)])
      } else {
        log.write(
          .warning, "the configuration was read again, and some changes need a restart",
          (changed.isEmpty ? [] : [LogField("changed", changed)]) + [LogField("keys", report.needRestart.joined(separator: ", "))])
      }
    } catch {
      log.write(.error, "the configuration was read again and is not used; the old one holds", [LogField("reason", "\(error)")])
    }
  }

  private static func warnOfReadableSecrets(_ trace: ConfigurationTrace, _ state: DevState?, _ log: Log) {
    for path in trace.secretFiles.map(\.path) + (state?.folder.secretFiles ?? []) {
      if let complaint = FilePermissions.complaint(about: path) { log.write(.warning, complaint) }
    }
  }
}
