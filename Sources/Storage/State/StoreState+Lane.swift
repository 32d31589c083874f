import Delivery
import Primitives
import Push

// Lanes: what waits behind one token, in the order of arrival, and what goes next.
extension StoreState {
  /// Looks at a token's lane: what is too old ends, and the first push goes when nothing is in flight and it may.
  mutating func advance(_ number: UInt32, _ batch: Batch, at now: Instant) {
    expire(number, at: now)
    var slot = tokens[number].pointee.laneHead
    while tokens[number].pointee.inFlight == none, slot != none {
      let next = pushes[slot].pointee.next
      guard release(slot, of: number, batch, at: now) || pushes[slot].pointee.traits.lane.letsOthersPass else { break }
      slot = next
    }
    leaveIfReplaced(number, at: now)
    scheduleWake(number, at: now)
  }

  /// Lets a waiting push go, or end; false when it goes on waiting.
  private mutating func release(_ slot: UInt32, of number: UInt32, _ batch: Batch, at now: Instant) -> Bool {
    let push = pushes[slot]
    guard isOwn(slot, number) else {
      unlink(slot, from: number)
      finish(slot, .failed, .registrationRemoved, at: now)
      return true
    }
    let before = credits(number, slot, at: now)
    let terms = terms(number, slot, at: now)
    var budgets = MutableSpan(_unsafeElements: tokens.budgets(number))
    switch decide(&budgets, terms, at: now) {
    case .forward(let cause):
      let charges = terms.rule != nil
      push.pointee.isLowered = false
      if charges {
        push.pointee.isCharged = true
        change(number)
        if tokens[number].pointee.flags.contains(.replaced) { closeBudgets(number, at: now) }
      } else if push.pointee.isCharged {
        budgets.touch(at: now)
        tokens[number].pointee.flags.insert(.touched)
      }
      leave(slot, of: number, cause, before, creditsAfter(before, terms.rule), isDurable: charges, batch, at: now)
    case .forwardAtFive(let cause):
      push.pointee.isLowered = true
      tellLowered(slot, batch, at: now)
      leave(slot, of: number, cause, before, before, isDurable: false, batch, at: now)
    case .drop(let cause):
      change(number)
      unlink(slot, from: number)
      batch.ignored.append(
        IgnoredPush(id: push.pointee.id, token: tokens.token(number), type: push.pointee.type, cause: cause, detail: .empty))
      finish(slot, .ignored, cause, before, creditsAfter(before, terms.rule), at: now)
    case .hold, .reject: return false
    }
    return true
  }

  /// Whether a push is still for what its token is registered for, which may have changed while it was in flight.
  func isOwn(_ slot: UInt32, _ number: UInt32) -> Bool {
    let (push, token) = (pushes[slot], tokens[number])
    guard token.pointee.isActive, token.pointee.kind.takes(push.pointee.type) else { return false }
    let bundleID = routes[token.pointee.route].pointee.bundleID
    let topic = UnsafeRawBufferPointer(rebasing: push.pointee.bytes.prefix(Int(push.pointee.topicCount)))
    return topic.count == bundleID.count + push.pointee.type.topicSuffix.utf8CodeUnitCount
      && UnsafeRawBufferPointer(rebasing: topic.prefix(bundleID.count)).isSame(as: bundleID)
  }

  /// Sends out a push of the lane.
  private mutating func leave(
    _ slot: UInt32, of number: UInt32, _ cause: Cause, _ before: Int?, _ after: Int?, isDurable: Bool, _ batch: Batch, at now: Instant
  ) {
    let push = pushes[slot]
    let step = Self.step(.forwarding, cause, before, after, attempt: Int(push.pointee.attempts) + 1, at: now)
    recordStep(push.pointee.sequence, step, isDurable: isDurable)
    unlink(slot, from: number)
    send(slot, arrival: nil, batch)
  }

  /// What a decision about a push depends on; it has arrived before.
  func terms(_ number: UInt32, _ slot: UInt32, at now: Instant) -> DecisionTerms {
    let push = pushes[slot]
    let budget = push.pointee.isCharged ? nil : budget(number, slot)
    var terms = DecisionTerms(
      rule: budget.map { rule($0, number) }, mode: routes[tokens[number].pointee.route].pointee.mode,
      unpaid: budget?.unpaid ?? .waits, isNew: false,
      notBefore: notBefore(slot), notBeforeCause: push.pointee.notBeforeCause)
    if let quiet = quietHours(number, slot)?.end(around: now), quiet > max(now, terms.notBefore) {
      (terms.notBefore, terms.notBeforeCause) = (quiet, .quietHours)
    }
    return terms
  }

