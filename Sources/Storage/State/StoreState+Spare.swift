import Delivery
import Primitives
import Push

// Memory that a backlog has left behind: it is kept for the next pushes, and given back when there are none so many.
extension StoreState {
  /// Blocks that are there from the start, and stay.
  static func blocksPrepared(_ settings: StoreSettings) -> Int {
    min(Limits.pushesPrepared, settings.waitingBytes / BlockPool.smallestBlock / 2)
  }

  /// Bytes that are kept and not in use.
  var spareBytes: Int { pool.bytes - pool.lentBytes + pushes.spareBytes + due.spareBytes + delays.spareBytes }

  /// Frees memory that is not in use, a bounded part at a time.
  ///
  /// - Returns: Whether there is more.
  mutating func releaseSpare(blocks: Int) -> Bool {
    guard !pool.releaseKept(atMost: blocks) else { return true }
    pushes.releaseSpare()
    // Those that many still wait in are in use for the most part.
    if due.count <= blocks { due.releaseSpare() }
    if delays.keys.count <= blocks { delays.releaseSpare() }
    pool.prepare(blocks: Self.blocksPrepared(settings))
    return false
  }
}

/// How much memory was needed of late, and whether what is kept beyond that is being given back.
struct SpareMemory {
  /// The most bytes in use since the last look, and between the two before.
  private var peaks = (now: 0, before: 0)
  /// Whether there is more to free.
  private(set) var isReleasing = false

  /// Notes how much is in use.
  mutating func note(_ bytes: Int) { peaks.now = max(peaks.now, bytes) }

  /// Looks, once a second, whether so much is kept that a backlog must have left it behind: a load that comes and goes finds its memory
  /// as it left it.
  mutating func look(kept: Int, inUse: Int) {
    let needed = max(peaks.now, peaks.before)
    peaks = (inUse, peaks.now)
    if kept > needed + Limits.storeSpareBytes { isReleasing = true }
  }

  /// All of it has been freed.
  mutating func end() { isReleasing = false }
}

extension BlockPool {
  /// Gets blocks of the smallest size ready, so that as many pushes in flight take no memory from the system one by one.
  func prepare(blocks count: Int) {
    let blocks = (0..<count).compactMap { _ in allocate(0) }
    for block in blocks { release(block) }
  }
}
