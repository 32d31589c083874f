public import Primitives

/// One thread that waits for sockets, messages and deadlines, and runs their handlers.
///
/// A round is: wait in the kernel; read both clocks once; run what became ready, what asked to be resumed, the
/// messages and the due timers; then the round-end hooks, first those that decide (where a composition hands its
/// batch on), then those that flush (where connections send what piled up, each with one system call). Decisions
/// are taken in batches and writes are gathered because of this order, not because anybody remembers to.
///
/// A loop and everything on it belong to one thread and are not `Sendable`; other threads hold its `handle`
/// and its mailboxes.
public final class EventLoop {
  /// The product's time in this round, from the clock that was injected.
  public var now: Instant { time.value.moment.now }
  /// The machine's time in this round, which may be another than the product's: for what concerns others, such as certificates.
  public var realNow: Instant { time.value.moment.real }
  /// The steady clock's time in this round, for what waits for a while.
  public var steadyNow: Instant { time.value.moment.steady }
  /// All of them in one.
  public var moment: Moment { time.value.moment }
  /// The time of this round on the clock that only runs forward; timers go by it.
  public var uptime: Uptime { time.value.uptime }
  /// What other threads may do to this loop.
  public let handle: LoopHandle

  private struct Time {
    var moment: Moment
    var uptime: Uptime
  }

  var timers = TimerHeap()
  private let time: Confined<Time>
  private let poller: Poller
  private var handlers: Slab<any ReadinessHandler>
  private let clock: @Sendable () -> Moment
  private let uptimeClock: @Sendable () -> Uptime
  private var turns = TurnQueue()
  private var beginnings = TurnQueue()
  /// Work of this round so far.
  private var spent = 0
  /// Work of a round after which those that wait for turns wait for the next one, so that what has become ready meanwhile need
  /// not wait for all of them. One of each queue has its turn in every round.
  public var workPerRound = Int.max
  private var deciding: [() -> Void] = []
  private var flushing: [() -> Void] = []
  private var mailboxes: [LoopMailbox] = []
  private var closing: [() -> Void] = []

  /// The key of the descriptor that other threads wake the loop with; no slab slot has it.
  private static let wakeKey = UInt64.max

  /// A loop for at most `descriptors` watched descriptors; `clock` gives the product's time and `uptime` the time
  /// for timers, each read once a round.
  public convenience init(
    descriptors: Int = 65_536, clock: @escaping @Sendable () -> Instant, uptime: @escaping @Sendable () -> Uptime = { .read() }
  ) throws(SystemError) {
    try self.init(descriptors: descriptors, moments: { Moment(clock()) }, uptime: uptime)
  }

  /// The same for a product whose time may have been moved: `moments` gives both.
  public init(
    descriptors: Int = 65_536, moments: @escaping @Sendable () -> Moment, uptime: @escaping @Sendable () -> Uptime = { .read() }
  ) throws(SystemError) {
    clock = moments
    uptimeClock = uptime
    time = Confined(Time(moment: moments(), uptime: uptime()))
    handlers = Slab(capacity: descriptors)
    poller = try Poller()
    handle = try LoopHandle()
    try poller.watch(handle.event.raw, key: Self.wakeKey)
  }

  deinit { for mailbox in mailboxes { mailbox.close() } }

  // MARK: Descriptors

  /// Tells `handler`, from now on, what becomes ready on `descriptor`; the loop holds it until `forget(_:)`.
  ///
  /// Throws when the kernel refuses, or with `EMFILE` when the loop watches as many as it was made for.
  public func watch(_ descriptor: borrowing Descriptor, _ handler: any ReadinessHandler) throws(SystemError) -> SlabKey {
    try watch(raw: descriptor.raw, handler)
  }

  func watch(raw: Int32, _ handler: any ReadinessHandler) throws(SystemError) -> SlabKey {
    guard let key = handlers.insert(handler) else { throw SystemError.tooManyDescriptors }
    do {
      try poller.watch(raw, key: key.packed)
    } catch {
      handlers.remove(key)
      throw error
    }
    return key
  }

  /// Stops telling; the owner closes the descriptor, which takes it out of the kernel's queue.
  public func forget(_ key: SlabKey) { handlers.remove(key) }

  /// The two queues for turns.
  public enum Queue: Sendable {
    /// Those who have more to do than others.
    case more
    /// Those who are not there yet: connections to accept, handshakes.
    case beginning
  }

  /// Gives the handler of `key` a turn, without waiting for anything, as soon as those that asked before have had theirs: for one
  /// who stopped early to let others go first, or because its writing was stuck.
  public func resume(_ key: SlabKey, in queue: Queue = .more) {
    switch queue {
    case .more: turns.append(key)
    case .beginning: beginnings.append(key)
    }
  }

  /// Counts `work` that a handler has done in this round, in whatever unit `workPerRound` is.
  @inline(__always) public func spend(_ work: Int) { spent &+= work }

  // MARK: Timers, messages, round ends