  /// The quiet hours that a push has to wait for: a reload's, which nobody would see.
  private func quietHours(_ number: UInt32, _ slot: UInt32) -> QuietHours? {
    pushes[slot].pointee.traits.lane == .reload ? ownTerms(number)?.quietHours : nil
  }

  /// The budget of its token that pays for a push; nil when it costs nothing, or the token's are lifted: by Developer Mode, or since its
  /// platform has none.
  func budget(_ number: UInt32, _ slot: UInt32) -> BudgetKind? {
    let push = pushes[slot]
    guard tokens[number].pointee.flags.isDisjoint(with: [.developerMode, .unmetered]), let budget = nominalBudget(number) else {
      return nil
    }
    return budget.pays(for: push.pointee.type, push.pointee.priority, push.pointee.traits) ? budget : nil
  }

  /// The budget of a token, Developer Mode or not; nil when its kind has none.
  func nominalBudget(_ number: UInt32) -> BudgetKind? {
    let token = tokens[number]
    return BudgetKind(of: token.pointee.kind, frequentUpdates: token.pointee.flags.contains(.frequentUpdates))
  }

  /// The rule of one of a token's budgets.
  func rule(_ budget: BudgetKind, _ number: UInt32) -> BudgetRule {
    let token = tokens[number]
    var rule = routes[token.pointee.route].pointee.rule(budget)
    if let terms = ownTerms(number) {
      rule = BudgetRule(terms.parameters(routes[token.pointee.route].pointee.parameters[budget.ordinal]))
    }
    guard token.pointee.minimumIntervalMilliseconds != none else { return rule }
    return rule.with(minimumInterval: .milliseconds(Int64(token.pointee.minimumIntervalMilliseconds)))
  }

  /// Credits of the budget that binds, for the log; nil when the push costs nothing.
  func credits(_ number: UInt32, _ slot: UInt32, at now: Instant) -> Int? {
    guard let budget = budget(number, slot) else { return nil }
    let budgets = Span(_unsafeElements: UnsafeBufferPointer(tokens.budgets(number)))
    return Int(budgets.survey(rule(budget, number), at: now).credits)
  }

  /// What a charge leaves of the budget that binds; no rule, no charge.
  func creditsAfter(_ before: Int?, _ rule: BudgetRule?) -> Int? {
    guard let before, let rule else { return before }
    return max(before - 1, -Int(rule.allowance))
  }

  /// How long the token's reload signals are held so that others can merge into them.
  func coalescing(_ number: UInt32) -> TimeSpan {
    let token = tokens[number]
    guard token.pointee.coalesceMilliseconds != none else { return routes[token.pointee.route].pointee.coalesce }
    return .milliseconds(Int64(token.pointee.coalesceMilliseconds))
  }

  /// Why a new push cannot be the next to go; nil when it can.
  func blocker(_ number: UInt32, for newer: UInt32) -> Cause? {
    let token = tokens[number]
    if token.pointee.inFlight != none { return .inFlight }
    var slot = token.pointee.laneHead
    while slot != none {
      guard pushes[slot].pointee.traits.lane.letsOthersPass || gives(way: slot, to: newer) else {
        let cause = pushes[slot].pointee.notBeforeCause
        return cause == .none ? .inFlight : cause
      }
      slot = pushes[slot].pointee.next
    }
    return nil
  }

  /// Whether a push gives way to a newer one of the same token.
  func gives(way slot: UInt32, to newer: UInt32) -> Bool {
    let (waiting, newer) = (pushes[slot], pushes[newer])
    let isSame =
      waiting.pointee.collapseCount > 0 && waiting.pointee.type == newer.pointee.type
      && waiting.pointee.collapseID.isSame(as: newer.pointee.collapseID)
    return waiting.pointee.traits.givesWay(to: newer.pointee.traits, sharesCollapseID: isSame)
  }

  /// Puts a push at the end of its token's lane.
  mutating func append(_ slot: UInt32, to number: UInt32) {
    let token = tokens[number]
    pushes[slot].pointee.next = none
    if token.pointee.laneHead == none {
      token.pointee.laneHead = slot
    } else {
      pushes[token.pointee.laneTail].pointee.next = slot
    }
    token.pointee.laneTail = slot
    token.pointee.laneCount += 1
    counters.waiting += 1
  }

  /// Puts a push whose attempt failed before all others of its lane.
  mutating func prepend(_ slot: UInt32, to number: UInt32) {
    let token = tokens[number]
    pushes[slot].pointee.next = token.pointee.laneHead
    if token.pointee.laneHead == none { token.pointee.laneTail = slot }
    token.pointee.laneHead = slot
    token.pointee.laneCount += 1
    counters.waiting += 1
  }

