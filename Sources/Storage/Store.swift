public import Delivery
public import Primitives
public import Push
import Reactor
import Synchronization

/// Tokens, budgets, lanes and the push log, behind one thread.
///
/// Loops hand in batches and get them back settled and durable; the control side asks its questions with async calls, which run
/// between two batches. Every method may be called from any thread.
public final class Store: Sendable {
  let inbox: Inbox
  private let pool = BatchPool()
  private let shared: StoreShared
  let engine: any Engine
  /// Dry runs of reloads that are being made.
  let forecasts = Mutex(0)
  private let thread: Thread

  /// Opens a store, reading back what `engine` has saved, and starts its thread.
  ///
  /// - Parameters:
  ///   - apps: The rules by app; `reconfigure` replaces them.
  ///   - loops: How many loops there are; pushes that become due go to the loop that the token's hash picks.
  ///   - clock: The product's time, the machine's and the steady clock's, read once a round on the store thread.
  ///   - resolveUpstream: The number of the upstream for a bundle id, an environment, and the name that a registration gives; called on the
  ///     store thread, once for each such combination.
  ///   - resolveSigners: Which of the gateway's own keys sign for an app in an environment; called on the store thread, as rarely.
  ///   - readinessChanged: Told when pushes are no longer taken, and when they are again; called on the store thread.
  ///   - warned: Told of each warning that begins to hold, and of each that holds no more; called on the store thread.
  ///   - deliverBroadcast: Hands a loop a broadcast to send; called on the store thread, and must not block.
  ///   - deliver: Hands a settled batch to a loop; called on the store thread, and must not block.
  /// - Throws: What keeps the engine's content from being read.
  public init(
    engine: any Engine, apps: AppDirectory, loops: Int, settings: StoreSettings = StoreSettings(),
    clock: @escaping @Sendable () -> Moment,
    resolveUpstream: @escaping @Sendable (_ bundleID: String, _ environment: PushEnvironment, _ named: String?) -> UInt16,
    resolveSigners: @escaping @Sendable (_ bundleID: String, _ environment: PushEnvironment) -> PushSigners = { _, _ in PushSigners() },
    readinessChanged: (@Sendable (Readiness) -> Void)? = nil,
    warned: (@Sendable (StoreWarning, _ holds: Bool) -> Void)? = nil,
    deliverBroadcast: @escaping @Sendable (_ loop: Int, ForwardedBroadcast) -> Void = { _, _ in },
    deliver: @escaping @Sendable (_ loop: Int, Batch) -> Void
  ) throws(StoreError) {
    precondition(loops > 0)
    self.engine = engine
    shared = StoreShared(changed: readinessChanged, warned: warned)
    let inbox = Inbox(pushes: loops * settings.inboxPushes, bytes: loops * settings.inboxBytes, steady: { clock().steady })
    self.inbox = inbox
    let core = try StoreCore(
      engine: engine, settings: settings, loops: loops,
      resolver: RouteResolver(apps: apps, upstream: resolveUpstream, signers: resolveSigners),
      clock: clock,
      deliver: deliver, deliverBroadcast: deliverBroadcast, pool: pool, shared: shared)
    let running = core.state.errands.running
    let box = CoreBox(core)
    do {
      thread = try Thread.start(name: "store") { StoreThread.run(box.take(), inbox) }
    } catch {
      throw .engine("\(error)")
    }
    for number in running { carryOutReload(number) }
  }

  // MARK: Loops

  /// An empty batch.
  public func makeBatch() -> Batch { pool.take() }

  /// Gives a batch back once nothing of it is needed any more.
  public func recycle(_ batch: Batch) { pool.give(batch) }

  /// Bytes of the emptied batches that wait for use.
  public var spareBytes: Int { pool.spareBytes }
  /// Frees them, when a burst is over.
  public func releaseSpare() { pool.releaseSpare() }

  /// Hands a batch in; it comes back through `deliver`, settled and durable.
  ///
  /// - Returns: False when too much waits already, or the store stops: the caller still owns the batch, answers its admissions with 503,
  ///   and hands its outcomes in again. A batch with outcomes and no admissions is always taken.
  ///
  /// - Parameter isReturned: The batch was taken back before, so that it has its place already.
  public func submit(_ batch: Batch, from loop: Int, isReturned: Bool = false) -> Bool {
    inbox.add(batch, from: loop, isReturned: isReturned)
  }

  /// The batch that the loop has handed in last, for more to be added to it; nil unless the store is behind, and the batch is not full.
  public func takeBack(from loop: Int) -> Batch? { inbox.takeBack(from: loop) }

  /// An upstream takes pushes again: those that wait for their next attempt at it go now.
  public func upstreamAvailable(_ upstream: UInt16) { _ = inbox.add { $0.state.retryNow(upstream, at: $0.now) } }

  /// The clock has been set: what has become due is looked for at once.
  public func clockChanged() { inbox.poke() }

  // MARK: State

  /// Whether pushes are taken.
  public var readiness: Readiness { shared.get() }

