import Delivery
import Primitives
import Push
import Testing

@testable import Storage

extension Bench {
  fileprivate var nextDelay: Instant? { state.delays.next }
  fileprivate var nextDue: Instant? { state.nextDue }
  fileprivate var nextProductDue: Instant? { state.nextProductDue }
  fileprivate func isSettled(at now: Instant) -> Bool { state.isSettled(at: now) }
  fileprivate func standing() -> StoreStanding { state.standing(at: now, obstacle: nil) }
}

/// What goes by the product's clock, and what by the machine's, when the product's has been moved.
@Suite("Two clocks") struct ClockTests {
  /// The delay after a failed attempt is the upstream's affair: moving the clock does not shorten it, and stopping it does not stop it.
  @Test(arguments: [TimeSpan.zero, .seconds(3600), .seconds(-60)]) func aRetryWaitsByTheMachinesClock(jump: TimeSpan) throws {
    let bench = try Bench()
    try bench.register(Bench.registration(1, .app))
    try bench.push(0, .alert)
    try bench.complete(.retry(.upstreamUnavailable))
    let real = bench.now
    let due = try #require(bench.nextDelay)
    #expect(due > real && due <= real + .milliseconds(Limits.retryMilliseconds.first))

    // The product's clock is moved (or, after a stop, is behind), the machine's is as before.
    bench.now = real + jump
    bench.state.lead = jump
    try bench.releaseDue()
    #expect(bench.forwarded.count == 1 && bench.record(0)?.disposition == .waiting)
    #expect(bench.nextDue == due + jump)

    // Then the machine's comes to it.
    bench.now = due + jump
    try bench.releaseDue()
    #expect(bench.forwarded.count == 2 && bench.record(0)?.disposition == .forwarding)
  }

  /// While the product's clock stands still, the machine's goes on for retries.
  @Test func aRetryGoesWhileTheClockStands() throws {
    let bench = try Bench()
    try bench.register(Bench.registration(1, .app))
    try bench.push(0, .alert)
    try bench.complete(.notAttempted(.upstreamUnavailable))
    let due = try #require(bench.nextDelay)
    bench.state.lead = bench.now - due + TimeSpan(nanoseconds: 1)
    try bench.releaseDue()
    #expect(bench.forwarded.count == 1)
    bench.state.lead = bench.now - due
    try bench.releaseDue()
    #expect(bench.forwarded.count == 2)
    #expect(bench.record(0)?.steps.allSatisfy { $0.at == bench.now } == true)
  }

  /// What may only look for a connection gives up by the machine's clock.
  @Test func aBriefPushGivesUpByTheMachinesClock() throws {
    let bench = try Bench()
    try bench.register(Bench.registration(1, .app))
    try bench.push(0, .alert, expiration: .zero)
    try bench.push(1, .alert, expiration: .zero)
    bench.now = bench.now + .seconds(86_400)
    bench.state.lead = .seconds(86_400)
    try bench.releaseDue()
    #expect(bench.record(1)?.disposition == .waiting)
    bench.now = bench.now + bench.settings.connectPatience
    try bench.releaseDue()
    #expect(bench.record(1)?.disposition == .expired && bench.record(1)?.cause == .upstreamUnavailable)
    #expect(bench.record(0)?.disposition == .forwarding)
  }

  /// A retry and a budget, whichever lasts longer.
  @Test func aRetryThatHasToWaitForQuietHoursToo() throws {
    let bench = try Bench()
    var registration = Bench.registration(1)
    // 2027-01-15T08:00 is the bench's start.
    registration.quietHours = QuietHours(from: 8 * 60, to: 9 * 60)
    bench.now = bench.now - .seconds(1)
    try bench.register(registration)
    try bench.push(0)
    bench.now = bench.now + .seconds(1)
    try bench.complete(.retry(.upstreamUnavailable))
    try bench.advance(to: bench.now + .seconds(60))
    #expect(bench.forwarded.count == 1)
    #expect(bench.nextProductDue == bench.now + .seconds(3540))
    try bench.advance(to: bench.now + .seconds(3540))
    #expect(bench.forwarded.count == 2)
  }

  /// A store that was kept by a clock ahead of the present one opens, gives no credit until that has come as far, and then goes on.
  @Test func aRestartWithALowerTime() throws {
    let bench = try Bench()
    try bench.register(Bench.registration(1))
    bench.now = bench.now + .seconds(86_400)
    for id in 0..<3 {
      try bench.push(id)
      if id == 0 { try bench.complete(.accepted) }
    }
    #expect(bench.record(1)?.disposition == .waiting && bench.record(2)?.disposition == .merged)
    bench.now = bench.now - .seconds(86_400)
    try bench.crash()
    #expect(bench.budgets(Bench.registration(1))?.first?.remaining == 11)
    #expect(bench.record(1)?.disposition == .waiting)
    #expect(try bench.push(3) == .merged(into: Bench.id(1)))
    try bench.advance(to: bench.now + .seconds(86_400))
    #expect(bench.forwarded.count == 1 && bench.budgets(Bench.registration(1))?.first?.remaining == 11)
    try bench.advance(to: bench.now + .seconds(300))
    #expect(bench.forwarded.count == 2 && bench.forwarded.last?.push.id == Bench.id(1))
    #expect(bench.budgets(Bench.registration(1))?.first?.remaining == 10)
  }

