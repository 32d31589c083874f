import CNghttp2
import Testing

/// A session of nghttp2's with its own checks of messages switched on: what ours are compared with.
final class ReferenceSession {
  struct Message: Equatable {
    var fields: [[String]] = []
    var body: [UInt8] = []
    var isComplete = false
  }

  private var session: OpaquePointer?
  private var messages: [Int32: Message] = [:]
  private let isServer: Bool

  /// A server that has got its client's preface, or a client that has sent one GET or HEAD request.
  init(isServer: Bool, method: String = "GET") {
    self.isServer = isServer
    let user = Unmanaged.passUnretained(self).toOpaque()
    if isServer {
      nghttp2_session_server_new(&session, Self.callbacks, user)
      nghttp2_submit_settings(session, 0, nil, 0)
    } else {
      nghttp2_session_client_new(&session, Self.callbacks, user)
      nghttp2_submit_settings(session, 0, nil, 0)
      var fields = [(":method", method), (":scheme", "https"), (":path", "/"), (":authority", "a")].map { name, value in
        nghttp2_nv(
          name: Self.copy(name), value: Self.copy(value), namelen: name.utf8.count, valuelen: value.utf8.count, flags: 0)
      }
      nghttp2_submit_request(session, nil, &fields, fields.count, nil, nil)
      for field in fields {
        field.name.deallocate()
        field.value.deallocate()
      }
    }
  }

  deinit { nghttp2_session_del(session) }

  private static func copy(_ text: String) -> UnsafeMutablePointer<UInt8> {
    let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(1, text.utf8.count))
    _ = copy.initialize(from: text.utf8)
    return copy.baseAddress!
  }

  func receive(_ bytes: [UInt8]) { nghttp2_session_mem_recv(session, bytes, bytes.count) }

  func frames() -> [Frame] {
    var bytes: [UInt8] = []
    var start: UnsafePointer<UInt8>?
    while true {
      let count = nghttp2_session_mem_send(session, &start)
      guard count > 0 else { break }
      bytes += UnsafeBufferPointer(start: start, count: count)
    }
    return Frame.parse(bytes.starts(with: preface.prefix(24)) ? Array(bytes.dropFirst(24)) : bytes)
  }

  /// The complete message of a stream, or nil.
  func message(_ stream: Int32) -> Message? { messages[stream].flatMap { $0.isComplete ? $0 : nil } }

  private static func reference(_ user: UnsafeMutableRawPointer?) -> ReferenceSession {
    Unmanaged<ReferenceSession>.fromOpaque(user!).takeUnretainedValue()
  }

  nonisolated(unsafe) private static let callbacks: OpaquePointer? = {
    var table: OpaquePointer?
    nghttp2_session_callbacks_new(&table)
    nghttp2_session_callbacks_set_on_header_callback(table) { _, frame, name, nameCount, value, valueCount, _, user in
      let reference = reference(user)
      let text = { (start: UnsafePointer<UInt8>?, count: Int) in
        String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
      }
      let stream = frame!.pointee.hd.stream_id
      let field = [text(name, nameCount), text(value, valueCount)]
      let message = reference.messages[stream] ?? Message()
      // Trailers and informational responses are of no interest.
      let isFirst = frame!.pointee.headers.cat != NGHTTP2_HCAT_HEADERS
      if field[0] == ":status" {
        reference.messages[stream] = Message(fields: [field])
      } else if isFirst || !reference.isServer && message.body.isEmpty && message.fields.count > 0 && !reference.sawHeaders {
        reference.messages[stream, default: Message()].fields.append(field)
      }
      return 0
    }
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(table) { _, _, stream, bytes, count, user in
      reference(user).messages[stream, default: Message()].body += UnsafeBufferPointer(start: bytes, count: count)
      return 0
    }
    nghttp2_session_callbacks_set_on_frame_recv_callback(table) { _, frame, user in
      let reference = reference(user)
      let head = frame!.pointee.hd
      if UInt32(head.type) == NGHTTP2_HEADERS.rawValue,
        reference.messages[head.stream_id]?.fields.first?[1].hasPrefix("1") == false
      {
        reference.sawHeaders = true
      }
      if UInt32(head.type) <= NGHTTP2_HEADERS.rawValue, head.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0 {
        reference.messages[head.stream_id, default: Message()].isComplete = true
      }
      return 0
    }
    return table
  }()

  /// Whether the final header list of the response is whole, so that the next one is trailers.
  private var sawHeaders = false
}
