public import HTTP2
public import Primitives
public import Reactor
public import Security

/// One client of an `HTTP2Server`.
public final class HTTP2ServerConnection {
  /// Something of the handler's own that goes with the connection.
  public var context: AnyObject?
  /// Requests that were complete so far.
  public var requests: Int { state.value.requests }
  /// Whether the client has closed its side; it may still read answers, but seldom does.
  public private(set) var hasPeerEnded = false
  /// The server name that the client asked for in its handshake (SNI), as it spelled it.
  public let serverName: String?

  /// What every request touches.
  private struct State: ~Copyable {
    /// Gone with the connection, and all its exchanges with it, whoever still holds this object.
    var session: ServerSession?
    var requests = 0

    /// The session's work, or nil when it is gone.
    var work: Int? { mutating get { session?.work } }

    /// Whether no exchange is open and nothing waits to be sent.
    var isIdle: Bool { mutating get { session?.hasOpenExchanges != true && session?.wantsWrite != true } }

    mutating func takeMalformed() -> [MalformedRequest] { session?.takeMalformed() ?? [] }

    mutating func takeReady() -> Exchange? {
      guard let exchange = session?.takeReady() ?? nil else { return nil }
      requests &+= 1
      return exchange
    }
  }

  private unowned let connection: Connection
  private unowned let server: HTTP2Server
  private let state: Confined<State>
  private var settingsDeadline: Uptime
  /// Whether it was turned away, so that nothing of what it sends is looked at.
  private var isRefused = false
  /// The oldest incomplete request, and since when it is that.
  private var oldest: (began: Instant, since: Uptime)?

  init(_ connection: Connection, _ server: HTTP2Server) {
    self.connection = connection
    self.server = server
    serverName = connection.serverName
    let transport = connection.transport
    settingsDeadline = transport.loop.uptime + server.timeouts.handshake
    state = Confined(State())
    connection.saysCloseNotify = server.saysCloseNotify
    begin(server.handler?.welcome(self) ?? .standard)
  }

  /// Makes the session, which has something to say from the start.
  private func begin(_ welcome: ConnectionWelcome) {
    let me = WayBack()
    me.connection = self
    var settings = server.settings
    if case .standard = welcome {} else { settings.concurrentStreams = settings.concurrentStreamsTrusted }
    state.value.session = ServerSession(
      pool: connection.transport.exchanges, settings: settings, tag: connection.key.packed, trusts: { me.connection?.trusts($0) ?? false })
    guard case .refused(let debug) = welcome else { return }
    isRefused = true
    state.value.session?.goAway(lastStream: .none, debug: debug)
  }

  /// The way from the session to the connection that holds it.
  private final class WayBack {
    unowned var connection: HTTP2ServerConnection?
  }

  private func trusts(_ exchange: Exchange) -> Bool { server.handler?.trusts(exchange, on: self) ?? false }

  /// Announces another number of streams; those that are open over it are served.
  public func announce(concurrentStreams: Int) { state.value.session?.announce(concurrentStreams: concurrentStreams) }

  /// Announces another number of streams, for as long as the connection lasts.
  public func limit(concurrentStreams: Int) {
    state.value.session?.limit(concurrentStreams: concurrentStreams)
    connection.setNeedsFlush()
  }

  /// Ends the connection: what is gathered already is sent, and no request is answered any more. Its exchanges are gone then.
  public func close() { connection.close() }

  /// The client is in earnest; see `Connection.prove()`.
  public func prove() { connection.prove() }

  /// The certificate that the client has shown; see `Connection.clientCertificate`.
  public func clientCertificate(_ bounds: ClientCertificate.Bounds) -> ClientCertificate? { connection.clientCertificate(bounds) }

  /// The client's address.
  public var peer: SocketAddress { connection.peer }
  /// Whether the bytes are encrypted on the way.
  public var isSecure: Bool { connection.isSecure }

  /// Announces that no further requests are taken, with `debug` as the GOAWAY's data; open ones are answered, then the
  /// connection is closed.
  public func goAway(code: UInt32 = HTTP2ErrorCode.noError, debug: String) { state.value.session?.goAway(code: code, debug: debug) }
}

