/// A run of memory lent by a `BlockPool`.
///
/// It is trivially copyable so that slots of plain values can hold it; whoever holds it hands it back exactly once
/// and uses no copy of it afterwards.
@safe
public struct Block {
  /// Where the run begins.
  @unsafe public let base: UnsafeMutableRawPointer
  /// How many bytes it has.
  @inlinable public var capacity: Int { Int(size) }
  @usableFromInline let size: UInt32
  /// The free list that it goes back to, so that nobody works it out again.
  @usableFromInline let sizeClass: UInt32

  @inlinable init(base: UnsafeMutableRawPointer, capacity: Int, sizeClass: Int) {
    unsafe self.base = unsafe base
    size = UInt32(capacity)
    self.sizeClass = UInt32(truncatingIfNeeded: sizeClass)
  }

  /// The first `count` bytes, valid until the block is handed back.
  @inlinable @_lifetime(borrow self) public func bytes(_ count: Int) -> RawSpan {
    precondition(count >= 0 && count <= capacity)
    return unsafe _overrideLifetime(RawSpan(_unsafeStart: base, byteCount: count), borrowing: self)
  }

  /// Copies `source` to the bytes that begin at `offset`, which must have room for it.
  @inlinable public func store(_ source: RawSpan, at offset: Int = 0) {
    let count = source.byteCount
    precondition(offset >= 0 && offset <= capacity && count <= capacity &- offset)
    unsafe source.withUnsafeBytes { bytes in
      if let start = bytes.baseAddress { unsafe (base + offset).copyMemory(from: start, byteCount: count) }
    }
  }
}

/// Memory for one thread in blocks of 256 bytes to 64 KB by powers of two, which are lent, handed back and lent again.
///
/// Under a steady load it asks the system for nothing (`growths` stands still). It never holds more than `bytesMax`:
/// then `allocate` answers nil, and the caller refuses or waits. Blocks above 64 KB are rare and come from the system
/// each time, and go back to it at once.
@safe
public final class BlockPool {
  /// The smallest block, in bytes.
  public static let smallestBlock = 256
  /// The largest block that is kept for reuse, in bytes.
  public static let largestKeptBlock = 256 << (classes - 1)

  @usableFromInline static let classes = 9

  @unsafe @usableFromInline struct State {
    /// The first free block of each class; each free block begins with the address of the next.
    @usableFromInline var free: InlineArray<9, UnsafeMutableRawPointer?> = unsafe .init(repeating: nil)
    @usableFromInline var bytes = 0
    @usableFromInline var lentBytes = 0
    @usableFromInline var growths = 0
    @usableFromInline let bytesMax: Int
    @inlinable init(bytesMax: Int) { unsafe self.bytesMax = bytesMax }
  }

  // Behind a pointer, because the properties of a class are checked for exclusive access at each use.
  @usableFromInline let state: UnsafeMutablePointer<State>

  /// A pool that holds at most `bytesMax` bytes, lent and kept together.
  @inlinable public init(bytesMax: Int) {
    precondition(bytesMax >= 0)
    unsafe state = .allocate(capacity: 1)
    unsafe state.initialize(to: unsafe State(bytesMax: bytesMax))
  }

  @inlinable deinit {
    releaseKept()
    unsafe state.deinitialize(count: 1)
    unsafe state.deallocate()
  }

  /// Bytes held from the system at present, lent or kept.
  @inlinable public var bytes: Int { unsafe state.pointee.bytes }
  /// Bytes of the blocks lent at present.
  @inlinable public var lentBytes: Int { unsafe state.pointee.lentBytes }
  /// How often the system was asked for memory.
  @inlinable public var growths: Int { unsafe state.pointee.growths }

