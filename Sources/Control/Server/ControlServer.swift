public import HTTP2
public import Primitives
import Push
public import Reactor
public import Security
public import Transport

/// Serves HTTP/1.1 and HTTP/2 to people and scripts, over TLS and on plain ports, with handlers that may take their time.
///
/// The protocol of a connection is the one that ALPN chose, else what its first bytes are. Each request is handled in a
/// task of its own, off the loop, and its answer comes back to the loop. What must not cost a task, like the mock device's
/// side of a push, is answered on the loop by `onLoop`.
///
/// Belongs to its loop.
public final class ControlServer {
  /// The bounds of a server.
  public struct Configuration: Sendable {
    /// Bounds of one request.
    public var limits = HTTP1Limits()
    /// Requests that are answered at once; a further one is answered 503.
    public var requestsMax = Limits.controlExchanges
    /// Bytes of answers that may wait to be read.
    var unread = AnswerLedger.Bounds()
    /// Connections of each port at once; one without an admitted credential gives way to a further one.
    public var connectionsMax = min(Limits.controlConnections, max(16, DescriptorLimit.count / Limits.controlDescriptorPart))
    /// Descriptors of the process that connections leave to others.
    public var spareDescriptors = Limits.controlSpareDescriptors
    /// How long connections may take.
    public var timeouts = ConnectionTimeouts()
    /// How long an HTTP/1.1 connection may rest between two requests.
    public var idle = TimeSpan.milliseconds(Limits.controlIdleMilliseconds)

    /// The defaults.
    public init() {}
  }

  /// Answers a request on the loop and returns true, or returns false to leave it to the handler.
  ///
  /// It may also keep the exchange's key and answer later, through `TransportLoop.exchanges`.
  public typealias OnLoop = (Exchange, HTTP2ServerConnection) -> Bool

  private let transport: TransportLoop
  private let configuration: Configuration
  private let desk: RequestDesk
  private let clock: HTTPClock
  private let requests: HTTP2Requests
  private let onLoop: OnLoop?
  private let onFailure: (ConnectionFailure) -> Void
  private let onMalformed: ([MalformedRequest], HTTP2ServerConnection) -> Void
  private var servers: [HTTP2Server] = []

  /// A server that listens nowhere yet.
  ///
  /// - Parameters:
  ///   - onLoop: Asked first about each request that comes by HTTP/2.
  ///   - connectionFailed: Told of connections that ended other than by regular means.
  ///   - malformed: Told of malformed requests that came by HTTP/2.
  ///   - handler: Answers requests; cancelled when the client has gone.
  public init(
    on transport: TransportLoop, _ configuration: Configuration = Configuration(), onLoop: OnLoop? = nil,
    connectionFailed: @escaping (ConnectionFailure) -> Void = { _ in },
    malformed: @escaping ([MalformedRequest], HTTP2ServerConnection) -> Void = { _, _ in },
    handler: @escaping @Sendable (HTTPRequest) async -> HTTPResponse
  ) {
    self.transport = transport
    self.configuration = configuration
    self.onLoop = onLoop
    onFailure = connectionFailed
    onMalformed = malformed
    clock = HTTPClock(transport.loop)
    desk = RequestDesk(on: transport.loop, capacity: configuration.requestsMax, unread: configuration.unread, handler: handler)
    requests = HTTP2Requests(
      desk: desk, clock: clock, exchanges: transport.exchanges, bodyBytesMax: configuration.limits.bodyBytes)
    transport.loop.atEveryRoundEnd(.decide) { [weak requests] in requests?.findDeparted() }
  }

  /// Requests that handlers are working on.
  public var requestCount: Int { desk.count }

  /// Accepts connections of `socket`, encrypted with `tls` or, without it, plain.
  ///
  /// What `RouteAccess.localhost` guards is served on plain ports, so those belong on loopback.
  public func listen(_ socket: ListeningSocket, tls: TLSContext?) throws(SystemError) {
    var settings = ServerSettings(bodyBytesMax: configuration.limits.bodyBytes)
    settings.concurrentStreams = configuration.requestsMax
    let (desk, clock, limits) = (desk, clock, configuration.limits)
    let timeouts = HTTP1Timeouts(request: configuration.timeouts.request, idle: configuration.idle)
    var server = HTTP2Server.Configuration(
      settings: settings, places: ConnectionPlaces(capacity: configuration.connectionsMax), timeouts: configuration.timeouts,
      otherwise: { HTTP1Driver($0, desk: desk, clock: clock, limits: limits, timeouts: timeouts) })
    server.spareDescriptors = configuration.spareDescriptors
    server.isProvenByRequest = false
    servers.append(try HTTP2Server(on: transport, socket, tls: tls, server, handler: self))
  }

  /// The certificate and key of TLS ports, for connections to come.
  public func replace(tls: TLSContext) {
    for server in servers where server.tls != nil { server.tls = tls }
  }

  /// Gives up the ports; connections that are open, or wait in the kernel's queue, are served as before.
  public func stopListening() { for server in servers { server.stopListening() } }

  /// Stops accepting, hurries the handlers, and calls `completion` when the last connection is closed; those that are open
  /// after `limit` are closed as they are.
  public func drain(within limit: TimeSpan, completion: @escaping () -> Void) {
    desk.hurryAll()
    var open = servers.count
    guard open > 0 else { return completion() }
    for server in servers {
      server.drain(within: limit) {
        open -= 1
        if open == 0 { completion() }
      }
    }
  }
}

extension ControlServer: HTTP2ServerHandler {
  /// Answers on the loop or has the handler do it.
  public func handle(_ exchange: Exchange, on connection: HTTP2ServerConnection) {
    if let onLoop, onLoop(exchange, connection) { return connection.prove() }
    requests.open(exchange, on: connection)
  }

  /// Answers 408.
  public func handleStalled(_ exchange: Exchange, on connection: HTTP2ServerConnection) {
    requests.respond(exchange, HTTPResponse(.stalled(configuration.timeouts.request)))
  }

  /// Passes them on.
  public func rejected(_ requests: [MalformedRequest], on connection: HTTP2ServerConnection) { onMalformed(requests, connection) }

  /// Passes it on.
  public func connectionFailed(_ failure: ConnectionFailure) { onFailure(failure) }
}
