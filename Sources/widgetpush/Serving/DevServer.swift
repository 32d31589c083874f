import Configuration
import Control
import Dispatch
import Gateway
import JSON
import MockDevice
import Primitives
import Push
import Reactor
import Telemetry

/// Gateway and mock device of `dev` in one process, connected to each other.
final class DevServer {
  /// What the command line says.
  struct Options {
    var bind = "127.0.0.1"
    var providerPort: UInt16 = 2197
    var controlPort: UInt16 = 8443
    var devicePort: UInt16 = 8444
    var plainPort: UInt16 = 8025
    /// Apps beyond `com.example.app`.
    var apps: [String] = []
    var acceptsAnyApp = false
    /// Whether payloads that a device would drop are refused.
    var validation = AppPolicy.Validation.strict
    /// What goes by the clock, which may be moved.
    var clock = ClockSettings(permitted: true)
    /// Whether the push log keeps payloads.
    var keepsPayloads = true
    /// The name by which others reach this process; nil for the address it listens on.
    var advertised: String?
  }

  /// What clients need to know.
  let credentials: Credentials
  private let options: Options
  private let upstream: UpstreamSettings
  private let gateway: Gateway
  private let device: Device
  private let log: Log

  /// How long the start waits for the gateway to know the device's own tokens.
  private static let registration = TimeSpan.seconds(5)

  /// Takes the ports and starts both; returns when both answer.
  ///
  /// - Parameter observer: Told what a person wants to see; called on any thread.
  init(_ options: Options, _ state: DevState, observer: @escaping @Sendable (GatewayEvent, Credentials) -> Void) throws {
    let strangeNames = LinePrinter { Console.complain($0) }
    let mint = try LeafMint(state, clock: { Machine.now }) { strangeNames.print($0) }
    var configuration = Self.gatewayConfiguration(options, state)
    let clock = try ClockDriver.opened(options.clock, folder: state.folder.store) { Console.complain($0) }
    let sockets = try GatewaySockets.bind(configuration)

    // What devices ignore is among the events already.
    log = Log(format: .text, level: .error, clock: { Machine.now })
    var deviceSurroundings = Device.Surroundings(version: Version.text, log: log, clock: clock)
    deviceSurroundings.identityForName = { mint?.identity(for: $0) }
    let device = try Device(
      Self.deviceConfiguration(options, state, controlPort: sockets.controlAddress.port), deviceSurroundings)

    self.options = options
    upstream = UpstreamSettings(
      name: GatewayConfiguration.deviceUpstream, host: ServerURL.host(options.bind), port: device.port)
    configuration.upstreams = [upstream]
    try configuration.fill(from: state)
    var surroundings = Gateway.Surroundings(version: Version.text, clock: clock)
    var mark: StoreMark?
    if case .folder(let store)? = configuration.store {
      mark = StoreMark(of: store, in: state.folder)
      try mark?.check()
      try Files.makeFolder(store, mayBeLink: store != state.folder.store)
      surroundings.appStorage = AppStorage(folder: store)
      surroundings.numberKey = try NumberKey.prepare(store)
    }

    var credentials = state.credentials
    func url(_ port: UInt16) -> String { ServerURL.text("https", bind: options.bind, port: port, advertised: options.advertised) }
    credentials.provider = url(sockets.providerAddress.port)
    credentials.control = url(sockets.controlAddress.port)
    credentials.device = url(device.port)
    credentials.plain = sockets.plainAddress.map { "http://127.0.0.1:\($0.port)" }

    let known = credentials
    surroundings.observer = { observer($0, known) }
    surroundings.identityForName = { mint?.identity(for: $0) }
    let accessTokens = try LiveAccessTokens(state.folder) { [log] in
      log.write(.error, "access tokens cannot be read", [LogField("reason", $0)])
    }
    surroundings.accessTokens = { accessTokens.current }
    surroundings.device = { await device.respond(to: $0) }
    surroundings.devFiles = DevFiles(
      authorityPEM: state.authorityPEM, credentialsJSON: credentials.json.serialized(pretty: true) + "\n",
      providerKeyPEM: state.providerKeyPEM)
    gateway = try Gateway(configuration, sockets, surroundings)
    try mark?.make()
    self.device = device
    Self.recallSettings(of: device, from: gateway)
    try device.start()
    Self.waitUntilRegistered(device)
    self.credentials = try state.folder.updateCredentials { $0.takeFaces(of: known) }
  }

