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
  private var memory: MessageMemory?
  /// Bytes of the header block; 0 once it was taken.
  private var headCount = 0
  private var start = 0
  private var end = 0
  /// Whether more may be appended, so that the end of what is here is not the end of the body.
  private(set) var isOpen = false
  /// How often it was found waiting for the peer's window, since it last went on.
  private(set) var waits: UInt8 = 0

  /// Whether every byte of the body was handed to nghttp2.
  var isSent: Bool { start == end && !isOpen }
  /// Bytes of the body that were not handed to nghttp2 yet.
  var unsentBytes: Int { end - start }

  /// Whether the header block is out and the body is not: the peer leaves it no window, or does not read.
  var isUnread: Bool { headCount == 0 && end > start }

  /// Takes a copy of the header block of a request and of its whole body; false when the pool has no memory for them.
  mutating func setRequest(_ fields: RawSpan, body: RawSpan, _ blocks: BlockPool) -> Bool {
    guard let memory = MessageMemory(fields.byteCount + body.byteCount, blocks) else { return false }
    set(memory, fields, at: 0, body: body)
    return true
  }

  /// The same for an answer, whose header block begins with `status`; it goes behind the fields of its request if there is room.
  mutating func setAnswer(
    _ status: StatusField, _ fields: RawSpan, body: RawSpan, behind request: inout ReceivedFields, _ blocks: BlockPool
  ) -> Bool {
    let count = max(StatusField.bytesWritten, status.count + fields.byteCount + body.byteCount)
    guard let memory = MessageMemory(count, in: &request, blocks) else { return false }
    status.write(to: memory.base)
    set(memory, fields, at: status.count, body: body)
    return true
  }

  @inline(__always) private mutating func set(_ memory: MessageMemory, _ fields: RawSpan, at offset: Int, body: RawSpan) {
    memory.store(fields, at: offset)
    headCount = offset + fields.byteCount
    if !body.isEmpty { memory.store(body, at: headCount) }
    start = headCount
    end = headCount + body.byteCount
    self.memory = memory
  }

  /// Whether bytes may be appended to the body from now on, or its end is reached.
  mutating func setOpen(_ isOpen: Bool) { self.isOpen = isOpen }

  /// Appends a copy of `bytes` to the body; false, and nothing changed, when the pool has no memory for it.
  mutating func append(_ bytes: RawSpan, _ blocks: BlockPool) -> Bool {
    let unsent = end - start
    let kept = headCount + unsent
    let length = kept + bytes.byteCount
    guard var memory = memory ?? MessageMemory(length, blocks) else { return false }
    if unsent > 0, start > headCount { memmove(memory.base + headCount, memory.base + start, unsent) }
    self.memory = memory
    start = headCount
    end = kept
    guard length <= memory.capacity || memory.grow(to: length, keeping: kept, blocks) else { return false }
    memory.store(bytes, at: kept)
    self.memory = memory
    end = length
    return true
  }

  /// Gives the header block to the frame that is being sent.
  mutating func takeHead(_ stage: UnsafeMutablePointer<HeaderStage>) {
    guard let memory, headCount > 0 else { return }
    stage.pointee.take(RawSpan(_unsafeStart: memory.base, byteCount: headCount))
    headCount = 0
  }

  /// Fills one DATA frame's payload of at most `room` bytes. The frame with the last byte carries END_STREAM.
  mutating func read(_ frame: UnsafeMutablePointer<UInt8>, _ room: Int, _ flags: UnsafeMutablePointer<UInt32>) -> Int {
    let length = min(room, end - start)
    if length == 0, isOpen { return Int(NGHTTP2_ERR_DEFERRED.rawValue) }
    if let memory, length > 0 { memcpy(frame, memory.base + start, length) }
    start += length
    waits = 0
    if isSent { flags.pointee |= UInt32(NGHTTP2_DATA_FLAG_EOF.rawValue) }
    return length
  }

  /// Counts that it is found waiting for the peer's window; returns how often it was.
  mutating func countWait() -> Int {
    if waits < .max { waits += 1 }
    return Int(waits)
  }

  /// Hands the block back.
  mutating func removeAll(_ blocks: BlockPool) {
    memory?.release(blocks)
    self = PendingMessage()
  }
}
