import Delivery
import HTTP2
import Primitives
import Push
import Reactor
import Security
import Transport

/// One upstream as one loop sees it, for what one of the gateway's keys signs: a few connections, the pushes on them, and those that wait
/// for a stream.
///
/// A push is written at once when a connection has a free stream, waits here while a connection is being made or all are
/// busy, and goes back to the store when there is none to be had: waiting for an upstream that is down is the store's
/// business, where it is durable and bounded. `UpstreamWindow` decides when to connect, by the steady clock.
final class UpstreamLink {
  struct Flight {
    let ticket: PushTicket
    let attempt: Int
    /// The broadcast's ticket, where it is one and no push.
    var broadcast: BroadcastTicket?
  }

  /// The tag of a connection that has answered a push.
  static let hasAnswered: UInt64 = 1

  /// What every push and every answer touches.
  struct State: ~Copyable {
    var window: UpstreamWindow
    var clients: ContiguousArray<HTTP2Client> = []
    /// Broadcasts that wait for a stream; they go before pushes, since each stands for many.
    var broadcasts: ContiguousArray<ForwardedBroadcast> = []
    var queue = PushQueue(capacity: Limits.upstreamQueue)
    var flights = Slab<Flight>(capacity: Limits.upstreamConnections * Limits.upstreamStreams)
    var request: PushRequest
    var refusesCredentials = false
    /// The upstream has been left alone, and is to be told of once it works again.
    var wasLeftAlone = false

    init(_ window: UpstreamWindow, authority: String) {
      self.window = window
      request = PushRequest(authority: authority)
    }
  }

  let index: Int
  let signer: Int
  private let upstream: Upstream
  /// The address of the last attempt to connect.
  private(set) var address: String
  /// What new connections are trusted by.
  var tls: TLSContext
  private let transport: TransportLoop
  let loop: EventLoop
  let authorization: UpstreamAuthorization
  unowned let forwarder: Forwarder
  let state: Confined<State>
  var connecting: HTTP2Client?
  private(set) var isDraining = false

  init(_ index: Int, _ upstream: Upstream, signer: Int, on transport: TransportLoop, _ forwarder: Forwarder) {
    self.index = index
    self.signer = signer
    self.upstream = upstream
    tls = upstream.tls
    address = upstream.address
    self.transport = transport
    self.forwarder = forwarder
    loop = transport.loop
    authorization = forwarder.authorization
    let window = UpstreamWindow(
      .init(
        connections: Limits.upstreamConnections, firstDelay: .milliseconds(Limits.retryMilliseconds.first),
        longestDelay: .milliseconds(Limits.reconnectLongestMilliseconds),
        breaker: .init(
          serverErrors: Limits.serverErrorsInARow, firstRest: .milliseconds(Limits.upstreamRestMilliseconds.first),
          longestRest: .milliseconds(Limits.upstreamRestMilliseconds.longest), pause: upstream.pause)))
    state = Confined(State(window, authority: upstream.authority))
  }

  /// Pushes written and not answered, and pushes that wait for a stream.
  var load: (inFlight: Int, queued: Int) { (state.value.flights.count, state.value.queue.count + state.value.broadcasts.count) }

  /// Bytes of the queue that are not in use.
  var spareBytes: Int { state.value.queue.spareBytes }

  /// Gives them back.
  func releaseSpare() { state.value.queue.releaseSpare() }

  /// Sends `pushes`, whose ranges lie in `bytes`, each as soon as a stream is free; every outcome is reported exactly once.
  func send(_ pushes: Span<ForwardedPush>, _ bytes: RawSpan) {
    switch state.value.window.availability(at: loop.steadyNow) {
    case .available where isDraining: return turnAway(pushes, .upstreamUnavailable)
    case .unavailable(_, let cause): return turnAway(pushes, cause)
    case .onTrial(let cause): return sendOnTrial(pushes, bytes, cause)
    case .available: break
    }
    let written = state.value.queue.isEmpty ? write(pushes, bytes) : 0
    guard written < pushes.count else { return }
    for place in written..<pushes.count { enqueue(pushes[place], bytes) }
    connectIfNeeded()
  }

  /// Sends the first, unless another is on its way already, and turns the others away.
  private func sendOnTrial(_ pushes: Span<ForwardedPush>, _ bytes: RawSpan, _ cause: Cause) {
    guard !isDraining, load == (0, 0), !pushes.isEmpty else { return turnAway(pushes, isDraining ? .upstreamUnavailable : cause) }
    let first = pushes.extracting(0..<1)
    if write(first, bytes) == 0 { enqueue(first[0], bytes) }
    turnAway(pushes.extracting(1..<pushes.count), cause)
    connectIfNeeded()
  }

  /// Sends a broadcast as soon as a stream is free; its outcome is reported exactly once.
  func send(_ broadcast: ForwardedBroadcast) {
    switch state.value.window.availability(at: loop.steadyNow) {
    case .available where isDraining, .onTrial where isDraining: return report(broadcast, .notAttempted(.upstreamUnavailable))
    case .unavailable(_, let cause): return report(broadcast, .notAttempted(cause))
    case .onTrial(let cause) where load != (0, 0): return report(broadcast, .notAttempted(cause))
    case .available, .onTrial: break
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
      try authorization.with(signer: push.signer, at: loop.moment) {
        state.value.request.write(push, bytes, authorization: $0, shift: forwarder.shift)
      }
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
      try authorization.with(signer: broadcast.signer, at: loop.moment) {
        state.value.request.write(broadcast, authorization: $0, shift: forwarder.shift)
      }
      if unsafe client.send(state.value.request.fields, body: broadcast.payload.span.bytes, tag: flight.packed) { return true }
    } catch {
      forwarder.cannotSign(upstream: index, error)
    }
    state.value.flights.remove(flight)
    return false
  }

  private func report(_ broadcast: ForwardedBroadcast, _ outcome: UpstreamOutcome) {
    forwarder.delegate?.broadcastCompleted(broadcast.ticket, outcome, nil, detail: "")
  }

  private func enqueue(_ push: ForwardedPush, _ bytes: RawSpan) {
    guard !state.value.queue.isFull, let queued = forwarder.queue(push, bytes) else {
      forwarder.delegate?.completed(push.ticket, .notAttempted(.upstreamBusy), nil, detail: RawSpan())
      return
    }
    state.value.queue.append(queued)
  }

  func pump() {
    // What waits for a stream is not worth one to an upstream that is to be left alone.
    if case .unavailable(_, let cause) = state.value.window.availability(at: loop.steadyNow) { returnQueue(cause) }

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
        forwarder.release(next)
        free -= 1
      }
    }
    connectIfNeeded()
  }

  func connectIfNeeded() {
    guard !isDraining else { return }
    let freeStreams = state.value.clients.reduce(0) { $0 + $1.availableStreams }
    guard state.value.window.shouldConnect(queued: load.queued, freeStreams: freeStreams, at: loop.steadyNow) else { return }
    // It may have started again elsewhere.
    let upstream = upstream.located
    if upstream.address != address {
      address = upstream.address
      state.value.request.address(to: upstream.authority)
    }
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

  func returnQueue(_ cause: Cause) {
    let broadcasts = state.value.broadcasts
    state.value.broadcasts.removeAll()
    for broadcast in broadcasts { report(broadcast, .notAttempted(cause)) }
    while !state.value.queue.isEmpty {
      let next = state.value.queue.removeFirst()
      forwarder.delegate?.completed(next.push.ticket, .notAttempted(cause), nil, detail: RawSpan())
      forwarder.release(next)
    }
  }
}