  /// Takes a push out of its token's lane, wherever it stands.
  mutating func unlink(_ slot: UInt32, from number: UInt32) {
    let token = tokens[number]
    var before = none
    var current = token.pointee.laneHead
    while current != slot {
      before = current
      current = pushes[current].pointee.next
    }
    let next = pushes[slot].pointee.next
    if before == none { token.pointee.laneHead = next } else { pushes[before].pointee.next = next }
    if token.pointee.laneTail == slot { token.pointee.laneTail = before }
    token.pointee.laneCount -= 1
    counters.waiting -= 1
  }

  /// Hands a push to a loop: it is in flight until its outcome comes.
  ///
  /// - Parameter arrival: Where the operation that brought the push stands in this very batch, and where its bytes are already.
  mutating func send(_ slot: UInt32, arrival: Arrival?, _ batch: Batch) {
    let push = pushes[slot]
    let number = push.pointee.token
    push.pointee.isInFlight = true
    push.pointee.group = group
    tokens[number].pointee.inFlight = slot
    counters.inFlight += 1
    if push.pointee.errand != none { errands.moved(push.pointee.errand, forwarding: 1) }
    let place = arrival ?? copy(push, to: batch)
    let route = routes[tokens[number].pointee.route]
    batch.forwards.append(
      ForwardedPush(
        ticket: PushTicket(sequence: push.pointee.sequence, slot: slot), id: push.pointee.id, token: place.token,
        upstream: route.pointee.upstream, signer: route.pointee.signers[push.pointee.type], type: push.pointee.type,
        priority: push.pointee.isLowered ? .considerate : push.pointee.priority,
        prioritySent: push.pointee.isLowered || push.pointee.prioritySent, expiration: push.pointee.expiration,
        attempt: Int(push.pointee.attempts) + 1, admit: place.index, topic: place.topic, collapseID: place.collapseID,
        payload: place.payload))
  }

  /// Where a push's bytes stand in the batch that takes it to its loop.
  struct Arrival {
    /// The index of the operation that brought it; nil when it had waited.
    var index: Int?
    var token: DeviceToken
    var topic: ByteRange
    var collapseID: ByteRange
    var payload: ByteRange
  }

  private func copy(_ push: UnsafeMutablePointer<LivePush>, to batch: Batch) -> Arrival {
    let topic = Int(push.pointee.topicCount)
    let collapse = Int(push.pointee.collapseCount)
    let offset = Int(batch.arena.append(push.pointee.bytes).offset)
    return Arrival(
      index: nil, token: tokens.token(push.pointee.token), topic: ByteRange(offset: offset, count: topic),
      collapseID: ByteRange(offset: offset + topic, count: collapse),
      payload: ByteRange(offset: offset + topic + collapse, count: Int(push.pointee.payloadCount)))
  }

  /// Works out when the lane must be looked at again.
  mutating func scheduleWake(_ number: UInt32, at now: Instant) {
    let token = tokens[number]
    var wake = Instant.distantFuture
    var delayed = Instant.distantFuture
    var mayGo = token.pointee.inFlight == none
    var slot = token.pointee.laneHead
    while slot != none {
      let push = pushes[slot]
      if mayGo {
        if let delay = delay(slot, at: now) { delayed = min(delayed, delay) } else { wake = min(wake, due(slot, of: number, at: now)) }
      }
      mayGo = mayGo && push.pointee.traits.lane.letsOthersPass
      if push.pointee.isBrief { delayed = min(delayed, push.pointee.deadline) } else { wake = min(wake, push.pointee.deadline) }
      slot = push.pointee.next
    }
    setWake(number, wake)
    if delayed != .distantFuture || !delays.isEmpty { delays.set(number, delayed) }
  }

  /// Ends the waiting pushes whose time has passed.
  private mutating func expire(_ number: UInt32, at now: Instant) {
    var slot = tokens[number].pointee.laneHead
    while slot != none {
      let push = pushes[slot]
      let next = push.pointee.next
      let isBrief = push.pointee.isBrief
      if push.pointee.deadline <= (isBrief ? steady(now) : now) {
        unlink(slot, from: number)
        let missing: Cause = push.pointee.notBeforeCause.awaitsConfiguration ? push.pointee.notBeforeCause : .upstreamUnavailable
        finish(slot, .expired, isBrief ? missing : .expirationPassed, at: now)
      }
      slot = next
    }
  }

  /// When a push that nothing holds up may go.
  func due(_ slot: UInt32, of number: UInt32, at now: Instant) -> Instant {
    let terms = terms(number, slot, at: now)
    guard let rule = terms.rule, terms.mode != .observe, terms.unpaid == .waits else { return terms.notBefore }
    let survey = Span(_unsafeElements: UnsafeBufferPointer(tokens.budgets(number))).survey(rule, at: terms.notBefore)
    let due = max(terms.notBefore, survey.payableAt)
    return quietHours(number, slot)?.end(around: due) ?? due
  }
}
