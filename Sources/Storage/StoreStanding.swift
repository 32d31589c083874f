import Delivery
public import Primitives
public import Push

/// What the store has still to do of what is due, and what comes next.
public struct StoreStanding: Sendable {
  /// Something that happens by itself when the product's clock comes to it.
  public struct Event: Hashable, Sendable {
    /// What happens.
    public enum What: String, Hashable, Sendable {
      /// A push may go.
      case pushDue
      /// A push ends unsent.
      case pushExpires
      /// A reload of many goes on.
      case reloadDue
    }

    /// When.
    public var at: Instant
    /// What.
    public var what: What
    /// The push, or the reload.
    public var id: PushID
    /// The push's token; nil for a reload.
    public var token: DeviceToken?
    /// The app.
    public var bundleID: String
  }

  /// A push that was due and has not ended: it is on its way, or waits for the next attempt at its upstream; or a reload that goes on.
  public struct Work: Hashable, Sendable {
    /// The push; a broadcast's or a reload's id where there is no token.
    public var push: PushID
    /// Its token; nil for a broadcast or a reload.
    public var token: DeviceToken?
    /// Its app.
    public var bundleID: String
    /// Where it stands.
    public var disposition: Disposition
    /// Why.
    public var cause: Cause
  }

  /// The next event; nil when nothing happens by itself.
  public var next: Event?
  /// Pushes that were due and have not ended, at most `Limits.outstandingListed` of them.
  public var outstanding: [Work] = []
  /// How many there are.
  public var outstandingCount = 0
  /// Why nothing gets done; nil when it does.
  public var obstacle: String?
  /// Grows with everything that the store does.
  public var changes: UInt64 = 0

  /// Whether everything that was due is done.
  public var isSettled: Bool { outstandingCount == 0 && obstacle == nil }
}

extension Store {
  /// What is still to be done and what comes next, once everything that is due has been released, forwarded and answered, or at `until`
  /// of the steady clock; at once without it.
  public func standing(until: Instant? = nil) async throws(StoreError) -> StoreStanding {
    try await suspend { core, resume in
      core.standingWaiters.append(StoreCore.StandingWaiter(until: until ?? .distantPast) { resume(.success($0)) })
    }
  }
}

extension StoreCore {
  /// Somebody who waits until all that is due is done.
  struct StandingWaiter {
    var until: Instant
    var resume: @Sendable (StoreStanding) -> Void
  }

  /// Answers those for whom nothing is left to wait for; all of them when `isLast`. At the end of a round, when its pushes are on their way.
  mutating func answerStandingWaiters(isLast: Bool = false) {
    guard !standingWaiters.isEmpty else { return }
    let isDone = failure != nil || isLast || state.isSettled(at: now)
    guard isDone || standingWaiters.contains(where: { steady >= $0.until }) else { return }
    let standing = state.standing(at: now, obstacle: failure)
    standingWaiters.removeAll { waiter in
      guard isDone || steady >= waiter.until else { return false }
      waiter.resume(standing)
      return true
    }
  }
}

extension StoreState {
  /// Whether nothing that is due is left.
  mutating func isSettled(at now: Instant) -> Bool {
    guard counters.inFlight == 0, casts.pending.isEmpty, nextProductDue.map({ $0 > now }) ?? true,
      busyReloads(at: now).isEmpty
    else { return false }
    return !delays.keys.contains { number in firstDelayed(number, at: now) != nil }
  }

  /// What is left to do, and what comes next.
  mutating func standing(at now: Instant, obstacle: String?) -> StoreStanding {
    var standing = StoreStanding()
    standing.obstacle = obstacle
    standing.changes = counters.commits
    standing.next = [nextProductDue.flatMap { event(at: $0) }, nextReload(at: now)].compactMap(\.self).min { $0.at < $1.at }
    var slots: [UInt32] = []
    if counters.inFlight > 0 {
      forEachInFlight { slots.append(tokens[$0.pointee.token].pointee.inFlight) }
    }
    slots += delays.keys.compactMap { firstDelayed($0, at: now) }
    let others = casts.pending + busyReloads(at: now)
    standing.outstandingCount = slots.count + others.count
    let listed = slots.prefix(Limits.outstandingListed)
    standing.outstanding = listed.map { work($0) } + others.prefix(Limits.outstandingListed - listed.count)
    if standing.outstandingCount == 0, let next = standing.next, next.at <= now { standing.outstandingCount = 1 }
    return standing
  }

  /// The first push of a token that waits for the next attempt at its upstream; one that only another configuration lets go is not waited for.
  private func firstDelayed(_ number: UInt32, at now: Instant) -> UInt32? {
    var slot = tokens[number].pointee.laneHead
    while slot != none {
      if delay(slot, at: now) != nil, !pushes[slot].pointee.notBeforeCause.awaitsConfiguration { return slot }
      slot = pushes[slot].pointee.next
    }
    return nil
  }

  /// The reloads that could go on at once.
  private func busyReloads(at now: Instant) -> [StoreStanding.Work] {
    guard !errands.isEmpty else { return [] }
    return errands.running.compactMap { errands.reloads[$0] }.filter { mayGoOn($0, at: now).0 }.map { reload in
      StoreStanding.Work(
        push: reload.id, token: nil, bundleID: reload.request.selector.bundleID, disposition: .forwarding, cause: .none)
    }
  }

  /// The reload that goes on first, of those that are spread.
  private func nextReload(at now: Instant) -> StoreStanding.Event? {
    guard !errands.isEmpty else { return nil }
    return errands.running.compactMap { errands.reloads[$0] }.compactMap { reload in
      mayGoOn(reload, at: now).wake.map { wake in
        StoreStanding.Event(at: wake, what: .reloadDue, id: reload.id, token: nil, bundleID: reload.request.selector.bundleID)
      }
    }.min { $0.at < $1.at }
  }

  private func work(_ slot: UInt32) -> StoreStanding.Work {
    let push = pushes[slot]
    let last = log[push.pointee.sequence].map { log.last(of: $0) }
    return StoreStanding.Work(
      push: push.pointee.id, token: tokens.token(push.pointee.token),
      bundleID: routes.bundleID(tokens[push.pointee.token].pointee.route),
      disposition: last?.disposition ?? .forwarding, cause: last?.cause ?? .none)
  }

  /// What happens to the lane that is looked at first, which is at `due`.
  private func event(at due: Instant) -> StoreStanding.Event? {
    guard let number = self.due.first?.key, case let head = tokens[number].pointee.laneHead, head != none else { return nil }
    var expiring: UInt32?
    var first: UInt32?
    var slot = head
    while slot != none {
      if pushes[slot].pointee.deadline == due, !pushes[slot].pointee.isBrief { expiring = slot }
      if first == nil, self.due(slot, of: number, at: due) <= due { first = slot }
      slot = pushes[slot].pointee.next
    }
    return StoreStanding.Event(
      at: due, what: expiring != nil ? .pushExpires : .pushDue, id: pushes[expiring ?? first ?? head].pointee.id,
      token: tokens.token(number), bundleID: routes.bundleID(tokens[number].pointee.route))
  }
}

extension BroadcastState {
  /// The broadcasts that have not ended, but for those that only another configuration lets go.
  var pending: [StoreStanding.Work] {
    guard pendingCount > 0 else { return [] }
    return unended.filter { !$0.outcome.cause.awaitsConfiguration }.map { record in
      StoreStanding.Work(
        push: record.id, token: nil, bundleID: record.owner.bundleID, disposition: record.outcome.disposition,
        cause: record.outcome.cause)
    }
  }
}
