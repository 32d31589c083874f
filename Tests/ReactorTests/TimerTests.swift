import Primitives
import Seeds
import Synchronization
import Testing

@testable import Reactor

/// A clock that a test moves by hand.
final class HandClock: Sendable {
  private let nanoseconds = Atomic<Int64>(1_000_000_000)
  var uptime: Uptime { Uptime(nanoseconds: nanoseconds.load(ordering: .relaxed)) }
  func advance(_ span: TimeSpan) { nanoseconds.add(span.nanoseconds, ordering: .relaxed) }
  func makeLoop() throws -> EventLoop {
    try EventLoop(clock: { Instant(unixSeconds: 1_700_000_000) }, uptime: { self.uptime })
  }
}

@Suite("Timers") struct TimerTests {
  @Test func firesInTheFirstRoundNotBeforeItsDeadline() throws {
    let clock = HandClock()
    let loop = try clock.makeLoop()
    var fired = 0
    let timer = loop.makeTimer { fired += 1 }
    timer.arm(after: .milliseconds(10))
    clock.advance(.milliseconds(9))
    loop.turn(waitingAtMost: .zero)
    #expect(fired == 0 && timer.isArmed)
    clock.advance(.milliseconds(1))
    loop.turn(waitingAtMost: .zero)
    #expect(fired == 1 && !timer.isArmed)
    clock.advance(.seconds(60))
    loop.turn(waitingAtMost: .zero)
    #expect(fired == 1, "a timer fires once")
  }

  @Test func rearmingLaterMovesTheDeadlineAndEarlierToo() throws {
    let clock = HandClock()
    let loop = try clock.makeLoop()
    var fired = 0
    let timer = loop.makeTimer { fired += 1 }
    timer.arm(after: .milliseconds(10))
    timer.arm(after: .milliseconds(30))
    clock.advance(.milliseconds(20))
    loop.turn(waitingAtMost: .zero)
    #expect(fired == 0)
    timer.arm(after: .milliseconds(1))
    clock.advance(.milliseconds(1))
    loop.turn(waitingAtMost: .zero)
    #expect(fired == 1)
  }

  @Test func disarmedAndCancelledTimersStaySilent() throws {
    let clock = HandClock()
    let loop = try clock.makeLoop()
    var fired = 0
    let disarmed = loop.makeTimer { fired += 1 }
    let cancelled = loop.makeTimer { fired += 1 }
    disarmed.arm(after: .milliseconds(1))
    cancelled.arm(after: .milliseconds(1))
    disarmed.disarm()
    cancelled.cancel()
    clock.advance(.seconds(1))
    loop.turn(waitingAtMost: .zero)
    #expect(fired == 0 && loop.timers.isEmpty)
  }

  @Test func timersMayBeCancelledAfterTheirLoopWasClosed() throws {
    let clock = HandClock()
    let loop = try clock.makeLoop()
    var fired = 0
    let timers = (0..<3).map { _ in loop.makeTimer { fired += 1 } }
    for timer in timers { timer.arm(after: .milliseconds(10)) }
    loop.close()
    for timer in timers.reversed() { timer.cancel() }
    clock.advance(.seconds(1))
    loop.turn(waitingAtMost: .zero)
    #expect(fired == 0 && timers.allSatisfy { !$0.isArmed })
  }

  @Test func aTimerMayRearmItselfFromItsAction() throws {
    let clock = HandClock()
    let loop = try clock.makeLoop()
    var fired = 0
    var timer: Reactor.Timer?
    timer = loop.makeTimer {
      fired += 1
      timer?.arm(after: .milliseconds(5))
    }
    timer?.arm(after: .milliseconds(5))
    for _ in 0..<3 {
      clock.advance(.milliseconds(5))
      loop.turn(waitingAtMost: .zero)
    }
    #expect(fired == 3)
    timer = nil
  }

  /// Random arming, moving, disarming and cancelling of 50 timers agrees with a plain list of deadlines.
  @Test(arguments: seeds(20)) func matchesAList(seed: UInt64) throws {
    var generator = SplitMix64(seed: seed)
    let clock = HandClock()
    let loop = try clock.makeLoop()
    var model = [Uptime?](repeating: nil, count: 50)
    var fired: [Int] = []
    let timers = (0..<50).map { index in loop.makeTimer { fired.append(index) } }
    for step in 0..<400 {
      let index = Int(generator.next() % 50)
      switch generator.next() % 5 {
      case 0, 1:
        let deadline = clock.uptime + .milliseconds(Int64(generator.next() % 100))
        timers[index].arm(at: deadline)
        model[index] = deadline
      case 2:
        timers[index].disarm()
        model[index] = nil
      case 3:
        timers[index].cancel()
        model[index] = nil
      default:
        clock.advance(.milliseconds(Int64(generator.next() % 20)))
        fired = []
        loop.turn(waitingAtMost: .zero)
        let due = (0..<50).filter { model[$0].map { $0 <= clock.uptime } ?? false }
        #expect(Set(fired) == Set(due) && fired.count == due.count, "seed \(seed), step \(step)")
        #expect(fired.map { model[$0]!.nanoseconds } == fired.map { model[$0]!.nanoseconds }.sorted(), "earliest first")
        for index in due { model[index] = nil }
      }
    }
  }
}
