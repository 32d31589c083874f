/// A bounded run of bytes, written at the tail and read at the head.
///
/// It never holds more than `capacity` bytes: a full queue is back-pressure, not an error. Memory comes with
/// the first byte and doubles on the way to `capacity`, so an idle connection's queue costs nothing; a queue
/// that is drained and filled in turn settles at one block and allocates no more.
@safe
public struct ByteQueue: ~Copyable, @unchecked Sendable {
  // Sendable because the queue is the only owner of its memory and moves as a whole.

  /// The most bytes the queue holds.
  public let capacity: Int
  @usableFromInline var base: UnsafeMutableRawPointer?
  @usableFromInline var allocated = 0
  @usableFromInline var head = 0
  @usableFromInline var tail = 0

  /// An empty queue for at most `capacity` bytes; it allocates when the first byte comes.
  @inlinable public init(capacity: Int) {
    precondition(capacity > 0)
    self.capacity = capacity
    unsafe base = nil
  }

  @inlinable deinit { unsafe base?.deallocate() }

  /// How many bytes wait to be read.
  @inlinable public var count: Int { tail &- head }
  /// Whether no byte waits.
  @inlinable public var isEmpty: Bool { head == tail }
  /// How many more bytes the queue takes.
  @inlinable public var free: Int { capacity &- count }
  /// Bytes of memory the queue holds at present.
  @inlinable public var storageBytes: Int { allocated }

  /// The unread bytes, oldest first.
  public var bytes: RawSpan {
    @_lifetime(borrow self) @inlinable get {
      guard let base = unsafe base else { return RawSpan() }
      return unsafe _overrideLifetime(RawSpan(_unsafeStart: base + head, byteCount: count), borrowing: self)
    }
  }

  /// Copies as much of `source` as fits and returns how many bytes that was.
  @discardableResult
  @inlinable public mutating func append(_ source: RawSpan) -> Int {
    let length = min(source.byteCount, free)
    guard length > 0 else { return 0 }
    let room = unsafe makeRoom(length)
    unsafe source.withUnsafeBytes { unsafe room.copyMemory(from: $0.baseAddress!, byteCount: length) }
    tail &+= length
    return length
  }

  /// Copies as much of `text` as fits and returns how many bytes that was.
  @discardableResult
  @inlinable public mutating func append(_ text: StaticString) -> Int {
    let length = min(text.utf8CodeUnitCount, free)
    guard length > 0 else { return 0 }
    let room = unsafe makeRoom(length)
    unsafe room.copyMemory(from: text.utf8Start, byteCount: length)
    tail &+= length
    return length
  }

  /// Appends one byte; false when the queue is full.
  @discardableResult
  @inlinable public mutating func append(byte: UInt8) -> Bool {
    guard free > 0 else { return false }
    unsafe makeRoom(1).storeBytes(of: byte, as: UInt8.self)
    tail &+= 1
    return true
  }

  /// Lets `body` write up to `length` bytes after the tail; it returns how many it wrote.
  ///
  /// `length` is cut to `free`, so `body` may get an empty buffer when the queue is full.
  @unsafe @inlinable public mutating func fill<E: Error>(
    atMost length: Int, _ body: (UnsafeMutableRawBufferPointer) throws(E) -> Int
  ) throws(E) -> Int {
    let room = min(length, free)
    guard room > 0 else { return unsafe try body(UnsafeMutableRawBufferPointer(start: nil, count: 0)) }
    let start = unsafe makeRoom(room)
    let written = unsafe try body(UnsafeMutableRawBufferPointer(start: start, count: room))
    precondition(written >= 0 && written <= room)
    tail &+= written
    return written
  }

  /// Forgets the oldest `length` bytes, of which there must be as many.
  @inlinable public mutating func consume(_ length: Int) {
    precondition(length >= 0 && length <= count)
    head &+= length
    if head == tail {
      head = 0
      tail = 0
    }
  }

  /// Forgets every byte and keeps the memory.
  @inlinable public mutating func removeAll() {
    head = 0
    tail = 0
  }

  /// Gives the memory back; only when the queue is empty, else nothing happens.
  @inlinable public mutating func releaseStorage() {
    guard isEmpty, let held = unsafe base else { return }
    unsafe held.deallocate()
    unsafe base = nil
    allocated = 0
    removeAll()
  }

  /// Moves as many of `other`'s bytes as fit to the tail of this queue.
  @inlinable public mutating func take(from other: inout ByteQueue) {
    let moved = append(other.bytes)
    other.consume(moved)
  }

  /// The address after the tail with `length` bytes behind it; the caller has checked `free`.
  @unsafe @inlinable mutating func makeRoom(_ length: Int) -> UnsafeMutableRawPointer {
    if tail &+ length > allocated { unsafe rearrange(for: length) }
    return unsafe base! + tail
  }

  /// Slides the bytes to the front, or moves them into a larger block.
  @unsafe @usableFromInline mutating func rearrange(for length: Int) {
    let kept = count
    if kept &+ length <= allocated, let base = unsafe base {
      unsafe base.copyMemory(from: base + head, byteCount: kept)
    } else {
      var size = max(allocated, 512)
      while size < kept &+ length { size &*= 2 }
      size = min(size, capacity)
      let larger = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
      if let base = unsafe base {
        unsafe larger.copyMemory(from: base + head, byteCount: kept)
        unsafe base.deallocate()
      }
      unsafe base = larger
      allocated = size
    }
    head = 0
    tail = kept
  }
}
