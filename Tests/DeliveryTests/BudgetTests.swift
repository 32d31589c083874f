import Delivery
import Primitives
import Push
import Seeds
import Testing

@Suite("Budgets") struct BudgetTests {
  /// Every small bucket, asked at every instant: no window ever sees more than the allowance, and none waits longer than it must.
  @Test func noWindowSeesMoreThanTheAllowance() {
    for window in Int64(1)...9 {
      for allowance in Int64(1)...5 {
        for burst in 1...allowance {
          for minimum in Int64(0)...2 {
            check(window: window, allowance: allowance, burst: burst, minimum: minimum)
          }
        }
      }
    }
  }

  private func check(window: Int64, allowance: Int64, burst: Int64, minimum: Int64) {
    let rule = BudgetRule(
      BudgetParameters(
        allowance: allowance, burst: burst, window: TimeSpan(nanoseconds: window), minimumInterval: TimeSpan(nanoseconds: minimum)))
    var state = BudgetState.full
    var charges: [Int64] = []
    for t in Int64(0)..<80 {
      let now = Instant(nanoseconds: t)
      while state.isPayable(rule, at: now) {
        #expect(state.payableAt(rule) <= now)
        #expect(state.credits(rule, at: now) > 0, "payable without a credit at \(t): \(rule)")
        state.charge(rule, at: now)
        charges.append(t)
        if charges.count > 500 { break }
      }
      #expect(state.payableAt(rule) > now)
    }
    for first in charges {
      let inWindow = charges.filter { $0 >= first && $0 <= first + window }.count
      #expect(inWindow <= Int(allowance), "window \(window) from \(first): \(charges)")
    }
    for (a, b) in zip(charges, charges.dropFirst()) { #expect(b - a >= minimum) }
    #expect(minimum > 0 || charges.filter { $0 == 0 }.count == Int(burst))
  }

  /// Random parameters and random arrivals against a list of all charges ever made.
  @Test(arguments: seeds(40)) func noWindowSeesMoreThanTheAllowanceAtRandom(seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    let allowance = Int64.random(in: 1...60, using: &generator)
    let burst = Int64.random(in: 1...allowance, using: &generator)
    let window = TimeSpan.milliseconds(Int64.random(in: 1...100_000, using: &generator))
    let minimum = TimeSpan.milliseconds(Int64.random(in: 0...500, using: &generator))
    let rule = BudgetRule(BudgetParameters(allowance: allowance, burst: burst, window: window, minimumInterval: minimum))
    var state = BudgetState.full
    var charges: [Instant] = []
    var now = Instant(unixSeconds: 1_800_000_000)
    for _ in 0..<2000 {
      now = now + TimeSpan(nanoseconds: Int64.random(in: 0...window.nanoseconds / 10, using: &generator))
      guard state.isPayable(rule, at: now) else { continue }
      state.charge(rule, at: now)
      charges.append(now)
      let recent = charges.suffix(Int(allowance) + 1).filter { $0 >= now - window }
      #expect(recent.count <= Int(allowance))
    }
    #expect(charges.count > Int(burst) || minimum > .zero)
  }

  @Test func theDefaultWidgetBudget() {
    let rule = BudgetRule(.widgets)
    #expect(rule.interval == TimeSpan(nanoseconds: (86_400_000_000_000 + 27) / 28))
    var state = BudgetState.full
    var now = Instant(unixSeconds: 1_800_000_000)
    let start = now
    var paid = 0
    while now < start + .seconds(86_400) {
      if state.isPayable(rule, at: now) {
        state.charge(rule, at: now)
        paid += 1
      }
      now = now + .seconds(10)
    }
    #expect(paid >= 38 && paid <= 40)
  }

  @Test func burstEqualToAllowanceComesBackAfterAWindow() {
    let rule = BudgetRule(BudgetParameters(allowance: 2, burst: 2, window: .seconds(10), minimumInterval: .zero))
    let start = Instant(unixSeconds: 1000)
    var state = BudgetState.full
    state.charge(rule, at: start)
    state.charge(rule, at: start)
    #expect(state.payableAt(rule) == start + .seconds(10) + TimeSpan(nanoseconds: 1))
    #expect(state.credits(rule, at: start) == 0)
  }

  @Test func aClockThatStepsBackGivesNoCredit() {
    let rule = BudgetRule(BudgetParameters(allowance: 4, burst: 2, window: .seconds(10), minimumInterval: .seconds(1)))
    let start = Instant(unixSeconds: 1000)
    var state = BudgetState.full
    state.charge(rule, at: start)
    let earlier = start - .seconds(3600)
    #expect(!state.isPayable(rule, at: earlier))
    #expect(state.credits(rule, at: earlier) == state.credits(rule, at: start))
    state.charge(rule, at: earlier)
    #expect(state.lastCharge == start)
    #expect(state.fullAt == start + rule.interval * 2)
  }

  @Test func observationStopsAtMinusTheAllowance() {
    let rule = BudgetRule(BudgetParameters(allowance: 5, burst: 2, window: .seconds(30), minimumInterval: .zero))
    let now = Instant(unixSeconds: 1000)
    var state = BudgetState.full
    for expected in [1, 0, -1, -2, -3, -4, -5, -5, -5] {
      state.charge(rule, at: now)
      #expect(state.credits(rule, at: now) == Int64(expected))
    }
  }

  @Test(arguments: [Int64(-5), -1, 0, 1, 2]) func creditsCanBeSet(credits: Int64) {
    let rule = BudgetRule(BudgetParameters(allowance: 5, burst: 2, window: .seconds(30), minimumInterval: .zero))
    let now = Instant(unixSeconds: 1000)
    let state = BudgetState(credits: credits, rule: rule, at: now)
    #expect(state.credits(rule, at: now) == credits)
    #expect(state.isPayable(rule, at: now) == (credits > 0))
    #expect((state.nextCredit(rule, at: now) == nil) == (credits == 2))
    if let next = state.nextCredit(rule, at: now) { #expect(state.credits(rule, at: next) == credits + 1) }
    #expect(BudgetState(credits: 99, rule: rule, at: now).credits(rule, at: now) == 2)
    #expect(BudgetState(credits: -99, rule: rule, at: now).credits(rule, at: now) == -5)
  }

  @Test func absurdParametersDoNotTrap() {
    for value in [Int64.min, -1, 0, 1, Int64.max] {
      let rule = BudgetRule(
        BudgetParameters(
          allowance: value, burst: value, window: TimeSpan(nanoseconds: value), minimumInterval: TimeSpan(nanoseconds: value)))
      var state = BudgetState.full
      for now in [Instant.distantPast, Instant(unixSeconds: 0), .distantFuture] {
        _ = state.isPayable(rule, at: now)
        state.charge(rule, at: now)
        _ = state.credits(rule, at: now)
        _ = state.nextCredit(rule, at: now)
      }
    }
  }
}
