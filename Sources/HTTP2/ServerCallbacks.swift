import CNghttp2
import Primitives

/// The callback table that every server session of the process shares; never changed once built.
enum ServerCallbacks {
  nonisolated(unsafe) static let table: OpaquePointer = {
    var table: OpaquePointer?
    nghttp2_session_callbacks_new(&table)
    nghttp2_session_callbacks_set_on_begin_frame_callback(table) { _, head, user in
      let core = server(user)
      switch UInt32(head!.pointee.type) {
      case NGHTTP2_HEADERS.rawValue:
        let stream = head!.pointee.stream_id
        guard !core.pointee.skipped.allows(stream) else { return 0 }
        return core.pointee.violated(HTTP2ErrorCode.protocolError, "HEADERS on the stream \(stream), which was left out before")
      case NGHTTP2_SETTINGS.rawValue:
        core.pointee.beginPeerSettings()
        return 0
      case NGHTTP2_CONTINUATION.rawValue where head!.pointee.length > HeaderStage.payloadMax:
        return core.pointee.violated(
          HTTP2ErrorCode.frameSizeError, "CONTINUATION of \(head!.pointee.length) bytes, more than SETTINGS_MAX_FRAME_SIZE")
      default: return 0
      }
    }
    nghttp2_session_callbacks_set_on_begin_headers_callback(table) { session, frame, user in
      let core = server(user)
      let stream = frame!.pointee.hd.stream_id
      guard frame!.pointee.headers.cat == NGHTTP2_HCAT_REQUEST else {
        // Trailers come on a stream that has an exchange already; they are checked, and ignored.
        core.pointee.heading = slot(core, stream)
        core.pointee.headingIsTrailers = true
        return 0
      }
      guard let slot = core.pointee.open(stream, core) else {
        return core.pointee.refuse(stream) ? 0 : NGHTTP2_ERR_CALLBACK_FAILURE.rawValue
      }
      nghttp2_session_set_stream_user_data(session, stream, slot)
      return 0
    }
    nghttp2_session_callbacks_set_on_header_callback(table) { _, _, name, nameCount, value, valueCount, _, user in
      let core = server(user)
      guard let slot = core.pointee.heading else { return 0 }
      if core.pointee.header(slot, name!, nameCount, value!, valueCount) { return 0 }
      return (core.pointee.failure == nil ? NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE : NGHTTP2_ERR_CALLBACK_FAILURE).rawValue
    }
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(table) { _, _, stream, bytes, count, user in
      let core = server(user)
      if let slot = slot(core, stream) { core.pointee.data(slot, bytes!, count) }
      return 0
    }
    nghttp2_session_callbacks_set_on_frame_recv_callback(table) { session, frame, user in
      let core = server(user)
      let head = frame!.pointee.hd
      // END_STREAM and ACK are the same bit, so the type has to be asked first.
      let endsStream = head.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0
      switch UInt32(head.type) {
      case NGHTTP2_HEADERS.rawValue:
        guard let slot = core.pointee.heading, core.pointee.endHeaders(slot, endsStream: endsStream) else { break }
        if !core.pointee.headingIsTrailers { core.pointee.judge(slot) }
        if endsStream { core.pointee.complete(slot) }
      case NGHTTP2_DATA.rawValue:
        if endsStream, let slot = slot(core, head.stream_id) { core.pointee.complete(slot) }
      case NGHTTP2_SETTINGS.rawValue:
        if head.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0 {
          core.pointee.limit.acknowledge()
        } else if !core.pointee.endPeerSettings() {
          return core.pointee.violated(HTTP2ErrorCode.flowControlError, "SETTINGS_INITIAL_WINDOW_SIZE brings a window above 2^31-1")
        }
      case NGHTTP2_RST_STREAM.rawValue: if slot(core, head.stream_id) != nil { _ = core.pointee.countReset() }
      default: break
      }
      // A stream that was one too many ends nghttp2's part at once, and not with all that has come.
      return core.pointee.failure == nil ? 0 : NGHTTP2_ERR_CALLBACK_FAILURE.rawValue
    }
    nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(table) { _, frame, _, user in
      // Mostly the end of the connection; where nghttp2 resets the stream instead, the client has made it do so (CVE-2025-8671).
      let core = server(user)
      return slot(core, frame!.pointee.hd.stream_id) == nil || core.pointee.countReset() ? 0 : NGHTTP2_ERR_CALLBACK_FAILURE.rawValue
    }
    nghttp2_session_callbacks_set_on_stream_close_callback(table) { _, stream, _, user in
      let core = server(user)
      if let slot = slot(core, stream) { core.pointee.close(slot) }
      return 0
    }
    nghttp2_session_callbacks_set_on_frame_send_callback(table) { _, frame, user in
      sent(server(user), frame!)
      return 0
    }
    guard let table else { fatalError("out of memory") }
    return table
  }()

  @inline(__always) private static func server(_ user: UnsafeMutableRawPointer?) -> UnsafeMutablePointer<ServerCore> {
    user!.assumingMemoryBound(to: ServerCore.self)
  }

  @inline(__always) private static func slot(_ core: UnsafeMutablePointer<ServerCore>, _ stream: Int32)
    -> UnsafeMutablePointer<ExchangeSlot>?
  {
    if let latest = core.pointee.latest, latest.pointee.stream == stream { return latest }
    guard let found = nghttp2_session_get_stream_user_data(core.pointee.session, stream) else { return nil }
    let slot = found.assumingMemoryBound(to: ExchangeSlot.self)
    core.pointee.latest = slot
    return slot
  }

  /// A frame was serialised.
  @inline(__always) private static func sent(
    _ core: UnsafeMutablePointer<ServerCore>, _ frame: UnsafePointer<nghttp2_frame>
  ) {
    let head = frame.pointee.hd
    switch UInt32(head.type) {
    case NGHTTP2_HEADERS.rawValue:
      guard let slot = slot(core, head.stream_id) else { return }
      slot.pointee.response.takeHead(core.pointee.pool.pointee.stage)
      answerSent(core, slot, head)
    case NGHTTP2_DATA.rawValue:
      guard core.pointee.earlyAnswers > 0, let slot = slot(core, head.stream_id) else { return }
      answerSent(core, slot, head)
    case NGHTTP2_GOAWAY.rawValue:
      if let failure = SessionFailure(sent: frame.pointee.goaway) { core.pointee.failure = core.pointee.failure ?? failure }
    default: return
    }
  }

  /// If the answer is out and the request still is not in, asks the client not to send the rest (RFC 9113 section 8.1).
  @inline(__always) private static func answerSent(
    _ core: UnsafeMutablePointer<ServerCore>, _ slot: UnsafeMutablePointer<ExchangeSlot>, _ head: nghttp2_frame_hd
  ) {
    guard !slot.pointee.isComplete, head.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0 else { return }
    core.pointee.reset(slot, HTTP2ErrorCode.noError)
  }
}