  /// What goes wrong although pushes are taken.
  public var warnings: [StoreWarning] {
    let (pushes, busy) = inbox.backlog
    let isBehind = busy.map { $0 >= .milliseconds(Limits.storeBehindMilliseconds) } ?? false
    return shared.get() + (isBehind ? [.isBehind(pushes: pushes, milliseconds: busy?.milliseconds ?? 0)] : [])
  }

  /// Pushes that wait for the store thread.
  public var pushesInInbox: Int { inbox.backlog.pushes }

  /// Bytes that the pushes of each upstream hold that have not ended, in the order of `StoreSettings.upstreams`.
  public var bytesByUpstream: [Int] { shared.getHeld().dropLast() }

  /// What was counted and measured, as of the last commit.
  public var counters: StoreCounters { shared.get() }

  /// Takes no more admissions, finishes what was handed in, saves everything, and ends the thread. Blocks until that is done.
  public func stop() {
    inbox.close()
    thread.join()
  }

  // MARK: Registrations

  /// Registers a token, or replaces its registration; answers when that is durable.
  ///
  /// - Returns: Whether the token is new.
  ///
  /// - Parameters:
  ///   - rotated: The token that this one has taken the place of: its budgets go on, and it is removed, as soon as nothing waits for it
  ///     any more. One that is not registered, or is of another app or kind, changes nothing.
  ///   - isShared: Whether the caller is one of some apps, which have their share of what fits.
  ///   - sees: The apps whose registrations may be replaced, by bundle id.
  /// - Throws: `foreign` where the token is registered for an app that is none of those, `shareUsedUp` where the app has its share.
  public func register(
    _ registration: Registration, replacing rotated: DeviceToken? = nil, isShared: Bool = false,
    sees: @escaping @Sendable (String) -> Bool = { _ in true }
  ) async throws(StoreError) -> Bool {
    try await change { core throws(StoreError) in
      try core.state.check(registration.token, sees)
      let previous = try core.registration(registration.token)?.0
      let rotated = try rotated.flatMap { token throws(StoreError) in token == registration.token ? nil : try core.registration(token)?.0 }
      // One that takes the place of another is none more.
      if isShared, rotated?.bundleID != registration.bundleID {
        try core.state.checkShare(of: registration.bundleID, for: registration.token)
      }
      return try core.state.register(registration, previous: previous, rotated: rotated, at: core.now)
    }
  }

  /// Registers many tokens; answers when all that are taken are durable, with what became of each, in their order.
  ///
  /// - Parameters:
  ///   - isShared: Whether the caller is one of some apps, which have their share of what fits.
  ///   - mayReplace: Whether a registration that is there may be replaced.
  public func register(
    all registrations: [Registration], isShared: Bool = false, mayReplace: @escaping @Sendable (Registration) -> Bool
  ) async throws(StoreError) -> [BulkRegistration] {
    try await change { core throws(StoreError) in
      var results: [BulkRegistration] = []
      for registration in registrations {
        let previous = try core.registration(registration.token)?.0
        if let previous, !mayReplace(previous) {
          results.append(.foreign)
          continue
        }
        do throws(StoreError) {
          if isShared { try core.state.checkShare(of: registration.bundleID, for: registration.token) }
          let isNew = try core.state.register(registration, previous: previous, at: core.now)
          results.append(isNew ? .created : .replaced)
        } catch .full {
          results.append(.full)
        } catch .shareUsedUp(let refusal) {
          results.append(.shareUsedUp(refusal))
        }
      }
      return results
    }
  }

  /// Removes a registration of an app that the caller sees; answers when that is durable. False when there is none.
  public func unregister(
    _ token: DeviceToken, sees: @escaping @Sendable (String) -> Bool = { _ in true }
  ) async throws(StoreError) -> Bool {
    try await change { core throws(StoreError) in
      try core.state.check(token, sees)
      return core.state.unregister(token, at: core.now)
    }
  }

  /// The registration of a token, or nil.
  public func registration(_ token: DeviceToken) async throws(StoreError) -> RegistrationRecord? {
    try await ask { core throws(StoreError) in
      try core.registration(token).flatMap { core.state.describe($0.0, registered: $0.registered) }
    }
  }

  /// One page of the registrations that match, by token in byte order.
  public func registrations(_ query: RegistrationQuery) async throws(StoreError) -> [RegistrationRecord] {
    let rows = try engine.registrations(query)
    return try await ask { core throws(StoreError) in
      rows.compactMap { core.state.describe($0.0, registered: $0.registered) }
    }
  }

  // MARK: Pushes

  /// The lives of the pushes with that id, newest first; only the newest unless `all`.
  public func push(_ id: PushID, all: Bool = false) async throws(StoreError) -> [PushRecord] {
    try await ask { core throws(StoreError) in
      var records = core.state.records(of: id, all: all)
      guard core.settings.keepsPayloads else { return records }
      for index in records.indices where records[index].disposition != .refused {
        records[index].payload = try core.engine.payload(of: records[index].cursor.accepted)
      }
      return records
    }
  }

