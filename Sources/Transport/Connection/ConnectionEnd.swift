public import HTTP2
public import Reactor
public import Security

/// Why a connection ended.
public enum ConnectionEnd: Error, Sendable {
  /// This side had finished with it.
  case finished
  /// The peer had finished with it.
  case peerEnded
  /// The host name has no address.
  case notResolved(ResolutionError)
  /// The address cannot be connected to.
  case connectFailed(SystemError)
  /// Connecting, TLS included, took too long.
  case handshakeTimeout
  /// The peer hung up before TLS was agreed on.
  case closedInHandshake
  /// TLS failed, in the handshake or later.
  case tls(TLSFailure)
  /// The peer does not speak the protocol that is spoken here.
  case wrongProtocol(String)
  /// The peer's HTTP/2 was not HTTP/2, or it broke the rules.
  case http2(SessionFailure)
  /// The network or the peer's machine broke the connection.
  case lost(SystemError)
  /// The peer did not take what was sent to it.
  case stalledWrite
  /// Nothing came back any more.
  case unresponsive
  /// There are as many connections as there may be.
  case tooManyConnections
  /// There are no descriptors left for one more.
  case noDescriptors
  /// Its place was needed for another connection, and it had shown least that it is in earnest.
  case gaveWay
  /// This side was shut down and waited no longer.
  case drained
}

extension ConnectionEnd: CustomStringConvertible {
  /// One sentence for a person.
  public var description: String {
    switch self {
    case .finished: "the connection was closed"
    case .peerEnded: "the peer closed the connection"
    case .notResolved(let error): error.description
    case .connectFailed(let error): "cannot connect: \(error.reason)"
    case .handshakeTimeout: "the connection was not set up in time"
    case .closedInHandshake: "the peer closed the connection before TLS was agreed on; it may not trust the certificate"
    case .tls(let failure): failure.message
    case .wrongProtocol(let text): text
    case .http2(.http1Request(let line)): "the client speaks HTTP/1.1 where HTTP/2 is spoken (\(line)…)"
    case .http2(.badPreface(let hex)): "the client's first bytes are not HTTP/2: \(hex)"
    case .http2(.rapidReset(let text)): "the peer reset streams too fast: \(text)"
    case .http2(.violation(let code, let detail)): "the peer broke HTTP/2, error code \(code)\(detail.isEmpty ? "" : ": \(detail)")"
    case .lost(let error): "the connection broke: \(error.reason)"
    case .stalledWrite: "the peer did not read what was sent to it"
    case .unresponsive: "nothing came back from the peer any more"
    case .tooManyConnections: "there are as many connections as there may be"
    case .noDescriptors: "there are no descriptors left for a connection; raise ulimit -n"
    case .gaveWay: "the connection gave its place to another: it was the oldest that had not got as far as an admitted request"
    case .drained: "the connection was closed because this side is shutting down"
    }
  }

  /// Whether it made room for another.
  var isGivingWay: Bool { if case .gaveWay = self { true } else { false } }

  /// Whether both sides had finished with the connection.
  public var isRegular: Bool {
    switch self {
    case .finished, .peerEnded, .drained: true
    default: false
    }
  }
}
