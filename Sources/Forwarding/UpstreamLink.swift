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
  }

  /// The tag of a connection that has answered a push.
  private static let hasAnswered: UInt64 = 1

  private let index: Int
  private let upstream: Upstream
  private let transport: TransportLoop
  private unowned let forwarder: Forwarder
  private var window: UpstreamWindow
  private var clients: [HTTP2Client] = []
  private var connecting: HTTP2Client?
  private var queue = PushQueue(capacity: Limits.upstreamQueue)
  private var flights = Slab<Flight>(capacity: Limits.upstreamConnections * Limits.upstreamStreams)
  private var request: PushRequest
  private var isDraining = false
  private var refusesCredentials = false

  init(_ index: Int, _ upstream: Upstream, on transport: TransportLoop, _ forwarder: Forwarder) {
    self.index = index
    self.upstream = upstream
    self.transport = transport
    self.forwarder = forwarder
    request = PushRequest(authority: upstream.authority)
    window = UpstreamWindow(
      .init(
        connections: Limits.upstreamConnections, firstDelay: .milliseconds(Limits.retryMilliseconds.first),
        longestDelay: .milliseconds(Limits.reconnectLongestMilliseconds), pause: .milliseconds(Limits.upstreamPauseMilliseconds)))
  }

  /// Pushes written and not answered, and pushes that wait for a stream.
  var load: (inFlight: Int, queued: Int) { (flights.count, queue.count) }

  /// Sends `push`, whose ranges lie in `bytes`, as soon as a stream is free; its outcome is reported exactly once.
  func send(_ push: ForwardedPush, _ bytes: RawSpan) {
    let now = transport.loop.now
    switch window.availability(at: now) {
    case .available where isDraining, .unavailable: return report(push.ticket, .notAttempted(.upstreamUnavailable))
    case .paused: return report(push.ticket, .notAttempted(.upstreamPaused))
    case .available: break
    }
    if queue.isEmpty, let client = freeClient(), write(push, bytes, on: client) { return }
    guard !queue.isFull, let queued = QueuedPush(push, bytes, in: forwarder.blocks) else {
      return report(push.ticket, .notAttempted(.upstreamBusy))
    }
    queue.append(queued)
    connectIfNeeded()
  }

  /// Sends nothing more; what is on its way may still be answered, then the connections close.
  func drain() {
    isDraining = true
    returnQueue(.upstreamUnavailable)
    connecting?.abort()
    for client in clients { client.close() }
  }

  /// Ends every connection at once.
  func abort() { for client in clients { client.abort() } }

  /// The forwarder is gone: nobody is told anything any more.
  func abandon() {
    for client in clients + (connecting.map { [$0] } ?? []) {
      client.delegate = nil
      client.abort()
    }
  }

  private func freeClient() -> HTTP2Client? { clients.first { $0.availableStreams > 0 } }

  /// Writes the push on a stream of `client`; false when the stream is not to be had after all.
  private func write(_ push: ForwardedPush, _ bytes: RawSpan, on client: HTTP2Client) -> Bool {
    guard let flight = flights.insert(Flight(ticket: push.ticket, attempt: push.attempt)) else { return false }
    let isWritten: Bool
    do throws(CryptoError) {
      isWritten = try forwarder.authorization.with(app: push.app, at: transport.loop.now) { authorization in
        request.write(push, bytes, authorization: authorization)
        return client.send(request.fields, body: bytes[push.payload], tag: flight.packed)
      }
    } catch {
      forwarder.cannotSign(upstream: index, error)
      isWritten = false
    }
    if !isWritten { flights.remove(flight) }
    return isWritten
  }

  private func pump() {
    while !queue.isEmpty, let client = freeClient() {
      let next = queue.removeFirst()
      if !write(next.push, next.bytes, on: client) { report(next.push.ticket, .notAttempted(.upstreamBusy)) }
      next.release(to: forwarder.blocks)
    }
    connectIfNeeded()
  }

  private func connectIfNeeded() {
    let freeStreams = clients.reduce(0) { $0 + $1.availableStreams }
    guard !isDraining, window.shouldConnect(queued: queue.count, freeStreams: freeStreams, at: transport.loop.now) else { return }
    var configuration = HTTP2Client.Configuration(host: upstream.host, port: upstream.port, tls: upstream.tls)
    configuration.settings.streamsMax = Limits.upstreamStreams
    configuration.connectTimeout = .milliseconds(Limits.upstreamConnectMilliseconds)
    configuration.answerTimeout = .milliseconds(Limits.upstreamAnswerMilliseconds)
    let client = HTTP2Client(on: transport, configuration)
    client.delegate = self
    connecting = client
    client.connect()
  }

  private func returnQueue(_ cause: Cause) {
    while !queue.isEmpty {
      let next = queue.removeFirst()
      report(next.push.ticket, .notAttempted(cause))
      next.release(to: forwarder.blocks)
    }
  }

  /// Counts the answer, and tells when it changes what is thought of the upstream.
  private func note(status: Int, at now: Instant) {
    let mightRetire = window.mayRetire
    window.answered(status: status, at: now)
    if mightRetire != window.mayRetire { forwarder.delegate?.retiringStopped(index, mightRetire) }
    let refuses = status == 403
    if refuses != refusesCredentials { forwarder.delegate?.upstreamRefusesCredentials(index, refuses) }
    refusesCredentials = refuses
  }

  private func report(_ ticket: PushTicket, _ outcome: UpstreamOutcome, detail: RawSpan = RawSpan()) {
    forwarder.delegate?.completed(ticket, outcome, detail: detail)
  }
}

