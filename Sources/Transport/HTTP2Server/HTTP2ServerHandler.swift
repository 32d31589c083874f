public import HTTP2
public import Reactor

/// Who answers the requests of an `HTTP2Server`, on the loop's thread.
public protocol HTTP2ServerHandler: AnyObject {
  /// A connection is there, its handshake is done, and nothing has been said on it: how it begins.
  func welcome(_ connection: HTTP2ServerConnection) -> ConnectionWelcome

  /// A request is complete. Answer it now with `exchange.respond`, or keep `exchange.key` and answer later on this thread
  /// through `TransportLoop.exchanges`; answers go out when the round ends, all of a connection's together.
  func handle(_ exchange: Exchange, on connection: HTTP2ServerConnection)

  /// Whether requests are to be read; while not, clients have to wait. Call `HTTP2Server.resumeReading()` when they are again.
  var wantsRequests: Bool { get }

  /// Whether a client that may have few streams yet may have all (`ServerSettings.concurrentStreamsTrusted`), judged by a request
  /// whose header list is whole; it is handled later. Neither the exchange nor the connection may be changed from here.
  func trusts(_ exchange: Exchange, on connection: HTTP2ServerConnection) -> Bool

  /// A request has begun and did not get complete in time (`ConnectionTimeouts.request`): answer or reset it.
  func handleStalled(_ exchange: Exchange, on connection: HTTP2ServerConnection)

  /// Requests were malformed, and their streams reset: nobody is given them otherwise. Several when they came at once.
  func rejected(_ requests: [MalformedRequest], on connection: HTTP2ServerConnection)

  /// A connection ended other than by regular means, or before it carried a request.
  func connectionFailed(_ failure: ConnectionFailure)
}

extension HTTP2ServerHandler {
  /// As everybody.
  public func welcome(_ connection: HTTP2ServerConnection) -> ConnectionWelcome { .standard }

  /// Not told to anybody.
  public func rejected(_ requests: [MalformedRequest], on connection: HTTP2ServerConnection) {}

  /// Always.
  public var wantsRequests: Bool { true }

  /// Nobody.
  public func trusts(_ exchange: Exchange, on connection: HTTP2ServerConnection) -> Bool { false }
}

/// How a connection begins.
public enum ConnectionWelcome: Sendable {
  /// With the streams of `ServerSettings.concurrentStreams`, until a request is trusted.
  case standard
  /// With `ServerSettings.concurrentStreamsTrusted` from the first SETTINGS on.
  case trusted
  /// It is turned away: those SETTINGS, and at once a GOAWAY with that text as its data, which has processed nothing.
  case refused(debug: String)
}

/// A connection that failed, with what is known of it.
public struct ConnectionFailure: Sendable {
  /// What happened.
  public let end: ConnectionEnd
  /// Who it was.
  public let peer: SocketAddress
  /// The server name that the client asked for in its handshake (SNI), when it got so far.
  public let serverName: String?
  /// Requests that it carried before; 0 means that the client has never got an answer from us.
  public let requests: Int
}
