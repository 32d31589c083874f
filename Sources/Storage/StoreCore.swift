import Delivery
import Primitives
import Push
import Reactor
import Synchronization

/// What the store thread runs: it feeds the state, commits what came of it, and hands the answers out.
///
/// One round: take all that waits; settle it; commit once; deliver. When the commit fails, memory would be ahead of the disk, so
/// the state is read anew from the engine: what the round had decided has not happened, its admissions are answered 503, and the
/// outcomes that came with it are kept for the next round.
struct StoreCore: ~Copyable {
  let engine: any Engine
  let settings: StoreSettings
  let loops: Int
  let clock: @Sendable () -> Moment
  let deliver: @Sendable (_ loop: Int, Batch) -> Void
  let deliverBroadcast: @Sendable (_ loop: Int, ForwardedBroadcast) -> Void
  let pool: BatchPool
  let shared: StoreShared
  var resolver: RouteResolver
  var state: StoreState
  var folding = Folding()
  var waiters: [Waiter] = []
  var castWaiters: [CastWaiter] = []
  var standingWaiters: [StandingWaiter] = []
  var followers: [Follower] = []
  /// The product's time in this round.
  var now = Instant.distantPast
  /// The steady clock's time in this round: what waits for a while goes by it.
  var steady = Instant.distantPast

  /// What to do once the round is durable, or with the error that kept it from being so.
  var afterCommit: [(StoreError?) -> Void] = []
  /// Why no writes are taken; nil when they are.
  var failure: String?
  /// When writing is tried again, by the steady clock.
  var retryAt = Instant.distantPast
  /// Whether the state is what the engine has saved; false when reading it anew has failed.
  var isLoaded = true
  /// Outcomes that could not be made durable yet.
  var postponed: [PostponedCompletion] = []
  /// What became of broadcasts, which could not be made durable yet.
  var postponedReports: [PostponedReport] = []
  /// The pushes that loops have in hand, while the state that knew them is given up.
  var lostInFlight: Set<UInt64> = []
  /// For each loop, what becomes due in this round.
  var dueBatches: [Batch?]
  /// The number of the refused request that comes first after what those who wait and follow know.
  var refusedSeen: UInt64
  /// How many places of the log those who wait may still look at in this round.
  var waitVisits = Limits.waitVisits
  /// Whether some of them have not looked at all of it.
  var hasMoreToFind = false
  /// Memory that a backlog has left behind.
  var spare = SpareMemory()
  /// When the engine is asked again whether commits are of any use, by the steady clock.
  var checkAt = Instant.distantPast
  /// When some of the refused requests may be saved again, by the steady clock.
  private var refusedSaveAt = Instant.distantPast
  /// Slices of reloads that wait for their turn.
  var slices: [ReloadSlice] = []
  /// When one of them may go by itself.
  var slicesWake: Instant?
  /// Whether one may go, and there was no room in the round.
  var hasMoreSlices = false

  /// An outcome without its batch.
  struct PostponedCompletion {
    var operation: CompleteOperation
    var detail: [UInt8]
    var loop: Int
  }

  /// What became of a broadcast while no writes were taken.
  struct PostponedReport {
    var ticket: BroadcastTicket
    var outcome: UpstreamOutcome
    var detail: String
    var isFault: Bool
  }

  /// Reads everything back from the engine.
  init(
    engine: any Engine, settings: StoreSettings, loops: Int, resolver: RouteResolver, clock: @escaping @Sendable () -> Moment,
    deliver: @escaping @Sendable (_ loop: Int, Batch) -> Void,
    deliverBroadcast: @escaping @Sendable (_ loop: Int, ForwardedBroadcast) -> Void, pool: BatchPool, shared: StoreShared
  ) throws(StoreError) {
    self.engine = engine
    self.settings = settings
    self.loops = loops
    self.resolver = resolver
    self.clock = clock
    self.deliver = deliver
    self.deliverBroadcast = deliverBroadcast
    self.pool = pool
    self.shared = shared
    dueBatches = Array(repeating: nil, count: loops)
    let moment = clock()
    if !settings.keepsPayloads { try engine.dropPayloads() }
    state = try StoreState.load(engine, settings: settings, resolver: resolver, at: moment.now, lead: moment.steadyLead)
    refusedSeen = state.refused.next
    // What is asked from the first moment on is to be true then, and not only after the first round.
    publish()
  }

  /// Why the store takes no writes at present; nil when it does.
  var unreadiness: StoreError? { failure.map { .notReady($0) } }

  /// How long to sleep when nothing comes, in nanoseconds; nil means for ever.
  var pause: Int64? {
    mutating get {
      if hasMore { return 0 }
      let moment = clock()
      let wake = nextWake
      var pause = wake == .distantFuture ? .max : (wake - moment.steady).nanoseconds
      // A clock that stands still comes to nothing by itself.
      if failure == nil, let due = nextProductWake, !moment.isFrozen || due <= moment.now {
        pause = min(pause, (due - moment.now).nanoseconds)
      }
      return pause == .max ? nil : max(0, pause)
    }
  }

  /// When there is something to do by the product's clock; nil when never.
  private var nextProductWake: Instant? {
    mutating get {
      guard let slicesWake else { return state.nextProductDue }
      return min(slicesWake, state.nextProductDue ?? .distantFuture)
    }
  }

