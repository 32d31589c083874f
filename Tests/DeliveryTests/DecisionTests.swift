import Delivery
import Primitives
import Push
import Testing

@Suite("Decisions") struct DecisionTests {
  private static let now = Instant(unixSeconds: 1_800_000_000)
  private static let rule = BudgetRule(BudgetParameters(allowance: 4, burst: 2, window: .seconds(20), minimumInterval: .seconds(3)))

  private func decide(_ budgets: inout [BudgetState], _ terms: DecisionTerms, at now: Instant = now) -> Decision {
    var span = budgets.mutableSpan
    return Delivery.decide(&span, terms, at: now)
  }

  private var spent: BudgetState { BudgetState(fullAt: Self.now + .seconds(15), lastCharge: Self.now - .seconds(100)) }
  private var recent: BudgetState { BudgetState(fullAt: Self.now, lastCharge: Self.now - .seconds(1)) }

  @Test func everyBudgetPays() {
    var budgets = [BudgetState.full, .full, .full]
    #expect(decide(&budgets, DecisionTerms(rule: Self.rule, mode: .enforce)) == .forward(.none))
    #expect(budgets.allSatisfy { $0.credits(Self.rule, at: Self.now) == 1 })
  }

  @Test func theScarcestBinds() {
    var budgets = [BudgetState.full, spent, recent]
    let before = budgets
    #expect(
      decide(&budgets, DecisionTerms(rule: Self.rule, mode: .enforce)) == .hold(until: Self.now + .seconds(5), .waitingForBudget))
    #expect(budgets == before)
    #expect(budgets.span.survey(Self.rule, at: Self.now).binding == 1)
  }

  @Test func theMinimumIntervalHolds() {
    var budgets = [recent]
    #expect(
      decide(&budgets, DecisionTerms(rule: Self.rule, mode: .enforce)) == .hold(until: Self.now + .seconds(2), .minimumInterval))
  }

  @Test func modes() {
    var budgets = [spent]
    #expect(
      decide(&budgets, DecisionTerms(rule: Self.rule, mode: .reject)) == .reject(until: Self.now + .seconds(5), .waitingForBudget))
    #expect(
      decide(&budgets, DecisionTerms(rule: Self.rule, mode: .reject, isNew: false))
        == .hold(until: Self.now + .seconds(5), .waitingForBudget))
    #expect(decide(&budgets, DecisionTerms(rule: Self.rule, mode: .enforce, dropsUnpaid: true)) == .drop(.droppedByPolicy))
    #expect(budgets == [spent])
    #expect(decide(&budgets, DecisionTerms(rule: Self.rule, mode: .observe)) == .forward(.budgetSpent))
    #expect(budgets[0].fullAt == spent.fullAt + Self.rule.interval)
    budgets = [recent]
    #expect(decide(&budgets, DecisionTerms(rule: Self.rule, mode: .observe)) == .forward(.minimumInterval))
  }

  @Test func anActivityGoesAtFive() {
    for mode in AppPolicy.BudgetMode.allCases {
      for isNew in [true, false] {
        var budgets = [spent]
        let decision = decide(&budgets, DecisionTerms(rule: Self.rule, mode: mode, unpaid: .goesAtFive, isNew: isNew))
        switch mode {
        case .observe: #expect(decision == .forward(.budgetSpent))
        case .reject where isNew: #expect(decision == .reject(until: Self.now + .seconds(5), .waitingForBudget))
        case .reject, .enforce: #expect(decision == .forwardAtFive(.priorityLowered))
        }
        #expect(budgets == [spent] || mode == .observe)
      }
    }
    var budgets = [spent]
    let blocked = DecisionTerms(rule: Self.rule, mode: .enforce, unpaid: .goesAtFive, blocked: .inFlight)
    #expect(decide(&budgets, blocked) == .hold(until: nil, .inFlight))
  }

  /// A start is charged even when it is ignored, as on a device; one that is answered 429 never gets that far.
  @Test func aStartIsIgnoredAndCharged() {
    for mode in AppPolicy.BudgetMode.allCases {
      var budgets = [spent]
      let decision = decide(&budgets, DecisionTerms(rule: Self.rule, mode: mode, unpaid: .isIgnored))
      switch mode {
      case .observe: #expect(decision == .forward(.budgetSpent))
      case .reject: #expect(decision == .reject(until: Self.now + .seconds(5), .waitingForBudget))
      case .enforce: #expect(decision == .drop(.startBudgetSpent))
      }
      #expect(budgets[0].fullAt == (mode == .reject ? spent.fullAt : spent.fullAt + Self.rule.interval))
    }
  }

  @Test func whatIsInFlightBlocks() {
    for mode in AppPolicy.BudgetMode.allCases {
      var budgets = [BudgetState.full]
      #expect(decide(&budgets, DecisionTerms(rule: Self.rule, mode: mode, blocked: .inFlight)) == .hold(until: nil, .inFlight))
      #expect(budgets == [.full])
    }
    var budgets = [recent]
    #expect(
      decide(&budgets, DecisionTerms(rule: Self.rule, mode: .enforce, blocked: .inFlight)) == .hold(until: nil, .minimumInterval))
    #expect(
      decide(&budgets, DecisionTerms(rule: nil, mode: .enforce, blocked: .upstreamUnavailable))
        == .hold(until: nil, .upstreamUnavailable))
  }

  @Test func aDelayHoldsWhatIsPaid() {
    var budgets = [BudgetState.full]
    let later = Self.now + .seconds(1)
    let terms = DecisionTerms(rule: Self.rule, mode: .enforce, notBefore: later, notBeforeCause: .coalescing)
    #expect(decide(&budgets, terms) == .hold(until: later, .coalescing))
    #expect(budgets == [.full])
    #expect(decide(&budgets, terms, at: later) == .forward(.none))
  }

  @Test func noRuleCostsNothing() {
    var budgets = [spent]
    #expect(decide(&budgets, DecisionTerms(rule: nil, mode: .enforce)) == .forward(.none))
    #expect(budgets == [spent])
  }

  /// Every pair of classes: what a waiting push does when another arrives.
  @Test func laneClasses() {
    for waiting in LaneClass.allCases {
      for newer in LaneClass.allCases {
        #expect(waiting.standsFor(newer: newer) == (waiting == .reload && newer == .reload))
        let gives =
          waiting == .activityUpdate && (newer == .activityUpdate || newer == .activityEndWithState)
          || waiting == .background && newer == .background
        #expect(waiting.givesWay(to: newer) == gives)
      }
    }
  }

  @Test func theLongerExpirationStays() {
    let (early, late) = (Instant(unixSeconds: 10), Instant(unixSeconds: 20))
    let order: [Expiration] = [.zero, .at(early), .at(late), .absent]
    for (i, a) in order.enumerated() {
      for (j, b) in order.enumerated() { #expect(a.latest(b) == order[max(i, j)]) }
    }
    #expect(Expiration.absent.deadline(received: early, storage: .seconds(5)) == Instant(unixSeconds: 15))
    #expect(Expiration.at(late).deadline(received: early, storage: .seconds(5)) == Instant(unixSeconds: 15))
    #expect(Expiration.at(Instant(unixSeconds: 12)).deadline(received: early, storage: .seconds(5)) == Instant(unixSeconds: 12))
  }

  @Test func outcomes() {
    let cases: [(UpstreamOutcome, Completion, Completion)] = [
      (.accepted, .final(.accepted, .none), .final(.accepted, .none)),
      (.pending, .final(.accepted, .none), .final(.accepted, .none)),
      (.finished(.applied, .reloaded), .final(.applied, .reloaded), .final(.applied, .reloaded)),
      (.retry(.upstreamBusy), .again(.upstreamBusy), .final(.expired, .upstreamBusy)),
      (.notAttempted(.upstreamUnavailable), .again(.upstreamUnavailable), .again(.upstreamUnavailable)),
      (.expired(Self.now), .final(.failed, .unregistered), .final(.failed, .unregistered)),
      (.unregistered(Self.now), .final(.failed, .unregistered), .final(.failed, .unregistered)),
      (.suspect, .final(.failed, .upstreamSuspectsToken), .final(.failed, .upstreamSuspectsToken)),
      (.refused(status: 400, .badTopic), .final(.failed, .upstreamRefused), .final(.failed, .upstreamRefused)),
    ]
    for (outcome, stored, zero) in cases {
      #expect(outcome.completion(expiration: .absent, received: Self.now) == stored)
      #expect(outcome.completion(expiration: .at(Self.now + .seconds(1)), received: Self.now) == stored)
      for past in [Self.now, Self.now - .seconds(1), Instant(unixSeconds: 45)] {
        #expect(outcome.completion(expiration: .at(past), received: Self.now) == zero)
      }
      #expect(outcome.completion(expiration: .zero, received: Self.now) == zero)
      #expect(outcome.isAttempt == (outcome != .notAttempted(.upstreamUnavailable)))
    }
  }
}
