public import Control
import DeviceModel
public import Primitives
import Push
import Reactor
import Rules
import Security
import Synchronization
public import Telemetry

/// A mock device process: the devices, their HTTPS port, and their link to the gateway.
///
/// One loop thread has the port and the fleet: a push is checked, applied and answered in the round in which it came. The API's handlers
/// are async and reach the fleet by mailbox. A second thread tells the gateway about tokens.
public final class Device: Sendable {
  /// What lives on the loop's thread; here until that thread starts.
  private struct Confined {
    let loop: EventLoop
    let keeper: FleetKeeper
  }

  private let api: DeviceAPI
  private let door: FleetDoor
  private let readiness = Readiness()
  private let registrar: Registrar?
  private let handle: LoopHandle
  private let confined: Mutex<Confined?>
  private let thread = Mutex<Thread?>(nil)

  /// Work that may wait for the loop: each request of the API leaves a few pieces.
  private static let mailboxCapacity = 65_536

  /// How long a call that places something waits for the gateway to have its token, unless it says otherwise.
  private static let registrationWait = TimeSpan.seconds(5)

  /// A device that answers nobody until `start()`; its ports are open already, so that it can be said where.
  ///
  /// Throws what is wrong with the plan, a key, an address or the machine, each with a description for people.
  ///
  /// - Parameters:
  ///   - log: Takes what happens on the devices.
  ///   - clock: The product's time.
  public init(_ configuration: DeviceConfiguration, log: Log, clock: @escaping @Sendable () -> Instant) throws {
    let loop = try EventLoop(clock: clock)
    var random = SystemRandomNumberGenerator()
    var fleet = DeviceFleet(
      seed: configuration.plan.seed, hashSeed: random.next(), registersTokens: configuration.gateway != nil)
    try fleet.apply(configuration.plan, at: clock())

    let keeper = FleetKeeper(fleet, on: loop)
    let providers = ProviderDirectory(
      configuration.providers.map { ProviderDirectory.Provider(keyID: $0.keyID, teamID: $0.teamID) })
    let desk = try PushDesk(keeper, providers: providers, keys: configuration.providers.map(\.publicKey))
    let door = FleetDoor(loop.makeMailbox(capacity: Self.mailboxCapacity) { (work: FleetDoor.Work) in work(keeper) })
    let pushes = loop.makeMailbox(capacity: Limits.controlExchanges) { (work: PushRoute.Work) in work(desk) }

    registrar = try configuration.gateway.map { gateway in
      try Registrar(gateway) { report in
        // Full means that this loop hangs; what became of the call then shows when the token is next registered.
        door.leave { keeper in keeper.note(report) }
      }
    }
    var narrator = Narrator(log)
    keeper.carryOut = { [registrar] effects in for effect in effects { _ = registrar?.carryOut(effect) } }
    keeper.observe = { fleet, now in narrator.tell(fleet, now: now) }

    let registrations = RegistrationWait(door: door, standard: configuration.gateway == nil ? .zero : Self.registrationWait)
    let routes =
      DeviceRoutes(door: door, registrations: registrations).routes + AppRoutes(door: door).routes
      + ItemRoutes(door: door, registrations: registrations).routes + EventRoutes(door: door).routes
      + HealthRoutes(version: configuration.version, readiness: readiness).routes
    api = DeviceAPI(
      routes: RouteTable(routes, authorizer: Authorizer(AccessTokens(configuration.accessTokens)), now: clock),
      pushes: PushRoute(mailbox: pushes))
    self.door = door
    handle = loop.handle
    confined = Mutex(Confined(loop: loop, keeper: keeper))
  }

  /// Starts the loop's thread, which registers the plan's tokens and answers from now on; a second call does nothing.
  public func start() throws {
    guard
      let confined = confined.withLock({ confined -> Confined? in
        let taken = confined
        confined = nil
        return taken
      })
    else { return }
    // The plan was carried out before there was a loop; this round is the first to see it.
    door.leave { _ in }
    let started = try Thread.start(name: "device") { confined.loop.run() }
    thread.withLock { $0 = started }
  }

  /// Answers a request as if it had come to the device's own port; for one port that carries several APIs.
  public func respond(to request: HTTPRequest) async -> HTTPResponse { await api.respond(to: request) }

  /// Waits until the gateway has been told about every token, for at most `span`; false when it has not.
  public func waitUntilRegistered(atMost span: TimeSpan) async -> Bool {
    let done = try? await door.wait(atMost: span) { fleet in fleet.pendingRegistrations == 0 ? true : nil }
    return done == true
  }

  /// Ends the threads; requests in progress are given up.
  public func stop() {
    readiness.end()
    registrar?.stop()
    handle.stop()
    thread.withLock { $0 }?.join()
  }
}
