import Primitives
import Push

/// A sentence of the log, in a block of the pool that all its texts share.
struct LogText {
  private var block: Block?
  private(set) var count: UInt16 = 0

  /// No text.
  init() {}

  /// A copy of `text`, cut between two characters to `Limits.detailBytes`; none when the pool is full.
  init(_ text: RawSpan, in pool: BlockPool) { self.init(text.extracting(0..<0), text, in: pool) }

  /// `head`, of at most `Limits.topicBytes`, and behind it such a copy of `text`.
  init(_ head: RawSpan, _ text: RawSpan, in pool: BlockPool) {
    precondition(head.byteCount <= Limits.topicBytes)
    var count = min(text.byteCount, Limits.detailBytes)
    if count < text.byteCount { while count > 0, text.byte(count) & 0xC0 == 0x80 { count -= 1 } }
    guard head.byteCount + count > 0, let block = pool.allocate(head.byteCount + count) else { return }
    block.store(head)
    block.store(text.extracting(0..<count), at: head.byteCount)
    self.block = block
    self.count = UInt16(head.byteCount + count)
  }

  /// Gives the block back.
  func release(to pool: BlockPool) {
    if let block { pool.release(block) }
  }

  /// The text's bytes, valid until it is released.
  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: block?.base, count: Int(count)) }

  /// The text; empty when there is none.
  var string: String { String(decoding: bytes, as: UTF8.self) }
}
