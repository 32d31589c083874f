import Delivery
import Primitives

/// When lanes must be looked at by the steady clock, whatever the product's shows: after the delay between two attempts at an
/// upstream, and when a push has not found a connection in time.
///
/// Few tokens have any, and none while all goes well.
struct Delays {
  private var heap = DueHeap()
  private var wakes: [UInt32: Instant] = [:]

  /// The tokens that have one.
  var keys: Dictionary<UInt32, Instant>.Keys { wakes.keys }

  /// Whether no token has one.
  var isEmpty: Bool { wakes.isEmpty }

  /// Remembers when a token's lane must be looked at; `distantFuture` forgets it.
  mutating func set(_ key: UInt32, _ due: Instant) {
    guard due != .distantFuture else {
      wakes[key] = nil
      return
    }
    guard wakes.updateValue(due, forKey: key) != due else { return }
    heap.insert(key, due: due)
    // Entries that no longer hold must not outnumber those that may.
    if heap.count > 4096 + 4 * wakes.count { heap.compact { [wakes] in wakes[$0.key] == $0.due } }
  }

  /// Bytes of the places that are not in use.
  var spareBytes: Int { heap.spareBytes + (wakes.capacity - wakes.count) * MemoryLayout<(UInt32, Instant)>.stride }

  /// Gives the memory of those back. O(n).
  mutating func releaseSpare() {
    heap.compact { [wakes] in wakes[$0.key] == $0.due }
    heap.releaseSpare()
    wakes = Dictionary(uniqueKeysWithValues: wakes.map { ($0.key, $0.value) })
  }

  /// When the first is due; nil when none is.
  var next: Instant? {
    mutating get {
      while let first = heap.first {
        if wakes[first.key] == first.due { return first.due }
        _ = heap.popDue(at: first.due)
      }
      return nil
    }
  }

  /// Takes out a token that is due.
  mutating func popDue(at steady: Instant) -> UInt32? {
    while let entry = heap.popDue(at: steady) {
      guard wakes[entry.key] == entry.due else { continue }
      wakes[entry.key] = nil
      return entry.key
    }
    return nil
  }
}
