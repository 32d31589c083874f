import Delivery
import Primitives
import Push

// What the journal's records of single pushes do to a token that is being loaded.
extension StateLoader {
  /// The budgets of a token replace those that it has, unless a page was ahead and has other ones; a later row tells of them.
  func setBudgets(_ saved: [BudgetState], of number: UInt32, _ state: inout StoreState) {
    guard number < state.tokens.end, state.tokens[number].pointee.flags.contains(.used) else { return }
    state.dirtyTokens.insert(Int(number) / StoreState.pageTokens)
    let budgets = state.tokens.budgets(number)
    guard budgets.count == saved.count else { return }
    for index in saved.indices { budgets[index] = saved[index] }
  }

  /// Puts a push into its token's lane, by its number, which is the order of every lane. Where a page was ahead, and the token is
  /// gone, a later row tells of the push's end.
  func join(_ slot: UInt32, _ number: UInt32, _ state: inout StoreState) {
    guard number < state.tokens.end, state.tokens[number].pointee.flags.contains(.used) else { return }
    let token = state.tokens[number]
    let push = state.pushes[slot]
    var before = none
    var next = token.pointee.laneHead
    if next != none, state.pushes[token.pointee.laneTail].pointee.sequence < push.pointee.sequence {
      (before, next) = (token.pointee.laneTail, none)
    }
    while next != none, state.pushes[next].pointee.sequence < push.pointee.sequence {
      (before, next) = (next, state.pushes[next].pointee.next)
    }
    push.pointee.token = number
    push.pointee.next = next
    if before == none { token.pointee.laneHead = slot } else { state.pushes[before].pointee.next = slot }
    if next == none { token.pointee.laneTail = slot }
    token.pointee.laneCount += 1
  }

  /// Takes a push out of its token's lane, if it is in one.
  func leave(_ slot: UInt32, _ state: inout StoreState) {
    let number = state.pushes[slot].pointee.token
    guard number != none else { return }
    let token = state.tokens[number]
    var before = none
    var current = token.pointee.laneHead
    while current != slot { (before, current) = (current, state.pushes[current].pointee.next) }
    let next = state.pushes[slot].pointee.next
    if before == none { token.pointee.laneHead = next } else { state.pushes[before].pointee.next = next }
    if token.pointee.laneTail == slot { token.pointee.laneTail = before }
    token.pointee.laneCount -= 1
  }
}
