public import HTTP2
public import Primitives
public import Reactor
public import Security

/// A listening face on one loop: accepts, encrypts, speaks HTTP/2 (and whatever else it is told to).
///
/// Without `otherwise`, every connection is HTTP/2, whether ALPN said so or nothing: a client that speaks something else is
/// answered with SETTINGS and GOAWAY, as Apple's servers do (apns.md section 1.4). With it, a connection that has not agreed on
/// `h2` is HTTP/2 if it begins with HTTP/2's preface, and else driven by what `otherwise` makes.
public final class HTTP2Server {
  /// The settings of an HTTP2Server.
  public struct Configuration {
    /// What is announced to clients.
    public var settings: ServerSettings
    /// How long things may take.
    public var timeouts = ConnectionTimeouts()
    /// Connections at once; for a further one another gives way (`ConnectionPlaces`), or it is closed when it is accepted.
    public var places: ConnectionPlaces
    /// Descriptors of the process that connections leave to others: for a connection that would take one of them another gives way,
    /// or it is closed when it is accepted. What runs out of descriptors may not only fail but end the process.
    public var spareDescriptors = 0
    /// Whether the end of an HTTP/2 connection is told by TLS's close_notify too. GOAWAY has told it, and Apple's servers then close
    /// the TCP connection without a word (apns.md section 1.4).
    public var saysCloseNotify = true
    /// Makes the driver of a connection that speaks something else than HTTP/2.
    public var otherwise: ((Connection) -> any ConnectionDriver)?

    /// Whether a complete request is enough for a connection to be in earnest; without it, the handler calls `prove()`.
    public var isProvenByRequest = true

    /// A configuration with these bounds and the defaults for the rest.
    public init(
      settings: ServerSettings, places: ConnectionPlaces, timeouts: ConnectionTimeouts = ConnectionTimeouts(),
      otherwise: ((Connection) -> any ConnectionDriver)? = nil
    ) {
      self.settings = settings
      self.places = places
      self.timeouts = timeouts
      self.otherwise = otherwise
    }
  }

  /// What new connections are encrypted with, nil for none; may be replaced at any time.
  public var tls: TLSContext?
  /// The address that is listened on, with the actual port.
  public let address: SocketAddress
  /// Connections that are open, lingering ones included.
  public private(set) var connectionCount = 0

  let transport: TransportLoop
  private(set) var handler: (any HTTP2ServerHandler)?
  private var configuration: Configuration
  private var listener: Listener?
  private var isDraining = false
  private var drainTimer: Timer?
  private var drainEnd = Uptime.never
  private var whenDrained: (() -> Void)?

  /// What is announced to new connections; may be replaced at any time.
  public var settings: ServerSettings {
    get { configuration.settings }
    set { configuration.settings = newValue }
  }
  var saysCloseNotify: Bool { configuration.saysCloseNotify }
  var timeouts: ConnectionTimeouts { configuration.timeouts }
  var isProvenByRequest: Bool { configuration.isProvenByRequest }

  /// Starts to accept connections of `socket`; `handler` is kept until the server was drained.
  public init(
    on transport: TransportLoop, _ socket: ListeningSocket, tls: TLSContext?, _ configuration: Configuration,
    handler: any HTTP2ServerHandler
  ) throws(SystemError) {
    self.transport = transport
    self.tls = tls
    self.configuration = configuration
    self.handler = handler
    address = socket.address
    listener = try Listener(on: transport.loop, socket) { [unowned self] socket, peer in accept(socket, peer) }
  }

  private func accept(_ socket: consuming Descriptor, _ peer: SocketAddress) {
    transport.loop.spend(transport.acceptWork)
    let origin = ConnectionPlaces.Origin(peer)
    var socket = socket
    if socket.leavesFewerThan(configuration.spareDescriptors), makeRoom(for: origin) { socket = socket.lowered() }
    guard !socket.leavesFewerThan(configuration.spareDescriptors) else { return report(.noDescriptors, peer: peer) }
    let places = configuration.places
    guard places.count < places.capacity || makeRoom(for: origin) else { return report(.tooManyConnections, peer: peer) }
    let session: TLSSession?
    if let tls { session = TLSSession(server: tls) } else { session = nil }
    // The transport and the loop keep the connection.
    let connection = Connection(
      socket, peer: peer, tls: session, isServer: true, on: transport, timeouts: timeouts, owner: self)
    guard let connection else { return report(.tooManyConnections, peer: peer) }
    connectionCount += 1
    places.take(connection.key, origin)
  }

