public import Configuration
public import Control
import DeviceModel
import Faults
public import Primitives
public import Push
public import Reactor
import Rules
public import Security
import Synchronization
public import Telemetry
import Transport

/// A mock device process: the devices, their HTTPS port, and their link to the gateway.
///
/// One loop thread has the port and the fleet: a push is checked, applied and answered in the round in which it came. The API's handlers
/// are async and reach the fleet by mailbox. A second thread tells the gateway about tokens.
public final class Device: Sendable {
  /// What a device is given besides its configuration.
  public struct Surroundings: Sendable {
    /// The product's time, and what may be done to it.
    public var clock: ClockDriver
    /// Takes what happens on the devices.
    public var log: Log
    /// What `/version` tells.
    public var version: String
    /// What the port shows to a client that asks for that server name; nil shows the configured certificate.
    public var identityForName: (@Sendable (String) -> TLSIdentity?)?
    /// Says where the gateway is whenever it is needed, on any thread; nil keeps to the configured one.
    public var findGateway: (@Sendable () -> GatewayWhereabouts)?
    /// How long a push is held at most while the gateway is asked about its token.
    public var hold = TimeSpan.milliseconds(Limits.heldPushMilliseconds)

    /// Surroundings with these values.
    public init(version: String, log: Log, clock: ClockDriver) {
      self.version = version
      self.log = log
      self.clock = clock
    }

    /// Surroundings with a clock that nobody moves.
    public init(version: String, log: Log, clock: @escaping @Sendable () -> Instant) {
      self.init(version: version, log: log, clock: ClockDriver(real: clock))
    }
  }

  /// The address that the HTTPS port listens on, with the port that the system chose where 0 was asked for.
  public let address: SocketAddress

  /// What its API serves, for those who describe it.
  public var routes: [Route] { api.routes.routes }

  private let api: DeviceAPI
  private let authorizer: Authorizer
  let door: FleetDoor
  private let readiness: Readiness
  private let registrar: Registrar?
  private let drains: Mailbox<TimeSpan?>
  /// What lives on the loop's thread; here until that thread starts.
  private let body: Mutex<LoopBody?>
  private let thread = Mutex<Thread?>(nil)

  /// Work that may wait for the loop: each request of the API leaves a few pieces.
  private static let mailboxCapacity = 65_536

  /// How long a call that places something waits for the gateway to have its token, unless it says otherwise.
  private static let registrationWait = TimeSpan.seconds(5)

