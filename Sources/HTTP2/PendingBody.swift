import CNghttp2
import Glibc
import Primitives

/// A body on its way out: a copy in a block, read by nghttp2 as flow control lets it through.
struct PendingBody {
  private var block: Block?
  private var count = 0
  private var sent = 0
  /// Whether more may be appended, so that the end of what is here is not the end of the body.
  private var isOpen = false

  /// Whether every byte of it was handed to nghttp2.
  var isSent: Bool { sent == count && !isOpen }
  /// Bytes that were not handed to nghttp2 yet.
  var unsentBytes: Int { count - sent }

  /// Takes a copy of the whole body; false when the pool has no memory for it.
  mutating func set(_ bytes: RawSpan, _ blocks: BlockPool) -> Bool {
    guard let copy = blocks.copy(bytes) else { return false }
    block = copy
    count = bytes.byteCount
    sent = 0
    return true
  }

  /// Begins a body whose bytes will be appended.
  mutating func open() { isOpen = true }

  /// No more will be appended.
  mutating func end() { isOpen = false }

  /// Appends a copy of `bytes`; false, and nothing changed, when the pool has no memory for it.
  mutating func append(_ bytes: RawSpan, _ blocks: BlockPool) -> Bool {
    let unsent = count - sent
    let length = unsent + bytes.byteCount
    guard var block = block ?? blocks.allocate(length) else { return false }
    self.block = block
    if unsent > 0, sent > 0 { memmove(block.base, block.base + sent, unsent) }
    sent = 0
    count = unsent
    guard length <= block.capacity || blocks.grow(&block, to: length, keeping: unsent) else { return false }
    block.store(bytes, at: unsent)
    self.block = block
    count = length
    return true
  }

  /// Fills one DATA frame's payload of at most `room` bytes. The frame with the last byte carries END_STREAM.
  mutating func read(_ frame: UnsafeMutablePointer<UInt8>, _ room: Int, _ flags: UnsafeMutablePointer<UInt32>) -> Int {
    let length = min(room, count - sent)
    if length == 0, isOpen { return Int(NGHTTP2_ERR_DEFERRED.rawValue) }
    if let block, length > 0 { memcpy(frame, block.base + sent, length) }
    sent += length
    if isSent { flags.pointee |= UInt32(NGHTTP2_DATA_FLAG_EOF.rawValue) }
    return length
  }

  /// Hands the block back.
  mutating func removeAll(_ blocks: BlockPool) {
    if let block { blocks.release(block) }
    self = PendingBody()
  }
}
