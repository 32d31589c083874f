import Delivery
import HTTP2
import Primitives
import Push
import Reactor
import Security
import Transport

/// One upstream as one loop sees it: a few connections, the pushes on them, and those that wait for a stream.
///
/// A push is written at once when a connection has a free stream, waits here while a connection is being made or all are
/// busy, and goes back to the store when there is none to be had: waiting for an upstream that is down is the store's
/// business, where it is durable and bounded. `UpstreamWindow` decides when to connect.
final class UpstreamLink {
  private struct Flight {
    let ticket: PushTicket
    let attempt: Int
    /// The broadcast's ticket, where it is one and no push.
    var broadcast: BroadcastTicket?
  }

  /// The tag of a connection that has answered a push.
  private static let hasAnswered: UInt64 = 1

  /// What every push and every answer touches.
  private struct State: ~Copyable {
    var window: UpstreamWindow
    var clients: ContiguousArray<HTTP2Client> = []
    /// Broadcasts that wait for a stream; they go before pushes, since each stands for many.
    var broadcasts: ContiguousArray<ForwardedBroadcast> = []
    var queue = PushQueue(capacity: Limits.upstreamQueue)
    var flights = Slab<Flight>(capacity: Limits.upstreamConnections * Limits.upstreamStreams)
    var request: PushRequest
    var refusesCredentials = false

    init(_ window: UpstreamWindow, authority: String) {
      self.window = window
      request = PushRequest(authority: authority)
    }
  }

  private let index: Int
  private let upstream: Upstream
  /// What new connections are trusted by.
  var tls: TLSContext
  private let transport: TransportLoop
  private let loop: EventLoop
  private let authorization: UpstreamAuthorization
  private let blocks: BlockPool
  private unowned let forwarder: Forwarder
  private let state: Confined<State>
  private var connecting: HTTP2Client?
  private var isDraining = false

  init(_ index: Int, _ upstream: Upstream, on transport: TransportLoop, _ forwarder: Forwarder) {
    self.index = index
    self.upstream = upstream
    tls = upstream.tls
    self.transport = transport
    self.forwarder = forwarder
    loop = transport.loop
    authorization = forwarder.authorization
    blocks = forwarder.blocks
    let window = UpstreamWindow(
      .init(
        connections: Limits.upstreamConnections, firstDelay: .milliseconds(Limits.retryMilliseconds.first),
        longestDelay: .milliseconds(Limits.reconnectLongestMilliseconds), pause: .milliseconds(Limits.upstreamPauseMilliseconds)))
    state = Confined(State(window, authority: upstream.authority))
  }

  /// Pushes written and not answered, and pushes that wait for a stream.
  var load: (inFlight: Int, queued: Int) { (state.value.flights.count, state.value.queue.count + state.value.broadcasts.count) }

  /// Sends `pushes`, whose ranges lie in `bytes`, each as soon as a stream is free; every outcome is reported exactly once.
  func send(_ pushes: Span<ForwardedPush>, _ bytes: RawSpan) {
    switch state.value.window.availability(at: loop.now) {
    case .available where isDraining, .unavailable: return turnAway(pushes, .upstreamUnavailable)
    case .paused: return turnAway(pushes, .upstreamPaused)
    case .available: break
    }
    let written = state.value.queue.isEmpty ? write(pushes, bytes) : 0
    guard written < pushes.count else { return }
    for place in written..<pushes.count { enqueue(pushes[place], bytes) }
    connectIfNeeded()
  }

  /// Sends a broadcast as soon as a stream is free; its outcome is reported exactly once.
  func send(_ broadcast: ForwardedBroadcast) {
    switch state.value.window.availability(at: loop.now) {
    case .available where isDraining, .unavailable: return report(broadcast, .notAttempted(.upstreamUnavailable))
    case .paused: return report(broadcast, .notAttempted(.upstreamPaused))
    case .available: break
    }
    if state.value.broadcasts.isEmpty, let client = freeClient(), write(broadcast, on: client) { return }
    guard state.value.broadcasts.count < Limits.broadcastsPending else { return report(broadcast, .notAttempted(.upstreamBusy)) }
    state.value.broadcasts.append(broadcast)
    connectIfNeeded()
  }

  /// Sends nothing more; what is on its way may still be answered, then the connections close.
  func drain() {
    isDraining = true
    returnQueue(.upstreamUnavailable)
    connecting?.abort()
    // A list of its own, since a client may end meanwhile.
    let clients = state.value.clients
    for client in clients { client.close() }
  }

