import Control
import Delivery
import Faults
import Forwarding
import HTTP2
import Primitives
import ProviderAPI
import Push
import Reactor
import Rules
import Security
import Storage
import Transport

/// The data path of one loop: requests in, batches to the store, answers and forwarded pushes out.
///
/// A request is judged when it is complete. What the rules refuse is answered at once; the rest becomes an operation of the
/// round's batch, which goes to the store at the end of the round and comes back settled: only then is anything answered
/// 200, and what may go now is forwarded from this very loop. Per request nothing is allocated.
final class ProviderLoop {
  let index: Int
  let loop: EventLoop
  let store: Store
  let settings: CurrentSettings
  let tokenUpdates: SharedTokenUpdates
  var rules: RequestRules
  var rates: ProviderRates
  let forwarder: Forwarder
  let faults: FaultInjector
  let awaited: AwaitedAnswers
  let recordings: RecordingDesk
  let upstreamNames: [String]
  let signers: ProviderTokenSigners
  let metrics: GatewayMetrics
  let conditions: GatewayConditions
  let observer: (@Sendable (GatewayEvent) -> Void)?
  let malformed: MalformedTeller
  private let explainsAlways: Bool
  let clock: ClockDriver
  let clockSettings: ClockSettings
  let seed: UInt64
  private let initialConcurrentStreams: Int
  let ids = RandomPool()
  let exchanges: ExchangePool
  let state: Confined<State>
  var broadcastAnswers: BroadcastAnswerRules

  /// What every request touches.
  struct State: ~Copyable {
    var memory: RequestMemory
    var answers = AnswerWriter()
    var broadcastAnswers = BroadcastAnswerWriter()
    var batch: Batch
    /// Whether that was handed to the store before, and taken back.
    var isTakenBack = false
    /// Whether a batch that was handed in may wait for the store still.
    var mayTakeBack = false
    var pressure = StorePressure()

    init(_ memory: consuming RequestMemory, _ batch: Batch) {
      self.memory = memory
      self.batch = batch
    }
  }

  /// The settled batches of this loop, from the store thread.
  var settled: Mailbox<Batch> { inbox! }
  private var inbox: Mailbox<Batch>?
  /// Broadcasts to send, from the store thread.
  var broadcasts: Mailbox<ForwardedBroadcast> { broadcastInbox! }
  private var broadcastInbox: Mailbox<ForwardedBroadcast>?
  /// Called when requests are read again, after `wantsRequests` has said no.
  var whenRelieved: () -> Void = {}
  /// What became of requests about channels, from the store thread.
  var channelReplies: Mailbox<ChannelReply> { replyInbox! }
  private var replyInbox: Mailbox<ChannelReply>?

  init(_ index: Int, on transport: TransportLoop, _ shared: ProviderShared) throws(CryptoError) {
    self.index = index
    loop = transport.loop
    store = shared.store
    settings = shared.settings
    let current = shared.settings.value
    rules = current.rules
    rates = current.rates
    metrics = shared.metrics
    conditions = shared.conditions
    observer = shared.observer
    malformed = MalformedTeller(shared.observer)
    explainsAlways = shared.explainsAlways
    clock = shared.clock
    clockSettings = shared.clock.settings
    broadcastAnswers = BroadcastAnswerRules(current.rules.answers)
    seed = shared.seed
    initialConcurrentStreams = shared.initialConcurrentStreams
    upstreamNames = shared.upstreams.map(\.name)
    signers = shared.signers
    exchanges = transport.exchanges
    tokenUpdates = shared.tokenUpdates
    recordings = shared.recordings
    state = Confined(State(try Self.memory(for: current, seed, tokenUpdates), shared.store.makeBatch()))
    faults = FaultInjector(shared.faults, on: transport)
    awaited = AwaitedAnswers(on: loop)
    forwarder = Forwarder(
      shared.upstreams, authorization: UpstreamAuthorization(shared.signers), senders: clockSettings.providerTimes, on: transport)
    forwarder.delegate = self
    faults.resume = { [unowned self] in resume($0, on: $1, after: $2) }
    awaited.whenLate = { [unowned self] in accept($0, .forwarding, .none) }
    // As many as come: what they cost is bounded where pushes are taken in.
    inbox = loop.makeMailbox(capacity: .max) { [unowned self] batch in settle(batch) }
    broadcastInbox = loop.makeMailbox(capacity: Limits.broadcastsPending) { [unowned self] in forwarder.send($0) }
    replyInbox = loop.makeMailbox(capacity: 2 * Limits.exchangesPerLoop) { [unowned self] in answer($0) }
    loop.atEveryRoundEnd(.decide) { [unowned self] in submit() }
    transport.atQuiet(spareBytes: { [unowned self] in forwarder.spareBytes }, release: { [unowned self] in forwarder.releaseSpare() })
  }

