public import Synchronization

/// A fixed block of 64-bit counters, in shards that never share a cache line.
///
/// A loop owns one shard and is its only writer, so that counting is a load, an add and a store without a locked
/// instruction. Threads that own no shard share one more, whose adds are atomic. Readers sum all shards: a sum may
/// mix moments, but no count is ever lost and each one only grows.
@safe public final class CounterCells: @unchecked Sendable {
  // Sendable: the block is allocated once and freed in deinit; every access to a cell is atomic.

  /// How many counters each shard has.
  public let count: Int
  /// How many shards have one writer each, not counting the shared one.
  public let shards: Int
  @usableFromInline let stride: Int
  @usableFromInline let cells: UnsafeMutablePointer<Atomic<UInt64>>

  private static let cacheLineBytes = 64

  /// A block of `count` counters for `shards` writers, all zero.
  public init(count: Int, shards: Int) {
    precondition(count > 0 && shards >= 0)
    self.count = count
    self.shards = shards
    let perLine = Self.cacheLineBytes / MemoryLayout<Atomic<UInt64>>.stride
    stride = (count + perLine - 1) / perLine * perLine
    let total = stride * (shards + 1)
    let memory = UnsafeMutableRawPointer.allocate(
      byteCount: total * MemoryLayout<Atomic<UInt64>>.stride, alignment: Self.cacheLineBytes)
    unsafe cells = memory.bindMemory(to: Atomic<UInt64>.self, capacity: total)
    for index in 0..<total { unsafe (cells + index).initialize(to: Atomic(0)) }
  }

  deinit {
    unsafe cells.deinitialize(count: stride * (shards + 1))
    unsafe UnsafeMutableRawPointer(cells).deallocate()
  }

  /// Adds `amount` to counter `index` of `shard`; only the shard's one writer may call this.
  @inlinable public func add(_ amount: UInt64, at index: Int, shard: Int) {
    precondition(index >= 0 && index < count && shard >= 0 && shard < shards)
    let cell = unsafe cells + (shard * stride + index)
    unsafe cell.pointee.store(cell.pointee.load(ordering: .relaxed) &+ amount, ordering: .relaxed)
  }

  /// Adds `amount` to counter `index`, from any thread.
  @inlinable public func add(_ amount: UInt64, at index: Int) {
    precondition(index >= 0 && index < count)
    let cell = unsafe cells + (shards * stride + index)
    unsafe cell.pointee.wrappingAdd(amount, ordering: .relaxed)
  }

  /// Counter `index` summed over all shards.
  public func sum(at index: Int) -> UInt64 {
    precondition(index >= 0 && index < count)
    var sum: UInt64 = 0
    for shard in 0...shards { unsafe sum &+= (cells + (shard * stride + index)).pointee.load(ordering: .relaxed) }
    return sum
  }
}