  /// One page of the pushes that match, newest first. With `wait`, answers once so many match, or when the time is over or the
  /// task is cancelled.
  ///
  /// - Throws: `notReady` when too many calls wait already.
  public func pushes(matching query: PushQuery, wait: PushWait? = nil) async throws(StoreError) -> PushPage {
    guard let wait else { return try await ask { $0.state.page(query) } }
    let abandonment = Abandonment()
    let result: Result<PushPage, StoreError> = await withTaskCancellationHandler {
      do throws(StoreError) {
        return .success(try await suspend { core, resume in core.wait(query, wait, abandonment, resume) })
      } catch {
        return .failure(error)
      }
    } onCancel: {
      abandonment.declare()
      inbox.poke()
    }
    return try result.get()
  }

  /// Follows the pushes that match, of which `limit` and `after` of the query are not asked: from now on, or from an earlier event on.
  ///
  /// - Throws: `busy` when as many follow as may.
  public func follow(_ query: PushQuery, after place: EventPlace? = nil) async throws(StoreError) -> PushFeed {
    try await ask { core throws(StoreError) in try core.follow(query, after: place) }
  }

  /// What a device reported about a push later; durable when it answers. False when no push of that id can have such a report.
  public func recordOutcome(
    _ id: PushID, _ disposition: Disposition, cause: Cause, detail: String? = nil,
    sees: @escaping @Sendable (String) -> Bool = { _ in true }
  ) async throws(StoreError) -> Bool {
    try await change { core throws(StoreError) in
      guard core.state.records(of: id, all: true).allSatisfy({ sees($0.bundleID) }) else { throw .foreign }
      let bytes = Array((detail ?? "").utf8)
      return core.state.recordOutcome(id, disposition, cause, detail: bytes.span.bytes, at: core.now)
    }
  }

  /// What would become of a push at this moment, with nothing done about it; `fill` makes the operation in the batch that it is given.
  public func preview(_ fill: @escaping @Sendable (Batch) -> AdmitOperation) async throws(StoreError) -> AdmissionPreview {
    try await ask { core in
      let batch = Batch()
      var operation = fill(batch)
      for question in batch.questions { core.answer(question, about: &operation, batch) }
      var preview = core.state.preview(operation, batch, at: core.now)
      preview.warnings = operation.warnings
      preview.warningDetails = WarningDetail.read(batch.bytes[operation.warningDetails].string)
      return preview
    }
  }

  // MARK: Budgets

  /// The budgets of a token, in the order of its widgets; empty when its kind has none, nil when it is not registered.
  public func budgets(_ token: DeviceToken) async throws(StoreError) -> [BudgetReport]? {
    try await ask { core throws(StoreError) in core.state.budgetReports(token, try core.registration(token)?.0, at: core.now) }
  }

  /// Sets what is left of a token's budget `index`, or of all of them; durable when it answers. False when there is none.
  public func setBudget(
    _ token: DeviceToken, index: Int? = nil, credits: Int, sees: @escaping @Sendable (String) -> Bool = { _ in true }
  ) async throws(StoreError) -> Bool {
    try await change { core throws(StoreError) in
      try core.state.check(token, sees)
      return core.state.setBudget(token, index: index, credits: Int64(credits), at: core.now)
    }
  }

  /// Fills a token's budgets; durable when it answers. False when there are none.
  public func resetBudget(
    _ token: DeviceToken, sees: @escaping @Sendable (String) -> Bool = { _ in true }
  ) async throws(StoreError) -> Bool {
    try await change { core throws(StoreError) in
      try core.state.check(token, sees)
      return core.state.setBudget(token, index: nil, credits: nil, at: core.now)
    }
  }

  // MARK: Configuration

  /// Replaces the rules by app, after the configuration has changed.
  public func reconfigure(
    apps: AppDirectory, lanePushes: Int, triesPastExpirations: Bool,
    resolveUpstream: @escaping @Sendable (_ bundleID: String, _ environment: PushEnvironment, _ named: String?) -> UInt16,
    resolveSigners: @escaping @Sendable (_ bundleID: String, _ environment: PushEnvironment) -> PushSigners = { _, _ in PushSigners() }
  ) {
    _ = inbox.add { core in
      core.state.settings.lanePushes = lanePushes
      core.state.settings.triesPastExpirations = triesPastExpirations
      core.resolver = RouteResolver(apps: apps, upstream: resolveUpstream, signers: resolveSigners)
      core.state.reconfigure(core.resolver, at: core.now)
    }
  }
}

/// Carries the core to its thread, which takes it once.
private final class CoreBox: @unchecked Sendable {
  // `@unchecked Sendable`: the thread that starts takes the core before anybody else could.
  private var core: StoreCore?
  init(_ core: consuming StoreCore) { self.core = consume core }
  func take() -> StoreCore {
    guard let core = core.take() else { preconditionFailure("the core is taken once") }
    return core
  }
}
