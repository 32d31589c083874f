public import Delivery
public import Primitives
public import Push

extension Store {
  /// Carries out what the provider API asks of an owner's channels; `reply` is called on the store thread, once what was changed is
  /// durable, and must not block.
  public func carryOut(
    _ operation: ChannelOperation, of owner: ChannelOwner, reply: @escaping @Sendable (ChannelAnswer) -> Void
  ) {
    let isTaken = inbox.add { core in
      guard core.unreadiness == nil else { return reply(.refused(.serviceUnavailable)) }
      let answer = core.state.carryOut(operation, of: owner, at: core.now)
      core.afterCommit.append { error in reply(error == nil ? answer : .refused(.serviceUnavailable)) }
    }
    if !isTaken { reply(.refused(.serviceUnavailable)) }
  }

  /// Carries out what the provider API asks of an owner's channels.
  public func carryOut(_ operation: ChannelOperation, of owner: ChannelOwner) async -> ChannelAnswer {
    await withCheckedContinuation { continuation in
      carryOut(operation, of: owner) { continuation.resume(returning: $0) }
    }
  }

  /// Reports what became of a broadcast that was delivered to a loop. While the store takes no writes the report is kept.
  ///
  /// - Parameter isFault: Whether a fault on a mock device has made the answer, which `detail` then tells of.
  public func complete(_ ticket: BroadcastTicket, _ outcome: UpstreamOutcome, detail: String, isFault: Bool = false) {
    _ = inbox.add { core in
      guard core.unreadiness == nil else {
        // One for each that is on its way, of which there are few.
        return core.postponedReports.append(StoreCore.PostponedReport(ticket: ticket, outcome: outcome, detail: detail, isFault: isFault))
      }
      core.state.completeBroadcast(ticket, outcome, detail: detail, isFault: isFault, at: core.now)
    }
  }

  /// The most recent message of a live channel of an app, while it is kept; nil when there is none, or no such channel.
  public func storedMessage(_ channel: ChannelID, bundleID: String) async throws(StoreError) -> StoredMessage? {
    try await ask { core throws(StoreError) in
      guard core.state.casts.channels[channel]?.owner.bundleID == bundleID,
        let until = core.state.casts.channels.messageUntil[channel], until > core.now
      else { return nil }
      return try core.message(of: channel)
    }
  }

  /// What is wrong with a channel that an app's activity wants to follow; nil where the app has it, or where its channels are Apple's.
  ///
  /// - Parameter environment: The one that the app runs in; nil takes a channel of either.
  public func missingChannel(
    _ channel: ChannelID, bundleID: String, in environment: PushEnvironment?
  ) async throws(StoreError) -> String? {
    try await ask { core throws(StoreError) in core.state.missingChannel(channel, bundleID: bundleID, in: environment) }
  }

  /// One page of the broadcasts that match, newest first, and whether older ones do.
  public func broadcasts(_ query: BroadcastQuery) async throws(StoreError) -> (records: [BroadcastRecord], hasMore: Bool) {
    try await ask { core throws(StoreError) in core.state.casts.page(query) }
  }

  /// The broadcasts with that id, newest first. With `until`, answers once the newest has ended, or at that time of the steady clock.
  public func broadcasts(_ id: PushID, until: Instant? = nil) async throws(StoreError) -> [BroadcastRecord] {
    try await suspend { core, resume in
      let records = core.state.casts.records(of: id)
      guard let until, let newest = records.first, !newest.isFinal, until > core.steady, core.castWaiters.count < core.settings.waiters
      else { return resume(.success(records)) }
      core.castWaiters.append(StoreCore.CastWaiter(id: id, until: until) { resume(.success($0)) })
    }
  }
}

extension StoreCore {
  /// Somebody who waits for a broadcast's end.
  struct CastWaiter {
    var id: PushID
    var until: Instant
    var resume: @Sendable ([BroadcastRecord]) -> Void
  }

  /// A channel's message, changes of this round included.
  func message(of channel: ChannelID) throws(StoreError) -> StoredMessage? {
    for case .putMessage(channel, let message) in state.casts.changes.reversed() { return message }
    return try engine.message(of: channel)
  }

  /// Hands the loops what has become durable; a channel's messages always to the same one, so that they keep their order.
  mutating func deliverBroadcasts() {
    for broadcast in state.casts.takeOutgoing() {
      deliverBroadcast(Int((broadcast.channel.high ^ broadcast.channel.low) % UInt64(loops)), broadcast)
    }
  }

  /// Answers those whose broadcast has ended or whose time is over; all of them when `isLast`.
  mutating func answerCastWaiters(isLast: Bool = false) {
    guard !castWaiters.isEmpty else { return }
    castWaiters.removeAll { waiter in
      let records = state.casts.records(of: waiter.id)
      guard isLast || steady >= waiter.until || records.first?.isFinal ?? true else { return false }
      waiter.resume(records)
      return true
    }
  }
}

extension StoreState {
  mutating func carryOut(_ operation: ChannelOperation, of owner: ChannelOwner, at now: Instant) -> ChannelAnswer {
    casts.carryOut(operation, of: owner, route: broadcastRoute(owner), patience: settings.connectPatience, at: now)
  }

  mutating func completeBroadcast(_ ticket: BroadcastTicket, _ outcome: UpstreamOutcome, detail: String, isFault: Bool, at now: Instant) {
    casts.complete(
      ticket, outcome, detail: detail, isFault: isFault, retry: settings.retry, patience: settings.connectPatience, using: &generator,
      at: now)
  }

  /// Sends what is due.
  mutating func releaseBroadcasts(at now: Instant) {
    guard let due = casts.nextDue, due <= steady(now) else { return }
    let resolver = routes.resolver
    casts.releaseDue(patience: settings.connectPatience, at: now) { resolver.signers($0.bundleID, $0.environment)[.liveactivity] }
  }

  /// Every upstream that a registration of the owner's app names, and the app's own.
  func broadcastRoute(_ owner: ChannelOwner) -> BroadcastRoute {
    BroadcastRoute(
      upstreams: routes.upstreams(of: owner), signer: routes.resolver.signers(owner.bundleID, owner.environment)[.liveactivity],
      upstreamCount: settings.upstreams.count, adopts: routes.policy(owner.bundleID).unknownTokens == .adopt)
  }
}
