import JSON
public import Primitives
public import Push

/// All devices of a mock process: WidgetKit, Control Center and ActivityKit as one pure state machine.
///
/// It is fed pushes, what a person does, and instants; it gives outcomes, and effects to carry out. It reads no clock, opens no socket
/// and takes no lock. The picture:
///
/// ```
/// push ──► receive ──► TokenTable ──► adopted entry        (nothing else is known: the entry is the device)
///                                 └─► Device ► App ► widgets, controls, activities
/// person ► place, start, rotate … ──► the same             ──► effects: register, unregister
/// ```
///
/// A token that is pushed to before anything named it is adopted, since whoever registered it at the gateway meant this device to
/// have it; what the gateway knows of it is handed in before, and made so.
public struct DeviceFleet: Sendable {
  let mint: TokenMint
  let registersTokens: Bool
  let devicesMax: Int
  var tokens: TokenTable
  var devices: [String: Device] = [:]
  /// How many devices were ever adopted.
  var adoptions: UInt64 = 0
  /// What each app declares on the device on which it was installed or changed last.
  var declared: [String: AppManifest] = [:]
  /// What the gateway knows of each app's schemas, as it was told last.
  var learnedSchemas: [String: [ActivitySchemas]] = [:]
  /// How far telling the gateway of the apps' own schemas has come, by bundle id and attributes type; of apps that somebody has installed.
  var teachings: [String: [String: TeachingState]] = [:]
  var log: EventLog
  /// What alerts have left on the screens.
  var notifications = NotificationList()
  var effects: [DeviceEffect] = []
  /// The activities that follow each channel, some of which may be over.
  var followers: [ChannelID: [ChannelFollower]] = [:]
  /// The newest instant seen; time that steps back stands still here.
  var now: Instant = .distantPast

  /// What turns the dates that senders write into the devices': zero unless the product's clock has been moved.
  public var shift = TimeSpan.zero

  /// Why the gateway does not tell what it is asked, as a clause such as `the gateway did not answer (…)`; nil while it does.
  public var gatewaySilence: String?

  /// How many tokens the gateway has yet to be told about.
  public private(set) var pendingRegistrations = 0

  /// When an activity next changes by itself, if any does; `advance(to:)` is worth calling then.
  public internal(set) var nextDue: Instant?

  /// A fleet without devices.
  ///
  /// - Parameters:
  ///   - seed: What tokens are made from, besides names.
  ///   - hashSeed: A secret number that keeps senders from choosing tokens that collide.
  ///   - registersTokens: Whether new tokens yield effects; false where no gateway is configured.
  ///   - devicesMax: How many devices there are at most; the oldest of those that nobody has set up are forgotten first.
  ///   - tokensMax: How many tokens are known at most.
  ///   - logEntries: How many events are kept.
  public init(
    seed: String, hashSeed: UInt64, registersTokens: Bool = true, devicesMax: Int = Limits.devices,
    tokensMax: Int = Limits.deviceTokens, logEntries: Int = Limits.deviceLogEntries
  ) {
    mint = TokenMint(seed: seed)
    self.registersTokens = registersTokens
    self.devicesMax = devicesMax
    tokens = TokenTable(seed: hashSeed, capacity: tokensMax)
    log = EventLog(capacity: logEntries)
  }

  /// The effects since the last call, in order; to be carried out after every call that changes anything.
  public mutating func takeEffects() -> [DeviceEffect] {
    defer { effects.removeAll() }
    return effects
  }

  /// The sequence number of the newest event.
  public var newestEvent: UInt64 { log.newest }

  /// How many tokens are known, dead ones included.
  public var tokenCount: Int { tokens.count }

  /// Records something that happened outside, such as a push that was refused before it came to a device.
  public mutating func note(_ what: DeviceEvent.What, token: DeviceToken?, push: PushID?, detail: String, at now: Instant) {
    var event = DeviceEvent(what, at: now, token: token)
    if let token, let index = tokens.find(token) {
      event.device = deviceName(of: tokens[index])
      event.bundleID = tokens[index].bundleID
    }
    event.push = push
    event.detail = detail
    if what == .pushRefused { event.disposition = .refused }
    log.append(event)
  }

  /// Records how carrying out `effect` went; of no interest when the app has said something newer about the token since.
  public mutating func noteRegistration(_ effect: DeviceEffect, _ state: RegistrationState, detail: String?, at now: Instant) {
    let token = effect.token
    guard let index = tokens.find(token) else { return }
    if let current = registration(of: tokens[index]), effect.registration != current { return }
    setRegistration(state, of: index)
    let entry = tokens[index]
    let what: DeviceEvent.What =
      switch state {
      case .registered: .tokenRegistered
      case .none: .tokenUnregistered
      case .pending, .refused: .registrationFailed
      }
    var event = DeviceEvent(what, at: now, device: deviceName(of: entry), bundleID: entry.bundleID, token: token)
    event.detail = detail
    log.append(event)
  }

  /// Sets how far the entry's registration has come.
  mutating func setRegistration(_ state: RegistrationState, of index: Int) {
    if tokens[index].registration == .pending { pendingRegistrations -= 1 }
    if state == .pending { pendingRegistrations += 1 }
    tokens[index].registration = state
  }

  /// The name of the device behind the entry; nil when the entry is all there is.
  func deviceName(of entry: TokenEntry) -> String? {
    switch entry.owner {
    case .app(let device), .item(let device, _): device
    case .adopted, .gone, .unregistered: nil
    }
  }

  /// Where the entry's app is; nil when it is gone or stands for nothing but the entry.
  func place(of entry: TokenEntry) -> AppPlace? {
    guard let name = deviceName(of: entry), let app = devices[name]?.index(of: entry.bundleID) else { return nil }
    return AppPlace(device: name, app: app)
  }

  /// The app at that place, which exists.
  subscript(place: AppPlace) -> App {
    get { devices[place.device]!.apps[place.app] }
    _modify { yield &devices[place.device]!.apps[place.app] }
  }

  /// Moves time forward, never back.
  mutating func set(now instant: Instant) -> Instant {
    advance(to: instant)
    return now
  }
}

/// Where an app is: good until apps of the device come or go.
struct AppPlace: Sendable, Equatable {
  var device: String
  var app: Int
}