  /// Pushes that are written to upstreams and not answered, and that wait for a stream.
  var load: (inFlight: Int, queued: Int) { forwarder.load }

  /// The times by which requests of this round are judged.
  var time: RequestTime { RequestTime(loop.moment, clockSettings) }

  /// Forwards nothing more; what is on its way may still be answered.
  func drain() { forwarder.drain() }

  /// Ends the connections to upstreams at once.
  func abort() { forwarder.abort() }
}

// MARK: Requests

extension ProviderLoop: HTTP2ServerHandler {
  func handle(_ exchange: Exchange, on connection: HTTP2ServerConnection) { judge(exchange, on: connection, after: nil) }

  /// - Parameter strike: The fault that has held the request back, if one has.
  func judge(_ exchange: Exchange, on connection: HTTP2ServerConnection, after strike: FaultStrike?) {
    let remembered = state(of: connection)
    let environment = remembered.environment
    if let path = exchange.value(of: .path), RequestRules.isBroadcast(path) {
      return handleBroadcast(exchange, on: connection, after: strike)
    }
    let verdict = rules.evaluate(
      RequestFields(exchange), headers: exchange.headerBytes, body: exchange.body, bodyBytesTotal: exchange.bodyBytesTotal,
      environment: environment, time: time, memory: &state.value.memory, connection: &remembered.credentials.value)
    if remembered.credentials.value.takeWarning() { observer?(.tooManyTokenUpdates(connection.peer)) }
    switch verdict {
    case .push(let push):
      guard faults.isArmed || recordings.isArmed || strike != nil else { return take(push, exchange, from: remembered) }
      if let push = spared(push, exchange, on: connection, after: strike) { take(push, exchange, from: remembered) }
    case .refused(var refusal):
      conclude(refusal.reason, on: connection)
      if recordings.isArmed {
        let id = refusal.id ?? makeID()
        refusal.id = id
        record(refusal, exchange, id: id)
      }
      refuse(refusal, exchange, environment: environment, cause: refusal.cause)
    }
  }

  private func take(_ push: ParsedPush, _ exchange: Exchange, from connection: ProviderConnection) {
    if let provider = push.provider, let limit = rates.exceeded(provider, at: loop.steadyNow) {
      refuse(overLimit(push, of: provider, limit), exchange, environment: connection.environment, retryAfterSeconds: 1)
    } else {
      admit(push, exchange, from: connection)
    }
  }

  /// A bad provider token takes all streams but the first away, at once (apns.md section 1.3): SETTINGS go out before the answer. The
  /// next good one gives them back, unless the connection is of no use any more. One that brings nothing but tokens that are none is
  /// closed behind its answers.
  func conclude(_ reason: Reason, on connection: HTTP2ServerConnection) {
    if reason.isOfProviderToken { connection.announce(concurrentStreams: initialConcurrentStreams) }
    if reason == .invalidProviderToken, state(of: connection).credentials.value.isExhausted { turnAway(connection) }
  }

  func trusts(_ exchange: Exchange, on connection: HTTP2ServerConnection) -> Bool {
    guard rules.answers.raiseAfterRefusedPush else { return false }
    let remembered = state(of: connection)
    return rules.trusts(
      exchange.range(of: .authorization), headers: exchange.headerBytes, environment: remembered.environment, time: time,
      memory: &state.value.memory, connection: &remembered.credentials.value)
  }

  /// What is remembered of `connection`, whose context is nothing else.
  @inline(__always) func state(of connection: HTTP2ServerConnection) -> ProviderConnection {
    if let context = connection.context { return unsafe unsafeDowncast(context, to: ProviderConnection.self) }
    let made = ProviderConnection(connection, certificate: nil, seed: seed)
    connection.context = made
    return made
  }

