import Delivery
import Primitives
import Push

// Lanes: what waits behind one token, in the order of arrival, and what goes next.
extension StoreState {
  /// Looks at a token's lane: what is too old ends, and the first push goes when nothing is in flight and it may.
  mutating func advance(_ number: UInt32, _ batch: Batch, at now: Instant) {
    expire(number, at: now)
    let token = tokens[number]
    if token.pointee.inFlight == none, token.pointee.laneHead != none {
      let slot = token.pointee.laneHead
      let push = pushes[slot]
      let before = credits(number, slot, at: now)
      let terms = terms(number, slot)
      var budgets = MutableSpan(_unsafeElements: tokens.budgets(number))
      if case .forward(let cause) = decide(&budgets, terms, at: now) {
        let charges = terms.rule != nil
        if charges {
          push.pointee.isCharged = true
          change(number)
        } else if push.pointee.isCharged {
          budgets.touch(at: now)
          token.pointee.flags.insert(.touched)
        }
        let attempt = Int(push.pointee.attempts) + 1
        recordStep(
          push.pointee.sequence, Self.step(.forwarding, cause, before, creditsAfter(before, terms.rule), attempt: attempt, at: now),
          isDurable: charges)
        unlink(slot, from: number)
        send(slot, arrival: nil, batch)
      }
    }
    scheduleWake(number, at: now)
  }

  /// What a decision about a push depends on; it has arrived before.
  func terms(_ number: UInt32, _ slot: UInt32) -> DecisionTerms {
    let push = pushes[slot]
    return DecisionTerms(
      rule: push.pointee.isCharged || push.pointee.traits.lane != .reload ? nil : rule(number),
      mode: routes[tokens[number].pointee.route].pointee.mode, isNew: false, notBefore: push.pointee.notBefore,
      notBeforeCause: push.pointee.notBeforeCause)
  }

  /// The rule of a token's budgets; nil when it has none.
  func rule(_ number: UInt32) -> BudgetRule? {
    let token = tokens[number]
    guard !token.pointee.flags.contains(.developerMode) else { return nil }
    return nominalRule(number)
  }

  /// The rule of a token's budgets, Developer Mode or not; nil when its kind has none.
  func nominalRule(_ number: UInt32) -> BudgetRule? {
    let token = tokens[number]
    let rule: BudgetRule
    switch token.pointee.kind {
    case .widgets: rule = routes[token.pointee.route].pointee.widgets
    case .controls: rule = routes[token.pointee.route].pointee.controls
    case .liveactivity, .pushToStart, .app, .complication, .fileprovider, .location, .mdm, .pushtotalk, .voip: return nil
    }
    guard token.pointee.minimumIntervalMilliseconds != none else { return rule }
    return rule.with(minimumInterval: .milliseconds(Int64(token.pointee.minimumIntervalMilliseconds)))
  }

  /// Credits of the budget that binds, for the log; nil when the push is of a kind that has none.
  func credits(_ number: UInt32, _ slot: UInt32, at now: Instant) -> Int? {
    guard pushes[slot].pointee.traits.lane == .reload, let rule = rule(number) else { return nil }
    return Int(Span(_unsafeElements: UnsafeBufferPointer(tokens.budgets(number))).survey(rule, at: now).credits)
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
  func blocker(_ number: UInt32) -> Cause? {
    let token = tokens[number]
    if token.pointee.inFlight != none { return .inFlight }
    guard token.pointee.laneHead != none else { return nil }
    let cause = pushes[token.pointee.laneHead].pointee.notBeforeCause
    return cause == .none ? .inFlight : cause
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
    let place = arrival ?? copy(push, to: batch)
    let route = routes[tokens[number].pointee.route]
    batch.forwards.append(
      ForwardedPush(
        ticket: PushTicket(sequence: push.pointee.sequence, slot: slot), id: push.pointee.id, token: place.token,
        upstream: route.pointee.upstream, signer: Int(route.pointee.signer), type: push.pointee.type,
        priority: push.pointee.priority, prioritySent: push.pointee.prioritySent, expiration: push.pointee.expiration,
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
    if token.pointee.inFlight == none, token.pointee.laneHead != none { wake = dueOfHead(number) }
    var slot = token.pointee.laneHead
    while slot != none {
      wake = min(wake, pushes[slot].pointee.deadline)
      slot = pushes[slot].pointee.next
    }
    setWake(number, wake)
  }

  /// Ends the waiting pushes whose time has passed.
  private mutating func expire(_ number: UInt32, at now: Instant) {
    var slot = tokens[number].pointee.laneHead
    while slot != none {
      let push = pushes[slot]
      let next = push.pointee.next
      if push.pointee.deadline <= now {
        let isBrief = push.pointee.expiration == .zero && push.pointee.traits.lane != .reload
        unlink(slot, from: number)
        finish(slot, .expired, isBrief ? .upstreamUnavailable : .expirationPassed, at: now)
      }
      slot = next
    }
  }

  /// When the first of the lane may go, if nothing is in flight.
  private func dueOfHead(_ number: UInt32) -> Instant {
    let slot = tokens[number].pointee.laneHead
    let terms = terms(number, slot)
    guard let rule = terms.rule, terms.mode != .observe else { return terms.notBefore }
    let survey = Span(_unsafeElements: UnsafeBufferPointer(tokens.budgets(number))).survey(rule, at: terms.notBefore)
    return max(terms.notBefore, survey.payableAt)
  }
}
