import CNghttp2
import Glibc
import Primitives

/// A body on its way out: a copy in a block, read by nghttp2 as flow control lets it through.
struct PendingBody {
  private var block: Block?
  private var count = 0
  private var sent = 0

  /// Whether every byte of it was handed to nghttp2.
  var isSent: Bool { sent == count }

  /// Takes a copy of `bytes`; false when the pool has no memory for it.
  mutating func set(_ bytes: RawSpan, _ blocks: BlockPool) -> Bool {
    guard let copy = blocks.copy(bytes) else { return false }
    block = copy
    count = bytes.byteCount
    sent = 0
    return true
  }

  /// Fills one DATA frame's payload of at most `room` bytes. The frame with the last byte carries END_STREAM.
  mutating func read(_ frame: UnsafeMutablePointer<UInt8>, _ room: Int, _ flags: UnsafeMutablePointer<UInt32>) -> Int {
    guard let block else { preconditionFailure("a body is read before it is set") }
    let length = min(room, count - sent)
    memcpy(frame, block.base + sent, length)
    sent += length
    if sent == count { flags.pointee |= UInt32(NGHTTP2_DATA_FLAG_EOF.rawValue) }
    return length
  }

  /// Hands the block back.
  mutating func removeAll(_ blocks: BlockPool) {
    if let block { blocks.release(block) }
    block = nil
    count = 0
    sent = 0
  }
}
