import Delivery
import Primitives
import Push

@testable import Storage

/// A state without thread, clock or file, and short ways to do things to it.
///
/// Each call settles one batch, closes the round as a commit would, and keeps what is in flight.
final class Bench {
  static let bundle = "com.example.app"
  var now: Instant
  var state: StoreState
  let engine: any Engine
  let settings: StoreSettings
  let apps: AppDirectory
  private(set) var forwarded: [Sent] = []
  private var folding = Folding()
  /// Bytes of refused requests that each commit saves.
  var refusedBytes = 0

  /// A push that was handed to a loop, with its bytes.
  struct Sent {
    var push: ForwardedPush
    var payload: String
    var at: Instant
  }

  init(
    policy: AppPolicy = AppPolicy(), engine: any Engine = MemoryEngine(), at now: Instant = Instant(unixSeconds: 1_800_000_000),
    _ adjust: (inout StoreSettings) -> Void = { _ in }
  ) throws {
    self.now = now
    var settings = StoreSettings()
    settings.registrations = 10_000
    settings.logEntries = 4096
    settings.refusedEntries = 100
    settings.waitingBytes = 16 << 20
    settings.seed = 7
    adjust(&settings)
    self.settings = settings
    self.engine = engine
    apps = AppDirectory([], anyApp: AppDirectory.App(bundleID: "", policy: policy))
    state = try StoreState.load(engine, settings: settings, resolver: Bench.resolver(apps, settings.upstreams), at: now)
  }

  /// Sends everything to upstream 1, but for tokens that name one of `upstreams`.
  static func resolver(_ apps: AppDirectory, _ upstreams: [String] = []) -> RouteResolver {
    RouteResolver(apps: apps) { _, _, named in named.flatMap { upstreams.firstIndex(of: $0) }.map { UInt16($0) } ?? 1 }
  }

  /// What a crash leaves: the state as the engine has it.
  func crash() throws {
    state = try StoreState.load(engine, settings: settings, resolver: Bench.resolver(apps, settings.upstreams), at: now)
    folding = Folding()
  }

  /// A token of `count` bytes that `number` names.
  static func token(_ number: Int, count: Int = 32) -> DeviceToken {
    var bytes = [UInt8](repeating: 0xA5, count: count)
    for index in 0..<4 { bytes[index] = UInt8(truncatingIfNeeded: number >> (8 * index)) }
    bytes[count - 1] = UInt8(truncatingIfNeeded: number)
    return DeviceToken(bytes: bytes.span.bytes)!
  }

  static func id(_ number: Int) -> PushID { PushID(high: 0xFEED, low: UInt64(number)) }

  static func registration(_ number: Int, _ kind: TokenKind = .widgets, widgets: [Registration.Widget] = []) -> Registration {
    var registration = Registration(token: token(number), kind: kind, bundleID: bundle, environment: .development)
    registration.widgets = widgets
    return registration
  }

  @discardableResult
  func register(_ registration: Registration, replacing rotated: DeviceToken? = nil) throws -> Bool {
    let previous = try engine.registration(registration.token)?.0
    let old = try rotated.flatMap { token in token == registration.token ? nil : try engine.registration(token)?.0 }
    let isNew = try state.register(registration, previous: previous, rotated: old, at: now)
    try commit()
    return isNew
  }

  /// The suffix of a push type's topic, after the bundle id.
  static func operation(
    _ batch: Batch, id: Int, token: DeviceToken, type: PushType, at now: Instant, traits: PushTraits? = nil,
    priority: Priority = .immediate, expiration: Expiration = .absent, bundleID: String = bundle, collapseID: String = "",
    payload: String = #"{"aps":{"content-changed":true}}"#
  ) -> AdmitOperation {
    let isReload = type == .widgets || type == .controls
    return AdmitOperation(
      reply: UInt64(id), id: Bench.id(id), token: token, type: type, priority: priority, expiration: expiration,
      traits: traits ?? PushTraits(lane: isReload ? .reload : type == .background ? .background : .keep), received: now,
      topic: batch.append("\(bundleID)\(type.topicSuffix)"), bundleID: batch.append(bundleID),
      collapseID: collapseID.isEmpty ? .empty : batch.append(collapseID), payload: batch.append(payload))
  }

  /// One push in a batch of its own.
  @discardableResult
  func push(
    _ id: Int, to token: Int = 1, _ type: PushType = .widgets, traits: PushTraits? = nil, priority: Priority = .immediate,
    expiration: Expiration = .absent, bundleID: String = bundle, collapseID: String = "",
    payload: String = #"{"aps":{"content-changed":true}}"#
  ) throws -> Admission {
    let batch = Batch()
    batch.admits.append(
      Bench.operation(
        batch, id: id, token: Bench.token(token), type: type, at: now, traits: traits, priority: priority, expiration: expiration,
        bundleID: bundleID, collapseID: collapseID, payload: payload))
    try settle(batch)
    return batch.admits[0].result
  }

  func settle(_ batch: Batch) throws {
    state.settle(batch, at: now)
    collect(batch)
    try commit()
  }

  /// Reports the outcome of the latest push sent to a token.
  func complete(_ outcome: UpstreamOutcome, token: Int = 1, detail: String = "") throws {
    let sent = forwarded.last { $0.push.token == Bench.token(token) }!
    let batch = Batch()
    batch.completions.append(
      CompleteOperation(ticket: sent.push.ticket, outcome: outcome, detail: detail.isEmpty ? .empty : batch.append(detail)))
    try settle(batch)
  }

  /// Moves the clock to `instant`, stopping wherever something is due.
  func advance(to instant: Instant) throws {
    while let due = state.nextDue, due <= instant {
      now = max(now, due)
      try releaseDue()
    }
    now = instant
  }

  func releaseDue(into batch: Batch = Batch()) throws {
    while let number = state.popDue(at: now) {
      state.advance(number, batch, at: now)
      state.releaseTokenIfUnused(number)
    }
    collect(batch)
    try commit()
  }

  /// Saves what changed, as the store thread does.
  func commit() throws {
    if let commit = folding.prepare(&state, engine, refusedBytes: refusedBytes) {
      try engine.commit(commit)
      state.committed(commit.number)
    }
    state.endRound()
  }

  /// Begins to fold; each further commit does a slice.
  func startFolding() { if !folding.isBusy { folding.start(through: state.lastCommit) } }

  /// Folds everything.
  func fold() throws {
    folding.start(through: state.lastCommit)
    repeat { try commit() } while folding.isBusy
  }

  func setBudget(_ token: Int, index: Int?, credits: Int64?) -> Bool {
    state.setBudget(Bench.token(token), index: index, credits: credits, at: now)
  }

  func unregister(_ token: Int) throws -> Bool {
    let wasThere = state.unregister(Bench.token(token), at: now)
    try commit()
    return wasThere
  }

  func budgets(_ registration: Registration) -> [BudgetReport]? {
    state.budgetReports(registration.token, registration, at: now)
  }

  func record(_ id: Int) -> PushRecord? { state.records(of: Bench.id(id), all: false).first }

  func collect(_ batch: Batch) {
    for push in batch.forwards { forwarded.append(Sent(push: push, payload: batch.bytes[push.payload].string, at: now)) }
  }
}