  func handleStalled(_ exchange: Exchange, on connection: HTTP2ServerConnection) {
    guard rules.answers.unfinishedRequest == .idleTimeout else { return exchange.reset(HTTP2ErrorCode.cancel) }
    var refusal = Refusal(
      reason: .idleTimeout, field: "body",
      detail: "the request did not end within \(Limits.requestMilliseconds / 1000) s; end its body with END_STREAM")
    if let sent = exchange.value(of: .apnsID) { refusal.id = PushID(text: sent) }
    refuse(refusal, exchange, environment: state(of: connection).environment)
  }

  func connectionFailed(_ failure: ConnectionFailure) {
    metrics.refused(ConnectionRefusal(failure.end), shard: index)
    observer?(.connectionFailed(failure))
  }

  private func admit(_ push: ParsedPush, _ exchange: Exchange, from connection: ProviderConnection) {
    let batch = openBatch
    let topic = push.hasDefaultTopic ? batch.append(defaultTopicOf: connection) : batch.append(exchange.headerBytes[push.topic])
    var operation = AdmitOperation(
      reply: exchange.key.packed, id: push.id ?? makeID(), token: push.token, environment: connection.environment, type: push.type,
      priority: push.priority, prioritySent: push.prioritySent, expiration: push.expiration, traits: push.traits,
      warnings: push.warnings, received: exchange.received, topic: topic,
      bundleID: ByteRange(offset: Int(topic.offset), count: Int(push.bundle.count)),
      collapseID: push.collapseID.isEmpty ? .empty : batch.append(exchange.headerBytes[push.collapseID]),
      payload: batch.append(exchange.body))
    if push.traits.activity == .start { operation.channel = RequestRules.channel(ofStart: exchange.body) }
    operation.answerTimeout = rules.apps.answerTimeout(at: push.app)
    if push.contentStateMismatches != 0 { batch.ask(rules, push, body: exchange.body, now: time.sender) }
    if !push.warnings.isDisjoint(with: .withSubject) { operation.warningDetails = batch.append(warningDetails(of: push, exchange)) }
    batch.admits.append(operation)
    state.value.pressure.add(operation)
    if batch.operationCount >= Limits.batchOperations { submit() }
  }

  func refuse(
    _ refusal: Refusal, _ exchange: Exchange, environment: PushEnvironment?, cause: Cause = .none, since: Instant? = nil,
    retryAfterSeconds: Int64? = nil
  ) {
    let batch = openBatch
    let id = refusal.id ?? makeID()
    let app = meantApp(refusal, exchange)
    batch.refusals.append(
      RefusedOperation(
        id: id, token: refusal.token, type: refusal.type, bundleID: batch.append(app.bundleID), isAppKnown: app.isKnown,
        reason: refusal.reason, cause: cause, detail: batch.append(refusal.detail), received: loop.now))
    var ids = answerIDs(id, environment)
    if refusal.reason == .badMessageID { ids.malformed = rules.answers.refusedMessageID }
    state.value.answers.refuse(
      exchange, ids, refusal.reason, since: since, detail: refusal.detail, retryAfterSeconds: retryAfterSeconds,
      explaining: isExplained(exchange))
    metrics.answered(refusal.type, refusal.reason, shard: index)
    observer?(
      .refused(
        RefusedRequest(
          id: id, token: refusal.token, type: refusal.type, reason: refusal.reason, cause: cause, field: refusal.field,
          detail: refusal.detail)))
    if batch.operationCount >= Limits.batchOperations { submit() }
  }

  func isExplained(_ exchange: Exchange) -> Bool {
    explainsAlways || exchange.names.contains(.widgetpushExplain) && exchange.value(of: .widgetpushExplain)?.equals("1") ?? false
  }

  /// The bundle id of the app that a refused request means, "" where its topic tells none, and whether it may be sent to.
  func meantApp(_ refusal: Refusal, _ exchange: Exchange) -> (bundleID: String, isKnown: Bool) {
    guard let range = refusal.topic, !range.isEmpty else { return ("", false) }
    let topic = exchange.headerBytes[range]
    let app = rules.app(meantBy: topic, refusal.type)
    return (topic[app.bundleID].string, app.isKnown)
  }
}

