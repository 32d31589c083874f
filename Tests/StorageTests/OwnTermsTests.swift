import Delivery
import Primitives
import Push
import Testing

@testable import Storage

/// What a registration asks for itself: parameters of its budget, quiet hours, a platform without budgets, and the budgets of the token
/// whose place it has taken.
@Suite("A registration's own terms") struct OwnTermsTests {
  private func bench() throws -> Bench {
    var policy = AppPolicy()
    policy.widgets = BudgetParameters(allowance: 10, burst: 3, window: .seconds(700), minimumInterval: .zero)
    return try Bench(policy: policy)
  }

  @Test func aTokenMayHaveABudgetOfItsOwn() throws {
    let bench = try bench()
    var registration = Bench.registration(1)
    registration.budget = .init(allowance: 2, window: .seconds(60))
    try bench.register(registration)
    for id in 0..<2 {
      #expect(try bench.push(id) == .forwarded)
      try bench.complete(.accepted)
    }
    guard case .waiting(_, .waitingForBudget) = try bench.push(2) else { Issue.record("the third goes"); return }
    let report = try #require(bench.budgets(registration)?.first)
    #expect(report.allowance == 2 && report.burst == 2 && report.kind == .widgets && report.remaining == 0)
    try bench.crash()
    #expect(bench.budgets(registration)?.first?.allowance == 2, "it outlives a crash")
    try bench.fold()
    try bench.crash()
    #expect(bench.budgets(registration)?.first?.allowance == 2, "and folding")
    #expect(try bench.engine.registration(registration.token)?.0 == registration)
    try bench.register(Bench.registration(1))
    #expect(bench.budgets(registration)?.first?.allowance == 10, "registered again without, it has the app's")
  }

  @Test func quietHoursHoldReloadsAndLetOneGo() throws {
    let bench = try bench()
    bench.now = Instant(unixSeconds: 1_800_000_000 / 86_400 * 86_400 + 23 * 3600)
    var registration = Bench.registration(1)
    registration.quietHours = QuietHours(from: 22 * 60, to: 6 * 60)
    try bench.register(registration)
    let morning = bench.now + .seconds(7 * 3600)
    #expect(try bench.push(0) == .waiting(due: morning, .quietHours))
    #expect(try bench.push(1) == .merged(into: Bench.id(0)))
    #expect(bench.budgets(registration)?.first?.payableAt == morning, "the budget says so, too")
    try bench.crash()
    try bench.advance(to: morning - .milliseconds(1))
    #expect(bench.forwarded.isEmpty)
    try bench.advance(to: morning)
    #expect(bench.forwarded.map(\.push.id) == [Bench.id(0)])
  }

  /// A credit that comes back at night is spent in the morning, and the store does not look at the lane over and over until then.
  @Test func whatBecomesPayableAtNightWaits() throws {
    var policy = AppPolicy()
    policy.widgets = BudgetParameters(allowance: 2, burst: 1, window: .seconds(7200), minimumInterval: .zero)
    let bench = try Bench(policy: policy)
    bench.now = Instant(unixSeconds: 1_800_000_000 / 86_400 * 86_400 + 21 * 3600)
    var registration = Bench.registration(1)
    registration.quietHours = QuietHours(from: 22 * 60, to: 6 * 60)
    try bench.register(registration)
    #expect(try bench.push(0) == .forwarded)
    try bench.complete(.accepted)
    _ = try bench.push(1)
    #expect(bench.state.nextDue == bench.now + .seconds(9 * 3600))
    try bench.advance(to: bench.now + .seconds(9 * 3600))
    #expect(bench.forwarded.count == 2)
  }

  @Test func onlyReloadsAreQuiet() throws {
    let bench = try bench()
    bench.now = Instant(unixSeconds: 1_800_000_000 / 86_400 * 86_400)
    var registration = Bench.registration(1, .liveactivity)
    registration.quietHours = QuietHours(from: 0, to: 6 * 60)
    try bench.register(registration)
    let update = PushTraits(lane: .activityUpdate, activity: .update, hasContentState: true)
    #expect(try bench.push(0, .liveactivity, traits: update) == .forwarded)
  }

  @Test func reloadsOnAMacCostNothing() throws {
    let bench = try bench()
    var registration = Bench.registration(1)
    registration.platform = "macOS"
    try bench.register(registration)
    try bench.crash()
    for id in 0..<20 {
      #expect(try bench.push(id) == .forwarded)
      try bench.complete(.accepted)
    }
  }

