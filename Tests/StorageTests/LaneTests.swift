import Delivery
import Primitives
import Push
import Testing

@testable import Storage

@Suite("Lanes") struct LaneTests {
  private static func update(_ timestamp: Int64 = 0) -> PushTraits {
    PushTraits(lane: .activityUpdate, activity: .update, hasContentState: true, timestamp: timestamp)
  }
  private static let end = PushTraits(lane: .activityEndWithState, activity: .end, hasContentState: true)
  private static let bareEnd = PushTraits(lane: .keep, activity: .end)
  private static let alert = PushTraits(lane: .keep, activity: .update, hasContentState: true, hasAlert: true)

  private func activity() throws -> Bench {
    let bench = try Bench()
    try bench.register(Bench.registration(1, .liveactivity))
    return bench
  }

  @Test func theNewestUpdateIsSentInOrder() throws {
    let bench = try activity()
    #expect(try bench.push(0, .liveactivity, traits: Self.update()) == .forwarded)
    #expect(try bench.push(1, .liveactivity, traits: Self.update()) == .waiting(due: nil, .inFlight))
    #expect(try bench.push(2, .liveactivity, traits: Self.alert) == .waiting(due: nil, .inFlight))
    #expect(try bench.push(3, .liveactivity, traits: Self.update()) == .waiting(due: nil, .inFlight))
    #expect(try bench.push(4, .liveactivity, traits: Self.end) == .waiting(due: nil, .inFlight))
    #expect(try bench.push(5, .liveactivity, traits: Self.update()) == .waiting(due: nil, .inFlight))
    for id in [1, 3] {
      #expect(bench.record(id)?.disposition == .merged)
      #expect(bench.record(id)?.cause == .supersededByNewer)
    }
    #expect(bench.record(1)?.mergedInto == Bench.id(3))
    #expect(bench.record(3)?.mergedInto == Bench.id(4))
    for _ in 0..<4 { try bench.complete(.accepted) }
    #expect(bench.forwarded.map(\.push.id) == [0, 2, 4, 5].map(Bench.id))
    #expect(bench.state.tokens[0].pointee.hasLane == false)
  }

  @Test func anEndWithoutStateReplacesNothing() throws {
    let bench = try activity()
    try bench.push(0, .liveactivity, traits: Self.update())
    try bench.push(1, .liveactivity, traits: Self.update())
    try bench.push(2, .liveactivity, traits: Self.bareEnd)
    for _ in 0..<3 { try bench.complete(.accepted) }
    #expect(bench.forwarded.map(\.push.id) == [0, 1, 2].map(Bench.id))
  }

  /// A device ignores the older of two timestamps, so dropping the newer one would lose its state.
  @Test func anUpdateWithAnOlderTimestampReplacesNothing() throws {
    let bench = try activity()
    try bench.push(0, .liveactivity, traits: Self.update(10))
    try bench.push(1, .liveactivity, traits: Self.update(20))
    try bench.push(2, .liveactivity, traits: Self.update(15))
    #expect(bench.record(1)?.disposition == .waiting)
    try bench.push(3, .liveactivity, traits: Self.update(20))
    #expect(bench.record(1)?.disposition == .merged || bench.record(2)?.disposition == .merged)
  }

  @Test func aLaneHasSixteenPlaces() throws {
    let bench = try activity()
    for id in 0...16 { try bench.push(id, .liveactivity, traits: Self.alert) }
    #expect(try bench.push(17, .liveactivity, traits: Self.alert) == .refused(.tooManyRequests, .laneFull))
    #expect(bench.record(17)?.status == 429)
    try bench.complete(.accepted)
    #expect(try bench.push(18, .liveactivity, traits: Self.update()) == .waiting(due: nil, .inFlight))
    // A full lane takes an update that drives another out.
    #expect(try bench.push(19, .liveactivity, traits: Self.update()) == .waiting(due: nil, .inFlight))
    #expect(try bench.push(20, .liveactivity, traits: Self.alert) == .refused(.tooManyRequests, .laneFull))
  }

  @Test func aFailedUpdateGivesWayToOneThatArrivedMeanwhile() throws {
    let bench = try activity()
    try bench.push(0, .liveactivity, traits: Self.update())
    try bench.push(1, .liveactivity, traits: Self.update())
    try bench.complete(.retry(.upstreamUnavailable))
    #expect(bench.record(0)?.mergedInto == Bench.id(1))
    #expect(bench.forwarded.count == 1, "the newer one is no fresh start for an upstream that has just failed")
    try bench.advance(to: bench.now + .seconds(1))
    #expect(bench.forwarded.map(\.push.id) == [0, 1].map(Bench.id))
    #expect(bench.forwarded[1].push.attempt == 1)
  }

  @Test func aFailedReloadStandsForThoseThatArrivedMeanwhile() throws {
    let bench = try Bench()
    try bench.register(Bench.registration(1))
    let date = bench.now + .seconds(5000)
    try bench.push(0, expiration: .at(bench.now + .seconds(1000)))
    #expect(try bench.push(1, expiration: .at(date)) == .waiting(due: nil, .minimumInterval))
    #expect(try bench.push(2) == .merged(into: Bench.id(1)))
    try bench.complete(.retry(.upstreamBusy))
    #expect(bench.record(1)?.mergedInto == Bench.id(0))
    try bench.advance(to: bench.now + .seconds(1))
    #expect(bench.forwarded.map(\.push.id) == [0, 0].map(Bench.id))
    #expect(bench.forwarded[1].push.expiration == .absent)
    #expect(bench.forwarded[1].push.attempt == 2)
    try bench.complete(.accepted)
    // Paid for once, however often it was sent.
    #expect(bench.record(0)?.steps.filter { $0.budgetBefore != nil && $0.budgetAfter != $0.budgetBefore }.count == 1)
    try bench.advance(to: bench.now + .seconds(100_000))
    #expect(bench.forwarded.count == 2)
  }