  /// Ends every connection at once.
  func abort() {
    let clients = state.value.clients
    for client in clients { client.abort() }
  }

  /// The forwarder is gone: nobody is told anything any more.
  func abandon() {
    for client in state.value.clients + (connecting.map { [$0] } ?? []) {
      client.delegate = nil
      client.abort()
    }
  }

  private func freeClient() -> HTTP2Client? {
    for place in state.value.clients.indices where state.value.clients[place].availableStreams > 0 {
      return state.value.clients[place]
    }
    return nil
  }

  /// Writes pushes from the first on, for as long as streams are free; returns how many.
  private func write(_ pushes: Span<ForwardedPush>, _ bytes: RawSpan) -> Int {
    var written = 0
    while written < pushes.count, let client = freeClient() {
      let end = min(pushes.count, written + client.availableStreams)
      while written < end {
        guard write(pushes[written], bytes, on: client) else { return written }
        written += 1
      }
    }
    return written
  }

  /// Writes the push on a stream of `client`; false when the stream is not to be had after all.
  private func write(_ push: ForwardedPush, _ bytes: RawSpan, on client: HTTP2Client) -> Bool {
    guard let flight = state.value.flights.insert(Flight(ticket: push.ticket, attempt: push.attempt)) else { return false }
    do throws(CryptoError) {
      try authorization.with(signer: push.signer, at: loop.now) { state.value.request.write(push, bytes, authorization: $0) }
      if client.send(state.value.request.fields, body: bytes[push.payload], tag: flight.packed) { return true }
    } catch {
      forwarder.cannotSign(upstream: index, error)
    }
    state.value.flights.remove(flight)
    return false
  }

  private func write(_ broadcast: ForwardedBroadcast, on client: HTTP2Client) -> Bool {
    let ticket = PushTicket(sequence: 0, slot: 0)
    guard let flight = state.value.flights.insert(Flight(ticket: ticket, attempt: 1, broadcast: broadcast.ticket)) else { return false }
    do throws(CryptoError) {
      try authorization.with(signer: broadcast.signer, at: loop.now) { state.value.request.write(broadcast, authorization: $0) }
      if unsafe client.send(state.value.request.fields, body: broadcast.payload.span.bytes, tag: flight.packed) { return true }
    } catch {
      forwarder.cannotSign(upstream: index, error)
    }
    state.value.flights.remove(flight)
    return false
  }

  private func report(_ broadcast: ForwardedBroadcast, _ outcome: UpstreamOutcome) {
    forwarder.delegate?.broadcastCompleted(broadcast.ticket, outcome, detail: "")
  }

  private func enqueue(_ push: ForwardedPush, _ bytes: RawSpan) {
    guard !state.value.queue.isFull, let queued = QueuedPush(push, bytes, in: blocks) else {
      forwarder.delegate?.completed(push.ticket, .notAttempted(.upstreamBusy), nil, detail: RawSpan())
      return
    }
    state.value.queue.append(queued)
  }

  private func pump() {
    while let next = state.value.broadcasts.first, let client = freeClient() {
      state.value.broadcasts.removeFirst()
      if !write(next, on: client) { report(next, .notAttempted(.upstreamBusy)) }
    }
    while !state.value.queue.isEmpty, let client = freeClient() {
      var free = client.availableStreams
      while free > 0, !state.value.queue.isEmpty {
        let next = state.value.queue.removeFirst()
        if !write(next.push, next.bytes, on: client) {
          forwarder.delegate?.completed(next.push.ticket, .notAttempted(.upstreamBusy), nil, detail: RawSpan())
        }
        next.release(to: blocks)
        free -= 1
      }
    }
    connectIfNeeded()
  }

  private func connectIfNeeded() {
    guard !isDraining else { return }
    let freeStreams = state.value.clients.reduce(0) { $0 + $1.availableStreams }
    guard state.value.window.shouldConnect(queued: load.queued, freeStreams: freeStreams, at: loop.now) else { return }
    var configuration = HTTP2Client.Configuration(host: upstream.host, port: upstream.port, tls: tls)
    configuration.settings.streamsMax = Limits.upstreamStreams
    configuration.connectTimeout = .milliseconds(Limits.upstreamConnectMilliseconds)
    configuration.answerTimeout = .milliseconds(Limits.upstreamAnswerMilliseconds)
    let client = HTTP2Client(on: transport, configuration)
    client.delegate = self
    connecting = client
    client.connect()
  }

