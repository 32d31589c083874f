import Primitives

/// Handlers that wait for their turn in a later part of a round, or in a later round; first come, first served.
struct TurnQueue {
  private var keys: ContiguousArray<SlabKey> = []
  private var head = 0

  var isEmpty: Bool { head == keys.count }
  var count: Int { keys.count - head }

  mutating func append(_ key: SlabKey) { keys.append(key) }

  mutating func takeFirst() -> SlabKey? {
    guard head < keys.count else { return nil }
    let key = keys[head]
    head += 1
    if head == keys.count {
      keys.removeAll(keepingCapacity: true)
      head = 0
    } else if head >= 1024 {
      keys.removeFirst(head)
      head = 0
    }
    return key
  }

  mutating func removeAll() {
    keys.removeAll()
    head = 0
  }
}
