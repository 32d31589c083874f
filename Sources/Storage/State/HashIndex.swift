import Glibc

/// Finds 32-bit values by 64-bit hashes: open addressing with linear probing, 8 bytes a slot, at most three quarters full.
///
/// A slot holds the hash's upper half and the value plus one. The upper half also gives the slot's home, so growing and removing
/// never look at what the values stand for. The caller seeds the hash, since senders choose what is hashed.
struct HashIndex: ~Copyable {
  private var slots: UnsafeMutablePointer<UInt64>
  private var mask: Int
  private(set) var count = 0

  /// An empty index with room for `capacity` values before it grows.
  init(capacity: Int = 1024) {
    var size = 1024
    while size * 3 / 4 < capacity { size *= 2 }
    slots = Self.zeroed(size)
    mask = size - 1
  }

  deinit { free(slots) }

  /// What stands where looking for that hash begins.
  func peek(_ hash: UInt64) -> UInt64 { slots[Int(hash >> 32) & mask] }

  /// The value under `hash` for which `matches` is true. O(1) expected.
  func find(_ hash: UInt64, where matches: (UInt32) -> Bool) -> UInt32? {
    let tag = hash >> 32
    var position = Int(tag) & mask
    while slots[position] != 0 {
      if slots[position] >> 32 == tag {
        let value = UInt32(truncatingIfNeeded: slots[position]) &- 1
        if matches(value) { return value }
      }
      position = (position + 1) & mask
    }
    return nil
  }

  /// Adds a value, which is not under that hash yet and is not `UInt32.max`. O(1) amortised.
  mutating func insert(_ hash: UInt64, _ value: UInt32) {
    if (count + 1) * 4 > (mask + 1) * 3 { grow() }
    place((hash >> 32) << 32 | UInt64(value &+ 1))
    count += 1
  }

  /// Replaces a value that is there. O(1) expected.
  mutating func replace(_ hash: UInt64, _ old: UInt32, with new: UInt32) {
    guard let position = position(hash, old) else { preconditionFailure("no such value") }
    slots[position] = (hash >> 32) << 32 | UInt64(new &+ 1)
  }

  /// Removes a value that is there, and moves those after it back to where they are found sooner. O(1) expected.
  mutating func remove(_ hash: UInt64, _ value: UInt32) {
    guard var hole = position(hash, value) else { preconditionFailure("no such value") }
    var next = (hole + 1) & mask
    while slots[next] != 0 {
      let home = Int(slots[next] >> 32) & mask
      // The entry may fill the hole unless its home lies behind the hole, on the way to where it is.
      if (next &- home) & mask >= (next &- hole) & mask {
        slots[hole] = slots[next]
        hole = next
      }
      next = (next + 1) & mask
    }
    slots[hole] = 0
    count -= 1
  }

  private func position(_ hash: UInt64, _ value: UInt32) -> Int? {
    let entry = (hash >> 32) << 32 | UInt64(value &+ 1)
    var position = Int(hash >> 32) & mask
    while slots[position] != 0 {
      if slots[position] == entry { return position }
      position = (position + 1) & mask
    }
    return nil
  }

  private mutating func place(_ entry: UInt64) {
    var position = Int(entry >> 32) & mask
    while slots[position] != 0 { position = (position + 1) & mask }
    slots[position] = entry
  }

  private mutating func grow() {
    let (old, size) = (slots, mask + 1)
    slots = Self.zeroed(2 * size)
    mask = 2 * size - 1
    for position in 0..<size where old[position] != 0 { place(old[position]) }
    free(old)
  }

  /// Zeros, of which the system gives the pages as they are written.
  private static func zeroed(_ size: Int) -> UnsafeMutablePointer<UInt64> {
    guard let memory = calloc(size, MemoryLayout<UInt64>.stride) else { preconditionFailure("no memory for an index") }
    return memory.bindMemory(to: UInt64.self, capacity: size)
  }
}