  // MARK: What is left to do

  @Test func whatComesNext() throws {
    let bench = try Bench()
    try bench.register(Bench.registration(1))
    #expect(bench.standing().next == nil)
    try bench.push(0)
    try bench.complete(.accepted)
    try bench.push(1)
    var next = try #require(bench.standing().next)
    #expect(next.at == bench.now + .seconds(300) && next.id == Bench.id(1) && next.what == .pushDue)
    #expect(next.token == Bench.token(1) && next.bundleID == Bench.bundle)
    try bench.register(Bench.registration(2))
    try bench.push(2, to: 2)
    try bench.complete(.accepted, token: 2)
    try bench.push(3, to: 2, expiration: .at(bench.now + .seconds(10)))
    next = try #require(bench.standing().next)
    #expect(next.at == bench.now + .seconds(10) && next.id == Bench.id(3) && next.what == .pushExpires)
  }

  @Test func whatIsLeft() throws {
    let bench = try Bench()
    try bench.register(Bench.registration(1))
    #expect(bench.isSettled(at: bench.now))
    try bench.push(0)
    #expect(!bench.isSettled(at: bench.now))
    var standing = bench.standing()
    #expect(standing.outstandingCount == 1 && standing.outstanding.first?.push == Bench.id(0))
    #expect(standing.outstanding.first?.disposition == .forwarding && !standing.isSettled)
    try bench.complete(.retry(.upstreamUnavailable))
    standing = bench.standing()
    #expect(standing.outstandingCount == 1 && standing.outstanding.first?.disposition == .waiting)
    #expect(standing.outstanding.first?.cause == .upstreamUnavailable && !bench.isSettled(at: bench.now))
    try bench.advance(to: bench.now + .seconds(1))
    try bench.complete(.accepted)
    #expect(bench.isSettled(at: bench.now))
    // What waits for a budget is not due.
    try bench.push(1)
    #expect(bench.isSettled(at: bench.now))
    #expect(!bench.isSettled(at: bench.now + .seconds(400)))
  }

  /// No time lets go what another configuration would; once there is one it goes at once, and not after its delay.
  @Test(arguments: [Cause.appNotConfigured, .upstreamNotConfigured]) func whatAwaitsConfigurationIsNotWaitedFor(cause: Cause) throws {
    let bench = try Bench()
    try bench.register(Bench.registration(1))
    try bench.push(0)
    for _ in 0..<10 {
      try bench.complete(.notAttempted(cause))
      #expect(bench.record(0)?.cause == cause && bench.record(0)?.disposition == .waiting)
      #expect(bench.isSettled(at: bench.now) && bench.standing().isSettled && bench.standing().outstanding.isEmpty)
      try bench.advance(to: bench.now + .seconds(61))
    }
    try bench.complete(.notAttempted(cause))
    let count = bench.forwarded.count
    bench.state.reconfigure(Bench.resolver(AppDirectory([], anyApp: AppDirectory.App(bundleID: ""))), at: bench.now)
    try bench.releaseDue()
    #expect(bench.forwarded.count == count + 1)
    try bench.complete(.accepted)
    #expect(bench.record(0)?.disposition == .accepted)
  }

  /// Of many only some are listed, and all are counted.
  @Test func theListIsBounded() throws {
    let bench = try Bench()
    for number in 0..<50 {
      try bench.register(Bench.registration(number))
      try bench.push(number, to: number)
    }
    let standing = bench.standing()
    #expect(standing.outstandingCount == 50 && standing.outstanding.count == Limits.outstandingListed)
  }

  /// The store's thread answers once what became due is done, and not before.
  @Test func theStoreTellsWhenAllIsDone() async throws {
    let harness = try Harness()
    defer { harness.store.stop() }
    _ = try await harness.store.register(Bench.registration(1))
    let first = try #require(harness.settle(harness.batch([1], first: 1)))
    let sent = try #require(first.forwards.first)
    let early = try await harness.store.standing()
    #expect(early.outstandingCount == 1 && !early.isSettled)
    async let standing = harness.store.standing(until: harness.now + .seconds(10))
    _ = harness.complete(sent, .accepted)
    let settled = try await standing
    #expect(settled.isSettled && settled.next == nil)
    _ = harness.settle(harness.batch([1], first: 2))
    #expect(try await harness.store.standing(until: harness.now + .seconds(10)).next?.at == harness.now + .seconds(300))
    harness.advance(.seconds(300))
    let released = try #require(harness.next()?.batch.forwards.first)
    async let again = harness.store.standing(until: harness.now + .seconds(10))
    _ = harness.complete(released, .accepted)
    #expect(try await again.isSettled)
  }

  /// A wait ends by the machine's clock, with what is left.
  @Test func aWaitEndsAtItsTime() async throws {
    let harness = try Harness()
    defer { harness.store.stop() }
    _ = try await harness.store.register(Bench.registration(1))
    _ = harness.settle(harness.batch([1], first: 1))
    let until = harness.now + .seconds(3)
    async let standing = harness.store.standing(until: until)
    harness.advance(.seconds(3))
    #expect(try await standing.outstandingCount == 1)
  }
}
