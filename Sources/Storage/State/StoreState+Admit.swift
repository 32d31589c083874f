import Delivery
import Primitives
import Push

// Accepting pushes. The order of the checks is that of reference APNs as far as it can be observed: the token, then its topic, then
// whether it is still alive (410), then what is ours: the lane and the budgets.
extension StoreState {
  /// Decides about one push, and takes it in unless it is refused.
  ///
  /// - Parameters:
  ///   - index: Its place in the batch; nil for a push of the gateway's own, of which the batch has the bytes only.
  ///   - known: The token's number, if it was known before the batch's admissions; none of those can make it another's.
  mutating func admit(_ operation: inout AdmitOperation, _ index: Int?, _ batch: Batch, known: UInt32?, at now: Instant) {
    judge(&operation, index, batch, known: known, at: now)
    if !operation.collapseID.isEmpty { keepCollapseID(of: operation, batch) }
    if settings.keepsPayloads { keepPayload(of: operation, batch) }
  }

  private mutating func judge(_ operation: inout AdmitOperation, _ index: Int?, _ batch: Batch, known: UInt32?, at now: Instant) {
    let found = (known ?? tokens.find(operation.token)).flatMap { tokens[$0].pointee.isActive ? $0 : nil }
    guard let number = found ?? adopt(operation, batch, at: now) else {
      return refuse(&operation, .refused(.badDeviceToken, .tokenUnknown), batch, at: now)
    }
    if operation.environment == nil { operation.environment = routes[tokens[number].pointee.route].pointee.environment }
    if let refusal = refusal(of: operation, number, batch) { return refuse(&operation, refusal, batch, at: now) }
    if case .at(let date) = operation.expiration, date <= now {
      guard settings.triesPastExpirations else { return end(&operation, number, .expired, .expirationPassed, at: now) }
      // It may have passed since the request was complete.
      operation.received = max(operation.received, date)
    }
    if let missing = missingChannel(of: operation, number) {
      end(&operation, number, .ignored, .channelUnknown, at: now)
      if let entry = log[log.next - 1] { log.setDetail(ContiguousArray(missing.utf8).span.bytes, of: entry) }
      return
    }
    let lane = operation.traits.lane
    var superseded = 0
    var current = tokens[number].pointee.laneHead
    while current != none {
      let waiting = pushes[current]
      if waiting.pointee.traits.lane.standsFor(newer: lane) {
        merge(&operation, into: current, at: now)
        if operation.priority == .immediate { hurry(number, batch, at: now) }
        return
      }
      if gives(way: current, to: operation, batch) { superseded += 1 }
      current = waiting.pointee.next
    }
    guard Int(tokens[number].pointee.laneCount) - superseded < settings.lanePushes else {
      return refuse(&operation, .refused(.tooManyRequests, .laneFull), batch, at: now)
    }
    guard let slot = take(operation, number, batch, at: now) else {
      noteFull(number)
      return refuse(&operation, noRoom(for: number), batch, at: now)
    }
    place(slot, &operation, index, batch, supersedes: superseded > 0, at: now)
  }

  /// Keeps with a push that was taken in what is wrong with its content-state.
  mutating func keepMismatch(of operation: AdmitOperation, _ batch: Batch) {
    guard operation.result.disposition != .refused, let entry = log[log.next - 1], entry.pointee.id == operation.id else { return }
    log.setDetail(batch.bytes[operation.mismatch], of: entry)
  }

  /// Keeps with a push that was taken in what its warnings are about, and has the commit save it.
  mutating func keepWarningDetails(of operation: AdmitOperation, _ batch: Batch) {
    guard operation.result.disposition != .refused, let entry = log[log.next - 1], entry.pointee.id == operation.id else { return }
    log.setWarningDetails(batch.bytes[operation.warningDetails], of: entry)
    writeHead(of: entry, to: journal)
  }

  /// Keeps the collapse id with a push that was taken in. The journal has that of a push that lives with its bytes.
  private mutating func keepCollapseID(of operation: AdmitOperation, _ batch: Batch) {
    guard operation.result.disposition != .refused, let entry = log[log.next - 1], entry.pointee.id == operation.id else { return }
    log.setCollapseID(batch.bytes[operation.collapseID], of: entry)
    switch operation.result {
    case .merged, .ended: writeHead(of: entry, to: journal)
    case .forwarded, .waiting, .refused, .unsettled: break
    }
  }