  /// A disarmed timer that runs `action` on this loop.
  public func makeTimer(_ action: @escaping () -> Void) -> Timer { Timer(loop: self, action: action) }

  /// A mailbox whose messages are given to `receive` on this loop, at most `capacity` waiting.
  public func makeMailbox<Message: Sendable>(
    capacity: Int, of type: Message.Type = Message.self, _ receive: @escaping (Message) -> Void
  ) -> Mailbox<Message> {
    let mailbox = Mailbox<Message>(capacity: capacity, loop: handle)
    mailboxes.append(
      LoopMailbox(isEmpty: { mailbox.isEmpty }, drain: { mailbox.drain(receive) }, close: { mailbox.close() }))
    return mailbox
  }

  /// The two halves of a round's end.
  public enum RoundEnd: Sendable {
    /// What was collected is decided: batches are handed on.
    case decide
    /// What was answered is sent. Work that is left over has to ask for the next round, with `resume(_:)`.
    case flush
  }

  /// Runs `hook` at the end of every round, in the order of adding within its half.
  public func atEveryRoundEnd(_ half: RoundEnd = .decide, _ hook: @escaping () -> Void) {
    switch half {
    case .decide: deciding.append(hook)
    case .flush: flushing.append(hook)
    }
  }

  // MARK: Running

  /// Runs rounds on the calling thread until somebody calls `stop()`; from then on the mailboxes take nothing.
  public func run() {
    while !handle.isStopping { turn() }
    close()
  }

  /// Runs `action` once, when the loop is closed.
  public func atClose(_ action: @escaping () -> Void) { closing.append(action) }

  /// Lets go of everything that was given to the loop: nothing of it runs any more, and descriptors that only the loop kept
  /// alive are closed. `run()` does it at its end.
  public func close() {
    let actions = closing
    closing.removeAll()
    for action in actions { action() }
    for mailbox in mailboxes { mailbox.close() }
    mailboxes.removeAll()
    deciding.removeAll()
    flushing.removeAll()
    turns.removeAll()
    beginnings.removeAll()
    // Swapped out first: what ends with a timer may cancel another.
    var dropped = TimerHeap()
    swap(&dropped, &timers)
    dropped.removeAll()
    var keys: [SlabKey] = []
    handlers.forEach { key, _ in keys.append(key) }
    for key in keys { handlers.remove(key) }
  }

  /// Makes `run()` return after this round.
  public func stop() { handle.stop() }

  /// Runs one round, waiting at most `limit` for something to happen.
  public func turn(waitingAtMost limit: TimeSpan? = nil) {
    let milliseconds = sleepMilliseconds(limit)
    // A failing epoll_wait means a closed or foreign descriptor: our bug, and nothing can go on after it.
    let count = try! poller.wait(milliseconds: milliseconds)
    handle.declareAsleep(false)
    time.value = Time(moment: clock(), uptime: uptimeClock())
    spent = 0
    let before = (turns: turns.count, beginnings: beginnings.count)

    for index in 0..<count {
      let (key, readiness) = poller.event(index)
      guard key != Self.wakeKey else { continue }
      handlers[SlabKey(packed: key)]?.ready(readiness)
    }
    runTurns(before)
    for mailbox in mailboxes { _ = mailbox.drain() }
    while let timer = timers.takeDue(uptime) { timer.fire() }
    for hook in deciding { hook() }
    for hook in flushing { hook() }
  }

  /// How long the kernel may keep us: not at all while work is left, else until the next timer.
  private func sleepMilliseconds(_ limit: TimeSpan?) -> Int32 {
    guard turns.isEmpty, beginnings.isEmpty else { return 0 }
    var wait = limit
    if let earliest = timers.earliest {
      let untilTimer = max(.zero, earliest - uptimeClock())
      wait = min(wait ?? untilTimer, untilTimer)
    }
    handle.declareAsleep(true)
    guard !handle.isStopping, mailboxes.allSatisfy({ $0.isEmpty() }) else { return 0 }
    guard let wait else { return -1 }
    // Rounded up: a millisecond early would be a round for nothing.
    return Int32(clamping: max(0, wait.nanoseconds.saturatingAdd(999_999)) / 1_000_000)
  }

  /// Gives turns to those that asked for one `before` this round: to the first of each queue, and to more as long as the round has
  /// work left for them. Nobody has two turns between two flushes.
  private func runTurns(_ before: (turns: Int, beginnings: Int)) {
    for index in 0..<before.turns {
      guard index == 0 || spent < workPerRound, let key = turns.takeFirst() else { break }
      handlers[key]?.turn()
    }
    for index in 0..<before.beginnings {
      guard index == 0 || spent < workPerRound, let key = beginnings.takeFirst() else { break }
      handlers[key]?.turn()
    }
  }
}

/// A mailbox without its message type.
private struct LoopMailbox {
  let isEmpty: () -> Bool
  let drain: () -> Bool
  let close: () -> Void
}
