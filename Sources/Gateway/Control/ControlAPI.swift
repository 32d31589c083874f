public import Control
public import Faults
public import Primitives
public import Push
public import Security
public import Storage
public import Telemetry

/// The gateway's control API: registrations, pushes, budgets, and how the gateway is.
///
/// It keeps no state: everything is the store's. Safe to use from any thread.
public struct ControlAPI: Sendable {
  /// What the API works on.
  public struct Parts: Sendable {
    /// Registrations, pushes and budgets.
    public var store: Store
    /// The apps that tokens may be registered for, as of now.
    public var apps: AppDirectory { settings?.parts.apps ?? fixedApps }
    private let fixedApps: AppDirectory
    /// What can be changed at run time; nil where nothing can.
    var settings: LiveSettings?
    /// The faults that strike pushes; nil where the configuration permits none.
    public var faults: FaultBook?
    /// Those who record what comes.
    package var recordings = RecordingDesk()
    /// The names that a registration's `upstream` may have.
    public var upstreams: [String]
    /// What `/metrics` shows.
    public var metrics: [any Metric]
    /// What `/version` shows.
    public var version: String
    /// Why the gateway cannot do its work at present, one sentence each, besides what the store says; empty when it can.
    public var obstacles: @Sendable () -> [String]
    /// The upstreams that cannot be reached at present, each with a clause that says where it was looked for and why it was not found.
    var unreachable: @Sendable () -> [String: String] = { [:] }
    /// What `/dev/` serves; nil outside `dev`.
    public var devFiles: DevFiles?
    /// The product's time, and who moves it.
    public var clock: ClockDriver
    /// Places for calls that wait for pushes.
    let waits = CallPlaces(Limits.pushWaiters, for: "calls that wait for pushes")
    /// Places for calls that follow events.
    let followers = CallPlaces(Limits.eventFollowers, for: "calls that follow the events")
    /// Places for calls that record.
    let recorders = CallPlaces(Limits.recorders, for: "calls that record")
    /// Dry runs of reloads.
    let forecasts = CallPlaces(Limits.reloadForecasts, for: "dry runs of reloads")
    /// Has only a few pages be made at once: each is held several times while it is.
    let pages = Turnstile(insideMax: Limits.pagesInWork, waitingMax: Limits.controlExchanges, to: "be told a page of a list")
    /// Hides in ids and cursors what other apps do.
    public var numbers = NumberCipher()
    /// How long nothing is written on a stream of events at most.
    public var heartbeat = TimeSpan.milliseconds(Limits.eventHeartbeatMilliseconds)

    /// These parts.
    public init(
      store: Store, apps: AppDirectory, upstreams: [String], metrics: [any Metric], version: String,
      obstacles: @escaping @Sendable () -> [String], devFiles: DevFiles? = nil, clock: ClockDriver
    ) {
      self.store = store
      fixedApps = apps
      self.upstreams = upstreams
      self.metrics = metrics
      self.version = version
      self.obstacles = obstacles
      self.devFiles = devFiles
      self.clock = clock
    }
  }

  let parts: Parts

  /// The API over these parts.
  public init(_ parts: Parts) { self.parts = parts }

  /// Every route.
  public var routes: [Route] { [.index(of: calls)] + calls }

  private var calls: [Route] {
    registrationRoutes + importRoutes + pushRoutes + eventRoutes + recordingRoutes + whatIfRoutes + channelRoutes + budgetRoutes
      + reloadRoutes
      + activityRoutes + resetRoutes + appRoutes + schemaRoutes
      + statusRoutes
      + devRoutes
      + FaultRoutes(parts.faults, unless: "faults are not permitted here; faults.allowed of the configuration permits them").routes
      + ClockRoutes(parts.clock).routes
  }

  /// The product's time.
  var now: Instant { parts.clock.clock.moment.now }

  /// The push token that a path names, in hexadecimal of either case.
  func token(_ routed: RoutedRequest) throws(ControlError) -> DeviceToken {
    let text = routed["token"]
    guard let token = DeviceToken(hex: text) else {
      throw .badRequest(
        DeviceToken.complaint(aboutPrinted: text)
          ?? "the token in the path must be hexadecimal with an even number of digits, 2 to \(2 * DeviceToken.bytesMax), not \"\(text.prefix(32))\"",
        field: "token")
    }
    return token
  }

  /// The registration of a token, if the caller may see it.
  func visibleRegistration(_ token: DeviceToken, _ grant: Grant) async throws(ControlError) -> RegistrationRecord {
    let record = try await asking { () async throws(StoreError) in try await parts.store.registration(token) }
    guard let record, grant.sees(record.registration.bundleID) else {
      throw .notFound("no token \(token.hex.prefix(16))… is registered here; register it with PUT /v1/registrations/TOKEN")
    }
    return record
  }

  /// What the store answers, with its errors as answers of the API.
  func asking<T>(_ ask: () async throws(StoreError) -> T) async throws(ControlError) -> T {
    do throws(StoreError) {
      return try await ask()
    } catch {
      throw ControlError(error)
    }
  }
}

extension ControlError {
  /// 503 for a store that cannot do what was asked, 409 for one that is full, and for what has become another app's since it was looked at.
  init(_ error: StoreError) {
    switch error {
    case .full, .foreign: self = .conflict(error.description)
    case .shareUsedUp:
      self.init(status: 429, code: "shareUsedUp", message: error.description, fields: ["retry-after": "60"])
    default: self = .unavailable(error.description)
    }
  }
}