  /// Whether a waiting push gives way to one that has just arrived.
  func gives(way slot: UInt32, to newer: AdmitOperation, _ batch: Batch) -> Bool {
    let waiting = pushes[slot]
    let isSame =
      waiting.pointee.collapseCount > 0 && waiting.pointee.type == newer.type
      && batch.holds(waiting.pointee.collapseID, at: newer.collapseID)
    return waiting.pointee.traits.givesWay(to: newer.traits, sharesCollapseID: isSame)
  }

  /// What the token itself has against the push.
  func refusal(of operation: AdmitOperation, _ number: UInt32, _ batch: Batch) -> Admission? {
    let token = tokens[number]
    let route = routes[token.pointee.route]
    if let environment = operation.environment, environment != route.pointee.environment {
      return .refused(.badDeviceToken, .otherEnvironment)
    }
    guard batch.holds(route.pointee.bundleID, at: operation.bundleID) else { return .refused(.deviceTokenNotForTopic, .otherApp) }
    guard token.pointee.kind.takes(operation.type) else { return .refused(.deviceTokenNotForTopic, .otherKind) }
    if token.pointee.isRetired {
      let reason: Reason = token.pointee.flags.contains(.expired) ? .expiredToken : .unregistered
      return .refused(reason, .unregistered, since: token.pointee.retiredSince, retryAt: nil)
    }
    if route.pointee.validation == .strict, operation.type == .liveactivity {
      let starts = operation.traits.activity == .start
      if starts != (token.pointee.kind == .pushToStart) { return .refused(.badPayload, .tokenKindMismatch) }
    }
    if operation.mismatchCause != .none { return .refused(.badPayload, operation.mismatchCause) }
    return nil
  }

  /// Keeps what the push needs until it has ended; nil when there is no room.
  mutating func take(_ operation: AdmitOperation, _ number: UInt32, _ batch: Batch, at now: Instant) -> UInt32? {
    let topic = Int(operation.topic.count)
    let collapse = Int(operation.collapseID.count)
    let payload = Int(operation.payload.count)
    let upstream = routes[tokens[number].pointee.route].pointee.upstream
    guard shares.room(for: upstream) >= BlockPool.capacity(for: topic + collapse + payload),
      let block = pool.allocate(topic + collapse + payload)
    else { return nil }
    block.store(batch.bytes[operation.topic])
    block.store(batch.bytes[operation.collapseID], at: topic)
    block.store(batch.bytes[operation.payload], at: topic + collapse)
    // One attempt, and no storage: what is no reload signal may only look for a connection.
    let isBrief = operation.expiration.isUnstored(received: operation.received) && !operation.traits.lane.mayWaitUnstored
    let deadline =
      isBrief
      ? steady(now) + settings.connectPatience : operation.expiration.deadline(received: operation.received, storage: settings.storage)
    var push = LivePush(
      sequence: log.next, received: operation.received, deadline: deadline, notBefore: .distantPast, block: block,
      id: operation.id, expiration: operation.expiration, traits: operation.traits, token: number, warnings: operation.warnings,
      topicCount: UInt16(topic), collapseCount: UInt16(collapse), payloadCount: UInt16(payload), type: operation.type,
      priority: operation.priority, prioritySent: operation.prioritySent)
    push.errand = errand
    push.upstream = upstream
    guard let slot = pushes.insert(push) else {
      pool.release(block)
      return nil
    }
    shares.add(block.capacity, to: upstream)
    return slot
  }

