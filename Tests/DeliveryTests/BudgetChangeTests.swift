import Delivery
import Primitives
import Push
import Seeds
import Testing

/// Budgets whose numbers change while they are being spent.
@Suite("Changes of budgets") struct BudgetChangeTests {
  private static let window = TimeSpan.seconds(86_400)
  private static let start = Instant(unixSeconds: 1_800_000_000)

  private static func rule(_ allowance: Int64, _ burst: Int64, _ window: TimeSpan = window) -> BudgetRule {
    BudgetRule(BudgetParameters(allowance: allowance, burst: burst, window: window, minimumInterval: .zero))
  }

  /// A budget under rules that follow each other, with all that was ever paid.
  private struct Spender {
    var state = BudgetState.full
    var rule: BudgetRule
    var now = start
    var charges: [Instant] = []

    init(_ rule: BudgetRule) { self.rule = rule }

    mutating func change(to new: BudgetRule) {
      state = state.converted(from: rule, to: new, at: now)
      rule = new
    }

    /// Pays as often as it can, or `most` times; how often that was.
    @discardableResult mutating func spend(_ most: Int = .max) -> Int {
      var count = 0
      while count < most, state.isPayable(rule, at: now) {
        state.charge(rule, at: now)
        charges.append(now)
        count += 1
      }
      return count
    }

    var remaining: Int64 { state.credits(rule, at: now) }
    var wait: TimeSpan { max(.zero, state.payableAt(rule) - now) }
  }

  @Test func anotherRuleAndBackGivesNothing() {
    var spender = Spender(Self.rule(40, 12))
    #expect(spender.spend() == 12)
    for _ in 0..<5 {
      spender.change(to: Self.rule(1, 1))
      #expect(spender.spend() == 0)
      spender.change(to: Self.rule(40, 12))
      #expect(spender.spend() == 0)
    }
    #expect(spender.wait <= Self.window + .milliseconds(1), "and nobody waits longer than a window")
  }

  @Test func moreBurstFillsAtTheNewPace() {
    var spender = Spender(Self.rule(40, 12))
    spender.spend()
    for _ in 0..<27 {
      spender.now = spender.now + spender.rule.interval
      #expect(spender.spend() == 1)
    }
    spender.change(to: Self.rule(40, 40))
    #expect(spender.spend() == 0)
    #expect(spender.remaining == 0)
  }

  @Test(arguments: [(Int64(12), Int64(0)), (9, 3), (0, 12)]) func whatRemainsStaysWhereTheBudgetIsRaised(spent: Int64, left: Int64) {
    var spender = Spender(Self.rule(40, 12))
    spender.spend(Int(spent))
    let new = Self.rule(400, 60)
    spender.change(to: new)
    // Without a past there is none to make up for.
    #expect(spender.remaining == (spent == 0 ? 60 : left))
    spender.now = spender.now + new.interval * 2
    #expect(spender.remaining == (spent == 0 ? 60 : left + 2))
  }

  @Test func whatWasSpentIsSpentWhereTheBurstIsLowered() {
    var spender = Spender(Self.rule(40, 12))
    spender.spend(5)
    spender.change(to: Self.rule(20, 8))
    #expect(spender.remaining == 3)
    spender.change(to: Self.rule(20, 2))
    #expect(spender.remaining == -3)
    spender.change(to: Self.rule(40, 12))
    #expect(spender.remaining < 0)
  }

  @Test func frequentUpdatesOfActivitiesComeAndGo() {
    let (calm, frequent) = (Self.rule(15, 5, .seconds(3600)), Self.rule(240, 60, .seconds(3600)))
    var spender = Spender(calm)
    spender.spend()
    spender.change(to: frequent)
    #expect(spender.remaining == 0)
    spender.now = spender.now + .seconds(200)
    #expect(spender.spend() == 10)
    spender.change(to: calm)
    #expect(spender.remaining < 0 && spender.wait <= .seconds(3601))
    spender.now = spender.now + .seconds(3601)
    #expect(spender.spend() > 0)
  }

  @Test func aBudgetThatHasRefilledKeepsItsSize() {
    var spender = Spender(Self.rule(40, 12))
    spender.spend(1)
    spender.now = spender.now + spender.rule.interval * 2
    spender.change(to: Self.rule(100, 60))
    #expect(spender.remaining == 12)
    spender.now = Self.start + Self.window * 2
    spender.change(to: Self.rule(200, 100))
    #expect(spender.remaining == 100, "nothing was charged within a window")
  }

