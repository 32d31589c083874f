public import Primitives

/// Which keys become due, in order of their instants: a binary heap that never searches.
///
/// A key whose instant changes is simply inserted again; whoever takes an entry out checks that it still holds.
public struct DueHeap: Sendable {
  /// A key and when it is due.
  public struct Entry: Hashable, Sendable {
    /// When.
    public var due: Instant
    /// What.
    public var key: UInt32
  }

  private var entries: ContiguousArray<Entry> = []

  /// An empty heap.
  public init() {}

  /// How many entries there are, those that no longer hold included.
  public var count: Int { entries.count }

  /// The earliest entry.
  public var first: Entry? { entries.first }

  /// Every entry, in no order.
  public var all: ContiguousArray<Entry> { entries }

  /// Bytes of the places that are not in use.
  public var spareBytes: Int { (entries.capacity - entries.count) * MemoryLayout<Entry>.stride }

  /// Gives the memory of those back. O(n).
  public mutating func releaseSpare() { entries = ContiguousArray(entries.map { $0 }) }

  /// Adds a key. O(log n), O(1) when it is due after most others.
  public mutating func insert(_ key: UInt32, due: Instant) {
    entries.append(Entry(due: due, key: key))
    var heap = entries.mutableSpan
    var child = heap.count - 1
    let moving = heap[child]
    while child > 0 {
      let parent = (child - 1) / 2
      guard moving.due < heap[parent].due else { break }
      heap[child] = heap[parent]
      child = parent
    }
    heap[child] = moving
  }

  /// Takes out the earliest entry when it is due at `now`. O(log n).
  public mutating func popDue(at now: Instant) -> Entry? {
    guard let first = entries.first, first.due <= now else { return nil }
    let last = entries.removeLast()
    if !entries.isEmpty { sink(last) }
    return first
  }

  /// Forgets every entry for which `holds` is false. O(n).
  public mutating func compact(_ holds: (Entry) -> Bool) {
    entries = ContiguousArray(entries.filter(holds).sorted { $0.due < $1.due })  // sorted order is a heap
  }

  /// Puts `moving` in the place of the root and lets it sink.
  private mutating func sink(_ moving: Entry) {
    var heap = entries.mutableSpan
    var parent = 0
    while true {
      var child = 2 * parent + 1
      guard child < heap.count else { break }
      if child + 1 < heap.count, heap[child + 1].due < heap[child].due { child += 1 }
      guard heap[child].due < moving.due else { break }
      heap[parent] = heap[child]
      parent = child
    }
    heap[parent] = moving
  }
}
