import Delivery
import Primitives
import Push
import Testing

@testable import Storage

/// The machine's clock is set back by an hour, or ahead: what waits for a while waits for as long as it would have.
@Suite("A machine's clock that is set") struct ClockLeapTests {
  private static let leaps: [TimeSpan] = [.seconds(-3600), .seconds(3600)]

  /// A push whose upstream was down is tried again after its delay.
  @Test(arguments: leaps) func theNextAttemptIsOnTime(leap: TimeSpan) async throws {
    let harness = try Harness()
    defer { harness.store.stop() }
    _ = try await harness.store.register(Bench.registration(1, .app))
    let sent = try #require(harness.settle(harness.batch([1], first: 0, .alert))?.forwards.first)
    _ = harness.complete(sent, .retry(.upstreamUnavailable))
    harness.setMachine(by: leap)
    #expect(harness.pending == 0, "its delay has not passed")
    harness.advance(.seconds(1))
    #expect(try #require(harness.next()).batch.forwards.map(\.id) == [Bench.id(0)])
  }

  /// With expiration 0 there are five seconds to find a connection: no more after a step back, no fewer after one ahead.
  @Test(arguments: leaps) func thePatienceForAConnectionIsTheSame(leap: TimeSpan) async throws {
    let harness = try Harness()
    defer { harness.store.stop() }
    _ = try await harness.store.register(Bench.registration(1, .app))
    let batch = harness.store.makeBatch()
    batch.admits.append(
      Bench.operation(batch, id: 0, token: Bench.token(1), type: .alert, at: harness.now, expiration: .zero))
    let sent = try #require(harness.settle(batch)?.forwards.first)
    harness.setMachine(by: leap)
    _ = harness.complete(sent, .notAttempted(.upstreamUnavailable))
    #expect(try await harness.store.push(Bench.id(0)).first?.disposition == .waiting)
    harness.advance(.seconds(6))
    // It is tried once more, or has ended, when its time is over.
    while harness.pending > 0, let next = harness.next()?.batch.forwards.first {
      _ = harness.complete(next, .notAttempted(.upstreamUnavailable))
    }
    harness.advance(.seconds(6))
    _ = harness.settle(harness.batch([], first: 0))
    #expect(try await harness.store.push(Bench.id(0)).first?.disposition == .expired)
  }

  /// A disk that was full is tried again after a second.
  @Test(arguments: leaps) func aFailedStoreIsTriedAgainOnTime(leap: TimeSpan) async throws {
    let engine = FailingEngine(MemoryEngine())
    let harness = try Harness(engine)
    defer { harness.store.stop() }
    _ = try await harness.store.register(Bench.registration(1, .app))
    engine.failure = .engine("full")
    #expect(harness.settle(harness.batch([1], first: 0, .alert))?.admits.map(\.result) == [.refused(.serviceUnavailable)])
    engine.failure = nil
    harness.setMachine(by: leap)
    #expect(harness.settle(harness.batch([1], first: 1, .alert))?.admits.map(\.result) == [.refused(.serviceUnavailable)], "not yet")
    harness.advance(.seconds(1))
    #expect(harness.settle(harness.batch([1], first: 2, .alert))?.admits.map(\.result) == [.forwarded])
  }

  /// A list call that waits for ten seconds does so.
  @Test(arguments: leaps) func aCallWaitsForAsLongAsItSaid(leap: TimeSpan) async throws {
    let harness = try Harness()
    defer { harness.store.stop() }
    let until = harness.steady + .seconds(10)
    async let page = harness.store.pushes(matching: PushQuery(), wait: PushWait(count: 1, until: until))
    while try await harness.store.ask({ $0.waiters.isEmpty }) { await Task.yield() }
    harness.setMachine(by: leap)
    harness.advance(.seconds(9))
    #expect(try await harness.store.ask { $0.waiters.count } == 1)
    harness.advance(.seconds(1))
    #expect(try await !page.complete)
  }

  /// The timestamps of activities by name are dates, which devices compare with their own clocks.
  @Test func datesGoByTheMachinesClock() async throws {
    let bench = try Bench()
    bench.state.lead = .seconds(-3600)
    bench.state.machineLead = .zero
    #expect(bench.state.steady(bench.now) == bench.now + .seconds(3600))
    #expect(bench.now - bench.state.machineLead == bench.now)
  }
}
