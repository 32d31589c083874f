public import Configuration
public import Control
import Faults
import Forwarding
public import Primitives
import Push
import Rules
public import Security
import Storage

/// A running gateway: the loops of the data path, the store, the control face.
public final class Gateway: Sendable {
  /// What a gateway is given besides its configuration.
  public struct Surroundings: Sendable {
    /// The product's time, and what may be done to it.
    public var clock: ClockDriver
    /// What `/version` tells.
    public var version: String
    /// Told of what a person who watches wants to see; called on any thread.
    public var observer: (@Sendable (GatewayEvent) -> Void)?
    /// Whether every answer explains itself, not only those whose request asks for it.
    public var explainsAlways = false
    /// Answers what comes to the plain face under `/device/`; nil leaves it to the gateway, which has nothing there.
    public var device: (@Sendable (HTTPRequest) async -> HTTPResponse)?
    /// The files that `/dev/…` shows on the plain face; nil serves none.
    public var devFiles: DevFiles?
    /// Access tokens beyond the configured ones, as they are at the moment; asked at each call of the control API.
    public var accessTokens: (@Sendable () -> AccessTokens)?
    /// Where what is set for apps at run time is kept; nil forgets it at the end.
    public var appStorage: AppStorage?
    /// The key that hides in ids and cursors what other apps do; nil takes a new one, so that a client's place is lost at the end.
    public var numberKey: [UInt8]?
    /// Tells where the mock device is that an upstream follows, on any thread; nil, and one that does not know, keep to the configured address.
    public var locateDevice: (@Sendable () -> (host: String, port: UInt16)?)?
    /// What the TLS faces show to a client that asks for that server name; nil shows the configured certificate.
    public var identityForName: (@Sendable (String) -> TLSIdentity?)?

    /// Surroundings with this clock and version and nothing else.
    public init(version: String, clock: ClockDriver) {
      self.version = version
      self.clock = clock
    }

    /// Surroundings with a clock that nobody moves.
    public init(version: String, clock: @escaping @Sendable () -> Instant) {
      self.init(version: version, clock: ClockDriver(real: clock))
    }
  }

  let store: Store
  private let loops: [GatewayLoop]
  private let control: ControlFace
  let settings: LiveSettings
  private let conditions = GatewayConditions()
  /// What the control API serves, for those who describe it.
  public let routes: [Route]

