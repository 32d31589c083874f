import Delivery
import Primitives
import Push

// Outcomes: what an attempt, or the device, said, and what follows for the push and for its token.
extension StoreState {
  /// Takes the outcome of a push in flight; one that the state does not know any more is dropped.
  mutating func complete(_ operation: CompleteOperation, _ batch: Batch, at now: Instant) {
    guard let slot = slot(of: operation.ticket) else { return }
    let push = pushes[slot]
    let number = push.pointee.token
    tokens[number].pointee.inFlight = none
    push.pointee.isInFlight = false
    counters.inFlight -= 1
    if push.pointee.errand != none { errands.moved(push.pointee.errand, forwarding: -1) }
    completed.append(push.pointee.sequence)
    if operation.outcome.isAttempt { push.pointee.attempts = push.pointee.attempts.addingReportingOverflow(1).partialValue }
    switch operation.outcome.completion(expiration: push.pointee.expiration, received: push.pointee.received) {
    case .final(let disposition, let cause):
      note(operation.outcome, on: number, at: now)
      if let entry = log[push.pointee.sequence] { keep(operation, entry, batch) }
      // What the gateway has warned of itself is told already.
      let hasRemark =
        disposition == .applied && push.pointee.type == .liveactivity && !push.pointee.warnings.contains(.dateMisread)
        && AppliedRemark.find(in: batch.bytes[operation.detail]) != nil
      if disposition == .ignored || hasRemark {
        batch.ignored.append(
          IgnoredPush(
            id: push.pointee.id, token: tokens.token(number), type: push.pointee.type, cause: cause, detail: operation.detail))
      }
      finish(slot, disposition, operation.isFault && disposition == .failed ? .fault : cause, at: now)
    case .again where push.pointee.isReset: finish(slot, .failed, .reset, at: now)
    case .again(let cause):
      push.pointee.failures = push.pointee.failures.addingReportingOverflow(1).partialValue
      let patience = operation.outcome.isAttempt && cause == .upstreamFailed ? serverErrorRetry(number) : nil
      push.pointee.isPatient = patience != nil
      push.pointee.notBefore =
        steady(now) + (patience ?? settings.retry).delay(afterFailures: Int(push.pointee.failures), using: &generator)
      push.pointee.notBeforeCause = cause
      returnToLane(slot, cause, at: now)
    }
    advance(number, batch, at: now)
    releaseTokenIfUnused(number)
  }

  /// The delays of a token's push that its upstream has answered with a server error; nil where they are those of any failure.
  private func serverErrorRetry(_ number: UInt32) -> Retry? {
    settings.serverErrorRetries[routes[tokens[number].pointee.route].pointee.upstream]
  }

  /// What a device reported about a push later; false when no push of that id waits for such a report. The same report once more,
  /// from a device that did not hear of its success, changes nothing.
  mutating func recordOutcome(
    _ id: PushID, _ disposition: Disposition, _ cause: Cause, detail: RawSpan, at now: Instant
  ) -> Bool {
    var entry = log.find(id)
    var isRepeated = false
    while let candidate = entry {
      let last = log.last(of: candidate)
      switch last.disposition {
      case .accepted, .forwarding:
        if detail.byteCount > 0 { log.setDetail(detail, of: candidate) }
        recordStep(candidate.pointee.sequence, Self.step(disposition, cause, at: now), isDurable: true)
        counters.count(candidate.pointee.type, disposition)
        if let number = errands.number(of: id) {
          if last.disposition == .accepted { errands.count(number, .accepted, -1) }
          errands.count(number, disposition)
          errands.noteEnd(number, id, disposition, cause)
        }
        return true
      case .applied, .ignored: isRepeated = isRepeated || (last.disposition == disposition && last.cause == cause)
      case .refused, .waiting, .merged, .expired, .failed: break
      }
      entry = candidate.pointee.previousOfID == 0 ? nil : log[candidate.pointee.previousOfID]
    }
    return isRepeated
  }

