public import Primitives

/// What the budgets of one token, taken together, say at an instant: a push reloads all its widgets, so each must pay.
public struct BudgetSurvey: Hashable, Sendable {
  /// Which budget binds: the one that can pay last, the scarcest among equals.
  public var binding: Int
  /// When all of them can pay.
  public var payableAt: Instant
  /// Whether all of them can pay now.
  public var isPayable: Bool
  /// Whether it is only the minimum interval that stands in the way.
  public var isMinimumInterval: Bool
  /// Whole credits of the one that binds.
  public var credits: Int64
}

extension Span<BudgetState> {
  /// Looks at every budget; there is at least one. O(n).
  public func survey(_ rule: BudgetRule, at now: Instant) -> BudgetSurvey {
    var binding = 0
    for index in 1..<count where self[index].isScarcer(than: self[binding], rule) { binding = index }
    let state = self[binding]
    return BudgetSurvey(
      binding: binding, payableAt: state.payableAt(rule), isPayable: state.isPayable(rule, at: now),
      isMinimumInterval: state.fullAt - rule.tolerance <= state.effective(now), credits: state.credits(rule, at: now))
  }
}

extension MutableSpan<BudgetState> {
  /// Charges every budget one credit. O(n).
  @_lifetime(self: copy self)
  public mutating func charge(_ rule: BudgetRule, at now: Instant) {
    for index in 0..<count { self[index].charge(rule, at: now) }
  }

  /// Takes note of a further delivery in every budget. O(n).
  @_lifetime(self: copy self)
  public mutating func touch(at now: Instant) {
    for index in 0..<count { self[index].touch(at: now) }
  }
}

extension BudgetState {
  fileprivate func isScarcer(than other: BudgetState, _ rule: BudgetRule) -> Bool {
    let (own, others) = (payableAt(rule), other.payableAt(rule))
    return own != others ? own > others : fullAt > other.fullAt
  }
}