  @Test func budgetsMoveWhenATokenRotates() throws {
    let bench = try bench()
    let widgets = [Registration.Widget(kind: "a", family: "f"), .init(kind: "b", family: "f")]
    try bench.register(Bench.registration(1, widgets: widgets))
    for id in 0..<2 {
      try bench.push(id)
      try bench.complete(.accepted)
    }
    _ = bench.setBudget(1, index: 1, credits: 0)
    let new = Bench.registration(2, widgets: widgets.reversed())
    #expect(try bench.register(new, replacing: Bench.token(1)))
    #expect(bench.budgets(new)?.map(\.remaining) == [0, 1], "each widget keeps what was its own")
    #expect(bench.budgets(Bench.registration(1)) == nil, "the old token is gone")
    #expect(try !bench.register(new, replacing: Bench.token(1)), "once more changes nothing")
    #expect(bench.budgets(new)?.map(\.remaining) == [0, 1])
  }

  @Test func whatWaitsForTheOldTokenStays() throws {
    let bench = try bench()
    try bench.register(Bench.registration(1))
    for id in 0..<2 { try bench.push(id) }
    try bench.register(Bench.registration(2), replacing: Bench.token(1))
    #expect(bench.budgets(Bench.registration(1)) != nil)
    try bench.complete(.accepted)
    #expect(bench.forwarded.map(\.push.id) == [0, 1].map(Bench.id))
  }

  @Test func anotherKindOrAppPassesNothingOn() throws {
    let bench = try bench()
    try bench.register(Bench.registration(1))
    try bench.push(0)
    try bench.complete(.accepted)
    try bench.register(Bench.registration(2, .controls), replacing: Bench.token(1))
    #expect(bench.budgets(Bench.registration(2, .controls))?.first?.remaining == 12)
    #expect(bench.budgets(Bench.registration(1)) != nil)
  }

  /// What was spent stays spent, and comes back as the rule of the moment says.
  @Test func anotherRuleGivesNothingAtOnce() throws {
    let bench = try bench()
    var registration = Bench.registration(1, .liveactivity)
    try bench.register(registration)
    let update = PushTraits(lane: .activityUpdate, activity: .update, hasContentState: true)
    for id in 0..<5 {
      try bench.push(id, .liveactivity, traits: update)
      try bench.complete(.accepted)
    }
    #expect(bench.budgets(registration)?.first?.remaining == 0)
    registration.frequentUpdates = true
    try bench.register(registration)
    #expect(bench.budgets(registration)?.first?.remaining == 0)
    bench.now = bench.now + .seconds(60)
    #expect(bench.budgets(registration)?.first?.remaining == 3, "180 an hour come back")
    registration.frequentUpdates = false
    registration.budget = .init(allowance: 1, burst: 1, window: .seconds(604_800))
    try bench.register(registration)
    let week = try #require(bench.budgets(registration)?.first)
    #expect(week.remaining <= 0 && week.payableAt <= bench.now + .seconds(604_800), "nobody waits longer than a window")
    registration.budget = nil
    try bench.register(registration)
    let hour = try #require(bench.budgets(registration)?.first)
    #expect(hour.remaining < 0 && hour.payableAt > bench.now + .seconds(3500) && hour.payableAt <= bench.now + .seconds(3600))
    try bench.crash()
    #expect(bench.budgets(registration)?.first?.payableAt == hour.payableAt)
  }

  @Test func anotherConfigurationGivesNothingAtOnce() throws {
    let bench = try bench()
    try bench.register(Bench.registration(1))
    for id in 0..<3 {
      try bench.push(id)
      try bench.complete(.accepted)
    }
    try bench.push(3)
    var policy = AppPolicy()
    policy.widgets = BudgetParameters(allowance: 40, burst: 12, window: .seconds(700), minimumInterval: .zero)
    bench.state.reconfigure(Bench.resolver(AppDirectory([], anyApp: AppDirectory.App(bundleID: "", policy: policy))), at: bench.now)
    #expect(bench.budgets(Bench.registration(1))?.first?.remaining == 0)
    #expect(bench.state.nextDue == bench.now + .seconds(25), "what waits goes at the new pace")
    try bench.advance(to: bench.now + .seconds(25))
    #expect(bench.forwarded.count == 4)
  }
}
