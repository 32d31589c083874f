import Delivery
import Primitives
import Push
import Testing

@testable import Storage

/// What an upstream's server errors, and answers that were passed on, leave behind.
@Suite("Server errors and answers passed on") struct ServerErrorTests {
  private func bench(patience: Int64?) throws -> Bench {
    let bench = try Bench { settings in
      if let patience { settings.serverErrorRetries[1] = Retry(notBefore: .seconds(patience)) }
    }
    try bench.register(Bench.registration(1, .app))
    return bench
  }

  /// Apple advises 15 minutes; each further error takes twice as long.
  @Test func aServerErrorIsTriedAgainAfterItsTime() throws {
    let bench = try bench(patience: 900)
    try bench.push(1, .alert)
    for (attempt, least) in [(1, Int64(900)), (2, 1800), (3, 3600), (4, 7200), (5, 7200)] {
      let failed = bench.now
      try bench.complete(.retry(.upstreamFailed))
      #expect(bench.record(1)?.cause == .upstreamFailed)
      try bench.advance(to: failed + .seconds(least) - .milliseconds(1))
      #expect(bench.forwarded.count == attempt, "not before \(least) s")
      // That the upstream is there again is no news to it.
      bench.state.retryNow(1, at: bench.now)
      try bench.releaseDue()
      #expect(bench.forwarded.count == attempt)
      try bench.advance(to: failed + .seconds(2 * least))
      #expect(bench.forwarded.count == attempt + 1, "at \(2 * least) s at the latest")
    }
  }

  /// A push that was only turned away, since others had failed, goes as soon as the upstream works.
  @Test func whatWasNotAttemptedIsNotHeldSoLong() throws {
    let bench = try bench(patience: 900)
    try bench.push(1, .alert)
    try bench.complete(.notAttempted(.upstreamFailed))
    bench.state.retryNow(1, at: bench.now)
    try bench.releaseDue()
    #expect(bench.forwarded.count == 2)
    try bench.complete(.notAttempted(.upstreamFailed))
    try bench.advance(to: bench.now + .seconds(2))
    #expect(bench.forwarded.count == 3)
  }

  @Test func otherUpstreamsHaveTheOrdinaryDelays() throws {
    let bench = try bench(patience: nil)
    try bench.push(1, .alert)
    try bench.complete(.retry(.upstreamFailed))
    try bench.advance(to: bench.now + .milliseconds(Limits.retryMilliseconds.first))
    #expect(bench.forwarded.count == 2)
  }

  /// What was answered is told after a crash and after a fold, too.
  @Test(arguments: [false, true]) func anAnswerThatWasPassedOnIsKept(folds: Bool) throws {
    let bench = try bench(patience: nil)
    for (id, passedOn) in [(1, UInt16(413)), (2, 0)] {
      try bench.push(id, .alert)
      let batch = Batch()
      var operation = CompleteOperation(ticket: bench.forwarded.last!.push.ticket, outcome: .refused(status: 413, .payloadTooLarge))
      (operation.passedOn, operation.passedOnReason) = (passedOn, passedOn == 0 ? nil : .payloadTooLarge)
      batch.completions.append(operation)
      try bench.settle(batch)
    }
    for isAfterCrash in [false, true] {
      if isAfterCrash {
        if folds { try bench.fold() }
        try bench.crash()
      }
      let (passed, kept) = (try #require(bench.record(1)), try #require(bench.record(2)))
      #expect(passed.status == 413 && passed.upstreamStatus == 413 && passed.reason == .payloadTooLarge)
      #expect(kept.status == 200 && kept.upstreamStatus == 413 && kept.reason == .payloadTooLarge)
    }
  }

  /// `apns-expiration: 0` and a server error: the push is over, and its sender was told.
  @Test func aSingleAttemptThatWasPassedOnHasItsStatus() throws {
    let bench = try bench(patience: 900)
    try bench.push(1, .alert, expiration: .zero)
    let batch = Batch()
    var operation = CompleteOperation(ticket: bench.forwarded[0].push.ticket, outcome: .retry(.upstreamFailed))
    (operation.passedOn, operation.passedOnReason) = (503, .serviceUnavailable)
    batch.completions.append(operation)
    try bench.settle(batch)
    let record = try #require(bench.record(1))
    #expect(record.disposition == .expired && record.cause == .upstreamFailed)
    #expect(record.status == 503 && record.upstreamStatus == 503 && record.reason == .serviceUnavailable)
  }

  /// A fault on a mock device fails a push for a reason of its own; what it says of the token still counts.
  @Test func aFaultIsToldApart() throws {
    let bench = try bench(patience: nil)
    try bench.push(1, .alert)
    let batch = Batch()
    batch.completions.append(
      CompleteOperation(ticket: bench.forwarded[0].push.ticket, outcome: .unregistered(bench.now), isFault: true))
    try bench.settle(batch)
    #expect(bench.record(1)?.cause == .fault && bench.record(1)?.upstreamStatus == 410)
    #expect(try bench.push(2, .alert).disposition == .refused)
  }
}