  /// Decides what happens to a push that was taken in, and puts it there.
  ///
  /// - Parameter supersedes: Whether waiting pushes give way to it. They do so only once it is not refused: it stands for them then.
  private mutating func place(
    _ slot: UInt32, _ operation: inout AdmitOperation, _ index: Int?, _ batch: Batch, supersedes: Bool, at now: Instant
  ) {
    let number = pushes[slot].pointee.token
    let (before, terms) = arrivalTerms(slot, operation, supersedes: supersedes, at: now)
    var budgets = MutableSpan(_unsafeElements: tokens.budgets(number))
    let decision = decide(&budgets, terms, at: now)
    switch decision {
    case .forward, .forwardAtFive:
      if supersedes { supersede(by: slot, in: number, at: now) }
      if case .forwardAtFive = decision {
        pushes[slot].pointee.isLowered = true
        tellLowered(slot, batch, at: now)
      }
      let isPaidNow = terms.rule != nil && !pushes[slot].pointee.isLowered
      if pushes[slot].pointee.isCharged {
        budgets.touch(at: now)
        tokens[number].pointee.flags.insert(.touched)
      }
      if isPaidNow { pushes[slot].pointee.isCharged = true }
      let after = isPaidNow ? creditsAfter(before, terms.rule) : before
      record(new: slot, Self.step(.forwarding, decision.cause, before, after, attempt: 1, at: now))
      let arrival = Arrival(
        index: index, token: operation.token, topic: operation.topic, collapseID: operation.collapseID, payload: operation.payload)
      send(slot, arrival: arrival, batch)
      operation.result = .forwarded
    case .hold(let until, let cause):
      if supersedes { supersede(by: slot, in: number, at: now) }
      record(new: slot, Self.step(.waiting, cause, before, before, attempt: 0, at: now))
      append(slot, to: number)
      scheduleWake(number, at: now)
      operation.result = .waiting(due: until, cause)
      if operation.priority == .immediate { hurry(number, batch, at: now) }
    case .reject(let until, let cause):
      release(slot)
      let why: Cause = cause == .minimumInterval ? .tooSoon : .budgetSpent
      refuse(&operation, .refused(.tooManyRequests, why, since: nil, retryAt: until), batch, at: now)
    case .drop(let cause):
      let isCharged = terms.unpaid == .isIgnored
      if isCharged { change(number) }
      release(slot)
      end(&operation, number, .ignored, cause, before, isCharged ? creditsAfter(before, terms.rule) : before, at: now)
    }
  }

  /// What the decision about a push depends on that was just taken in, and the credits that there are.
  mutating func arrivalTerms(
    _ slot: UInt32, _ operation: AdmitOperation, supersedes: Bool, at now: Instant
  ) -> (credits: Int?, DecisionTerms) {
    let number = pushes[slot].pointee.token
    if supersedes { inherit(slot, in: number) }
    let coalesce = operation.traits.lane == .reload ? coalescing(number) : .zero
    if coalesce > .zero {
      pushes[slot].pointee.notBefore = now + coalesce
      pushes[slot].pointee.notBeforeCause = .coalescing
    }
    if let next = Self.nextBatch(routes[tokens[number].pointee.route].pointee.batch, operation, at: now), next > notBefore(slot) {
      pushes[slot].pointee.notBefore = next
      pushes[slot].pointee.notBeforeCause = .waitingForBatch
    }
    var terms = terms(number, slot, at: now)
    terms.isNew = true
    terms.blocked = blocker(number, for: slot)
    if terms.mode == .reject, terms.blocked != nil { terms.reserved = unpaid(number, besides: slot) }
    terms.dropsUnpaid =
      operation.expiration.isUnstored(received: operation.received) && routes[tokens[number].pointee.route].pointee.expirationZero == .drop
    return (credits(number, slot, at: now), terms)
  }

  /// How many of the pushes that wait will have to be paid for, apart from those that give way to a newer one.
  private func unpaid(_ number: UInt32, besides newer: UInt32) -> Int64 {
    var count: Int64 = 0
    var slot = tokens[number].pointee.laneHead
    while slot != none {
      let push = pushes[slot]
      let stays = !gives(way: slot, to: newer)
      if stays, !push.pointee.isCharged, budget(number, slot) != nil { count += 1 }
      slot = push.pointee.next
    }
    return count
  }

  /// Lets a waiting push stand for this one.
  private mutating func merge(_ operation: inout AdmitOperation, into slot: UInt32, at now: Instant) {
    let waiting = pushes[slot]
    let latest = waiting.pointee.expiration.latest(operation.expiration)
    waiting.pointee.deadline = max(
      waiting.pointee.deadline, operation.expiration.deadline(received: operation.received, storage: settings.storage))
    if latest != waiting.pointee.expiration {
      waiting.pointee.expiration = latest
      change(waiting.pointee.token)
      if let entry = log[waiting.pointee.sequence] {
        log.setDetail(Array("it is kept as long as push \(operation.id), which merged into it".utf8).span.bytes, of: entry)
      }
    }
    recordNote(
      operation, token: waiting.pointee.token, mergedInto: waiting.pointee.id,
      Self.step(.merged, .mergedIntoWaiting, at: now))
    operation.result = .merged(into: waiting.pointee.id)
  }

