import CNghttp2
import Primitives

// What concerns the connection and none of its streams: GOAWAY and SETTINGS.
extension ServerCore {
  /// A request was answered with an error; with too many of them the connection goes. What is gone is no fault of the client.
  mutating func countError(_ status: Int) {
    guard settings.errorAnswersMax > 0, status != 410 else { return }
    errorAnswers += 1
    if errorAnswers >= settings.errorAnswersMax { goAway(code: HTTP2ErrorCode.noError, debug: "") }
  }

  /// Says GOAWAY, once: streams that are open are still answered, further ones are refused.
  mutating func goAway(lastStream: ServerSession.LastStream = .exact, code: UInt32, debug: String) {
    guard !isGoingAway else { return }
    isGoingAway = true
    var debug = debug
    let last = lastStream == .exact ? nghttp2_session_get_last_proc_stream_id(session) : 0
    debug.withUTF8 { _ = nghttp2_submit_goaway(session, 0, last, code, $0.baseAddress, $0.count) }
  }

  /// Says GOAWAY with the stream before `slot`'s as the last one that is done.
  mutating func goAway(before slot: UnsafeMutablePointer<ExchangeSlot>, debug: String) {
    let stream = slot.pointee.stream
    guard !isGoingAway, nghttp2_session_get_last_proc_stream_id(session) == stream else {
      reset(slot, HTTP2ErrorCode.refusedStream)
      return goAway(code: HTTP2ErrorCode.noError, debug: debug)
    }
    isGoingAway = true
    var debug = debug
    // nghttp2 closes the streams beyond the last one once the frame is sent.
    debug.withUTF8 { _ = nghttp2_submit_goaway(session, 0, max(0, stream - 2), HTTP2ErrorCode.noError, $0.baseAddress, $0.count) }
  }

  /// Tells the client how many streams it may have open. nghttp2 writes SETTINGS before anything but PING.
  mutating func announce(_ streams: Int) {
    limit.announce(streams)
    submitSettings(isFirst: false)
  }

  /// Submits SETTINGS as Apple's servers do: in ascending order of identifiers, and from the second on with the window that
  /// streams have anyway (apns.md section 1.3).
  mutating func submitSettings(isFirst: Bool) {
    let announced: [(nghttp2_settings_id, UInt32)] = [
      (NGHTTP2_SETTINGS_HEADER_TABLE_SIZE, 4096),
      (NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, StreamLimit.mark + UInt32(limit.announced)),
      (NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 65_535),
      (NGHTTP2_SETTINGS_MAX_FRAME_SIZE, 16_384),
      (NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, UInt32(settings.headerListBytesMax)),
    ]
    let sent = announced.filter { !isFirst || $0.0 != NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE }
    let entries = sent.map { nghttp2_settings_entry(settings_id: Int32($0.0.rawValue), value: $0.1) }
    nghttp2_submit_settings(session, 0, entries, entries.count)
  }
}
