import Glibc
public import Primitives

/// The body of one received message: the first bytes of it, and how many there were.
@usableFromInline struct ReceivedBody {
  @usableFromInline var block: Block?
  @usableFromInline var kept: UInt32 = 0
  @usableFromInline var total = 0

  @usableFromInline init() {}

  /// Counts `count` bytes and stores those that fit below `bytesMax`; false when the pool has no memory for them.
  mutating func append(_ bytes: UnsafePointer<UInt8>, _ count: Int, bytesMax: Int, blocks: BlockPool) -> Bool {
    total += count
    let start = Int(kept)
    let stored = min(count, bytesMax - start)
    guard stored > 0 else { return true }
    guard var block = block ?? blocks.allocate(stored) else { return false }
    if start + stored > block.capacity {
      // Doubling, so that a long body is copied a bounded number of times for each of its bytes.
      let wanted = max(start + stored, min(2 * block.capacity, bytesMax))
      guard blocks.grow(&block, to: wanted, keeping: start) else { return false }
    }
    self.block = block
    memcpy(block.base + start, bytes, stored)
    kept = UInt32(start + stored)
    return true
  }

  /// Hands the block back and forgets every byte.
  mutating func removeAll(_ blocks: BlockPool) {
    if let block { blocks.release(block) }
    block = nil
    kept = 0
    total = 0
  }

  /// The bytes that were kept, valid until they are removed.
  @inlinable var bytes: RawSpan {
    @_lifetime(borrow self) get {
      guard let block else { return _overrideLifetime(RawSpan(), borrowing: self) }
      return _overrideLifetime(RawSpan(_unsafeStart: block.base, byteCount: Int(kept)), borrowing: self)
    }
  }
}
