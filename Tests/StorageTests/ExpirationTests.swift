import Delivery
import Primitives
import Push
import Testing

@testable import Storage

@Suite("Expiration and retry") struct ExpirationTests {
  @Test func aDateInThePastHasExpiredWhereTheConfigurationSaysSo() throws {
    let bench = try Bench { $0.triesPastExpirations = false }
    try bench.register(Bench.registration(1))
    #expect(try bench.push(0, expiration: .at(Instant(unixSeconds: 300))) == .ended(.expired, .expirationPassed))
    #expect(bench.record(0)?.status == 200)
    #expect(bench.record(0)?.disposition == .expired)
    try bench.crash()
    #expect(bench.record(0)?.cause == .expirationPassed)
  }

  /// Apple tries to deliver a push with a date at least once, whatever the date: relative seconds, a sender's slow clock, or milliseconds late.
  @Test(arguments: [0, 1, 30, 86_400, 1_700_000_000] as [Int64]) func aDateInThePastIsOneAttempt(late: Int64) throws {
    let bench = try Bench()
    bench.now = Instant(unixSeconds: 1_800_000_000)
    for token in 1...2 { try bench.register(Bench.registration(token, .app)) }
    let date = bench.now - .seconds(late)
    for token in 1...2 { #expect(try bench.push(token, to: token, .alert, expiration: .at(date)) == .forwarded) }
    #expect(bench.forwarded.last?.push.expiration == .at(date), "an upstream is sent what was written")
    try bench.complete(.finished(.applied, .alertShown), token: 1)
    try bench.complete(.retry(.upstreamUnavailable), token: 2)
    #expect(bench.record(1)?.disposition == .applied)
    #expect(bench.record(2)?.disposition == .expired && bench.record(2)?.cause == .upstreamUnavailable)
    #expect(bench.forwarded.count == 2)
  }

  /// A date that passes between the request's end and its turn at the store is no other.
  @Test func aDateThatPassesOnItsWayIsOneAttempt() throws {
    let bench = try Bench()
    try bench.register(Bench.registration(1, .app))
    let batch = Batch()
    var operation = Bench.operation(batch, id: 1, token: Bench.token(1), type: .alert, at: bench.now)
    operation.expiration = .at(bench.now)
    operation.received = bench.now - .milliseconds(5)
    batch.admits.append(operation)
    try bench.settle(batch)
    #expect(bench.record(1)?.disposition == .forwarding)
    try bench.complete(.retry(.upstreamUnavailable))
    #expect(bench.record(1)?.disposition == .expired)
  }

  /// It looks for a connection as long as one with 0 does, through a crash as well; a reload may wait for its budget.
  @Test func aDateInThePastMayLookForAConnection() throws {
    let bench = try Bench()
    bench.now = Instant(unixSeconds: 1_800_000_000)
    try bench.register(Bench.registration(1, .app))
    try bench.register(Bench.registration(2))
    let past = Expiration.at(bench.now - .seconds(60))
    try bench.push(1, .alert, expiration: past)
    try bench.complete(.notAttempted(.upstreamUnavailable))
    #expect(bench.record(1)?.disposition == .waiting)
    try bench.crash()
    #expect(bench.record(1)?.disposition.isFinal == false)
    let end = bench.now + .seconds(10)
    while bench.record(1)?.disposition.isFinal == false, bench.now < end {
      if bench.record(1)?.disposition == .forwarding { try bench.complete(.notAttempted(.upstreamUnavailable), token: 1) }
      try bench.advance(to: bench.now + .milliseconds(50))
    }
    #expect(bench.record(1)?.disposition == .expired)
    try bench.push(2, to: 2, expiration: past)
    try bench.complete(.accepted, token: 2)
    let due = bench.now + .seconds(300)
    #expect(try bench.push(3, to: 2, expiration: past) == .waiting(due: due, .minimumInterval))
    try bench.advance(to: due)
    #expect(bench.record(3)?.disposition == .forwarding)
  }

  @Test func aDateEndsAWaitForBudget() throws {
    let bench = try Bench()
    try bench.register(Bench.registration(1))
    try bench.push(0)
    try bench.complete(.accepted)
    try bench.push(1, expiration: .at(bench.now + .seconds(10)))
    try bench.push(2, expiration: .at(bench.now + .seconds(20)))
    try bench.advance(to: bench.now + .seconds(19))
    #expect(bench.record(1)?.disposition == .waiting, "the latest date of those that merged counts")
    try bench.advance(to: bench.now + .seconds(1))
    #expect(bench.record(1)?.disposition == .expired)
    #expect(bench.record(1)?.cause == .expirationPassed)
    #expect(bench.forwarded.count == 1)
    // The next one waits on its own account.
    #expect(try bench.push(3) == .waiting(due: bench.now - .seconds(20) + .seconds(300), .minimumInterval))
  }

  @Test func aMergedDateSurvivesACrash() throws {
    let bench = try Bench()
    try bench.register(Bench.registration(1))
    try bench.push(0)
    try bench.complete(.accepted)
    try bench.push(1, expiration: .at(bench.now + .seconds(10)))
    try bench.push(2, expiration: .at(bench.now + .seconds(1000)))
    try bench.crash()
    try bench.advance(to: bench.now + .seconds(400))
    #expect(bench.forwarded.last?.push.id == Bench.id(1))
    #expect(bench.forwarded.last?.push.expiration == .at(bench.now + .seconds(600)))
  }

  @Test func nothingIsKeptBeyondThirtyDays() throws {
    let bench = try Bench()
    try bench.register(Bench.registration(1, .app))
    try bench.push(0, .alert)
    try bench.push(1, .alert)
    try bench.push(2, .alert, expiration: .at(.distantFuture))
    try bench.advance(to: bench.now + .seconds(30 * 86_400))
    #expect(bench.record(1)?.disposition == .expired)
    #expect(bench.record(2)?.disposition == .expired)
    #expect(bench.record(0)?.disposition == .forwarding, "what is in flight is the upstream's to end")
  }

  @Test func zeroIsOneAttempt() throws {
    let bench = try Bench()
    try bench.register(Bench.registration(1, .app))
    try bench.push(0, .alert, expiration: .zero)
    try bench.complete(.retry(.upstreamUnavailable))
    #expect(bench.record(0)?.disposition == .expired)
    #expect(bench.record(0)?.cause == .upstreamUnavailable)
  }

  @Test(arguments: [Cause.upstreamUnavailable, .appNotConfigured]) func zeroMayLookForAConnection(cause: Cause) throws {
    let bench = try Bench()
    try bench.register(Bench.registration(1, .app))
    let start = bench.now
    try bench.push(0, .alert, expiration: .zero)
    var tries = 0
    while bench.record(0)?.disposition == .forwarding {
      tries += 1
      try bench.complete(.notAttempted(cause))
      while bench.record(0)?.disposition == .waiting { try bench.advance(to: bench.now + .milliseconds(50)) }
    }
    #expect(tries > 3)
    #expect(bench.record(0)?.disposition == .expired)
    #expect(bench.record(0)?.cause == cause)
    #expect(bench.now - start >= .seconds(5) && bench.now - start < .milliseconds(5100))
  }

  @Test func aReloadSignalWithZeroWaitsAndIsTriedOnce() throws {
    let bench = try Bench()
    try bench.register(Bench.registration(1))
    try bench.push(0, expiration: .zero)
    try bench.complete(.accepted)
    let due = bench.now + .seconds(300)
    #expect(try bench.push(1, expiration: .zero) == .waiting(due: due, .minimumInterval))
    try bench.advance(to: due)
    #expect(bench.forwarded.last?.push.id == Bench.id(1))
    #expect(bench.forwarded.last?.push.expiration == .zero)
    // Not attempted is no attempt, however long it takes.
    for _ in 0..<20 {
      try bench.complete(.notAttempted(.upstreamUnavailable))
      try bench.advance(to: bench.now + .seconds(61))
    }
    #expect(bench.record(1)?.disposition == .forwarding)
    try bench.complete(.retry(.upstreamUnavailable))
    #expect(bench.record(1)?.disposition == .expired)
  }

  @Test func aReloadSignalWithZeroIsDroppedWhereThePolicySaysSo() throws {
    var policy = AppPolicy()
    policy.expirationZero = .drop
    let bench = try Bench(policy: policy)
    try bench.register(Bench.registration(1))
    #expect(try bench.push(0, expiration: .zero) == .forwarded)
    try bench.complete(.accepted)
    #expect(try bench.push(1, expiration: .zero) == .ended(.ignored, .droppedByPolicy))
    #expect(try bench.push(2) == .waiting(due: bench.now + .seconds(300), .minimumInterval))
    #expect(try bench.push(3, expiration: .zero) == .merged(into: Bench.id(2)))
    #expect(bench.record(1)?.disposition == .ignored)
  }

  @Test func failuresBackOffUntilTheDate() throws {
    let bench = try Bench()
    try bench.register(Bench.registration(1, .app))
    let start = bench.now
    try bench.push(0, .alert, expiration: .at(start + .seconds(600)))
    var times: [Instant] = []
    while bench.record(0)?.disposition == .forwarding {
      times.append(bench.now)
      try bench.complete(.retry(.upstreamUnavailable))
      while bench.record(0)?.disposition == .waiting { try bench.advance(to: bench.now + .milliseconds(100)) }
    }
    #expect(bench.record(0)?.disposition == .expired)
    #expect(bench.now == start + .seconds(600))
    let delays = zip(times.dropFirst(), times).map { $0 - $1 }
    #expect(delays[0] < .seconds(1))
    #expect(delays.allSatisfy { $0 <= .milliseconds(60_100) })
    #expect(delays.last! >= .seconds(30))
    #expect(times.count < 30)
    #expect(bench.forwarded.map(\.push.attempt) == Array(1...times.count))
    #expect(bench.record(0)?.steps.count == Limits.stepsPerPush)
    #expect(bench.record(0)?.steps.last?.disposition == .expired)
  }

  @Test func anUpstreamThatComesBackIsUsedAtOnce() throws {
    let bench = try Bench()
    for number in 0..<10 {
      try bench.register(Bench.registration(number, .app))
      try bench.push(number, to: number, .alert)
    }
    for _ in 0..<12 {
      for number in 0..<10 { try bench.complete(.notAttempted(.upstreamUnavailable), token: number) }
      try bench.advance(to: bench.now + .seconds(61))
    }
    for number in 0..<10 { try bench.complete(.notAttempted(.upstreamUnavailable), token: number) }
    let count = bench.forwarded.count
    bench.state.retryNow(7, at: bench.now)
    try bench.releaseDue()
    #expect(bench.forwarded.count == count, "another upstream's return changes nothing")
    bench.state.retryNow(1, at: bench.now)
    try bench.releaseDue()
    #expect(bench.forwarded.count == count + 10)
  }
}
