public import Primitives

/// How long connections may take; checked by a sweep, so up to one sweep interval later.
public struct ConnectionTimeouts: Sendable {
  /// From the connection's start to the end of the TLS handshake, and to the peer's first SETTINGS.
  public var handshake = TimeSpan.seconds(10)
  /// From the first byte of a request to its last.
  public var request = TimeSpan.seconds(30)
  /// For the peer to take what lies ready for it (at most 160 KB), once its window is full: TCP's, or HTTP/2's of an answer.
  public var stalledWrite = TimeSpan.seconds(30)
  /// For the peer to close after our last byte, so that it can read that byte; a close with unread input would be a
  /// reset, which takes our last bytes away from it.
  public var linger = TimeSpan.seconds(2)

  /// The same when this side is shutting down.
  public var drainLinger = TimeSpan.milliseconds(30)
  /// For a client that has connected to say anything, when this side is shutting down: a round trip, and it may try elsewhere.
  public var drainSilence = TimeSpan.milliseconds(100)

  /// The values above.
  public init() {}
}