extension HTTP2ServerConnection: ConnectionDriver {
  /// Bytes after which it is asked whether the turn's work is done.
  private static var sliceBytes: Int { 4096 }

  /// Runs the protocol, and has the requests that became complete answered, until another slice would be more than a turn's work.
  public func receive(_ bytes: RawSpan) -> Int {
    guard !isRefused else { return bytes.byteCount }
    let (limit, moment, handler) = (connection.transport.turnWork, connection.transport.loop.moment, server.handler)
    var (taken, work, last) = (0, 0, 0)
    while taken < bytes.byteCount, taken == 0 || work + last <= limit && wantsRead, let before = state.value.work {
      let slice = bytes.extracting(taken..<min(taken + Self.sliceBytes, bytes.byteCount))
      taken += slice.byteCount
      _ = state.value.session?.receive(slice, now: moment.now, steady: moment.steady)
      while let handler, let exchange = state.value.takeReady() {
        if server.isProvenByRequest { connection.prove() }
        handler.handle(exchange, on: self)
      }
      let rejected = state.value.takeMalformed()
      if !rejected.isEmpty { handler?.rejected(rejected, on: self) }
      last = (state.value.work ?? before) - before
      work += last
    }
    connection.spend(work)
    return state.value.work == nil ? bytes.byteCount : taken
  }

  /// Gives up requests that can never become complete, and lets the others be answered.
  public func receiveEnd() {
    hasPeerEnded = true
    while let exchange = state.value.session?.takeStalled(before: .distantFuture) ?? nil { exchange.reset(HTTP2ErrorCode.cancel) }
  }

  /// Moves frames into `queue`.
  public func drain(into queue: inout ByteQueue) -> Bool { state.value.session?.drain(into: &queue) ?? true }

  /// Unless the handler has enough to do: flow control and the limit of streams bound what else comes.
  public var wantsRead: Bool { isRefused || server.handler?.wantsRequests ?? true }

  /// Whether GOAWAY, either side's end or a fault has run its course.
  public var isDone: Bool {
    guard let isDone = state.value.session?.isDone, let isOver = state.value.session?.isOverForEndedClient else { return true }
    return hasPeerEnded ? isOver : isDone
  }

  /// Whether no stream is open.
  public var isIdle: Bool { state.value.isIdle }

  /// Why it is done.
  public var end: ConnectionEnd {
    if let failure = state.value.session?.failure ?? nil { return .http2(failure) }
    return hasPeerEnded ? .peerEnded : .finished
  }

  /// Finds clients that do not finish their requests, never began, or leave an answer no window.
  public func sweep(_ uptime: Uptime) {
    // What is not read is not the client's fault.
    if !wantsRead {
      oldest = nil
      settingsDeadline = max(settingsDeadline, uptime + connection.transport.sweepInterval * 2)
    }
    if state.value.session?.isEstablished == false && uptime >= settingsDeadline {
      connection.close(.handshakeTimeout)
      return
    }
    let sweeps = server.timeouts.stalledWrite.nanoseconds / connection.transport.sweepInterval.nanoseconds
    if state.value.session?.hasAnswerWaiting(sinceTimes: min(Int(sweeps), 254)) == true {
      connection.close(.stalledWrite)
      return
    }
    guard wantsRead, let began = state.value.session?.oldestIncomplete ?? nil else {
      oldest = nil
      return
    }
    // By the clock that only runs forward, although requests are dated by the product's, which may be set.
    guard let known = oldest, known.began == began else {
      oldest = (began, uptime)
      return
    }
    guard uptime - known.since >= server.timeouts.request else { return }
    while let exchange = state.value.session?.takeStalled(before: began + TimeSpan(nanoseconds: 1)) ?? nil {
      server.handler?.handleStalled(exchange, on: self)
    }
    connection.setNeedsFlush()
  }

  /// Takes no further requests, as Apple says it (apns.md section 1.4).
  public func finish() { goAway(debug: #"{"reason":"Shutdown"}"#) }

  /// Keys to the connection's exchanges find nothing from now on.
  public func ended(_ end: ConnectionEnd) {
    state.value.session = nil
    guard !end.isRegular else { return }
    server.handler?.connectionFailed(
      ConnectionFailure(end: end, peer: connection.peer, serverName: serverName, requests: requests))
  }
}
