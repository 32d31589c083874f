public import HTTP2
public import Primitives
public import Reactor
public import Security

/// One HTTP/2 connection to a server, from one loop. It connects once; after its end, make another.
///
/// In steady state a request allocates nothing here: its fields are collected in a list the caller keeps, its body is copied
/// to a pooled block, and its answer is a handle to a slot.
public final class HTTP2Client {
  /// The settings of an HTTP2Client.
  public struct Configuration {
    /// The host: a name, or an IP address.
    public var host: String
    /// The port.
    public var port: UInt16
    /// What the connection is encrypted with; nil for none, where the server expects HTTP/2 without asking.
    public var tls: TLSContext?
    /// What is announced to the server.
    public var settings = ClientSettings()
    /// From `connect()` to the server's SETTINGS.
    public var connectTimeout = TimeSpan.seconds(5)
    /// From sending a request to the end of its answer.
    public var answerTimeout = TimeSpan.seconds(15)

    /// The way to `port` of `host`, with the defaults for the rest.
    public init(host: String, port: UInt16, tls: TLSContext?) {
      self.host = host
      self.port = port
      self.tls = tls
    }
  }

  /// Who sends the requests; kept until the end of the connection was told. Not a weak reference, since those make every
  /// retain and release of what they refer to slow, and there are several a request.
  public var delegate: (any HTTP2ClientDelegate)?
  /// A number of the caller's own.
  public var tag: UInt64 {
    get { state.value.tag }
    set { state.value.tag = newValue }
  }

  /// What every request and every answer touches.
  private struct State: ~Copyable {
    var session: ClientSession
    var tag: UInt64 = 0
    var hasEnded = false
    /// Whether the connection has been told that there is something to drain, and has not drained it yet.
    var hasAskedForFlush = false
    var lastReceived: Uptime

    init(_ session: consuming ClientSession, at uptime: Uptime) {
      self.session = session
      lastReceived = uptime
    }
  }

  let transport: TransportLoop
  private let loop: EventLoop
  private let configuration: Configuration
  private let state: Confined<State>
  private var connection: Connection?
  private var addresses: ArraySlice<SocketAddress> = []
  private var connectTimer: Timer?
  private var hasStarted = false
  private var hasPeerEnded = false
  private var hasToldGoAway = false

  /// A client that is not connected yet.
  public init(on transport: TransportLoop, _ configuration: Configuration) {
    self.transport = transport
    loop = transport.loop
    self.configuration = configuration
    state = Confined(
      State(ClientSession(memory: transport.memory, settings: configuration.settings), at: transport.loop.uptime))
  }

  /// Requests that may be sent now: none before the server's SETTINGS, nor after its GOAWAY or `close()`.
  public var availableStreams: Int { isEnded ? 0 : state.value.session.availableStreams }
  /// Requests that have no answer yet.
  public var openStreams: Int { state.value.session.openStreams }
  /// Whether the connection is over.
  public var isEnded: Bool { state.value.hasEnded }
  /// Whether the server's SETTINGS have come.
  public var isEstablished: Bool { state.value.session.isEstablished }

  /// Sends a request, pseudo-header fields first in `fields`, with a copy of `body`; it goes out when the round ends. Its answer
  /// will carry `tag`. False, and nothing is sent, when no stream is available.
  @discardableResult
  public func send(_ fields: borrowing FieldList, body: RawSpan, tag: UInt64) -> Bool {
    guard !isEnded, state.value.session.send(fields, body: body, tag: tag, at: loop.uptime.nanoseconds) != nil else { return false }
    if !state.value.hasAskedForFlush { askForFlush() }
    return true
  }

  /// The next answer, in the order of their ends, or nil when there is none left; good until the next is taken.
  public func takeAnswer() -> Answer? { state.value.session.takeAnswer() }

  private func askForFlush() {
    guard let connection else { return }
    state.value.hasAskedForFlush = true
    connection.setNeedsFlush()
  }

  /// Takes no further requests, and ends the connection when the open ones are answered.
  public func close() {
    state.value.session.goAway()
    guard let connection else {
      conclude(.finished)
      return
    }
    connection.finish()
  }

  /// Ends the connection now; open requests fail as `connectionLost`.
  public func abort(_ end: ConnectionEnd = .drained) {
    if let connection { connection.close(end) } else { conclude(end) }
  }
}

// MARK: Connecting

