import Control
import Primitives
import Push
import Synchronization

/// A part with events of its own, which remembers what happened in which order.
final class PlannedPart: ClockPart {
  struct State: Sendable {
    var planned: [Instant] = []
    var happened: [Instant] = []
    /// What an event brings about: further ones, so much later.
    var follows: [TimeSpan] = []
    /// Work that is never done.
    var stuck = 0
    var told: [VirtualTime] = []
    var changes: UInt64 = 0
  }

  let state: Mutex<State>
  let bundleID: String
  private let clock: VirtualClock

  init(_ clock: VirtualClock, _ planned: [Instant] = [], bundleID: String = "com.example.app") {
    self.clock = clock
    self.bundleID = bundleID
    state = Mutex(State(planned: planned))
  }

  var happened: [Instant] { state.withLock { $0.happened } }

  func clockChanged(to time: VirtualTime, at real: Instant) async { state.withLock { $0.told.append(time) } }

  func standing(of time: VirtualTime, until: Instant?, real: @Sendable () -> Instant) async -> ClockStanding {
    let now = clock.moment.now
    return state.withLock { state in
      while let due = state.planned.filter({ $0 <= now }).min() {
        state.planned.remove(at: state.planned.firstIndex(of: due)!)
        state.happened.append(now)
        state.changes += 1
        if !state.follows.isEmpty { state.planned.append(now + state.follows.removeFirst()) }
      }
      let next = state.planned.min().map { ClockEvent(at: $0, what: "planned", bundleID: bundleID, subject: ["push": "1"]) }
      let work = (0..<state.stuck).map { ClockWork("stuck \($0)", bundleID: bundleID) }
      return ClockStanding(next: next, outstanding: work, changes: state.changes)
    }
  }
}

/// A driver over a machine's clock that a test moves.
struct ClockStage {
  static let noon = Instant(unixSeconds: 1_800_000_000)

  let machine = Machine()
  let clock: VirtualClock
  let driver: ClockDriver

  final class Machine: Sendable {
    private let time = Mutex(ClockStage.noon)
    /// What each reading takes, so that deadlines are reached.
    let tick = Mutex(TimeSpan.zero)
    var now: Instant {
      time.withLock { time in
        time = time + tick.withLock { $0 }
        return time
      }
    }
    func pass(_ span: TimeSpan) { time.withLock { $0 = $0 + span } }
  }

  /// What was kept, in order.
  final class Kept: Sendable {
    let times = Mutex<[VirtualTime]>([])
    /// How often there is still room for it.
    let room = Mutex(Int.max)
  }
  let kept = Kept()

  init(permitted: Bool = true) {
    let (machine, kept) = (machine, kept)
    clock = VirtualClock(real: { machine.now })
    driver = ClockDriver(clock, ClockSettings(permitted: permitted)) { time in
      let hasRoom = kept.room.withLock { room in
        room -= 1
        return room >= 0
      }
      guard hasRoom else { throw NotKept() }
      kept.times.withLock { $0.append(time) }
    }
  }

  struct NotKept: Error {}

  func part(_ seconds: Int64...) -> PlannedPart {
    let part = PlannedPart(clock, seconds.map { Self.noon + .seconds($0) })
    driver.add(part)
    return part
  }

  static func after(_ seconds: Int64...) -> [Instant] { seconds.map { noon + .seconds($0) } }
}