  private func turnAway(_ pushes: Span<ForwardedPush>, _ cause: Cause) {
    guard let delegate = forwarder.delegate else { return }
    for place in pushes.indices { delegate.completed(pushes[place].ticket, .notAttempted(cause), nil, detail: RawSpan()) }
  }

  private func returnQueue(_ cause: Cause) {
    let broadcasts = state.value.broadcasts
    state.value.broadcasts.removeAll()
    for broadcast in broadcasts { report(broadcast, .notAttempted(cause)) }
    while !state.value.queue.isEmpty {
      let next = state.value.queue.removeFirst()
      forwarder.delegate?.completed(next.push.ticket, .notAttempted(cause), nil, detail: RawSpan())
      next.release(to: blocks)
    }
  }
}

// MARK: Answers

extension UpstreamLink: HTTP2ClientDelegate {
  func clientMaySend(_ client: HTTP2Client) {
    if client === connecting {
      connecting = nil
      state.value.clients.append(client)
      state.value.window.connected()
      if state.value.clients.count == 1 { forwarder.delegate?.upstreamOpened(index) }
    }
    pump()
  }

  func clientMayHaveAnswers(_ client: HTTP2Client) {
    guard let delegate = forwarder.delegate else { return }
    let now = loop.now
    while let answer = client.takeAnswer() {
      guard let flight = state.value.flights.remove(SlabKey(packed: answer.tag)) else { continue }
      if let failure = answer.failure {
        let outcome = Self.meaning(of: failure)
        if let broadcast = flight.broadcast {
          delegate.broadcastCompleted(broadcast, outcome, detail: "")
        } else {
          delegate.completed(flight.ticket, outcome, nil, detail: RawSpan())
        }
        continue
      }
      client.tag = Self.hasAnswered
      var detail = ByteRange.empty
      let read = UpstreamAnswer(answer, detail: &detail)
      note(status: read.status, at: now, delegate)
      let outcome = read.meaning(at: now, mayRetire: state.value.window.mayRetire)
      if let broadcast = flight.broadcast {
        var text = ""
        if !detail.isEmpty, let header = answer.value(of: .widgetpushOutcome) { text = header[detail].string }
        delegate.broadcastCompleted(broadcast, outcome, detail: text)
      } else if !detail.isEmpty, let header = answer.value(of: .widgetpushOutcome) {
        delegate.completed(flight.ticket, outcome, read, detail: header[detail])
      } else {
        delegate.completed(flight.ticket, outcome, read, detail: RawSpan())
      }
    }
  }

  private static func meaning(of failure: StreamFailure) -> UpstreamOutcome {
    switch failure {
    case .refused: .notAttempted(.upstreamBusy)
    case .unprocessed: .notAttempted(.upstreamUnavailable)
    case .reset, .cancelled, .connectionLost, .outOfMemory: .retry(.upstreamUnavailable)
    }
  }

  /// Counts the answer, and tells when it changes what is thought of the upstream.
  private func note(status: Int, at now: Instant, _ delegate: any ForwarderDelegate) {
    let mightRetire = state.value.window.mayRetire
    state.value.window.answered(status: status, at: now)
    let mayRetire = state.value.window.mayRetire
    if mightRetire != mayRetire { delegate.retiringStopped(index, mightRetire) }
    let refuses = status == 403
    if refuses != state.value.refusesCredentials { delegate.upstreamRefusesCredentials(index, refuses) }
    state.value.refusesCredentials = refuses
  }

  func client(_ client: HTTP2Client, isGoingAway goAway: PeerGoAway) { connectIfNeeded() }

  func client(_ client: HTTP2Client, ended end: ConnectionEnd) {
    let now = loop.now
    var isOfUse = false
    if client === connecting {
      connecting = nil
      state.value.window.connectFailed(at: now, jitter: .random(in: 0...1))
    } else {
      state.value.clients.removeAll { $0 === client }
      isOfUse = client.tag == Self.hasAnswered
      state.value.window.disconnected(at: now, orderly: end.isRegular, hasAnswered: isOfUse, jitter: .random(in: 0...1))
    }
    if state.value.clients.isEmpty {
      if !isDraining && !(end.isRegular && isOfUse) { forwarder.delegate?.upstreamFailed(index, end) }
      guard case .available = state.value.window.availability(at: now) else { return returnQueue(.upstreamUnavailable) }
    }
    connectIfNeeded()
  }
}
