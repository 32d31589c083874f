import Glibc
import Primitives

/// Memory for a part of a message: a block of its own, or a piece of one that is there already.
///
/// A push is small: its body and the answer to it mostly fit behind its header fields, which saves taking and giving back
/// two more blocks, and touching memory that is not in the cache.
@usableFromInline struct MessageMemory {
  @usableFromInline let base: UnsafeMutableRawPointer
  let capacity: Int
  private let block: Block?

  private init(base: UnsafeMutableRawPointer, capacity: Int, block: Block?) {
    self.base = base
    self.capacity = capacity
    self.block = block
  }

  /// A block of at least `count` bytes, or nil when the pool has no memory for it.
  @inline(__always) init?(_ count: Int, _ blocks: BlockPool) {
    guard let block = blocks.allocate(count) else { return nil }
    self.init(base: block.base, capacity: block.capacity, block: block)
  }

  /// A piece of `fields`' block if that has room, or else a block of its own, or nil when there is no memory for it.
  @inline(__always) init?(_ count: Int, in fields: inout ReceivedFields, _ blocks: BlockPool) {
    if let piece = fields.lend(count) {
      self.init(base: piece, capacity: count, block: nil)
    } else {
      self.init(count, blocks)
    }
  }

  /// Moves the first `used` bytes to a block of at least `count`; false, and nothing changed, when there is no memory for it.
  mutating func grow(to count: Int, keeping used: Int, _ blocks: BlockPool) -> Bool {
    guard let larger = MessageMemory(count, blocks) else { return false }
    memcpy(larger.base, base, used)
    release(blocks)
    self = larger
    return true
  }

  /// Copies `source` to the bytes that begin at `offset`.
  @inline(__always) func store(_ source: RawSpan, at offset: Int) {
    precondition(offset >= 0 && source.byteCount <= capacity - offset)
    source.withUnsafeBytes { if let start = $0.baseAddress { memcpy(base + offset, start, $0.count) } }
  }

  /// Hands the block back; a piece goes back with the fields.
  @inline(__always) func release(_ blocks: BlockPool) {
    if let block { blocks.release(block) }
  }
}
