import Dispatch
import Primitives
import Synchronization
import Testing

@Suite("Virtual time") struct VirtualTimeTests {
  private enum Act: CaseIterable {
    case freeze, run, moveOn, moveNowhere, moveBack, wait
  }

  /// Every sequence of five acts, against what they say one after another: time never goes back, stands while it is stopped, and runs with
  /// the machine's otherwise.
  @Test func everySequenceOfActs() {
    func visit(_ depth: Int, _ time: VirtualTime, _ real: Instant, _ acts: [Act]) {
      guard depth > 0 else { return }
      for act in Act.allCases {
        var (next, later) = (time, real)
        let before = time.now(at: real)
        switch act {
        case .freeze: next.freeze(at: real)
        case .run: next.run(at: real)
        case .moveOn:
          let isMoved = next.move(to: before + .seconds(3600), at: real)
          #expect(isMoved && next.now(at: real) == before + .seconds(3600), "\(acts)")
        case .moveNowhere:
          let isMoved = next.move(to: before, at: real)
          #expect(isMoved && next.now(at: real) == before, "\(acts)")
        case .moveBack:
          let isMoved = next.move(to: before - TimeSpan(nanoseconds: 1), at: real)
          #expect(!isMoved && next == time, "\(acts)")
        case .wait:
          later = real + .seconds(7)
          let passed = next.now(at: later) - before
          #expect(passed == (next.frozenAt == nil ? .seconds(7) : .zero), "\(acts)")
        }
        if act != .moveOn, act != .wait { #expect(next.now(at: later) == before, "\(acts): nothing jumps") }
        #expect(next.now(at: later) >= before, "\(acts)")
        #expect((next.frozenAt != nil) == (act == .freeze || act != .run && time.frozenAt != nil), "\(acts)")
        visit(depth - 1, next, later, acts + [act])
      }
    }
    visit(5, VirtualTime(), Instant(unixSeconds: 1_800_000_000), [])
  }

  @Test func aClockThatNobodyMovedIsTheMachines() {
    let clock = VirtualClock(real: { Instant(unixSeconds: 1_800_000_000) })
    #expect(clock.moment == Moment(Instant(unixSeconds: 1_800_000_000)))
    #expect(clock.moment.lead == .zero && clock.setting.isReal)
  }

  @Test func aReadingShowsBothClocks() {
    let machine = Mutex(Instant(unixSeconds: 1_800_000_000))
    let clock = VirtualClock(real: { machine.withLock { $0 } }, VirtualTime(lead: .seconds(60)))
    #expect(clock.moment == Moment(now: Instant(unixSeconds: 1_800_000_060), real: Instant(unixSeconds: 1_800_000_000)))
    clock.change { $0.freeze(at: $1) }
    machine.withLock { $0 = $0 + .seconds(100) }
    let stopped = clock.moment
    #expect(stopped.isFrozen && stopped.now == Instant(unixSeconds: 1_800_000_060) && stopped.lead == .seconds(-40))
    clock.change { $0.run(at: $1) }
    machine.withLock { $0 = $0 + .seconds(1) }
    #expect(!clock.moment.isFrozen && clock.moment.now == Instant(unixSeconds: 1_800_000_061))
    #expect(clock.change { $0.move(to: Instant(unixSeconds: 1_800_000_061), at: $1) })
    #expect(!clock.change { $0.move(to: Instant(unixSeconds: 1_800_000_060), at: $1) })
    #expect(clock.setting == VirtualTime(lead: .seconds(-40)))
  }

  /// Readers on other threads never see a clock that runs on jump back behind where it stood.
  @Test func readersNeverSeeItGoBack() {
    let clock = VirtualClock(real: { Instant(unixSeconds: 1_800_000_000) })
    let backwards = Atomic(0)
    DispatchQueue.concurrentPerform(iterations: 3) { worker in
      if worker == 0 {
        for step in 0..<20_000 {
          clock.change { time, real in
            switch step % 4 {
            case 0: time.freeze(at: real)
            case 2: time.run(at: real)
            default: _ = time.move(to: time.now(at: real) + .seconds(1), at: real)
            }
          }
        }
      } else {
        var latest = Instant.distantPast
        for _ in 0..<100_000 {
          let now = clock.moment.now
          if now < latest { backwards.add(1, ordering: .relaxed) }
          latest = now
        }
      }
    }
    #expect(backwards.load(ordering: .relaxed) == 0)
    #expect(clock.moment.now == Instant(unixSeconds: 1_800_010_000))
  }
}
