import CNghttp2

extension SessionFailure {
  /// The failure that a GOAWAY of ours tells the peer of, or nil when it only says good-bye.
  init?(sent goAway: nghttp2_goaway) {
    guard goAway.error_code != HTTP2ErrorCode.noError else { return nil }
    let detail = UnsafeBufferPointer(start: goAway.opaque_data, count: goAway.opaque_data_len)
    self = .violation(code: goAway.error_code, detail: String(decoding: detail, as: UTF8.self))
  }

  /// The failure behind a fatal error of nghttp2, such as a flood of frames that it has given up to answer.
  init(library error: CInt) {
    let isFlood = error == NGHTTP2_ERR_FLOODED.rawValue
    self = .violation(
      code: isFlood ? HTTP2ErrorCode.enhanceYourCalm : HTTP2ErrorCode.internalError, detail: String(cString: nghttp2_strerror(error)))
  }
}