  /// Has the gateway go by what the state folder has at the moment, and the device by its access tokens.
  ///
  /// - Throws: What is wrong with a part of it; then nothing has changed.
  func reload(_ state: DevState) throws -> ReloadReport {
    var configuration = Self.gatewayConfiguration(options, state)
    configuration.upstreams = [upstream]
    try configuration.fill(from: state)
    let report = try gateway.reload(configuration)
    device.replaceAccessTokens(state.accessTokens)
    // Credentials that were made anew know nothing of the servers.
    _ = try state.folder.updateCredentials { $0.takeFaces(of: credentials) }
    return report
  }

  /// The faces in the order of the ready line.
  var faces: [(name: String, url: String)] {
    [("provider", credentials.provider), ("control", credentials.control), ("device", credentials.device), ("plain", credentials.plain)]
      .compactMap { name, url in url.map { (name, $0) } }
  }

  /// What the control API and the device's API serve.
  var routes: (control: [Route], device: [Route]) { (gateway.routes, device.routes) }

  /// Gives up the ports, takes nothing more, lets what is open finish, saves everything.
  func drain() {
    device.stopListening()
    gateway.drain()
    device.drain(within: .milliseconds(Limits.drainMilliseconds))
    log.flush()
  }

  private static func gatewayConfiguration(_ options: Options, _ state: DevState) -> GatewayConfiguration {
    var configuration = GatewayConfiguration()
    configuration.bind = options.bind
    configuration.providerPorts = [options.providerPort]
    // Whoever tries something out starts clients all day long.
    configuration.tokenUpdates = .warn
    configuration.faultsAllowed = true
    configuration.pushLogPayloads = options.keepsPayloads
    configuration.controlPort = options.controlPort
    configuration.plainPort = options.plainPort
    configuration.clock = options.clock
    var policy = AppPolicy()
    policy.validation = options.validation
    for app in apps(options) { configuration.apps.append(AppDirectory.App(bundleID: app, policy: policy)) }
    if options.acceptsAnyApp { configuration.anyApp = AppDirectory.App(bundleID: "", policy: policy) }
    return configuration
  }

  private static func deviceConfiguration(_ options: Options, _ state: DevState, controlPort: UInt16) -> DeviceConfiguration {
    var configuration = DeviceConfiguration()
    configuration.bind = options.bind
    configuration.port = options.devicePort
    let control = ServerURL.text("https", bind: options.bind, port: controlPort, advertised: nil)
    configuration.gateway = DeviceConfiguration.Gateway(url: control, accessToken: nil)
    configuration.devices = [["name": .string(phone), "apps": .array(apps(options).map { ["bundleID": .string($0)] })]]
    configuration.fill(from: state)
    return configuration
  }

  private static func apps(_ options: Options) -> [String] {
    [Command.defaultBundleID] + options.apps.filter { $0 != Command.defaultBundleID }
  }

  /// The device that is there from the start.
  private static let phone = "phone"

  /// Whose the phone is, and what else was set for it, holds after a restart: the registration of its app tells.
  private static func recallSettings(of device: Device, from gateway: Gateway) {
    let done = DispatchSemaphore(value: 0)
    Task {
      device.recallSettings(from: await gateway.appRegistrations(of: Command.defaultBundleID, onDevice: phone))
      done.signal()
    }
    done.wait()
  }

  /// Until then a list of registrations would be shorter than it is a moment later.
  private static func waitUntilRegistered(_ device: Device) {
    let done = DispatchSemaphore(value: 0)
    Task {
      _ = await device.waitUntilRegistered(atMost: registration)
      done.signal()
    }
    done.wait()
  }
}
