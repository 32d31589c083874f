import CNghttp2
import Glibc
import Primitives

/// The way from serialised frames into a byte queue that may be too small for the last of them.
struct FrameOutlet {
  /// The frame type of SETTINGS.
  private static let settings: UInt8 = 4

  private let stage: UnsafeMutablePointer<HeaderStage>
  /// What was serialised and had no room; nghttp2 keeps it until it is asked for more, or it is in `spill`.
  private var unsent: UnsafePointer<UInt8>?
  private var unsentCount = 0
  /// The rest of frames that were made in the stage, where they cannot stay.
  private var spill: UnsafeMutablePointer<UInt8>?
  private var hasSentHeaders = false
  /// nghttp2's fatal error, such as a want of memory, after which it serialises nothing more; 0 when there is none.
  private(set) var error: CInt = 0

  init(stage: UnsafeMutablePointer<HeaderStage>) { self.stage = stage }

  func destroy() { spill?.deallocate() }

  /// Whether there is something to drain.
  func hasFrames(_ session: OpaquePointer?) -> Bool {
    unsentCount > 0 || error == 0 && nghttp2_session_want_write(session) != 0
  }

  /// Moves frames into `queue`; true when none is left, false when the queue is full.
  mutating func drain(_ session: OpaquePointer?, into queue: inout ByteQueue) -> Bool {
    var start = unsent
    var count = unsentCount
    var isStaged = false
    while true {
      if let start, count > 0 {
        let moved = queue.append(RawSpan(_unsafeStart: start, byteCount: count))
        guard moved == count else {
          keep(start + moved, count - moved, isStaged: isStaged)
          return false
        }
      }
      guard error == 0 else { break }
      count = nghttp2_session_mem_send(session, &start)
      if count < 0 {
        error = CInt(count)
        stage.pointee.discard()
      }
      guard count > 0 else { break }
      isStaged = stage.pointee.isFilled
      if isStaged, let frame = start {
        let frames = stage.pointee.frames(replacing: frame, closesTable: !hasSentHeaders)
        hasSentHeaders = true
        (start, count) = (frames.baseAddress, frames.count)
      } else if let frame = start, frame[3] == Self.settings {
        StreamLimit.unmark(frame, count)
      }
    }
    unsentCount = 0
    spill?.deallocate()
    spill = nil
    return true
  }

  private mutating func keep(_ rest: UnsafePointer<UInt8>, _ count: Int, isStaged: Bool) {
    unsent = rest
    unsentCount = count
    guard isStaged else { return }
    spill?.deallocate()
    let copy = UnsafeMutablePointer<UInt8>.allocate(capacity: count)
    memcpy(copy, rest, count)
    spill = copy
    unsent = UnsafePointer(copy)
  }
}
