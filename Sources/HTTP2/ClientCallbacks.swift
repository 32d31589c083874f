import CNghttp2
import Primitives

/// The callback table that every client session of the process shares; never changed once built.
enum ClientCallbacks {
  nonisolated(unsafe) static let table: OpaquePointer = {
    var table: OpaquePointer?
    nghttp2_session_callbacks_new(&table)
    nghttp2_session_callbacks_set_on_begin_headers_callback(table) { session, frame, user in
      let core = client(user)
      core.pointee.heading = slot(core, frame!.pointee.hd.stream_id)
      return 0
    }
    nghttp2_session_callbacks_set_on_header_callback(table) { _, _, name, nameCount, value, valueCount, _, user in
      let core = client(user)
      guard let slot = core.pointee.heading else { return 0 }
      let isGood = core.pointee.header(slot, name!, nameCount, value!, valueCount)
      return isGood ? 0 : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
    }
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(table) { _, _, stream, bytes, count, user in
      let core = client(user)
      if let slot = slot(core, stream) { core.pointee.data(slot, bytes!, count) }
      return 0
    }
    nghttp2_session_callbacks_set_on_frame_recv_callback(table) { _, frame, user in
      received(client(user), frame!)
      return 0
    }
    nghttp2_session_callbacks_set_on_stream_close_callback(table) { _, stream, code, user in
      let core = client(user)
      if let slot = slot(core, stream) { core.pointee.finish(slot, core.pointee.failure(slot, code)) }
      return 0
    }
    nghttp2_session_callbacks_set_on_frame_send_callback(table) { _, frame, user in
      let core = client(user)
      let head = frame!.pointee.hd
      if UInt32(head.type) == NGHTTP2_HEADERS.rawValue {
        core.pointee.lastSent = head.stream_id
        if let slot = slot(core, head.stream_id) { slot.pointee.request.takeHead(core.pointee.stage) }
      }
      if UInt32(head.type) == NGHTTP2_GOAWAY.rawValue, let failure = SessionFailure(sent: frame!.pointee.goaway) {
        core.pointee.failure = core.pointee.failure ?? failure
      }
      return 0
    }
    nghttp2_session_callbacks_set_on_frame_not_send_callback(table) { _, frame, _, user in
      // A request that cannot go out any more, such as after a GOAWAY; its stream was never opened, so it is looked for.
      let core = client(user)
      let head = frame!.pointee.hd
      guard UInt32(head.type) == NGHTTP2_HEADERS.rawValue else { return 0 }
      var slot = core.pointee.open.first
      while let candidate = slot, candidate.pointee.stream != head.stream_id { slot = candidate.pointee.next }
      if let slot { core.pointee.finish(slot, .unprocessed) }
      return 0
    }
    guard let table else { fatalError("out of memory") }
    return table
  }()

  @inline(__always) private static func client(_ user: UnsafeMutableRawPointer?) -> UnsafeMutablePointer<ClientCore> {
    user!.assumingMemoryBound(to: ClientCore.self)
  }

  @inline(__always) private static func slot(_ core: UnsafeMutablePointer<ClientCore>, _ stream: Int32)
    -> UnsafeMutablePointer<RequestSlot>?
  {
    if let latest = core.pointee.latest, latest.pointee.stream == stream { return latest }
    guard let found = nghttp2_session_get_stream_user_data(core.pointee.session, stream) else { return nil }
    let slot = found.assumingMemoryBound(to: RequestSlot.self)
    // The answer may have been taken while nghttp2 still has the stream.
    guard slot.pointee.state == .open && slot.pointee.stream == stream else { return nil }
    core.pointee.latest = slot
    return slot
  }

  @inline(__always) private static func received(
    _ core: UnsafeMutablePointer<ClientCore>, _ frame: UnsafePointer<nghttp2_frame>
  ) {
    let head = frame.pointee.hd
    // END_STREAM and ACK are the same bit, so the type has to be asked first.
    let firstFlag = head.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0
    switch UInt32(head.type) {
    case NGHTTP2_HEADERS.rawValue:
      guard let slot = core.pointee.heading, core.pointee.endHeaders(slot, endsStream: firstFlag) else { return }
      if firstFlag { core.pointee.end(slot) }
    case NGHTTP2_DATA.rawValue:
      if firstFlag, let slot = slot(core, head.stream_id) { core.pointee.end(slot) }
    case NGHTTP2_SETTINGS.rawValue where !firstFlag: core.pointee.hasPeerSettings = true
    case NGHTTP2_PING.rawValue where firstFlag:
      core.pointee.lastPong = withUnsafeBytes(of: frame.pointee.ping.opaque_data) { $0.loadUnaligned(as: UInt64.self) }
    case NGHTTP2_GOAWAY.rawValue:
      let goAway = frame.pointee.goaway
      let debug = UnsafeBufferPointer(start: goAway.opaque_data, count: goAway.opaque_data_len)
      core.pointee.peerGoAway = PeerGoAway(
        lastStream: goAway.last_stream_id, code: goAway.error_code, debug: String(decoding: debug, as: UTF8.self))
    default: return
    }
  }
}
