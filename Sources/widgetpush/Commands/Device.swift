import Configuration
import Control
import MockDevice
import Primitives
import Push
import Telemetry

extension Command {
  /// How far the gateway may set a device's clock back: at most as long as its call takes. The devices themselves stand still meanwhile.
  private static let followingSlack = TimeSpan.seconds(5)

  /// `widgetpush device`.
  static let device = Command(
    "device", "runs a mock device behind a gateway",
    discussion: """
      Hosts devices with apps, widgets, controls and Live Activities, takes pushes as APNs would, and shows what the devices did.
      What the configuration leaves open (certificate, keys, access tokens, the gateway) comes from the state folder, which is made
      when missing. Prints `ready device=URL` and runs until SIGTERM. SIGHUP has it read its access tokens again, and nothing else.
      The gateway may start before or after it, and again on another port: it is looked up whenever it is needed.
      """,
    options: ServerOptions.all(DeviceConfiguration.keys),
    examples: ["widgetpush device --config Config/device.yaml", "widgetpush device --state-dir /state --bind 0.0.0.0 --advertise device"]
  ) { arguments in
    let stop = try ServerStop()
    let options = try ServerOptions(arguments, keys: DeviceConfiguration.keys)
    let configured = try DeviceConfiguration.load(options.sources, otherVariables: ServerOptions.otherVariables).gateway
    let (configuration, state) = try completeConfiguration(options)
    let locks = try state?.folder.occupy([.device])
    defer { withExtendedLifetime(locks) {} }
    let log = Log(format: LogFormat(configuration.logFormat), clock: { Machine.now })
    for note in state?.notes ?? [] { log.write(.warning, note) }
    let time = configuration.clock.permitted ? try Device.gatewayTime(configuration) : nil
    let machine = VirtualClock(real: { Machine.now }, steady: { Machine.steady }, time ?? VirtualTime())
    let clock = ClockDriver(machine, configuration.clock, slack: followingSlack)
    var surroundings = Device.Surroundings(version: Version.text, log: log, clock: clock)
    if let state {
      let credentials = LiveCredentials(state.folder)
      surroundings.findGateway = { [authority = state.peerAuthorityPEM] in credentials.gateway(configured, trusting: authority) }
    }
    let device = try Device(configuration, surroundings)
    try device.start()
    let url = ServerURL.text("https", bind: configuration.bind, port: device.port, advertised: options.advertised)
    if let state { _ = try state.folder.updateCredentials { $0.device = url } }
    stop.onHangup = {
      do {
        let present = try completeConfiguration(ServerOptions(arguments, keys: DeviceConfiguration.keys)).configuration
        device.replaceAccessTokens(present.accessTokens)
        log.write(.info, "the access tokens were read again; all else is as at the start")
      } catch {
        log.write(.error, "the configuration was read again and is not used, since \(error); what held before still does")
      }
    }
    let faces = [(name: "device", url: url)]
    Console.print(ReadyLine.text(faces, json: arguments.wantsJSON))
    let status = try stop.wait()
    try state?.folder.forget(faces)
    device.drain(within: .milliseconds(Limits.drainMilliseconds))
    log.flush()
    return status
  }

  /// What the command line, the environment and the file say at the moment, and what they leave open of the state folder.
  private static func completeConfiguration(
    _ options: ServerOptions
  ) throws -> (configuration: DeviceConfiguration, state: DevState?) {
    var configuration = try DeviceConfiguration.load(options.sources, otherVariables: ServerOptions.otherVariables)
    guard !configuration.isComplete else { return (configuration, nil) }
    let state = try DevState.prepare(options.folder, options.wishes, now: Machine.now)
    configuration.fill(from: state)
    return (configuration, state)
  }
}

extension LogFormat {
  /// The format that a configuration names.
  init(_ format: GatewayConfiguration.LogFormat) {
    switch format {
    case .text: self = .text
    case .json: self = .json
    }
  }
}
