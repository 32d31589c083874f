import CNghttp2
import Primitives

/// The way from nghttp2's serialised frames into a byte queue that may be too small for the last of them.
struct FrameOutlet {
  /// What was serialised and had no room; nghttp2 keeps it until it is asked for more.
  private var unsent: UnsafePointer<UInt8>?
  private var unsentCount = 0
  /// nghttp2's fatal error, such as a want of memory, after which it serialises nothing more; 0 when there is none.
  private(set) var error: CInt = 0

  /// Whether there is something to drain.
  func hasFrames(_ session: OpaquePointer?) -> Bool {
    unsentCount > 0 || error == 0 && nghttp2_session_want_write(session) != 0
  }

  /// Moves frames into `queue`; true when none is left, false when the queue is full.
  mutating func drain(_ session: OpaquePointer?, into queue: inout ByteQueue) -> Bool {
    var start = unsent
    var count = unsentCount
    while true {
      if let start, count > 0 {
        let moved = queue.append(RawSpan(_unsafeStart: start, byteCount: count))
        guard moved == count else {
          unsent = start + moved
          unsentCount = count - moved
          return false
        }
      }
      guard error == 0 else { break }
      count = nghttp2_session_mem_send(session, &start)
      if count < 0 { error = CInt(count) }
      guard count > 0 else { break }
    }
    unsentCount = 0
    return true
  }
}