  /// Has a connection give way to one from `origin`; false when none does.
  private func makeRoom(for origin: ConnectionPlaces.Origin) -> Bool {
    let victim = configuration.places.victim(for: origin) { [transport] key in transport.connection(key)?.idleSince }
    guard let victim, let connection = transport.connection(victim) else { return false }
    connection.end(.gaveWay)
    // At once: what it has not read is not worth the place.
    connection.release()
    return true
  }

  private func report(_ end: ConnectionEnd, peer: SocketAddress, serverName: String? = nil) {
    handler?.connectionFailed(ConnectionFailure(end: end, peer: peer, serverName: serverName, requests: 0))
  }
}

// MARK: Connections

extension HTTP2Server: ConnectionOwner {
  func opened(_ connection: Connection) -> any ConnectionDriver {
    let driver: any ConnectionDriver
    if let otherwise = configuration.otherwise, connection.applicationProtocol != .http2 {
      driver = ProtocolSniffer(connection, http2: { HTTP2ServerConnection($0, self) }, otherwise: otherwise)
    } else {
      driver = HTTP2ServerConnection(connection, self)
    }
    if isDraining { driver.finish() }
    return driver
  }

  func ended(_ connection: Connection, _ end: ConnectionEnd) {
    // Whoever was opened reports for itself; who never said a word was a probe.
    guard !connection.wasOpened, !end.isRegular, connection.hasReceived || end.isGivingWay else { return }
    report(end, peer: connection.peer, serverName: connection.serverName)
  }

  func proved(_ connection: Connection) { configuration.places.prove(connection.key) }

  func released(_ connection: Connection) {
    configuration.places.release(connection.key)
    connectionCount -= 1
    if isDraining && connectionCount == 0 { drained() }
  }
}

// MARK: The end

extension HTTP2Server {
  /// Takes in the connections that wait in the kernel's queue, and gives up the port, so that another process may listen there; those
  /// that are open are served as before.
  public func stopListening() {
    listener?.close()
    listener = nil
  }

  /// Gives up the port, says GOAWAY to everybody, lets open requests be answered, and calls `completion` when the last
  /// connection is closed; those that are open after `limit` are closed as they are.
  ///
  /// A client that has been told the end, and does not close, is not waited for as long as at other times, nor one that has connected and
  /// says nothing.
  public func drain(within limit: TimeSpan, completion: @escaping () -> Void) {
    precondition(!isDraining, "a server is drained once")
    isDraining = true
    whenDrained = completion
    stopListening()
    guard connectionCount > 0 else {
      drained()
      return
    }
    drainEnd = transport.loop.uptime + limit
    drainTimer = transport.loop.makeTimer { [unowned self] in hurry() }
    drainTimer?.arm(after: min(Self.drainInterval, limit))
    for connection in transport.connections(of: self) { connection.finish() }
  }

  /// How often connections are looked at while they are drained.
  private static var drainInterval: TimeSpan { .milliseconds(10) }

  /// Closes the connections that nothing more is to be expected from; all of them when the time is up.
  private func hurry() {
    let uptime = transport.loop.uptime
    let isOver = uptime >= drainEnd
    for connection in transport.connections(of: self) {
      if isOver {
        connection.close(.drained)
        connection.release()
      } else {
        connection.hurry(at: uptime)
      }
    }
    if !isOver, connectionCount > 0 { drainTimer?.arm(after: min(Self.drainInterval, drainEnd - uptime)) }
  }

  /// Goes on reading what clients have sent while the handler wanted no requests.
  public func resumeReading() { for connection in transport.connections(of: self) { connection.resumeReading() } }

  private func drained() {
    drainTimer?.cancel()
    drainTimer = nil
    handler = nil
    let completion = whenDrained
    whenDrained = nil
    completion?()
  }
}