  @Test func coalescingHoldsTheFirst() throws {
    let bench = try Bench()
    var registration = Bench.registration(1)
    registration.coalesce = .seconds(2)
    registration.minimumInterval = .zero
    try bench.register(registration)
    let due = bench.now + .seconds(2)
    #expect(try bench.push(0) == .waiting(due: due, .coalescing))
    #expect(try bench.push(1) == .merged(into: Bench.id(0)))
    try bench.advance(to: due)
    #expect(bench.forwarded.map(\.at) == [due])
  }

  @Test func everyWidgetPays() throws {
    let bench = try Bench()
    let widgets = (0..<5).map { Registration.Widget(id: "\($0)", kind: "k", family: "f") }
    let registration = Bench.registration(1, widgets: widgets)
    try bench.register(registration)
    #expect(bench.setBudget(1, index: 3, credits: 1))
    try bench.push(0)
    var reports = try #require(bench.budgets(registration))
    #expect(reports.map(\.remaining) == [11, 11, 11, 0, 11])
    #expect(reports.map(\.binds) == [false, false, false, true, false])
    #expect(bench.record(0)?.steps.first?.budgetBefore == 1)
    try bench.complete(.accepted)
    let rule = BudgetRule(.widgets)
    #expect(try bench.push(1) == .waiting(due: bench.now + rule.interval, .waitingForBudget))
    #expect(bench.setBudget(1, index: nil, credits: nil))
    try bench.releaseDue()
    #expect(bench.forwarded.map(\.push.id) == [0, 1].map(Bench.id), "a budget that is filled lets go what waited for it")
    reports = try #require(bench.budgets(registration))
    #expect(reports.map(\.remaining) == [11, 11, 11, 11, 11])
  }

  @Test func modes() throws {
    var policy = AppPolicy()
    policy.budgetMode = .observe
    var bench = try Bench(policy: policy)
    try bench.register(Bench.registration(1, .controls))
    for id in 0..<60 {
      #expect(try bench.push(id, .controls) == .forwarded)
      try bench.complete(.accepted)
    }
    #expect(bench.record(0)?.cause == Cause.none)
    #expect(bench.record(1)?.steps.first?.cause == .minimumInterval)
    #expect(bench.record(59)?.steps.first?.cause == .budgetSpent)
    #expect(bench.record(59)?.steps.first?.budgetAfter == -40)

    policy.budgetMode = .reject
    bench = try Bench(policy: policy)
    try bench.register(Bench.registration(1, .controls))
    try bench.push(0, .controls)
    try bench.complete(.accepted)
    let retryAt = bench.now + .seconds(10)
    #expect(try bench.push(1, .controls) == .refused(.tooManyRequests, .tooSoon, since: nil, retryAt: retryAt))
    #expect(bench.record(1)?.status == 429)
    bench.now = retryAt
    #expect(try bench.push(2, .controls) == .forwarded)
  }

  @Test func developerModeLiftsTheBudget() throws {
    let bench = try Bench()
    var registration = Bench.registration(1)
    registration.developerMode = true
    try bench.register(registration)
    for id in 0..<100 {
      #expect(try bench.push(id) == .forwarded)
      try bench.complete(.accepted)
    }
    #expect(bench.budgets(registration)?[0].remaining == 12)
  }

  /// An upstream that is away costs a credit once, however many pushes take each other's place meanwhile.
  @Test(arguments: [TokenKind.app, .liveactivity]) func anOutageIsPaidForOnce(kind: TokenKind) throws {
    let bench = try Bench()
    try bench.register(Bench.registration(1, kind))
    let (type, traits): (PushType, PushTraits?) = kind == .app ? (.background, nil) : (.liveactivity, Self.update())
    let full = try #require(bench.budgets(Bench.registration(1, kind))?.first?.remaining)
    for id in 0..<8 {
      try bench.push(id, type, traits: traits)
      while bench.state.counters.inFlight > 0 { try bench.complete(.retry(.upstreamUnavailable)) }
      try bench.advance(to: bench.now + .seconds(3))
      while bench.state.counters.inFlight > 0 { try bench.complete(.notAttempted(.upstreamUnavailable)) }
    }
    #expect(bench.budgets(Bench.registration(1, kind))?.first?.remaining == full - 1)
    try bench.crash()
    try bench.advance(to: bench.now + .seconds(120))
    try bench.complete(.accepted)
    #expect(bench.record(7)?.disposition == .accepted)
    #expect(bench.budgets(Bench.registration(1, kind))?.first?.remaining == full - 1)
    #expect(bench.forwarded.last?.push.priority == .immediate)
  }

  /// With `reject` no more is accepted than can be paid for, however fast it comes.
  @Test func whatIsRejectedIsRejectedAtOnce() throws {
    var policy = AppPolicy()
    policy.budgetMode = .reject
    let bench = try Bench(policy: policy)
    try bench.register(Bench.registration(1, .pushToStart))
    let start = PushTraits(lane: .keep, activity: .start, hasContentState: true, hasAlert: true)
    let results = try (0..<14).map { try bench.push($0, .liveactivity, traits: start).disposition }
    #expect(results.filter { $0 != .refused }.count == 5, "\(results)")
    for _ in 0..<5 { try bench.complete(.accepted) }
    #expect(bench.forwarded.count == 5)
  }
}
