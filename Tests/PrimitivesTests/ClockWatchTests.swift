import Primitives
import Synchronization
import Testing

@Suite("Steady clock") struct ClockWatchTests {
  private static let start = Instant(unixSeconds: 1_800_000_000)

  private func moment(after seconds: Int64, ahead: TimeSpan = .zero) -> Moment {
    let steady = Self.start + .seconds(seconds)
    return Moment(now: steady + ahead, real: steady + ahead, steady: steady)
  }

  @Test(arguments: [3600, -3600, 61, -61]) func aLeapIsTold(seconds: Int64) {
    var watch = ClockWatch(threshold: .seconds(60))
    #expect(watch.look(at: moment(after: 0)) == nil, "there is nothing to compare with yet")
    #expect(watch.look(at: moment(after: 1)) == nil)
    #expect(watch.look(at: moment(after: 2, ahead: .seconds(seconds))) == .seconds(seconds))
    #expect(watch.look(at: moment(after: 3, ahead: .seconds(seconds))) == nil, "once")
    #expect(watch.look(at: moment(after: 4)) == .seconds(-seconds), "and back")
  }

  @Test func whatPassesIsNoLeap() {
    var watch = ClockWatch(threshold: .seconds(60))
    for (seconds, milliseconds) in [(0, 0), (1, 500), (3600, 1000), (90_000, -59_000), (90_001, 0)] as [(Int64, Int64)] {
      #expect(watch.look(at: moment(after: seconds, ahead: .milliseconds(milliseconds))) == nil)
    }
  }

  @Test func aLeapReadsWell() {
    #expect(ClockWatch.text(of: .seconds(-3600)) == "set back by 3600 s")
    #expect(ClockWatch.text(of: .milliseconds(61_900)) == "set ahead by 62 s")
    #expect(ClockWatch.text(of: .seconds(3600) - TimeSpan(nanoseconds: 300)) == "set ahead by 3600 s")
  }

  /// The product's time follows the machine's; the steady one follows neither.
  @Test func aVirtualClockShowsAllThree() {
    let wall = Mutex(Self.start)
    let clock = VirtualClock(real: { wall.withLock { $0 } }, steady: { Self.start + .seconds(5) }, VirtualTime(lead: .seconds(60)))
    wall.withLock { $0 = Self.start - .seconds(3600) }
    let moment = clock.moment
    #expect(moment.steady == Self.start + .seconds(5) && clock.steady == moment.steady)
    #expect(moment.real == Self.start - .seconds(3600) && moment.now == moment.real + .seconds(60))
    #expect(moment.lead == .seconds(60) && moment.steadyLead == .seconds(60 - 3605))
    clock.change { $0.freeze(at: $1) }
    #expect(clock.moment.steady == moment.steady && clock.moment.isFrozen)
    #expect(Moment(Self.start).steady == Self.start)
  }
}
