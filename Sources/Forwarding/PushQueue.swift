import Delivery
import Primitives
import Push

/// A push that waits in its loop for a stream, with its bytes in a block of its own.
struct QueuedPush {
  /// The push; its ranges lie in `block`.
  let push: ForwardedPush
  private let block: Block
  private let byteCount: Int

  /// Copies what `push` refers to in `bytes`; nil when the pool is full.
  init?(_ push: ForwardedPush, _ bytes: RawSpan, in pool: BlockPool) {
    let byteCount = Self.byteCount(of: push)
    guard let block = pool.allocate(byteCount) else { return nil }
    var push = push
    var end = 0
    push.topic = Self.move(bytes[push.topic], to: block, &end)
    push.collapseID = Self.move(bytes[push.collapseID], to: block, &end)
    push.payload = Self.move(bytes[push.payload], to: block, &end)
    self.push = push
    self.block = block
    self.byteCount = byteCount
  }

  /// Bytes that a push refers to.
  static func byteCount(of push: ForwardedPush) -> Int { Int(push.topic.count + push.collapseID.count + push.payload.count) }

  /// Bytes that it holds.
  var capacity: Int { block.capacity }

  private static func move(_ bytes: RawSpan, to block: Block, _ end: inout Int) -> ByteRange {
    block.store(bytes, at: end)
    defer { end += bytes.byteCount }
    return ByteRange(offset: end, count: bytes.byteCount)
  }

  /// The bytes that the push's ranges lie in.
  var bytes: RawSpan {
    @_lifetime(borrow self) get { unsafe _overrideLifetime(block.bytes(byteCount), borrowing: self) }
  }

  /// Gives the block back; the push is not to be used any more.
  func release(to pool: BlockPool) { pool.release(block) }
}

/// A first-in first-out queue of at most `capacity` pushes; it keeps its memory.
struct PushQueue {
  private let capacity: Int
  private var pushes: ContiguousArray<QueuedPush> = []
  private var head = 0

  init(capacity: Int) { self.capacity = capacity }

  var count: Int { pushes.count - head }
  var isEmpty: Bool { count == 0 }
  var isFull: Bool { count >= capacity }

  mutating func append(_ push: QueuedPush) {
    precondition(!isFull)
    // Moving the rest down is paid for by the removals since it was last done.
    if head > 1024, head > pushes.count / 2 {
      pushes.removeSubrange(..<head)
      head = 0
    }
    pushes.append(push)
  }

  mutating func removeFirst() -> QueuedPush {
    let first = pushes[head]
    head += 1
    if head == pushes.count {
      pushes.removeAll(keepingCapacity: true)
      head = 0
    }
    return first
  }

  var first: QueuedPush { pushes[head] }

  /// Bytes of the places that are not in use.
  var spareBytes: Int { (pushes.capacity - count) * MemoryLayout<QueuedPush>.stride }

  /// Gives the memory of those back.
  mutating func releaseSpare() {
    // One by one, since a copy of the whole would share its memory.
    pushes = ContiguousArray(pushes[head...].map { $0 })
    head = 0
  }
}