  /// Ends a push that is neither in a lane nor in flight.
  mutating func finish(
    _ slot: UInt32, _ disposition: Disposition, _ cause: Cause, _ before: Int? = nil, _ after: Int? = nil, at now: Instant
  ) {
    let push = pushes[slot]
    let token = tokens[push.pointee.token]
    if token.pointee.flags.contains(.touched) {
      token.pointee.flags.remove(.touched)
      change(push.pointee.token)
    }
    let said = disposition == .accepted ? log[push.pointee.sequence].map { log.last(of: $0).disposition } : nil
    // A device may report before its upstream's 200 is through; what it said stands.
    let isTold = said == .applied || said == .ignored
    if push.pointee.errand != none { errands.ended(push.pointee.errand, push.pointee.id, isTold ? nil : disposition, cause) }
    if isTold {
      recordEnd(slot, nil)
    } else {
      recordEnd(slot, Self.step(disposition, cause, before, after, at: now))
      counters.count(push.pointee.type, disposition)
    }
    release(slot)
  }

  /// Lets every waiting push that gives way to a newer one do so; that is in no lane yet.
  mutating func supersede(by newer: UInt32, in number: UInt32, at now: Instant) {
    var slot = tokens[number].pointee.laneHead
    while slot != none {
      let next = pushes[slot].pointee.next
      if gives(way: slot, to: newer) {
        unlink(slot, from: number)
        finishMerged(slot, into: newer, .supersededByNewer, at: now)
      }
      slot = next
    }
  }

  /// Gives a push what those have that will give way to it: their delay, since it is no fresh start for an upstream that has just failed,
  /// and what was paid for one of them, since nothing has come of that.
  mutating func inherit(_ newer: UInt32, in number: UInt32) {
    let arrived = pushes[newer]
    var slot = tokens[number].pointee.laneHead
    while slot != none {
      let push = pushes[slot]
      if gives(way: slot, to: newer) {
        // A batch is no failure of the upstream's.
        if push.pointee.notBeforeCause != .waitingForBatch, push.pointee.notBefore >= arrived.pointee.notBefore {
          arrived.pointee.failures = push.pointee.failures
          arrived.pointee.notBefore = push.pointee.notBefore
          arrived.pointee.notBeforeCause = push.pointee.notBeforeCause
          arrived.pointee.isPatient = push.pointee.isPatient
        }
        if push.pointee.isCharged, budget(number, newer) != nil { arrived.pointee.isCharged = true }
      }
      slot = push.pointee.next
    }
  }

  /// Gives a push's memory back.
  mutating func release(_ slot: UInt32) {
    if let block = pushes[slot].pointee.block {
      shares.add(-block.capacity, to: pushes[slot].pointee.upstream)
      pool.release(block)
    }
    pushes[slot].pointee.token = none
    pushes[slot].pointee.sequence = 0
    pushes.remove(slot)
  }

  /// Ends every waiting push of a token.
  mutating func failLane(_ number: UInt32, _ cause: Cause, at now: Instant) {
    while tokens[number].pointee.laneHead != none {
      let slot = tokens[number].pointee.laneHead
      unlink(slot, from: number)
      finish(slot, .failed, cause, at: now)
    }
  }

  /// Where a ticket's push is; nil when it is not in flight.
  private mutating func slot(of ticket: PushTicket) -> UInt32? {
    if ticket.slot < pushes.end, pushes[ticket.slot].pointee.sequence == ticket.sequence {
      return pushes[ticket.slot].pointee.isInFlight ? ticket.slot : nil
    }
    guard !relocated.isEmpty, let slot = relocated.removeValue(forKey: ticket.sequence) else { return nil }
    return pushes[slot].pointee.sequence == ticket.sequence && pushes[slot].pointee.isInFlight ? slot : nil
  }

