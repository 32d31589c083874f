import Configuration
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
      made when missing. Prints `ready provider=URL control=URL` and runs until SIGTERM, which drains it.
      """,
    options: ServerOptions.all(GatewayConfiguration.keys),
    examples: [
      "widgetpush gateway --config Config/gateway.yaml", "widgetpush gateway --state-dir /state --bind 0.0.0.0 --advertise gateway",
    ]
  ) { arguments in
    let stop = try ServerStop()
    let options = try ServerOptions(arguments, keys: GatewayConfiguration.keys)
    let trace = ConfigurationTrace()
    var configuration = try GatewayConfiguration.load(options.sources, otherVariables: ServerOptions.otherVariables, trace: trace)
    var state: DevState?
    if !configuration.isComplete {
      let prepared = try DevState.prepare(options.folder, options.wishes, now: Machine.now)
      try configuration.fill(from: prepared)
      state = prepared
    }
    if case .folder(let store)? = configuration.store { try Files.makeFolder(store) }
    let sockets = try GatewaySockets.bind(configuration)
    let log = Log(format: LogFormat(configuration.logFormat), clock: { Machine.now })
    for path in trace.secretFiles.map(\.path) + (state?.folder.secretFiles ?? []) {
      if let complaint = FilePermissions.complaint(about: path) { log.write(.warning, complaint) }
    }
    var surroundings = Gateway.Surroundings(version: Version.text, clock: { Machine.now })
    surroundings.explainsAlways = configuration.explainHeaders
    surroundings.observer = { log.write($0) }
    if state != nil || options.namesFolder {
      let accessTokens = LiveAccessTokens(options.folder) { log.write(.error, "access tokens cannot be read", [LogField("reason", $0)]) }
      surroundings.accessTokens = { accessTokens.current }
    }
    let gateway = try Gateway(configuration, sockets, surroundings)

    let provider = ServerURL.text("https", bind: configuration.bind, port: sockets.providerAddress.port, advertised: options.advertised)
    let control = ServerURL.text("https", bind: configuration.bind, port: sockets.controlAddress.port, advertised: options.advertised)
    if let state {
      _ = try state.folder.updateCredentials {
        ($0.provider, $0.control) = (provider, control)
        $0.plain = nil
      }
    }
    let faces = [(name: "provider", url: provider), (name: "control", url: control)]
    Console.print(ReadyLine.text(faces, json: arguments.wantsJSON))
    let status = try stop.wait()
    try state?.folder.forget(faces)
    gateway.drain()
    log.flush()
    return status
  }
}
