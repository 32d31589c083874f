import Delivery
import Primitives
import Push

// Rotation: one token takes another's place, and there is one budget for both.
//
// The new token goes on with the budgets of the old. What waits for the old one still goes when it would have gone, and the new one
// pays for it in advance; beyond that the old one has nothing for a window. So however often a token rotates, all of them together
// never spend more than one would have.
extension StoreState {
  /// A registration whose place another takes, with the budgets that go on.
  struct Predecessor {
    var number: UInt32
    var registration: Registration
    var budgets: [BudgetState]
    var rule: BudgetRule?
  }

  /// Takes the budgets of the token whose place a new one takes; nil unless it is of the same app and kind.
  mutating func takeBudgets(of rotated: Registration?, for registration: Registration, at now: Instant) -> Predecessor? {
    guard let rotated, rotated.kind == registration.kind, rotated.bundleID == registration.bundleID,
      let number = tokens.find(rotated.token), tokens[number].pointee.isActive
    else { return nil }
    var taken = Predecessor(
      number: number, registration: rotated, budgets: Array(tokens.budgets(number)), rule: nominalBudget(number).map { rule($0, number) })
    let wasReplaced = tokens[number].pointee.flags.contains(.replaced)
    tokens[number].pointee.flags.insert(.replaced)
    change(number)
    guard let rule = taken.rule else { return taken }
    if wasReplaced {
      // They went to another token before.
      for index in taken.budgets.indices { taken.budgets[index] = taken.budgets[index].handedOn(rule, at: now) }
      return taken
    }
    var paid = 0
    for _ in 0..<unpaidPushes(number) {
      guard let at = nextPayment(number, taken.budgets, rule, at: now) else { break }
      for index in taken.budgets.indices { taken.budgets[index].charge(rule, at: at) }
      paid += 1
    }
    if paid == 0 { handOnBudgets(number, at: now) }
    scheduleWake(number, at: now)
    return taken
  }

  /// Leaves a replaced token nothing to spend for a window, once nothing waits that has been paid for in advance.
  mutating func closeBudgets(_ number: UInt32, at now: Instant) {
    if unpaidPushes(number) == 0 { handOnBudgets(number, at: now) }
  }

  /// Leaves a token nothing to spend for a window.
  mutating func handOnBudgets(_ number: UInt32, at now: Instant) {
    guard let rule = nominalBudget(number).map({ rule($0, number) }) else { return }
    let budgets = tokens.budgets(number)
    for index in budgets.indices { budgets[index] = budgets[index].handedOn(rule, at: now) }
  }

  /// Removes a registration in whose place another is, and for which nothing waits.
  mutating func leaveIfReplaced(_ number: UInt32, at now: Instant) {
    guard tokens[number].pointee.flags.contains(.replaced), tokens[number].pointee.isActive, !tokens[number].pointee.hasLane else { return }
    _ = unregister(tokens.token(number), at: now)
  }

  /// How many of the pushes that wait for a token its budgets have yet to pay for.
  private func unpaidPushes(_ number: UInt32) -> Int {
    var count = 0
    var slot = tokens[number].pointee.laneHead
    while slot != none {
      if !pushes[slot].pointee.isCharged, budget(number, slot) != nil { count += 1 }
      slot = pushes[slot].pointee.next
    }
    return count
  }

  /// When budgets pay for the next push that waits; nil when it would not wait for them, and goes without.
  private func nextPayment(_ number: UInt32, _ budgets: [BudgetState], _ rule: BudgetRule, at now: Instant) -> Instant? {
    guard routes[tokens[number].pointee.route].pointee.mode != .observe else { return now }
    let payable = budgets.span.survey(rule, at: now).payableAt
    return payable <= now || nominalBudget(number)?.unpaid == .waits ? max(payable, now) : nil
  }
}
