import Delivery
import Faults
import HTTP2
import Primitives
import ProviderAPI
import Push
import Reactor
import Rules
import Security
import Storage
import Transport

/// What became of a request about channels, on its way from the store thread to the loop that has the request.
struct ChannelReply: Sendable {
  /// What the request asked, as far as its answer depends on it.
  enum Kind: Sendable {
    /// A broadcast, and what its warnings are about.
    case send([WarningDetail])
    case create(ChannelID, MessageStoragePolicy), read, delete, list
  }

  let exchange: ExchangeKey
  let id: PushID
  let kind: Kind
  let bundleID: String
  let answer: ChannelAnswer
}

// Broadcasts and channels: few a second, so each goes to the store by itself and its answer comes back by itself.
extension ProviderLoop {
  /// Judges a request about broadcasts or channels, and has the store carry it out.
  ///
  /// - Parameter strike: The fault that has held it back, if one has.
  func handleBroadcast(_ exchange: Exchange, on connection: HTTP2ServerConnection, after strike: FaultStrike?) {
    let remembered = state(of: connection)
    let verdict = rules.evaluateBroadcast(
      RequestFields(exchange), headers: exchange.headerBytes, body: exchange.body, bodyBytesTotal: exchange.bodyBytesTotal,
      environment: remembered.environment, time: time, memory: &state.value.memory, connection: &remembered.credentials.value)
    switch verdict {
    case .refused(let refusal):
      conclude(refusal.reason, on: connection)
      let bundleID = refusal.topic.map { exchange.headerBytes[$0].extracting(first: Limits.topicBytes).string } ?? ""
      refuse(exchange, refusal.id ?? makeID(), refusal.reason, field: refusal.field, detail: refusal.detail, bundleID: bundleID)
    case .accepted(let request):
      guard faults.isArmed || strike != nil else { return carryOut(request, exchange) }
      if let request = spared(request, exchange, on: connection, after: strike) { carryOut(request, exchange) }
    }
  }

  private func carryOut(_ request: BroadcastRequest, _ exchange: Exchange) {
    let id = request.id ?? makeID()
    let owner = ChannelOwner(bundleID: exchange.headerBytes[request.bundle].string, environment: request.environment)
    let operation: ChannelOperation
    let kind: ChannelReply.Kind
    switch request.action {
    case .list: (operation, kind) = (.list, .list)
    case .read(let channel): (operation, kind) = (.read(channel), .read)
    case .delete(let channel): (operation, kind) = (.delete(channel), .delete)
    case .create(let policy):
      let channel = ChannelID(now: loop.now, random: (ids.next(), ids.next()))
      (operation, kind) = (.create(channel, policy), .create(channel, policy))
    case .send(let push):
      var submission = BroadcastSubmission(
        id: id, channel: push.channel, expiration: push.expiration, priority: push.prioritySent ? push.priority : nil,
        warnings: push.warnings, received: exchange.received, payload: exchange.body.array)
      submission.warningDetails = warningDetails(of: push, exchange)
      (operation, kind) = (.send(submission), .send(submission.warningDetails))
    }
    store.carryOut(operation, of: owner) { [key = exchange.key, replies = channelReplies] answer in
      replies.post(ChannelReply(exchange: key, id: id, kind: kind, bundleID: owner.bundleID, answer: answer))
    }
  }

  /// Answers a request about channels that the store has carried out, if its client still waits.
  func answer(_ reply: ChannelReply) {
    guard let exchange = exchanges.exchange(for: reply.exchange) else { return }
    switch (reply.answer, reply.kind) {
    case (.refused(let reason), let kind):
      let answered = broadcastAnswers.reason(reason, kind)
      refuse(exchange, reply.id, answered, field: "apns-channel-id", detail: reason.remedy.happened, bundleID: reply.bundleID)
    case (_, .send(let details)):
      tellWarnings(of: reply.id, details)
      metrics.accepted(.liveactivity, shard: index)
      let unique = PushID(high: ids.next(), low: ids.next(), upperCase: 0)
      state.value.broadcastAnswers.answer(exchange, 200, id: reply.id, unique: unique)
    case (_, .create(let channel, let policy)):
      let wantsBody = broadcastAnswers.hasBody(userAgent: exchange.value(of: .userAgent)?.string ?? "")
      state.value.broadcastAnswers.answer(
        exchange, 201, id: reply.id, channel: channel, body: wantsBody ? BroadcastAnswerWriter.body(policy) : "")
    case (.policy(let policy), _):
      state.value.broadcastAnswers.answer(exchange, 200, id: reply.id, body: BroadcastAnswerWriter.body(policy))
    case (.channels(let ids), _):
      state.value.broadcastAnswers.answer(exchange, 200, id: reply.id, body: BroadcastAnswerWriter.body(ids))
    case (.done, _): state.value.broadcastAnswers.answer(exchange, 204, id: reply.id)
    }
  }

  /// Answers a request about broadcasts or channels with an error.
  func refuse(
    _ exchange: Exchange, _ id: PushID, _ reason: Reason, field: String, detail: String, bundleID: String, cause: Cause = .none
  ) {
    let batch = openBatch
    batch.refusals.append(
      RefusedOperation(
        id: id, token: nil, type: .liveactivity, bundleID: batch.append(bundleID), reason: reason, cause: cause,
        detail: batch.append(detail),
        received: loop.now))
    state.value.broadcastAnswers.refuse(exchange, id: id, reason, detail: detail, explaining: isExplained(exchange))
    metrics.answered(.liveactivity, reason, shard: index)
    observer?(
      .refused(RefusedRequest(id: id, token: nil, type: .liveactivity, reason: reason, field: field, detail: detail)))
    if batch.operationCount >= Limits.batchOperations { submit() }
  }

  /// Tells the store what an upstream made of a broadcast.
  func broadcastCompleted(_ ticket: BroadcastTicket, _ outcome: UpstreamOutcome, _ answer: UpstreamAnswer?, detail: String) {
    store.complete(ticket, outcome, detail: detail, isFault: answer?.cause == .fault)
    metrics.forwarded(outcome, shard: index)
    if let observer, case .finished(.ignored, let cause) = outcome {
      observer(.ignored(IgnoredRequest(id: nil, token: nil, type: .liveactivity, cause: cause, detail: detail)))
    }
  }
}
