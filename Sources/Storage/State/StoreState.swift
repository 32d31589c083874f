import Delivery
import Primitives
import Push
import Synchronization

/// Everything the store knows, and what it decides: batches and instants in, answers and journal records out.
///
/// No clock, no socket, no file: `settle` is a function of the state, a batch and an instant. It runs on one thread, the
/// only one that ever sees the state. The steady path allocates nothing: tokens and pushes are plain values in slabs, payloads
/// lie in pooled blocks, the journal and the lists are emptied and filled again.
///
/// Between two commits the state collects what changed: records of pushes and of what happened to them in `journal`, and the numbers of
/// the tokens of which more changed than those tell, so that all of their state must be written behind (once, however often it changed).
struct StoreState: ~Copyable {
  var settings: StoreSettings {
    didSet { precondition(settings.lanePushes < UInt8.max) }
  }
  var tokens: TokenTable
  var pushes: PagedSlab<LivePush>
  let pool: BlockPool
  /// What the pushes of each upstream hold of the pool.
  var shares: UpstreamShares
  /// The upstreams that have been refused more, by their places among the shares, until they have room again.
  var full: [Int] = []
  var routes: RouteTable
  /// What few tokens have of their own, by their numbers.
  private var ownTermsOfTokens: [UInt32: OwnTerms] = [:]
  var log: PushLog
  var refused: RefusedLog
  var vocabulary = Vocabulary([])
  var due = DueHeap()
  /// Lanes to look at by the steady clock.
  var delays = Delays()
  /// How far the product's clock is ahead of the machine's in this round: dates that others read are the machine's.
  var machineLead = TimeSpan.zero
  /// How far it is ahead of the steady one, by which delays go.
  var lead = TimeSpan.zero {
    didSet { casts.lead = lead }
  }
  var generator: SplitMix64
  var counters = StoreCounters()

  /// Records since the last commit.
  let journal = ByteArena(capacity: 64 << 10)
  /// What the journal has said already.
  var journalMarks = JournalMarks()
  /// Removed tokens that the log may still mention.
  var removed: [UInt32] = []
  /// What the next commit changes about registrations as they are listed.
  var registrationChanges: [RegistrationChange] = []
  /// What the gateway does of its own accord.
  var errands = ErrandTable()
  /// The errand for which pushes are being admitted; `none` for those of providers.
  var errand = none
  /// Channels and broadcasts.
  var casts = BroadcastState()
  /// Payloads to keep with the log, where `settings` say so.
  var payloads = KeptPayloads()
  /// Tokens to write at the next commit.
  var changed: ContiguousArray<UInt32> = []
  /// Pages of tokens that changed since they were folded.
  var dirtyTokens = DirtyPages(capacity: 1024)
  /// The number of the round, to tell what was sent out before it.
  var group: UInt64 = 1
  /// The number of the last commit.
  var lastCommit: UInt64 = 0
  /// Pushes whose completions came in since the last commit.
  var completed: ContiguousArray<UInt64> = []
  /// Log entries that changed since the last commit, for those who wait for them; kept only while somebody does.
  var touchedEntries: ContiguousArray<UInt64> = []
  var isWatched = false
  /// Where pushes that were in flight before a reload are now.
  var relocated: [UInt64: UInt32] = [:]
  let lookahead = Lookahead()
  /// Never used. A value with an atomic in it is passed by its address; without one, each call of a method that does not mutate copies
  /// all of the state first, some 3 KB.
  private let addressed = Atomic(false)

  init(settings: StoreSettings, resolver: RouteResolver) {
    precondition(settings.lanePushes < UInt8.max)
    self.settings = settings
    let tokensMax = settings.registrations + settings.logEntries + 4096
    tokens = TokenTable(capacity: tokensMax, seed: settings.seed)
    // The smallest block has 256 bytes, so the pool's bound is a bound on pushes as well.
    pushes = PagedSlab(capacity: settings.waitingBytes / BlockPool.smallestBlock + 4096)
    pool = BlockPool(bytesMax: settings.waitingBytes)
    shares = UpstreamShares(of: settings.waitingBytes, upstreams: settings.upstreams.count)
    pool.prepare(blocks: Self.blocksPrepared(settings))
    routes = RouteTable(resolver: resolver)
    log = PushLog(
      capacity: settings.logEntries, seed: settings.seed ^ 0x5851_F42D_4C95_7F2D, texts: BlockPool(bytesMax: Limits.logTextBytes))
    refused = RefusedLog(capacity: settings.refusedEntries, texts: BlockPool(bytesMax: Limits.logTextBytes))
    generator = SplitMix64(seed: settings.seed)
  }

  deinit {
    for slot in 0..<pushes.end where pushes[slot].pointee.sequence != 0 {
      if let block = pushes[slot].pointee.block { pool.release(block) }
    }
  }

  /// What a token has of its own; nil when nothing. O(1).
  func ownTerms(_ number: UInt32) -> OwnTerms? {
    tokens[number].pointee.flags.contains(.ownTerms) ? ownTermsOfTokens[number] : nil
  }

  /// Gives a token terms of its own, or takes them.
  mutating func setOwnTerms(_ terms: OwnTerms?, of number: UInt32) {
    guard terms != nil || !ownTermsOfTokens.isEmpty else { return }
    tokens[number].pointee.flags.set(.ownTerms, terms != nil)
    ownTermsOfTokens[number] = terms
  }

  /// Notes that the next commit must hold all of this token's state.
  mutating func change(_ number: UInt32) {
    let token = tokens[number]
    guard !token.pointee.flags.contains(.changed) else { return }
    token.pointee.flags.insert(.changed)
    changed.append(number)
  }

  /// The engine has saved everything up to this commit.
  mutating func committed(_ number: UInt64) {
    lastCommit = number
    journal.removeAll(keeping: 4 << 20)
    journalMarks = JournalMarks()
    registrationChanges.removeAll()
    casts.committed()
    errands.committed()
    payloads.committed()
    vocabulary.markSaved()
    routes.markSaved()
    routes.budgets.markSaved()
    counters.commits += 1
  }

  /// A round is over, and what it sent out is on its way.
  mutating func endRound() {
    group += 1
    completed.removeAll(keepingCapacity: true)
  }

  /// Settles a batch: outcomes first, since they make room, then admissions, then what was refused elsewhere.
  mutating func settle(_ batch: Batch, at now: Instant) {
    for index in batch.completions.indices { complete(batch.completions[index], batch, at: now) }
    batch.admits.withUnsafeMutableBufferPointer { admitAll($0, batch, at: now) }
    noteRefusals(of: batch, at: now)
  }

  /// Remembers when a lane must be looked at again.
  mutating func setWake(_ number: UInt32, _ wake: Instant) {
    let token = tokens[number]
    guard token.pointee.wake != wake else { return }
    token.pointee.wake = wake
    guard wake != .distantFuture else { return }
    due.insert(number, due: wake)
    // Entries that no longer hold must not outnumber those that may.
    if due.count > 4096 + 4 * counters.waiting { compactDue() }
  }

  private mutating func compactDue() {
    var heap = DueHeap()
    swap(&heap, &due)
    heap.compact { holds($0) }
    swap(&heap, &due)
  }

  func holds(_ entry: DueHeap.Entry) -> Bool { tokens[entry.key].pointee.wake == entry.due }
}
