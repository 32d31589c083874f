/// Why a request has got no response.
public enum StreamFailure: Equatable, Sendable {
  /// The server refused the stream and did nothing for it (RFC 9113 section 8.7).
  case refused
  /// The server's GOAWAY excludes the stream, or the request never left: nothing was done for it.
  case unprocessed
  /// The server reset the stream, with this error code of RFC 9113 section 7.
  case reset(code: UInt32)
  /// We cancelled it.
  case cancelled
  /// The connection ended while the response was awaited; the request may have been acted on.
  case connectionLost
  /// We had no memory left for the response.
  case outOfMemory

  /// Whether nothing was done for the request, so that sending it again cannot do it twice.
  public var isSafeToRetry: Bool {
    switch self {
    case .refused, .unprocessed: true
    case .reset, .cancelled, .connectionLost, .outOfMemory: false
    }
  }
}