  /// What an upstream's answer says about the token itself.
  private mutating func note(_ outcome: UpstreamOutcome, on number: UInt32, at now: Instant) {
    let token = tokens[number]
    switch outcome {
    case .unregistered(let since), .expired(let since):
      // A token that was registered after that time is alive again (Apple, "Handling notification responses from APNs").
      // The time has milliseconds only.
      guard token.pointee.isActive, since.unixMilliseconds >= token.pointee.registered.unixMilliseconds else { return }
      token.pointee.retiredSince = since
      if case .expired = outcome { token.pointee.flags.insert(.expired) } else { token.pointee.flags.remove(.expired) }
      change(number)
      failLane(number, .unregistered, at: now)
      noteGone(number)
    case .suspect:
      token.pointee.flags.insert(.suspect)
      change(number)
    case .accepted, .pending, .finished:
      guard token.pointee.flags.contains(.suspect) else { return }
      token.pointee.flags.remove(.suspect)
      change(number)
    case .retry, .notAttempted, .refused: break
    }
  }

  /// Keeps what the upstream or the device said with the entry.
  private mutating func keep(_ operation: CompleteOperation, _ entry: UnsafeMutablePointer<LogEntry>, _ batch: Batch) {
    switch operation.outcome {
    case .refused(let status, let reason):
      entry.pointee.upstreamStatus = UInt16(truncatingIfNeeded: status)
      entry.pointee.reason = reason
    case .suspect:
      entry.pointee.upstreamStatus = 400
      entry.pointee.reason = .badDeviceToken
    case .unregistered:
      entry.pointee.upstreamStatus = 410
      entry.pointee.reason = .unregistered
    case .expired:
      entry.pointee.upstreamStatus = 410
      entry.pointee.reason = .expiredToken
    case .retry where operation.passedOn != 0:
      entry.pointee.upstreamStatus = operation.passedOn
      entry.pointee.reason = operation.passedOnReason
    case .accepted, .pending, .finished, .retry, .notAttempted: break
    }
    entry.pointee.isPassedOn = operation.passedOn != 0
    if operation.detail.count > 0 { log.setDetail(batch.bytes[operation.detail], of: entry) }
  }

  /// Puts a push whose attempt failed back, unless one that arrived meanwhile shows a later state; and lets it stand for
  /// a reload signal that arrived meanwhile.
  private mutating func returnToLane(_ slot: UInt32, _ cause: Cause, at now: Instant) {
    let push = pushes[slot]
    let number = push.pointee.token
    let isRetired = tokens[number].pointee.isActive && tokens[number].pointee.isRetired
    if isRetired || !isOwn(slot, number) {
      return finish(slot, .failed, isRetired ? .unregistered : .registrationRemoved, at: now)
    }
    var current = tokens[number].pointee.laneHead
    while current != none {
      let waiting = pushes[current]
      let next = waiting.pointee.next
      if gives(way: slot, to: current) {
        waiting.pointee.failures = push.pointee.failures
        // From here on by the steady clock, as the delay is.
        let own = waiting.pointee.isDelayed ? waiting.pointee.notBefore : steady(waiting.pointee.notBefore)
        waiting.pointee.notBefore = max(own, push.pointee.notBefore)
        waiting.pointee.notBeforeCause = cause
        waiting.pointee.isPatient = push.pointee.isPatient
        if push.pointee.isCharged, !waiting.pointee.isCharged, budget(number, current) != nil {
          waiting.pointee.isCharged = true
          change(number)
        }
        return finishMerged(slot, into: current, .supersededByNewer, at: now)
      }
      if push.pointee.traits.lane.standsFor(newer: waiting.pointee.traits.lane) {
        push.pointee.expiration = push.pointee.expiration.latest(waiting.pointee.expiration)
        push.pointee.deadline = max(push.pointee.deadline, waiting.pointee.deadline)
        change(number)
        unlink(current, from: number)
        finishMerged(current, into: slot, .mergedIntoWaiting, at: now)
      }
      current = next
    }
    prepend(slot, to: number)
    recordStep(
      push.pointee.sequence, Self.step(.waiting, cause, nil, nil, attempt: Int(push.pointee.attempts), at: now), isDurable: false)
  }

  private mutating func finishMerged(_ slot: UInt32, into other: UInt32, _ cause: Cause, at now: Instant) {
    if let entry = log[pushes[slot].pointee.sequence] {
      entry.pointee.mergedInto = pushes[other].pointee.id
    }
    finish(slot, .merged, cause, at: now)
  }
}
