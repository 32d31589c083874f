import CNghttp2
import Primitives

extension Exchange {
  /// Answers with `status`, the fields of `fields` and a copy of `body`; it goes out when the session is next drained.
  ///
  /// Without a body it is one HEADERS frame with END_STREAM; with one, HEADERS and then DATA, of which the last frame
  /// carries END_STREAM: exactly one frame for up to 16,384 bytes if the client's window has room (apns.md section 5.1).
  /// An answer to HEAD has no body, whatever is given (RFC 9110 section 9.3.2). `status` is 200 to 599. It may come before the request is complete; the rest of it is then turned away.
  ///
  /// Returns false when the stream was closed meanwhile, so that nobody waits for the answer. Answering twice is our
  /// fault and traps.
  @discardableResult
  public func respond(status: Int, _ fields: borrowing FieldList, body: RawSpan = RawSpan()) -> Bool {
    guard let core = session else { return false }
    beginAnswer(core)
    let hasBody = !body.isEmpty && value(of: .method)?.equals("HEAD") != true
    submit(core, status, fields, body: hasBody ? body : RawSpan(), hasBody: hasBody)
    if status >= 400 { core.pointee.countError(status) }
    return true
  }

  /// Announces to the client as many streams as a trusted one may have, unless it was told so already. SETTINGS go out before an
  /// answer that is given after this.
  public func trustClient() {
    guard let core = session, core.pointee.limit.announced < core.pointee.settings.concurrentStreamsTrusted else { return }
    core.pointee.announce(core.pointee.settings.concurrentStreamsTrusted)
    core.pointee.pool.pointee.mark(core)
  }

  /// Gives the stream up without an answer, with an error code of RFC 9113 section 7.
  public func reset(_ code: UInt32) {
    guard let core = session else { return }
    slot.pointee.isAnswered = true
    core.pointee.reset(slot, code)
    core.pointee.pool.pointee.mark(core)
  }
}

// MARK: Faults

extension Exchange {
  /// Says GOAWAY, and that this request was not and will not be done, so that the client may try it on another connection.
  ///
  /// Requests that came before it are still answered. Those that came after it may have been taken already and count as done, so
  /// with any of them this one is refused by itself.
  public func turnAway(debug: String) {
    guard let core = session else { return }
    slot.pointee.isAnswered = true
    core.pointee.goAway(before: slot, debug: debug)
    core.pointee.pool.pointee.mark(core)
  }
}

// MARK: Bodies that come bit by bit

extension Exchange {
  /// Begins an answer whose body will be written bit by bit, such as a stream of events; `endBody` ends it.
  ///
  /// Returns false when the stream was closed meanwhile.
  @discardableResult
  public func beginResponse(status: Int, _ fields: borrowing FieldList) -> Bool {
    guard let core = session else { return false }
    beginAnswer(core)
    slot.pointee.response.setOpen(true)
    submit(core, status, fields, body: RawSpan(), hasBody: true)
    return true
  }

  /// Appends a copy of `bytes` to a body that was begun.
  ///
  /// Returns false, and appends nothing, when the stream was closed meanwhile, when more than `unsentBytesMax` bytes would
  /// wait for the client to read them, or when no memory is left.
  public func writeBody(_ bytes: RawSpan, unsentBytesMax: Int) -> Bool {
    guard let core = session else { return false }
    guard slot.pointee.response.unsentBytes + bytes.byteCount <= unsentBytesMax else { return false }
    let stored = core.pointee.pool.pointee.blocks._withUnsafeGuaranteedRef { slot.pointee.response.append(bytes, $0) }
    if stored { resume(core) }
    return stored
  }

  /// Ends a body that was begun; what was written is still sent.
  public func endBody() {
    guard let core = session else { return }
    slot.pointee.response.setOpen(false)
    resume(core)
  }
}

// MARK: Steps

extension Exchange {
  /// The session, or nil when the stream was closed.
  private var session: UnsafeMutablePointer<ServerCore>? {
    slot.pointee.generation == key.generation ? slot.pointee.session : nil
  }

  private func beginAnswer(_ core: UnsafeMutablePointer<ServerCore>) {
    precondition(!slot.pointee.isAnswered, "an exchange is answered once")
    slot.pointee.isAnswered = true
    if !slot.pointee.isComplete { core.pointee.answeredEarly(slot) }
    core.pointee.pool.pointee.mark(core)
  }

  /// Submits the answer; one that cannot be made, for want of memory, becomes a reset: the client learns that it failed.
  private func submit(
    _ core: UnsafeMutablePointer<ServerCore>, _ status: Int, _ fields: borrowing FieldList, body: RawSpan, hasBody: Bool
  ) {
    let stored = core.pointee.pool.pointee.blocks._withUnsafeGuaranteedRef {
      slot.pointee.response.setAnswer(StatusField(status), fields.bytes, body: body, behind: &slot.pointee.fields, $0)
    }
    var result = CInt(NGHTTP2_ERR_NOMEM.rawValue)
    if stored {
      // Without any field: they are in the slot, and get into the frame when it is sent.
      let (session, stream) = (core.pointee.session, slot.pointee.stream)
      if hasBody {
        var provider = nghttp2_data_provider(source: nghttp2_data_source(ptr: slot), read_callback: responseBody)
        result = nghttp2_submit_response(session, stream, nil, 0, &provider)
      } else {
        result = nghttp2_submit_response(session, stream, nil, 0, nil)
      }
    }
    if result != 0 { core.pointee.reset(slot, HTTP2ErrorCode.internalError) }
  }

  /// Has nghttp2 ask for the body again, which it stops doing when there is none.
  private func resume(_ core: UnsafeMutablePointer<ServerCore>) {
    nghttp2_session_resume_data(core.pointee.session, slot.pointee.stream)
    core.pointee.pool.pointee.mark(core)
  }
}

private let responseBody: nghttp2_data_source_read_callback = { _, _, frame, room, flags, source, _ in
  let slot = source!.pointee.ptr.assumingMemoryBound(to: ExchangeSlot.self)
  return slot.pointee.response.read(frame!, room, flags!)
}
