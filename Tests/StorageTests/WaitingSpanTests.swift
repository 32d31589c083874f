import Delivery
import Primitives
import Push
import Testing

@testable import Storage

/// How long a push waits for others is the configuration's, also of those that wait when it changes.
@Suite("Spans that pushes wait for") struct WaitingSpanTests {
  private static func policy(batch: TimeSpan = .zero, coalesce: TimeSpan = .zero) -> AppPolicy {
    var policy = AppPolicy()
    (policy.batch, policy.coalesce) = (batch, coalesce)
    return policy
  }

  private static func reconfigure(_ bench: Bench, _ policy: AppPolicy) {
    bench.state.reconfigure(Bench.resolver(AppDirectory([], anyApp: AppDirectory.App(bundleID: "", policy: policy))), at: bench.now)
  }

  /// How long there is nothing to do.
  private func wait(_ bench: Bench) -> TimeSpan {
    let due = bench.state.nextProductDue
    return (due ?? .distantFuture) - bench.now
  }

  @Test(arguments: [
    (policy(batch: .seconds(3600)), Cause.waitingForBatch), (policy(coalesce: .seconds(3600)), .coalescing),
  ]) func aShorterSpanHoldsForThoseThatWait(before: AppPolicy, cause: Cause) throws {
    let bench = try Bench(policy: before)
    bench.now = Instant(unixSeconds: 1_800_000_001)
    try bench.register(Bench.registration(1))
    _ = try bench.push(1, .widgets, priority: .considerate)
    #expect(bench.record(1)?.disposition == .waiting && bench.record(1)?.cause == cause)
    // A longer one lets it go when it was to.
    Self.reconfigure(bench, Self.policy(batch: .seconds(86_400), coalesce: .seconds(86_400)))
    #expect(wait(bench) <= .seconds(3600))
    Self.reconfigure(bench, Self.policy(batch: .seconds(10), coalesce: .seconds(10)))
    #expect(wait(bench) <= .seconds(10))
    Self.reconfigure(bench, Self.policy())
    #expect(wait(bench) <= .zero)
    let batch = Batch()
    while let number = bench.state.popDue(at: bench.now) { bench.state.advance(number, batch, at: bench.now) }
    #expect(batch.forwards.map(\.id) == [Bench.id(1)])
  }
}