  /// A device that answers nobody until `start()`; its port is open already, so that others can be told where.
  ///
  /// Throws what is wrong with the configuration, a key, the port or the machine, each with a description for people.
  public init(_ configuration: DeviceConfiguration, _ surroundings: Surroundings) throws {
    let driver = surroundings.clock
    let clock = driver.clock
    let loop = try EventLoop(moments: { clock.moment })
    // What is wrong with what is configured is said at once.
    _ = try configuration.gatewayAccess()
    var gateway: GatewayFinder?
    if let find = surroundings.findGateway {
      gateway = GatewayFinder(patience: surroundings.hold, find)
    } else if let configured = configuration.gateway {
      gateway = GatewayFinder(patience: surroundings.hold) { .found(configured) }
    }
    let plan = try configuration.plan()
    var random = SystemRandomNumberGenerator()
    var fleet = DeviceFleet(seed: plan.seed, hashSeed: random.next(), registersTokens: gateway != nil)
    try fleet.apply(plan, at: clock.moment.now)

    let keeper = FleetKeeper(fleet, on: loop, hold: surroundings.hold)
    keeper.senders = driver.settings.providerTimes
    let (providers, keys) = try configuration.providerKeys()
    let faults = FaultBook()
    let desk = try PushDesk(keeper, faults: faults, providers: providers, keys: keys)
    let door = FleetDoor(loop.makeMailbox(capacity: Self.mailboxCapacity) { (work: FleetDoor.Work) in work(keeper) })
    let pushes = loop.makeMailbox(capacity: Limits.controlExchanges) { (work: PushRoute.Work) in work(desk) }
    let registrar = try gateway.map { gateway in
      // Full means that this loop hangs; what became of a call then shows when the token is next registered, or pushed to.
      try Registrar(
        gateway, log: surroundings.log,
        .init(
          report: { report in door.leave { keeper in keeper.note(report) } },
          answer: { answered in door.leave { keeper in keeper.learn(answered) } },
          silence: { silence in door.leave { keeper in keeper.note(silence: silence) } }))
    }
    var narrator = Narrator(surroundings.log)
    keeper.carryOut = { effects in for effect in effects { _ = registrar?.carryOut(effect) } }
    if let registrar { keeper.ask = { registrar.ask($0) } }
    keeper.observe = { fleet, now in narrator.tell(fleet, now: now) }

    let readiness = Readiness()
    let registrations = RegistrationWait(door: door, standard: gateway == nil ? .zero : Self.registrationWait)
    let routes =
      DeviceRoutes(door: door, registrations: registrations).routes + AppRoutes(door: door, registrations: registrations).routes
      + ItemRoutes(door: door, registrations: registrations).routes + EventRoutes(door: door).routes
      + FaultRoutes(faults, unless: "").routes + ResetRoutes(door: door).routes
      + HealthRoutes(version: surroundings.version, readiness: readiness).routes + ClockRoutes(driver).routes
    let authorizer = Authorizer(AccessTokens(configuration.accessTokens.map { AccessToken($0) }))
    let api = DeviceAPI(
      routes: RouteTable([.index(of: routes)] + routes, authorizer: authorizer, now: { clock.real }), pushes: PushRoute(mailbox: pushes))

    let tls = try TLSContext.server(
      configuration.tlsIdentity(), protocols: [.http2, .http1], identityForName: surroundings.identityForName)
    let socket = try configuration.listen()
    address = socket.address
    let body = try LoopBody(
      loop, keeper, socket: socket, tls: tls, face: PushFace(desk, faults: faults), log: surroundings.log,
      everySecond: Self.clockWatch(clock, surroundings.log)
    ) {
      await api.respond(to: $0)
    }
    drains = body.drains
    self.body = Mutex(body)
    self.api = api
    self.authorizer = authorizer
    self.door = door
    self.readiness = readiness
    self.registrar = registrar
    driver.add(FleetClock(door))
  }

  /// The port, as the system chose it where 0 was asked for.
  public var port: UInt16 { address.port }

  /// Gives devices of the plan the settings under which their apps had registered these before a restart; for before `start()`.
  public func recallSettings(from registrations: [Registration]) {
    door.leave { keeper in keeper.fleet.recallSettings(from: registrations, at: keeper.now) }
  }

  /// Starts the loop's thread, which registers the plan's tokens and answers from now on; a second call does nothing.
  public func start() throws {
    let taken = body.withLock { body -> LoopBody? in
      let taken = body
      body = nil
      return taken
    }
    guard let taken else { return }
    // The plan was carried out before there was a loop; this piece of work makes the first round, which sees it.
    door.leave { _ in }
    let started = try Thread.start(name: "device") { taken.run() }
    thread.withLock { $0 = started }
    registrar?.search()
  }

  /// Answers a request as if it had come to the device's own port; for one port that carries several APIs.
  public func respond(to request: HTTPRequest) async -> HTTPResponse { await api.respond(to: request) }

  /// Waits until the gateway has been told about every token, for at most `span`; false when it has not.
  public func waitUntilRegistered(atMost span: TimeSpan) async -> Bool {
    let done = try? await door.wait(atMost: span) { fleet in fleet.pendingRegistrations == 0 ? true : nil }
    return done == true
  }

  /// Goes by these access tokens from now on; calls that are open with one that is no longer among them end within
  /// `Limits.accessRecheckMilliseconds`.
  public func replaceAccessTokens(_ tokens: [AccessTokenSettings]) { authorizer.replace(AccessTokens(tokens.map { AccessToken($0) })) }

  /// Gives up the port and says that it is not ready; who is connected is served as before. For once, before `drain(within:)`.
  public func stopListening() {
    readiness.end()
    drains.post(nil)
  }

  /// Accepts nothing more, lets open requests finish for up to `limit`, and returns when the loop's thread has ended.
  ///
  /// Whoever waits for an event is answered at once with what there is.
  public func drain(within limit: TimeSpan) {
    readiness.end()
    registrar?.stop()
    drains.post(limit)
    thread.withLock { $0 }?.join()
  }

  /// Gives open requests up, and returns when the loop's thread has ended.
  public func stop() { drain(within: .zero) }
}
