import Glibc
import Primitives

/// The body of one received message: the first bytes of it, and how many there were.
@usableFromInline struct ReceivedBody {
  @usableFromInline var memory: MessageMemory?
  @usableFromInline var kept: UInt32 = 0
  @usableFromInline var total = 0

  @usableFromInline init() {}

  /// Counts `count` bytes and stores those that fit below `bytesMax`, behind `fields` if there is room; false when there
  /// is no memory for them.
  mutating func append(
    _ bytes: UnsafePointer<UInt8>, _ count: Int, bytesMax: Int, behind fields: inout ReceivedFields, blocks: BlockPool
  ) -> Bool {
    total += count
    let start = Int(kept)
    let stored = min(count, bytesMax - start)
    guard stored > 0 else { return true }
    guard var memory = memory ?? MessageMemory(stored, in: &fields, blocks) else { return false }
    if start + stored > memory.capacity {
      // Doubling, so that a long body is copied a bounded number of times for each of its bytes.
      let wanted = max(start + stored, min(2 * memory.capacity, bytesMax))
      guard memory.grow(to: wanted, keeping: start, blocks) else { return false }
    }
    self.memory = memory
    memcpy(memory.base + start, bytes, stored)
    kept = UInt32(start + stored)
    return true
  }

  /// Hands the block back and forgets every byte.
  mutating func removeAll(_ blocks: BlockPool) {
    memory?.release(blocks)
    memory = nil
    kept = 0
    total = 0
  }

  /// The bytes that were kept, valid until they are removed.
  @inlinable var bytes: RawSpan {
    @_lifetime(borrow self) get {
      guard let memory else { return _overrideLifetime(RawSpan(), borrowing: self) }
      return _overrideLifetime(RawSpan(_unsafeStart: memory.base, byteCount: Int(kept)), borrowing: self)
    }
  }
}
