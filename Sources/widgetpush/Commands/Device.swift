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
      when missing. Prints `ready device=URL` and runs until SIGTERM.
      The gateway may start before or after it, and again on another port: it is looked up whenever it is needed.
      """,
    options: ServerOptions.all(DeviceConfiguration.keys),
    examples: ["widgetpush device --config Config/device.yaml", "widgetpush device --state-dir /state --bind 0.0.0.0 --advertise device"]
  ) { arguments in
    let stop = try ServerStop()
    let options = try ServerOptions(arguments, keys: DeviceConfiguration.keys)
    var configuration = try DeviceConfiguration.load(options.sources, otherVariables: ServerOptions.otherVariables)
    var state: DevState?
    let configured = configuration.gateway
    if !configuration.isComplete {
      let prepared = try DevState.prepare(options.folder, options.wishes, now: Machine.now)
      configuration.fill(from: prepared)
      state = prepared
    }
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
    stop.onHangup = { log.write(.warning, "SIGHUP changes nothing of a device, which reads its configuration at its start") }
    let faces = [(name: "device", url: url)]
    Console.print(ReadyLine.text(faces, json: arguments.wantsJSON))
    let status = try stop.wait()
    try state?.folder.forget(faces)
    device.drain(within: .milliseconds(Limits.drainMilliseconds))
    log.flush()
    return status
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
