import Synchronization

/// The product's clock, which runs with the machine's unless somebody moves or stops it.
///
/// Safe to use from any thread. A reading costs one of the machine's clock and two loads; only changes take a lock.
public final class VirtualClock: Sendable {
  private let machine: @Sendable () -> Instant
  private let elapsing: @Sendable () -> Instant
  private let time: Mutex<VirtualTime>
  // What `time` says, for readers. The lead is stored before a clock that stood runs on, and so is never older than that.
  private let lead: Atomic<Int64>
  private let frozenAt: Atomic<Int64>

  /// `frozenAt` of a clock that runs.
  private static let runs = Int64.min

  /// A clock over the machine's.
  ///
  /// - Parameter steady: See `Moment.steady`; nil takes the machine's.
  public init(
    real machine: @escaping @Sendable () -> Instant, steady: (@Sendable () -> Instant)? = nil, _ start: VirtualTime = VirtualTime()
  ) {
    self.machine = machine
    elapsing = steady ?? machine
    time = Mutex(start)
    lead = Atomic(start.lead.nanoseconds)
    frozenAt = Atomic(start.frozenAt?.nanoseconds ?? Self.runs)
  }

  /// The time on all clocks.
  public var moment: Moment {
    let (real, steady) = (machine(), elapsing())
    let frozen = frozenAt.load(ordering: .acquiring)
    if frozen != Self.runs { return Moment(now: Instant(nanoseconds: frozen), real: real, steady: steady, isFrozen: true) }
    return Moment(now: real + TimeSpan(nanoseconds: lead.load(ordering: .relaxed)), real: real, steady: steady)
  }

  /// The machine's time.
  public var real: Instant { machine() }

  /// The steady clock's time.
  public var steady: Instant { elapsing() }

  /// How the product's time follows from the machine's at present.
  public var setting: VirtualTime { time.withLock { $0 } }

  /// Changes the product's time; `body` is given the machine's.
  public func change<Result: Sendable>(_ body: (inout VirtualTime, Instant) -> Result) -> Result {
    time.withLock { time in
      let result = body(&time, machine())
      lead.store(time.lead.nanoseconds, ordering: .relaxed)
      frozenAt.store(time.frozenAt?.nanoseconds ?? Self.runs, ordering: .releasing)
      return result
    }
  }
}
