import Primitives
import Push

/// The tokens of all devices: open addressing over entries that keep their index as long as they live.
///
/// Every push begins with one look-up here, and senders choose tokens, so the hash is seeded and a bucket holds the upper half of
/// the hash beside the index: one comparison of tokens per hit. When the table is full, the oldest entry that nobody owns goes.
struct TokenTable: Sendable {
  private static let empty: UInt64 = .max

  private let seed: UInt64
  private let capacity: Int
  /// Upper 32 bits: those of the hash. Lower 32 bits: the index into `entries`. Linear probing, at most half full.
  private var buckets: [UInt64]
  private var entries: [TokenEntry] = []
  private var free: [Int] = []
  /// Where the search for an expendable entry goes on; it sweeps in the order of insertion.
  private var hand = 0

  /// An empty table for at most `capacity` tokens.
  init(seed: UInt64, capacity: Int) {
    precondition(capacity > 0 && capacity < Int(Int32.max))
    self.seed = seed
    self.capacity = capacity
    buckets = Array(repeating: Self.empty, count: 64)
  }

  /// How many tokens are known.
  var count: Int { entries.count - free.count }

  /// The entry at an index that `find` or `insert` gave.
  subscript(index: Int) -> TokenEntry {
    _read { yield entries[index] }
    _modify { yield &entries[index] }
  }

  /// The index of the token's entry, or nil. O(1).
  func find(_ token: DeviceToken) -> Int? {
    let hash = token.hash(seed: seed)
    var bucket = Int(truncatingIfNeeded: hash) & (buckets.count - 1)
    while buckets[bucket] != Self.empty {
      let index = Int(buckets[bucket] & 0xFFFF_FFFF)
      if buckets[bucket] >> 32 == hash >> 32 && entries[index].token == token { return index }
      bucket = (bucket + 1) & (buckets.count - 1)
    }
    return nil
  }

  /// Adds an entry for a token that is not in the table; nil when it is full of tokens that something owns. O(1) amortised.
  mutating func insert(_ entry: TokenEntry) -> Int? {
    if count == capacity { guard evict() else { return nil } }
    if 2 * (count + 1) > buckets.count { grow() }
    let index: Int
    if let reused = free.popLast() {
      index = reused
      entries[index] = entry
    } else {
      index = entries.count
      entries.append(entry)
    }
    place(index, hash: entry.token.hash(seed: seed))
    return index
  }

  /// Calls `body` with every entry that is in use, in no particular order.
  func forEach(_ body: (TokenEntry) -> Void) {
    for bucket in buckets where bucket != Self.empty { body(entries[Int(bucket & 0xFFFF_FFFF)]) }
  }

  private mutating func place(_ index: Int, hash: UInt64) {
    var bucket = Int(truncatingIfNeeded: hash) & (buckets.count - 1)
    while buckets[bucket] != Self.empty { bucket = (bucket + 1) & (buckets.count - 1) }
    buckets[bucket] = (hash & ~0xFFFF_FFFF) | UInt64(index)
  }

  private mutating func grow() {
    let old = buckets
    buckets = Array(repeating: Self.empty, count: 2 * old.count)
    for bucket in old where bucket != Self.empty {
      let index = Int(bucket & 0xFFFF_FFFF)
      place(index, hash: entries[index].token.hash(seed: seed))
    }
  }

  /// Forgets the next expendable entry; false when a whole sweep finds none.
  private mutating func evict() -> Bool {
    for _ in 0..<entries.count {
      let index = hand
      hand = (hand + 1) % entries.count
      if entries[index].isExpendable {
        remove(index)
        return true
      }
    }
    return false
  }

  /// Forgets the entry: empties its bucket and moves later entries of the same run back, so that no probe meets a gap.
  mutating func remove(_ index: Int) {
    let mask = buckets.count - 1
    var gap = Int(truncatingIfNeeded: entries[index].token.hash(seed: seed)) & mask
    while buckets[gap] & 0xFFFF_FFFF != UInt64(index) { gap = (gap + 1) & mask }
    var next = (gap + 1) & mask
    while buckets[next] != Self.empty {
      let home = Int(truncatingIfNeeded: entries[Int(buckets[next] & 0xFFFF_FFFF)].token.hash(seed: seed)) & mask
      if (next - home) & mask >= (next - gap) & mask {
        buckets[gap] = buckets[next]
        gap = next
      }
      next = (next + 1) & mask
    }
    buckets[gap] = Self.empty
    free.append(index)
  }
}