  /// The wait of a burst that is spent does not become another rule's short one by way of a rule that cuts the debt.
  @Test func aThirdRuleDoesNotForgetTheFirst() {
    var spender = Spender(Self.rule(40, 40))
    #expect(spender.spend() == 40)
    spender.change(to: Self.rule(1, 1))
    spender.change(to: Self.rule(40, 1))
    #expect(spender.spend() == 0)
    #expect(spender.wait > Self.window)
  }

  /// Random rules, waits and charges against the list of all charges: no window sees more than the greatest of the allowances that were
  /// in force within it, a change leaves no more than there was, and nobody waits longer than a window after the latest charge.
  @Test(arguments: seeds(200)) func noWindowSeesMoreThanTheGreatestAllowanceAtRandom(seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    let window = TimeSpan(nanoseconds: Int64.random(in: 1_000_000...100_000_000, using: &generator))
    let most = Int64.random(in: 1...60, using: &generator)
    let rules = (0..<Int.random(in: 2...4, using: &generator)).map { _ in
      let allowance = Int64.random(in: 1...most, using: &generator)
      return Self.rule(
        allowance, Int64.random(in: 0..<3, using: &generator) == 0 ? allowance : .random(in: 1...allowance, using: &generator), window)
    }
    var spender = Spender(rules[0])
    var inForce: [(from: Instant, allowance: Int64)] = [(.distantPast, rules[0].allowance)]
    for _ in 0..<600 {
      switch Int.random(in: 0..<4, using: &generator) {
      case 0, 1:
        spender.spend(Bool.random(using: &generator) ? .max : 1)
        guard let last = spender.charges.last else { continue }
        let first = inForce.lastIndex { $0.from <= last - window } ?? 0
        let greatest = inForce[first...].map(\.allowance).max() ?? 0
        let seen = spender.charges.suffix(Int(most) + 1).filter { $0 >= last - window }.count
        #expect(seen <= Int(greatest), "\(rules) at \(last.nanoseconds - Self.start.nanoseconds)")
      case 2:
        let span = Int64.random(in: 0...(window.nanoseconds / Int64.random(in: 1...20, using: &generator)), using: &generator)
        spender.now = spender.now + TimeSpan(nanoseconds: span)
      default:
        let (before, wait, hadHistory) = (spender.remaining, spender.wait, (spender.charges.last ?? .distantPast) >= spender.now - window)
        let new = rules[Int.random(in: 0..<rules.count, using: &generator)]
        spender.change(to: new)
        inForce.append((spender.now, new.allowance))
        // Where the debt is cut to a window, it is counted in fewer credits; time is what it costs then.
        #expect(spender.remaining <= max(before, 0) || !hadHistory && before >= 0)
        #expect(before > 0 || spender.wait > .zero)
        // A window of charges in whole nanoseconds, rounded up for each of them.
        let latest = (spender.charges.last ?? .distantPast) + window + TimeSpan(nanoseconds: most + 1)
        #expect(spender.state.payableAt(new) <= max(latest, spender.now), "waited \(wait)")
      }
    }
  }

  /// Rules whose windows differ as well: none of the shortest length sees more than the greatest of what they grant for it.
  @Test(arguments: seeds(100)) func windowsMayDiffer(seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    let rules = (0..<3).map { _ in
      let allowance = Int64.random(in: 1...40, using: &generator)
      return Self.rule(
        allowance, .random(in: 1...allowance, using: &generator), TimeSpan(nanoseconds: .random(in: 500...5000, using: &generator)))
    }
    let windows = rules.map { $0.interval.nanoseconds * max(1, $0.allowance - $0.burst) - $0.allowance }
    let shortest = windows.min() ?? 0
    let most = rules.map { $0.burst + shortest / $0.interval.nanoseconds }.max() ?? 0
    var spender = Spender(rules[0])
    for _ in 0..<600 {
      switch Int.random(in: 0..<3, using: &generator) {
      case 0: spender.spend()
      case 1: spender.now = spender.now + TimeSpan(nanoseconds: .random(in: 0...shortest / 3, using: &generator))
      default: spender.change(to: rules[Int.random(in: 0..<3, using: &generator)])
      }
      #expect(spender.charges.suffix(Int(most) + 1).filter { $0 >= spender.now - TimeSpan(nanoseconds: shortest) }.count <= Int(most))
    }
  }
}
