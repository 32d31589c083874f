public import Primitives
public import Reactor

/// What a connection speaks: plaintext in, plaintext out. One object for each connection.
///
/// A driver writes when it is asked to `drain`, at the end of a round, and not when it feels like it; it asks to be
/// asked with `Connection.setNeedsFlush()`.
public protocol ConnectionDriver: AnyObject {
  /// Takes `bytes`, which the peer sent, or as many of them as are one turn's work, which it tells `Connection.spend(_:)`; returns
  /// how many. The rest comes again in another turn.
  func receive(_ bytes: RawSpan) -> Int
  /// The peer sends no more; it may still read.
  func receiveEnd()
  /// Moves what is to be sent into `queue`; true when nothing is left, false when the queue is full.
  func drain(into queue: inout ByteQueue) -> Bool
  /// Whether more bytes may come. After a no, `Connection.resumeReading()` says yes.
  var wantsRead: Bool { get }
  /// Whether nothing more is to be received or sent: asked after each drain, and the connection is closed then.
  var isDone: Bool { get }
  /// Whether no request is being received or answered, and nothing is left to send.
  var isIdle: Bool { get }
  /// Why it is done; asked once.
  var end: ConnectionEnd { get }
  /// Runs about every `TransportLoop.sweepInterval`, to look for what takes too long.
  func sweep(_ uptime: Uptime)
  /// This side is shutting down: finish what is open, take nothing new, be done.
  func finish()
  /// The connection is over; nothing of it may be used any more. Called once.
  func ended(_ end: ConnectionEnd)
}

/// Who has connections made, and gets them back.
protocol ConnectionOwner: AnyObject {
  /// The connection, TLS included, is there: gives it its driver.
  func opened(_ connection: Connection) -> any ConnectionDriver
  /// It is known that and why the connection ends; its last bytes may still be on the way.
  func ended(_ connection: Connection, _ end: ConnectionEnd)
  /// The peer has shown that it is in earnest.
  func proved(_ connection: Connection)
  /// The socket is closed.
  func released(_ connection: Connection)
}