  /// Accepts a push that has ended already.
  private mutating func end(
    _ operation: inout AdmitOperation, _ number: UInt32, _ disposition: Disposition, _ cause: Cause, _ before: Int? = nil,
    _ after: Int? = nil, at now: Instant
  ) {
    recordNote(operation, token: number, mergedInto: nil, Self.step(disposition, cause, before, after, at: now))
    operation.result = .ended(disposition, cause)
  }

  /// Answers with an error, and keeps that in the log.
  mutating func refuse(_ operation: inout AdmitOperation, _ refusal: Admission, _ batch: Batch, at now: Instant) {
    operation.result = refusal
    guard case .refused(let reason, let cause, _, _) = refusal else { preconditionFailure("not a refusal") }
    counters.count(operation.type, .refused)
    let entry = RefusedLog.Entry(
      sequence: 0, id: operation.id, token: operation.token, type: operation.type, reason: reason, cause: cause,
      received: operation.received, at: now)
    let detail = ContiguousArray(detail(of: reason, operation, batch).utf8)
    operation.detail = detail.isEmpty ? .empty : batch.append(detail.span.bytes)
    refused.append(entry, bundleID: batch.bytes[operation.bundleID], detail: detail.span.bytes)
  }

  /// What exactly was wrong, where the cause's own sentence leaves it open; else empty.
  func detail(of reason: Reason, _ operation: AdmitOperation, _ batch: Batch) -> String {
    if reason == .badPayload, operation.mismatch.isEmpty {
      return operation.traits.activity == .start
        ? "aps.event is \"start\", which goes to a push-to-start token, and this is the token of an activity"
        : "aps.event must be \"start\" for a push-to-start token, which takes nothing else"
    }
    if reason == .badPayload { return batch.bytes[operation.mismatch].string }
    if reason == .badDeviceToken { return past(of: operation, batch) }
    if case .refused(.serviceUnavailable, .upstreamFull, _, _) = operation.result { return fullness(of: operation) }
    guard reason == .deviceTokenNotForTopic, let number = tokens.find(operation.token) else { return "" }
    let (kind, bundleID) = (tokens[number].pointee.kind, routes.bundleID(tokens[number].pointee.route))
    return
      "this token is \(kind.article) token of \(bundleID): topic \(bundleID)\(kind.pushType.topicSuffix) and push type \(kind.pushType), not \(batch.bytes[operation.topic].string) and \(operation.type)"
  }

  /// Keeps what a batch tells of requests that were refused before they came here; no commit is needed for that.
  mutating func noteRefusals(of batch: Batch, at now: Instant) {
    for index in batch.refusals.indices { note(batch.refusals[index], batch, at: now) }
  }

  /// Keeps a request that was refused before it came here.
  private mutating func note(_ operation: RefusedOperation, _ batch: Batch, at now: Instant) {
    if let type = operation.type { counters.count(type, .refused) }
    var entry = RefusedLog.Entry(
      sequence: 0, id: operation.id, token: operation.token, type: operation.type, reason: operation.reason, cause: operation.cause,
      received: operation.received, at: now)
    let owner = operation.isAppKnown ? nil : operation.token.flatMap { tokens.find($0) }
    if let owner, tokens[owner].pointee.isActive {
      entry.isOfTokensApp = true
      let bundleID = RawSpan(_unsafeBytes: routes[tokens[owner].pointee.route].pointee.bundleID)
      refused.append(entry, bundleID: bundleID, detail: batch.bytes[operation.detail])
    } else {
      refused.append(entry, bundleID: batch.bytes[operation.bundleID], detail: batch.bytes[operation.detail])
    }
  }
}

extension Batch {
  /// Whether the bytes at `range` are those of `expected`.
  fileprivate func holds(_ expected: UnsafeRawBufferPointer, at range: ByteRange) -> Bool {
    bytes[range].withUnsafeBytes { $0.isSame(as: expected) }
  }
}