// MARK: Settled batches

extension ProviderLoop {
  /// Answers what the store has settled, forwards what may go, and gives the batch back.
  private func settle(_ batch: Batch) {
    relieve(batch.admits)
    if answer(batch.admits, batch.bytes) { expectAnswers(to: batch) }
    if let observer {
      for push in batch.ignored {
        if [.started, .updated, .ended].contains(push.cause), let remark = AppliedRemark.find(in: batch.bytes[push.detail]) {
          let field = remark.prefix { $0 != " " }
          let details = [WarningDetail(.dateMisread, field: String(field), detail: remark)]
          observer(.warned(WarnedRequest(id: push.id, token: push.token, type: push.type, details: details)))
          continue
        }
        observer(
          .ignored(
            IgnoredRequest(
              id: push.id, token: push.token, type: push.type, cause: push.cause, detail: batch.bytes[push.detail].string)))
      }
    }
    if let observer {
      for push in batch.lowered {
        observer(.lowered(LoweredRequest(id: push.id, token: push.token, type: push.type, detail: push.lowering.sentence)))
      }
    }
    forwarder.send(batch.forwards.span, batch.bytes)
    store.recycle(batch)
  }

  /// Answers settled pushes, each where it lies: operations are large, and a copy of each would cost more than its answer.
  ///
  /// - Parameter bytes: Where their ranges lie.
  /// - Returns: Whether some are left for their upstreams to answer.
  func answer(_ operations: ContiguousArray<AdmitOperation>, _ bytes: RawSpan) -> Bool {
    var areSomeLeft = false
    for place in operations.indices {
      let exchange = exchanges.exchange(for: ExchangeKey(packed: operations[place].reply))
      switch operations[place].result {
      case .unsettled: preconditionFailure("a settled batch has a result for each push")
      case .refused: refuse(operations[place], bytes, exchange)
      case .forwarded where operations[place].answerTimeout != nil:
        areSomeLeft = true
        tellWarnings(of: operations[place], bytes)
      case .forwarded, .waiting, .merged, .ended:
        tellWarnings(of: operations[place], bytes)
        metrics.accepted(operations[place].type, shard: index)
        if let observer, case .ended(.ignored, let cause) = operations[place].result {
          let push = operations[place]
          observer(.ignored(IgnoredRequest(id: push.id, token: push.token, type: push.type, cause: cause, detail: "")))
        }
        guard let exchange else { continue }
        if !rules.answers.raiseAfterRefusedPush { exchange.trustClient() }
        let ids = answerIDs(operations[place].id, operations[place].environment)
        state.value.answers.accept(exchange, ids, explanation: explanation(of: operations[place].result, to: exchange))
      }
    }
    return areSomeLeft
  }

  private func explanation(of admission: Admission, to exchange: Exchange) -> (disposition: Disposition, detail: String)? {
    isExplained(exchange) ? (admission.disposition, admission.explanation) : nil
  }

  /// Answers a push that the store has refused.
  private func refuse(_ operation: AdmitOperation, _ bytes: RawSpan, _ exchange: Exchange?) {
    guard case .refused(let reason, let cause, let since, let retryAt) = operation.result else { return }
    metrics.answered(operation.type, reason, shard: index)
    let happened = cause == .none ? reason.remedy.happened : cause.remedy.happened
    let detail = operation.detail.isEmpty ? happened : bytes[operation.detail].string
    observer?(
      .refused(
        RefusedRequest(
          id: operation.id, token: operation.token, type: operation.type, reason: reason, cause: cause,
          field: cause == .tokenKindMismatch ? "aps.event" : "", detail: detail)))
    guard let exchange else { return }
    let wait = retryAt.map { max(1, ($0 - loop.now).secondsRoundedUp) }
    // Whose the token is would be news to a stranger.
    let told = cause == .otherApp && rules.providers.isDivided ? happened : detail
    state.value.answers.refuse(
      exchange, answerIDs(operation.id, operation.environment), reason, since: since, detail: told, retryAfterSeconds: wait,
      explaining: isExplained(exchange))
  }
}