extension HTTP2Client {
  /// Starts to connect; the delegate learns how that went.
  public func connect() {
    precondition(!hasStarted, "a client connects once")
    hasStarted = true
    // The timer holds the client until `conclude`, which lets go of it.
    connectTimer = transport.loop.makeTimer { [self] in
      if !isEstablished { abort(.handshakeTimeout) }
    }
    connectTimer?.arm(after: configuration.connectTimeout)
    // Never from within the call: the caller is told in a later round, and may be in the middle of something now.
    transport.resolve(configuration.host, port: configuration.port) { [self] result in
      guard !isEnded else { return }
      switch result {
      case .success(let found):
        addresses = found[...]
        attempt(after: nil)
      case .failure(let error): conclude(.notResolved(error))
      }
    }
  }

  /// Tries the next address; without one, the last failure is the end.
  private func attempt(after failure: SystemError?) {
    guard let address = addresses.popFirst() else {
      // There was at least one address, so there is a failure.
      if let failure { conclude(.connectFailed(failure)) }
      return
    }
    do throws(SystemError) {
      let socket = try Descriptor.connecting(to: address)
      let tls: TLSSession?
      if let context = configuration.tls { tls = TLSSession(client: context, name: configuration.host) } else { tls = nil }
      var timeouts = ConnectionTimeouts()
      timeouts.handshake = configuration.connectTimeout
      connection = Connection(
        socket, peer: address, tls: tls, isServer: false, on: transport, timeouts: timeouts, owner: self)
      if connection == nil { conclude(.tooManyConnections) }
    } catch {
      attempt(after: error)
    }
  }

  /// Every request gets its answer, then the delegate is told.
  private func conclude(_ end: ConnectionEnd) {
    guard !isEnded else { return }
    state.value.hasEnded = true
    connectTimer?.cancel()
    connectTimer = nil
    state.value.session.disconnect()
    handOnAnswers()
    let delegate = self.delegate
    self.delegate = nil
    delegate?.client(self, ended: end)
  }
}

extension HTTP2Client: ConnectionOwner {
  func opened(_ connection: Connection) -> any ConnectionDriver { self }

  func ended(_ connection: Connection, _ end: ConnectionEnd) {
    guard connection === self.connection else { return }
    self.connection = nil
    if case .connectFailed(let error) = end { attempt(after: error) } else { conclude(end) }
  }

  func proved(_ connection: Connection) {}

  func released(_ connection: Connection) {}
}

// MARK: Driving

extension HTTP2Client: ConnectionDriver {
  /// Runs the protocol and hands the answers on.
  public func receive(_ bytes: RawSpan) -> Int {
    state.value.lastReceived = loop.uptime
    state.value.session.receive(bytes)
    handOnAnswers()
    if !hasToldGoAway, let goAway = state.value.session.peerGoAway {
      hasToldGoAway = true
      delegate?.client(self, isGoingAway: goAway)
    }
    if isEstablished && !state.value.session.isClosing { delegate?.clientMaySend(self) }
    askForFlush()
    return bytes.byteCount
  }

  /// Never: who connects does not look for connections to give up.
  public var isIdle: Bool { false }

  /// Nothing can be answered any more.
  public func receiveEnd() { hasPeerEnded = true }

  /// Moves frames into `queue`. A reset that is sent ends its stream, so this may bring answers too.
  public func drain(into queue: inout ByteQueue) -> Bool {
    state.value.hasAskedForFlush = false
    let isDrained = state.value.session.drain(into: &queue)
    handOnAnswers()
    return isDrained
  }

  private func handOnAnswers() {
    delegate?.clientMayHaveAnswers(self)
    // What the delegate has left, and what nobody is there to take.
    while takeAnswer() != nil {}
  }

  /// Always: answers are bounded by the requests sent.
  public var wantsRead: Bool { true }

  /// Whether either side has finished, or failed.
  public var isDone: Bool { hasPeerEnded || state.value.session.isDone }

  /// Why it is done.
  public var end: ConnectionEnd {
    if let failure = state.value.session.failure { return .http2(failure) }
    return hasPeerEnded || state.value.session.peerGoAway != nil ? .peerEnded : .finished
  }

  /// Finds requests that are not answered, and servers that say nothing any more.
  public func sweep(_ uptime: Uptime) {
    let sentBefore = Uptime(nanoseconds: uptime.nanoseconds.saturatingSubtract(configuration.answerTimeout.nanoseconds))
    guard state.value.session.cancelStalled(sentBefore: sentBefore.nanoseconds) > 0 else { return }
    if state.value.lastReceived < sentBefore { connection?.close(.unresponsive) } else { askForFlush() }
  }

  /// Takes no further requests.
  public func finish() { state.value.session.goAway() }

  /// The owner's half of this object is told too, and does what is to be done.
  public func ended(_ end: ConnectionEnd) {}
}