  /// When there is something to do by the steady clock; `distantFuture` when never.
  private var nextWake: Instant {
    mutating get {
      var wake = Instant.distantFuture
      if failure == nil {
        wake = checkAt
        if let due = state.delays.next { wake = min(wake, due) }
        if let due = state.casts.nextDue { wake = min(wake, due) }
        if let due = state.nextActivityDue { wake = min(wake, due) }
        if state.refused.hasUnsaved { wake = min(wake, refusedSaveAt) }
      } else {
        wake = retryAt
      }
      for waiter in castWaiters { wake = min(wake, waiter.until) }
      for waiter in waiters { wake = min(wake, waiter.wait.until) }
      for waiter in standingWaiters { wake = min(wake, waiter.until) }
      return wake
    }
  }

  /// Whether there is housekeeping to go on with at once.
  var hasMore: Bool { hasMoreToFind || spare.isReleasing || failure == nil && (folding.isBusy || hasMoreSlices) }

  /// One round.
  mutating func round(_ batches: inout ContiguousArray<(batch: Batch, loop: Int)>, _ work: inout ContiguousArray<Inbox.Work>) {
    let moment = clock()
    (now, steady) = (moment.now, moment.steady)
    (state.lead, state.machineLead) = (moment.steadyLead, moment.lead)
    state.isWatched = !waiters.isEmpty || !followers.isEmpty
    waitVisits = Limits.waitVisits
    if failure != nil, steady >= retryAt { recover() }
    checkEngine()
    if let age = settings.logAge { state.forget(before: now - age) }
    for item in work { item(&self) }
    work.removeAll(keepingCapacity: true)
    if failure == nil {
      for item in batches {
        if !item.batch.questions.isEmpty { answerQuestions(item.batch) }
        state.settle(item.batch, at: now)
      }
      releaseDue()
      releaseSlices()
      carryOutActivities()
      state.releaseBroadcasts(at: now)
      commit(batches)
    } else {
      for item in batches {
        refuse(item.batch, loop: item.loop)
        state.noteRefusals(of: item.batch, at: now)
      }
    }
    for item in batches { deliver(item.loop, item.batch) }
    batches.removeAll(keepingCapacity: true)
    deliverDue()
    if failure == nil { deliverBroadcasts() }
    tellFollowers()
    answerWaiters()
    answerCastWaiters()
    answerStandingWaiters()
    spare.note(state.pool.lentBytes)
    if spare.isReleasing, !state.releaseSpare(blocks: Limits.storeSpareBlocks) {
      spare.end()
      SystemMemory.giveBack()
    }
    publish()
  }

  /// Hands what has become due to the loops; it is durable.
  mutating func deliverDue() {
    for loop in 0..<loops {
      guard let batch = dueBatches[loop] else { continue }
      dueBatches[loop] = nil
      if batch.forwards.isEmpty && batch.ignored.isEmpty { pool.give(batch) } else { deliver(loop, batch) }
    }
  }

  /// Saves everything that can be saved and ends the use of the engine.
  mutating func close() {
    if failure == nil {
      folding.start(through: state.lastCommit)
      repeat { commit([], refusedBytes: .max) } while failure == nil && folding.isBusy
    }
    endWaits()
    for follower in followers { follower.queue.end() }
    answerCastWaiters(isLast: true)
    abandonSlices()
    answerStandingWaiters(isLast: true)
    shared.end()
    engine.close()
  }

  /// Sends out what has become due, a bounded number a round.
  private mutating func releaseDue() {
    var left = 4 * Limits.batchOperations
    while left > 0, let number = state.popDue(at: now) {
      let loop = loops == 1 ? 0 : Int(state.tokens.hash(number) % UInt64(loops))
      state.advance(number, dueBatch(loop), at: now)
      state.releaseTokenIfUnused(number)
      left -= 1
    }
  }

  mutating func dueBatch(_ loop: Int) -> Batch {
    if let batch = dueBatches[loop] { return batch }
    let batch = pool.take()
    dueBatches[loop] = batch
    return batch
  }

  /// Makes the round durable, or undoes it.
  ///
  /// - Parameter refusedBytes: How much of the refused requests is saved with it; nil as much as may be by now.
  mutating func commit(_ batches: ContiguousArray<(batch: Batch, loop: Int)>, refusedBytes: Int? = nil) {
    let allowance = steady >= refusedSaveAt ? Limits.refusedSaveBytes : 0
    do {
      if let commit = folding.prepare(&state, engine, refusedBytes: refusedBytes ?? allowance) {
        if !commit.refusedPages.isEmpty { refusedSaveAt = steady + .milliseconds(Limits.refusedSaveMilliseconds) }
        try engine.commit(commit)
        state.committed(commit.number)
      }
      state.endRound()
    } catch {
      return undo(batches, error)
    }
    do { try engine.maintain() } catch { fail(error) }
    let waiting = afterCommit
    afterCommit.removeAll()
    for resume in waiting { resume(nil) }
  }

  private mutating func publish() {
    state.counters.channels = state.casts.channels.liveCount
    state.counters.broadcastsPending = state.casts.pendingCount
    state.counters.registrations = state.tokens.activeCount
    state.counters.waitingBytes = state.pool.lentBytes
    state.counters.logEntries = state.log.count
    state.counters.journalBytes = engine.journalBytes
    state.counters.failedCheckpoints = engine.failedCheckpoints
    shared.set(state.counters)
    shared.set(held: state.shares.held)
    shared.set((engine.housekeepingFailure.map { [.checkpointsFail($0)] } ?? []) + state.fullUpstreams())
  }
}