extension UpstreamLink: HTTP2ClientDelegate {
  func clientMaySend(_ client: HTTP2Client) {
    if client === connecting {
      connecting = nil
      clients.append(client)
      window.connected()
      if clients.count == 1 { forwarder.delegate?.upstreamOpened(index) }
    }
    pump()
  }

  func client(_ client: HTTP2Client, received answer: Answer) {
    guard let flight = flights.remove(SlabKey(packed: answer.tag)) else { return }
    let now = transport.loop.now
    if let failure = answer.failure {
      switch failure {
      case .refused: report(flight.ticket, .notAttempted(.upstreamBusy))
      case .unprocessed: report(flight.ticket, .notAttempted(.upstreamUnavailable))
      case .reset, .cancelled, .connectionLost, .outOfMemory: report(flight.ticket, .retry(.upstreamUnavailable))
      }
      return
    }
    client.tag = Self.hasAnswered
    var detail = ByteRange.empty
    let read = UpstreamAnswer(answer, detail: &detail)
    note(status: read.status, at: now)
    let outcome = read.meaning(at: now, mayRetire: window.mayRetire)
    if detail.isEmpty {
      report(flight.ticket, outcome)
    } else if let header = answer.value(of: .widgetpushOutcome) {
      report(flight.ticket, outcome, detail: header[detail])
    }
  }

  func client(_ client: HTTP2Client, isGoingAway goAway: PeerGoAway) { connectIfNeeded() }

  func client(_ client: HTTP2Client, ended end: ConnectionEnd) {
    let now = transport.loop.now
    var isOfUse = false
    if client === connecting {
      connecting = nil
      window.connectFailed(at: now, jitter: .random(in: 0...1))
    } else {
      clients.removeAll { $0 === client }
      isOfUse = client.tag == Self.hasAnswered
      window.disconnected(at: now, orderly: end.isRegular, hasAnswered: isOfUse, jitter: .random(in: 0...1))
    }
    if clients.isEmpty {
      if !isDraining && !(end.isRegular && isOfUse) { forwarder.delegate?.upstreamFailed(index, end) }
      guard case .available = window.availability(at: now) else { return returnQueue(.upstreamUnavailable) }
    }
    connectIfNeeded()
  }
}
