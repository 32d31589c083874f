import Delivery
import Primitives
import Push
import Testing

@testable import Storage

/// What the log says of a push beside its disposition.
@Suite("What is told of a push") struct ToldOfPushesTests {
  private static let update = PushTraits(lane: .keep, activity: .update, hasContentState: true, hasAlert: true)

  /// Which outcomes of an attempt leave it open whether the device has the push already, once it is sent again.
  @Test(arguments: [
    (UpstreamOutcome.retry(.upstreamUnavailable), true), (.notAttempted(.upstreamUnavailable), false), (.retry(.upstreamFailed), false),
    (.retry(.upstreamBusy), false),
  ]) func sentAgainWithoutAnAnswer(outcome: UpstreamOutcome, isSentAgain: Bool) throws {
    let bench = try Bench()
    try bench.register(Bench.registration(1, .app))
    try bench.push(1, .alert)
    #expect(bench.record(1)?.isSentAgain == false)
    try bench.complete(outcome)
    #expect(bench.record(1)?.isSentAgain == false, "it has not been sent again yet")
    try bench.advance(to: bench.now + .seconds(120))
    #expect(bench.record(1)?.disposition == .forwarding)
    try bench.complete(.finished(.applied, .alertShown))
    #expect(bench.record(1)?.isSentAgain == isSentAgain, "\(bench.record(1)?.steps ?? [])")
  }

  /// One that was never attempted may be sent once and for all later.
  @Test func anAttemptThatWasNotMadeIsNoAttempt() throws {
    let bench = try Bench()
    try bench.register(Bench.registration(1, .app))
    try bench.push(1, .alert)
    for outcome in [UpstreamOutcome.retry(.upstreamFailed), .notAttempted(.upstreamUnavailable)] {
      try bench.complete(outcome)
      try bench.advance(to: bench.now + .seconds(120))
    }
    try bench.complete(.accepted)
    #expect(bench.record(1)?.isSentAgain == false, "\(bench.record(1)?.steps ?? [])")
  }

  /// The sixth of priority 10 in a row goes at 5, and it is told what is spent and when the next is back.
  @Test func aLoweredPushSaysWhy() throws {
    var policy = AppPolicy()
    policy[.liveactivity] = BudgetParameters(allowance: 15, burst: 5, window: .seconds(3600), minimumInterval: .zero)
    let bench = try Bench(policy: policy)
    bench.now = Instant(rfc3339: "2026-12-01T14:00:00Z")!
    try bench.register(Bench.registration(1, .liveactivity))
    for id in 1...6 {
      let batch = Batch()
      batch.admits.append(
        Bench.operation(batch, id: id, token: Bench.token(1), type: .liveactivity, at: bench.now, traits: Self.update))
      try bench.settle(batch)
      #expect(batch.lowered.map(\.id) == (id == 6 ? [Bench.id(6)] : []))
      try bench.complete(.finished(.applied, .updated))
      #expect((bench.record(id)?.lowering == nil) == (id < 6))
    }
    let sentence = "the 5 of priority 10 that may go at once are spent, of 15 an hour, the next is back at 14:06 UTC"
    #expect(bench.record(6)?.lowering?.sentence == sentence, "\(String(describing: bench.record(6)?.lowering))")
    for (window, words) in [(TimeSpan.seconds(86_400), "15 a day"), (.seconds(90), "15 in 90 s")] as [(TimeSpan, String)] {
      let other = PriorityLowering(allowance: 15, burst: 5, window: window, nextCredit: nil)
      #expect(other.sentence == "the 5 of priority 10 that may go at once are spent, of \(words)")
    }
    let whole = PriorityLowering(allowance: 15, burst: 15, window: .seconds(3600), nextCredit: nil)
    #expect(whole.sentence == "the 15 of priority 10 an hour are spent")
    let page = bench.state.page(PushQuery(cause: .priorityLowered))
    #expect(page.pushes.map(\.id) == [Bench.id(6)])
    #expect(bench.state.page(PushQuery(disposition: .applied, cause: .updated)).pushes.count == 6)
    #expect(bench.state.page(PushQuery(cause: .minimumInterval)).pushes.isEmpty)
  }

  /// A refused push has one cause; one that nearly matches differs in its cause alone.
  @Test func causesOfRefusedPushesAndNearMisses() throws {
    let bench = try Bench()
    try bench.push(1)
    try bench.register(Bench.registration(2))
    try bench.push(2, to: 2)
    #expect(bench.state.page(PushQuery(cause: .tokenUnknown)).pushes.map(\.id) == [Bench.id(1)])
    let page = bench.state.page(PushQuery(cause: .laneFull), wanted: 1, isLast: true)
    #expect(!page.complete && page.nearMisses.map(\.differs) == ["cause", "cause"])
  }
}
