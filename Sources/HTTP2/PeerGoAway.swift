/// A server's announcement that it will take no more streams (RFC 9113 section 6.8).
public struct PeerGoAway: Equatable, Sendable {
  /// The last stream that it may have acted on; the requests of later ones have failed as unprocessed.
  public let lastStream: Int32
  /// Its error code of RFC 9113 section 7.
  public let code: UInt32
  /// Its debug data as text; Apple sends `{"reason":"…"}` (apns.md section 1.4).
  public let debug: String

  /// An announcement of these values.
  public init(lastStream: Int32, code: UInt32, debug: String) {
    self.lastStream = lastStream
    self.code = code
    self.debug = debug
  }
}
