public import Primitives
public import Push

/// What to do with the push at the head of a token's lane, or with one that has just arrived.
public enum Decision: Hashable, Sendable {
  /// Forward it now; its budgets are charged. The cause is not `none` when it goes although a budget says no.
  case forward(Cause)
  /// It waits: until the instant, or until the push in flight is done when there is none.
  case hold(until: Instant?, Cause)
  /// Refuse it with 429: it could be paid for at the instant.
  case reject(until: Instant, Cause)
  /// Forward it now with priority 5, which costs nothing, since its budget cannot pay for 10.
  case forwardAtFive(Cause)
  /// Let it pass without doing anything.
  case drop(Cause)
}

extension Decision {
  /// Why it was decided so.
  public var cause: Cause {
    switch self {
    case .forward(let cause), .forwardAtFive(let cause), .hold(_, let cause), .reject(_, let cause), .drop(let cause): cause
    }
  }
}

/// What one decision depends on, besides the budgets and the instant.
public struct DecisionTerms: Hashable, Sendable {
  /// The rule of the token's budgets; nil when the push costs nothing, or has been charged before.
  public var rule: BudgetRule?
  /// What happens to a push that cannot be paid for.
  public var mode: AppPolicy.BudgetMode
  /// What that is for a push of its kind, where the mode lets it pass.
  public var unpaid: BudgetKind.Unpaid
  /// Whether the push has just arrived, so that it can still be refused or dropped.
  public var isNew: Bool
  /// Whether it is dropped rather than held when it cannot be paid for at once.
  public var dropsUnpaid: Bool
  /// Credits that pushes ahead of it will take, so that what is accepted behind them can be paid for.
  public var reserved: Int64 = 0
  /// Whether another push of the token is in flight or waits ahead of it, and why it would wait for that.
  public var blocked: Cause?
  /// It does not go before this instant: coalescing, or the delay between attempts.
  public var notBefore: Instant
  /// Why it does not go before `notBefore`.
  public var notBeforeCause: Cause

  /// Terms with these values.
  public init(
    rule: BudgetRule?, mode: AppPolicy.BudgetMode, unpaid: BudgetKind.Unpaid = .waits, isNew: Bool = true, dropsUnpaid: Bool = false,
    blocked: Cause? = nil, notBefore: Instant = .distantPast, notBeforeCause: Cause = .none
  ) {
    self.rule = rule
    self.mode = mode
    self.unpaid = unpaid
    self.isNew = isNew
    self.dropsUnpaid = dropsUnpaid
    self.blocked = blocked
    self.notBefore = notBefore
    self.notBeforeCause = notBeforeCause
  }
}

/// Decides about one push, and charges its budgets when it goes; those of starts when they are ignored as well. The only code that
/// spends.
///
/// - Parameter budgets: The token's budgets, at least one when there is a rule.
public func decide(_ budgets: inout MutableSpan<BudgetState>, _ terms: DecisionTerms, at now: Instant) -> Decision {
  var overdrawn = Cause.none
  var until = terms.notBefore
  var cause = terms.notBeforeCause
  var isLowered = false
  if let rule = terms.rule {
    let survey = budgets.span.survey(rule, at: now)
    if survey.isPayable, terms.mode == .reject, terms.isNew, terms.reserved > 0,
      survey.credits <= terms.reserved || rule.minimumInterval > .zero
    {
      let isShort = survey.credits <= terms.reserved
      return .reject(until: now + (isShort ? rule.interval : rule.minimumInterval), isShort ? .waitingForBudget : .minimumInterval)
    }
    if !survey.isPayable {
      let short: Cause = survey.isMinimumInterval ? .minimumInterval : .waitingForBudget
      switch (terms.mode, terms.unpaid) {
      case (.observe, _): overdrawn = survey.isMinimumInterval ? .minimumInterval : .budgetSpent
      case (.reject, _) where terms.isNew: return .reject(until: survey.payableAt, short)
      case (_, .isIgnored):
        budgets.charge(rule, at: now)
        return .drop(.startBudgetSpent)
      case (_, .goesAtFive): isLowered = true
      case (.enforce, .waits) where terms.isNew && terms.dropsUnpaid: return .drop(.droppedByPolicy)
      case (_, .waits):
        if survey.payableAt >= until { (until, cause) = (survey.payableAt, short) }
        if let blocked = terms.blocked { return .hold(until: nil, blocked == .inFlight ? short : blocked) }
        return .hold(until: until, cause)
      }
    }
  }
  if let blocked = terms.blocked { return .hold(until: nil, blocked) }
  if until > now { return .hold(until: until, cause) }
  if isLowered { return .forwardAtFive(.priorityLowered) }
  if let rule = terms.rule { budgets.charge(rule, at: now) }
  return .forward(overdrawn)
}
