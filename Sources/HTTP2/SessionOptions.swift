import CNghttp2

/// nghttp2's options for one session, which copies them.
final class SessionOptions {
  let pointer: OpaquePointer

  init() {
    var options: OpaquePointer?
    guard nghttp2_option_new(&options) == 0, let options else { fatalError("out of memory") }
    pointer = options
    // A closed stream is of no further use to us; nghttp2 would keep it for its priority tree.
    nghttp2_option_set_no_closed_streams(pointer, 1)
    // `MessageRules` checks what RFC 9113 section 8 demands.
    nghttp2_option_set_no_http_messaging(pointer, 1)
  }

  /// The options of a server session.
  convenience init(_ settings: ServerSettings) {
    self.init()
    // `EventRate` counts them: nghttp2 would count those of streams that are over.
    nghttp2_option_set_stream_reset_rate_limit(pointer, .max, 0)
    // `FrameMeter` counts them: nghttp2 counts the pieces that a frame's head comes in, too.
    nghttp2_option_set_max_continuations(pointer, .max)
  }

  deinit { nghttp2_option_del(pointer) }
}