  /// Opens the store, starts the threads and listens; returns when requests are answered.
  ///
  /// - Throws: What is wrong with a key, a certificate, the store or the machine, each with a description for people.
  public init(_ configuration: GatewayConfiguration, _ sockets: GatewaySockets, _ surroundings: Surroundings) throws {
    settings = try LiveSettings(
      configuration, storage: surroundings.appStorage, identityForName: surroundings.identityForName)
    let start = settings.parts
    let apps = start.apps
    let locate = surroundings.locateDevice
    let upstreams = try configuration.upstreams.map { settings in
      var upstream = try ConfigurationError.naming("upstreams.\(settings.name).ca") { try Upstream(settings) }
      if settings.followsDevice { upstream.locate = locate }
      return upstream
    }

    let driver = surroundings.clock
    let clock = driver.clock
    let loopSet = LoopSet()
    let routes = UpstreamRoutes(apps: apps, names: upstreams.map(\.name))
    store = try Store(
      engine: try configuration.openEngine(), apps: apps, loops: configuration.loops, settings: configuration.storeSettings,
      clock: { clock.moment }, resolveUpstream: { routes.number(bundleID: $0, $1, named: $2) },
      resolveSigners: { start.signers($0, $1) },
      readinessChanged: { [observer = surroundings.observer] in observer?(GatewayEvent($0)) },
      warned: { [observer = surroundings.observer] in observer?(.storeWarning($0, holds: $1)) },
      deliverBroadcast: { loop, broadcast in loopSet.deliver(loop, broadcast) },
      deliver: { loop, batch in loopSet.deliver(loop, batch) })

    let faults = FaultBook()
    let recordings = RecordingDesk()
    let metrics = GatewayMetrics(loops: configuration.loops, store: store, upstreams: upstreams.map(\.name))
    let current = CurrentSettings(start.provider)
    let shared = ProviderShared(
      store: store, settings: current, seed: RandomPool().next(), initialConcurrentStreams: configuration.initialConcurrentStreams,
      upstreams: upstreams, signers: settings.signers, faults: faults, recordings: recordings, metrics: metrics, conditions: conditions,
      clock: driver, explainsAlways: surroundings.explainsAlways, observer: surroundings.observer)
    for (number, sockets) in sockets.provider.enumerated() {
      loopSet.append(try GatewayLoop(number, sockets: sockets, shared, clock: { clock.moment }))
    }
    loops = loopSet.all

    let (store, conditions) = (store, conditions)
    var parts = ControlAPI.Parts(
      store: store, apps: apps, upstreams: upstreams.map(\.name), metrics: metrics.all, version: surroundings.version,
      obstacles: { conditions.all }, devFiles: surroundings.devFiles, clock: driver)
    parts.settings = settings
    if let key = surroundings.numberKey { parts.numbers = NumberCipher(key: key) }
    parts.recordings = recordings
    parts.unreachable = { conditions.unreachable }
    parts.faults = configuration.faultsAllowed ? faults : nil
    driver.add(StoreClock(store))
    if driver.settings.permitted { for upstream in configuration.upstreams { DeviceClock(upstream, locate).map { driver.add($0) } } }
    self.routes = ControlAPI(parts).routes
    let authorizer = Authorizer(start.accessTokens, further: surroundings.accessTokens)
    let table = RouteTable(
      self.routes, authorizer: authorizer, audit: { [observer = surroundings.observer] in observer?(.adminCall($0)) },
      now: { clock.real })
    let device = surroundings.device
    control = try ControlFace(
      sockets.control,
      tls: start.controlTLS, plain: sockets.plain,
      clock: {
        let moment = clock.moment
        return Moment(now: moment.real, real: moment.real, steady: moment.steady)
      },
      observer: surroundings.observer,
      everySecond: Self.clockWatch(clock) { [observer = surroundings.observer] in observer?(.clockSet(by: $0)) }
    ) { request in
      if let device, request.face == .plain, let inner = request.below("device") { return await device(inner) }
      return await table.respond(to: request)
    }

    let (loops, control) = (loops, control)
    let names = upstreams.map(\.name)
    settings.whenChanged { parts in
      current.value = parts.provider
      let routes = UpstreamRoutes(apps: parts.apps, names: names)
      store.reconfigure(
        apps: parts.apps, lanePushes: parts.lanePushes, triesPastExpirations: parts.triesPastExpirations,
        resolveUpstream: { routes.number(bundleID: $0, $1, named: $2) },
        resolveSigners: { parts.signers($0, $1) })
      for loop in loops { loop.adoptSettings() }
      authorizer.replace(parts.accessTokens)
      control.replaceTLS(parts.controlTLS)
    }
  }

  /// Gives up the ports, takes no further requests, lets what is open finish, saves everything, and ends the threads. Blocks until that is
  /// done.
  ///
  /// A client that comes back finds the process that takes this one's place, or nobody; who is connected to the control API is told that the
  /// gateway is draining, as long as that lasts.
  public func drain() {
    let limit = TimeSpan.milliseconds(Limits.drainMilliseconds)
    conditions.set("drain", "The gateway is shutting down.")
    control.stopListening()
    for loop in loops { loop.beginDrain(within: limit) }
    for loop in loops { loop.join() }
    store.stop()
    control.drain(within: limit)
  }
}

/// Why a gateway cannot be started with its configuration.
public enum GatewayError: Error, Hashable, Sendable, CustomStringConvertible {
  /// There is no server certificate.
  case noIdentity
  /// There is no key to sign with.
  case noSigningKey
  /// What was kept of apps that were set at run time cannot be read.
  case savedApps(String)

  /// What is missing and how to give it.
  public var description: String {
    switch self {
    case .noIdentity: "the gateway has no certificate: set tls.certificateFile and tls.keyFile, or give --state-dir"
    case .noSigningKey: "the gateway has no key to sign its own provider tokens with: list one under teams, or give --state-dir"
    case .savedApps(let reason):
      "the settings of apps in apps.json of the store's folder are damaged: \(reason); mend them, or remove the file"
    }
  }
}
