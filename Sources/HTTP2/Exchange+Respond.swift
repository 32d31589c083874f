import CNghttp2

extension Exchange {
  /// Answers with `status`, the fields of `fields` and a copy of `body`; it goes out when the session is next drained.
  ///
  /// Without a body it is one HEADERS frame with END_STREAM; with one, HEADERS and then DATA, of which the last frame
  /// carries END_STREAM: exactly one frame for up to 16,384 bytes if the client's window has room (apns.md section 5.1).
  /// `status` is 200 to 599. It may come before the request is complete; the rest of it is then turned away.
  ///
  /// Returns false when the stream was closed meanwhile, so that nobody waits for the answer. Answering twice is our
  /// fault and traps.
  @discardableResult
  public func respond(status: Int, _ fields: borrowing FieldList, body: RawSpan = RawSpan()) -> Bool {
    guard slot.pointee.generation == key.generation, let core = slot.pointee.session else { return false }
    precondition(!slot.pointee.isAnswered, "an exchange is answered once")
    slot.pointee.isAnswered = true
    if !slot.pointee.isComplete { core.pointee.answeredEarly(slot) }
    core.pointee.pool.pointee.mark(core)
    guard submit(status, fields, body, core) == 0 else {
      nghttp2_submit_rst_stream(core.pointee.session, 0, slot.pointee.stream, HTTP2ErrorCode.internalError)
      return true
    }
    return true
  }

  private func submit(
    _ status: Int, _ fields: borrowing FieldList, _ body: RawSpan, _ core: UnsafeMutablePointer<ServerCore>
  ) -> CInt {
    let (session, stream) = (core.pointee.session, slot.pointee.stream)
    guard !body.isEmpty else {
      return fields.withStatus(status) { nghttp2_submit_response(session, stream, $0, $1, nil) }
    }
    let stored = core.pointee.pool.pointee.blocks._withUnsafeGuaranteedRef { slot.pointee.response.set(body, $0) }
    guard stored else { return CInt(NGHTTP2_ERR_NOMEM.rawValue) }
    var provider = nghttp2_data_provider(source: nghttp2_data_source(ptr: slot), read_callback: responseBody)
    return fields.withStatus(status) { nghttp2_submit_response(session, stream, $0, $1, &provider) }
  }

  /// Gives the stream up without an answer, with an error code of RFC 9113 section 7.
  public func reset(_ code: UInt32) {
    guard slot.pointee.generation == key.generation, let core = slot.pointee.session else { return }
    slot.pointee.isAnswered = true
    nghttp2_submit_rst_stream(core.pointee.session, 0, slot.pointee.stream, code)
    core.pointee.pool.pointee.mark(core)
  }
}

private let responseBody: nghttp2_data_source_read_callback = { _, _, frame, room, flags, source, _ in
  let slot = source!.pointee.ptr.assumingMemoryBound(to: ExchangeSlot.self)
  return slot.pointee.response.read(frame!, room, flags!)
}
