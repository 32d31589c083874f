import CNghttp2
import Glibc
import Primitives

/// A message on its way out, in one block: the encoded header block, then the body.
///
///     block:  header block      body, handed to nghttp2      body, not yet handed      free
///             ^ 0 … headCount   ^                            ^ start                   ^ end
///
/// The header block is taken when nghttp2 sends the HEADERS frame, and the body as flow control lets it through.
struct PendingMessage {
  private var block: Block?
  /// Bytes of the header block; 0 once it was taken.
  private var headCount = 0
  private var start = 0
  private var end = 0
  /// Whether more may be appended, so that the end of what is here is not the end of the body.
  private var isOpen = false

  /// Whether every byte of the body was handed to nghttp2.
  var isSent: Bool { start == end && !isOpen }
  /// Bytes of the body that were not handed to nghttp2 yet.
  var unsentBytes: Int { end - start }

  /// Takes a copy of a header block, `status` first, and of the whole body; false when the pool has no memory for them.
  mutating func set(_ status: StatusField, _ fields: RawSpan, body: RawSpan, _ blocks: BlockPool) -> Bool {
    let count = status.count + fields.byteCount
    guard let block = blocks.allocate(count + body.byteCount) else { return false }
    status.write(to: block)
    block.store(fields, at: status.count)
    if !body.isEmpty { block.store(body, at: count) }
    self.block = block
    headCount = count
    start = count
    end = count + body.byteCount
    return true
  }

  /// Whether bytes may be appended to the body from now on, or its end is reached.
  mutating func setOpen(_ isOpen: Bool) { self.isOpen = isOpen }

  /// Appends a copy of `bytes` to the body; false, and nothing changed, when the pool has no memory for it.
  mutating func append(_ bytes: RawSpan, _ blocks: BlockPool) -> Bool {
    let unsent = end - start
    let kept = headCount + unsent
    let length = kept + bytes.byteCount
    guard var block = block ?? blocks.allocate(length) else { return false }
    if unsent > 0, start > headCount { memmove(block.base + headCount, block.base + start, unsent) }
    self.block = block
    start = headCount
    end = kept
    guard length <= block.capacity || blocks.grow(&block, to: length, keeping: kept) else { return false }
    block.store(bytes, at: kept)
    self.block = block
    end = length
    return true
  }

  /// Gives the header block to the frame that is being sent.
  mutating func takeHead(_ stage: UnsafeMutablePointer<HeaderStage>) {
    guard let block, headCount > 0 else { return }
    stage.pointee.take(block.bytes(headCount))
    headCount = 0
  }

  /// Fills one DATA frame's payload of at most `room` bytes. The frame with the last byte carries END_STREAM.
  mutating func read(_ frame: UnsafeMutablePointer<UInt8>, _ room: Int, _ flags: UnsafeMutablePointer<UInt32>) -> Int {
    let length = min(room, end - start)
    if length == 0, isOpen { return Int(NGHTTP2_ERR_DEFERRED.rawValue) }
    if let block, length > 0 { memcpy(frame, block.base + start, length) }
    start += length
    if isSent { flags.pointee |= UInt32(NGHTTP2_DATA_FLAG_EOF.rawValue) }
    return length
  }

  /// Hands the block back.
  mutating func removeAll(_ blocks: BlockPool) {
    if let block { blocks.release(block) }
    self = PendingMessage()
  }
}
