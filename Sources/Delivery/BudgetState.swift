public import Primitives

/// What one widget, control or activity has spent: two instants, whatever its history.
public struct BudgetState: Hashable, Sendable {
  /// When the budget will be full again (the algorithm's theoretical arrival time).
  public var fullAt: Instant
  /// The latest charge.
  public var lastCharge: Instant

  /// A state with these values.
  public init(fullAt: Instant, lastCharge: Instant) {
    self.fullAt = fullAt
    self.lastCharge = lastCharge
  }

  /// A budget that was never charged.
  public static let full = BudgetState(fullAt: .distantPast, lastCharge: .distantPast)

  /// A budget that has `credits` at `now`, at most the rule's burst and no less than minus its allowance.
  public init(credits: Int64, rule: BudgetRule, at now: Instant) {
    let credits = min(max(credits, -rule.allowance), rule.burst)
    fullAt = now + rule.interval * (rule.burst - credits)
    lastCharge = .distantPast
  }

  /// The instant that counts at `now`: never before the latest charge, so a clock that steps back gives no credit.
  @inlinable public func effective(_ now: Instant) -> Instant { max(now, lastCharge) }

  /// The first instant at which one credit can be paid.
  public func payableAt(_ rule: BudgetRule) -> Instant {
    max(fullAt - rule.tolerance, lastCharge + rule.minimumInterval)
  }

  /// Whether one credit can be paid at `now`.
  public func isPayable(_ rule: BudgetRule, at now: Instant) -> Bool { payableAt(rule) <= effective(now) }

  /// Whole credits at `now`, whatever the minimum interval says; negative when more was spent than there was.
  public func credits(_ rule: BudgetRule, at now: Instant) -> Int64 {
    let t = effective(now)
    let owed = max(fullAt, t) - t
    return rule.burst - (owed.nanoseconds.saturatingAdd(rule.interval.nanoseconds - 1)).floorDivide(rule.interval.nanoseconds)
  }

  /// When the next credit comes back; nil when the budget is full.
  public func nextCredit(_ rule: BudgetRule, at now: Instant) -> Instant? {
    let t = effective(now)
    guard fullAt > t else { return nil }
    let owed = (fullAt - t).nanoseconds
    return t + TimeSpan(nanoseconds: (owed - 1) % rule.interval.nanoseconds + 1)
  }

  /// Spends one credit at `now`. What cannot be paid is owed, down to minus the allowance.
  public mutating func charge(_ rule: BudgetRule, at now: Instant) {
    let t = effective(now)
    let floor = t + rule.interval * (rule.burst.saturatingAdd(rule.allowance))
    fullAt = max(fullAt, min(max(fullAt, t) + rule.interval, floor))
    lastCharge = t
  }

  /// What it is under another rule: a change gives nothing at once, and takes nothing back that was spent.
  ///
  /// What remains stays, less the burst that was taken away; more burst fills at the new rule's pace. So no window sees more than the
  /// greatest of the allowances that were in force within it. Nobody waits longer than one window of the new rule after the latest
  /// charge: a debt is cut to that. A debt that may have been cut no longer tells how much was spent, so further changes shorten no wait
  /// that is longer than a charge alone makes it.
  public func converted(from old: BudgetRule, to new: BudgetRule, at now: Instant) -> BudgetState {
    let t = effective(now)
    let hasHistory = lastCharge + max(old.recovery, new.recovery) > t
    guard fullAt > t || hasHistory else { return self }
    let remaining = credits(old, at: now)
    let kept = hasHistory ? remaining.saturatingAdd(min(0, new.burst - old.burst)) : min(remaining, new.burst)
    let before = fullAt - old.tolerance
    var payable = t + new.interval * Int64(1).saturatingSubtract(kept)
    if before > t, before > lastCharge + old.interval { payable = max(payable, before) }
    var latest = lastCharge + new.recovery
    // What was set by hand, or observed, is not of the latest charge.
    if latest <= t { latest = min(max(before, t), t + new.recovery) }
    if before > lastCharge + old.recovery { latest = t + new.recovery }
    return BudgetState(fullAt: min(payable, latest) + new.tolerance, lastCharge: lastCharge)
  }

  /// What is left where the budget has been handed on to another: nothing before a window has passed.
  public func handedOn(_ rule: BudgetRule, at now: Instant) -> BudgetState {
    BudgetState(fullAt: max(fullAt, effective(now) + rule.recovery + rule.tolerance), lastCharge: lastCharge)
  }

  /// Takes note of a further delivery that was paid for before, so that the minimum interval counts from it.
  public mutating func touch(at now: Instant) { lastCharge = effective(now) }
}
