/// Why a session ended before its time.
public enum SessionFailure: Equatable, Sendable {
  /// The client spoke HTTP/1.x: its request line, up to the version.
  case http1Request(String)
  /// The client's first bytes were not HTTP/2's connection preface: up to 24 of them, in hexadecimal.
  case badPreface(String)
  /// The client had more streams ended before their time than it may: how many that is.
  case rapidReset(String)
  /// The peer broke the protocol, or overdid it: the error code of the GOAWAY that tells it so (RFC 9113 section 7), and
  /// what nghttp2 has to say about it, which may be nothing.
  case violation(code: UInt32, detail: String)
}

extension SessionFailure {
  /// The error code of the GOAWAY that nghttp2 is to send; nil when the GOAWAY is made otherwise.
  var code: UInt32? {
    switch self {
    case .http1Request, .badPreface: nil
    case .rapidReset: HTTP2ErrorCode.enhanceYourCalm
    case .violation(let code, _): code
    }
  }
}

/// The error codes of RFC 9113 section 7 that the product uses.
public enum HTTP2ErrorCode {
  /// NO_ERROR
  public static let noError: UInt32 = 0
  /// PROTOCOL_ERROR
  public static let protocolError: UInt32 = 1
  /// INTERNAL_ERROR
  public static let internalError: UInt32 = 2
  /// FLOW_CONTROL_ERROR
  public static let flowControlError: UInt32 = 3
  /// STREAM_CLOSED
  public static let streamClosed: UInt32 = 5
  /// FRAME_SIZE_ERROR
  public static let frameSizeError: UInt32 = 6
  /// REFUSED_STREAM: nothing was done for the stream, the client may try again.
  public static let refusedStream: UInt32 = 7
  /// CANCEL
  public static let cancel: UInt32 = 8
  /// ENHANCE_YOUR_CALM
  public static let enhanceYourCalm: UInt32 = 11
}