  /// A block of at least `byteCount` bytes, or nil when the pool would hold more than its bound. O(1).
  @inlinable public func allocate(_ byteCount: Int) -> Block? {
    let (index, size) = BlockPool.sizeClass(byteCount)
    if index < BlockPool.classes, let base = unsafe state.pointee.free[index] {
      unsafe state.pointee.free[index] = base.load(as: UnsafeMutableRawPointer?.self)
      unsafe state.pointee.lentBytes &+= size
      return unsafe Block(base: base, capacity: size, sizeClass: index)
    }
    return grow(by: size, sizeClass: index)
  }

  /// Takes back a block of this pool. O(1).
  @inlinable public func release(_ block: Block) {
    let (index, size) = (Int(block.sizeClass), block.capacity)
    unsafe state.pointee.lentBytes &-= size
    guard index < BlockPool.classes else {
      unsafe state.pointee.bytes &-= size
      unsafe block.base.deallocate()
      return
    }
    unsafe block.base.storeBytes(of: state.pointee.free[index], as: UnsafeMutableRawPointer?.self)
    unsafe state.pointee.free[index] = unsafe block.base
  }

  /// A block that begins with a copy of `bytes`, or nil when the pool would hold more than its bound.
  @inlinable public func copy(_ bytes: RawSpan) -> Block? {
    guard let block = allocate(bytes.byteCount) else { return nil }
    block.store(bytes)
    return block
  }

  /// Exchanges `block` for one of at least `byteCount` bytes with the same first `used` bytes; false, and nothing
  /// changed, when the pool would hold more than its bound.
  @inlinable public func grow(_ block: inout Block, to byteCount: Int, keeping used: Int) -> Bool {
    guard let larger = allocate(byteCount) else { return false }
    larger.store(block.bytes(used))
    release(block)
    block = larger
    return true
  }

  /// Gives every kept block back to the system.
  @inlinable public func releaseKept() {
    for index in 0..<BlockPool.classes {
      while let base = unsafe state.pointee.free[index] {
        unsafe state.pointee.free[index] = base.load(as: UnsafeMutableRawPointer?.self)
        unsafe state.pointee.bytes &-= BlockPool.smallestBlock << index
        unsafe base.deallocate()
      }
    }
  }

  /// Bytes of the block that `byteCount` bytes get.
  @inlinable public static func capacity(for byteCount: Int) -> Int { sizeClass(byteCount).size }

  /// Gives at most `count` kept blocks back to the system, the largest first: to give back many without a pause.
  ///
  /// - Returns: Whether there are more.
  public func releaseKept(atMost count: Int) -> Bool {
    var left = count
    for index in (0..<BlockPool.classes).reversed() {
      while let base = unsafe state.pointee.free[index] {
        guard left > 0 else { return true }
        left -= 1
        unsafe state.pointee.free[index] = base.load(as: UnsafeMutableRawPointer?.self)
        unsafe state.pointee.bytes &-= BlockPool.smallestBlock << index
        unsafe base.deallocate()
      }
    }
    return false
  }

  /// The class of a request for `byteCount` bytes and the size of its blocks; `classes` when it is above them all.
  @inlinable @inline(__always) static func sizeClass(_ byteCount: Int) -> (index: Int, size: Int) {
    precondition(byteCount >= 0)
    guard byteCount > smallestBlock else { return (0, smallestBlock) }
    let index = Int.bitWidth &- (byteCount &- 1).leadingZeroBitCount &- 8
    return index < classes ? (index, smallestBlock << index) : (classes, (byteCount + 4095) & ~4095)
  }

  @usableFromInline func grow(by size: Int, sizeClass: Int) -> Block? {
    // Kept blocks of other classes must not starve this one.
    if unsafe size > state.pointee.bytesMax &- state.pointee.bytes { releaseKept() }
    guard unsafe size <= state.pointee.bytesMax &- state.pointee.bytes else { return nil }
    unsafe state.pointee.bytes &+= size
    unsafe state.pointee.lentBytes &+= size
    unsafe state.pointee.growths &+= 1
    return unsafe Block(base: .allocate(byteCount: size, alignment: 16), capacity: size, sizeClass: sizeClass)
  }
}
