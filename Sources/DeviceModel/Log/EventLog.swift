import Primitives

/// The newest events of all devices in a ring of fixed length; the oldest go first.
struct EventLog: Sendable {
  private let capacity: Int
  private var ring: [DeviceEvent] = []
  /// Where the oldest event stands once the ring is full.
  private var oldest = 0
  /// The sequence number of the newest event; 0 before the first.
  private(set) var newest: UInt64 = 0

  /// An empty log of at most `capacity` events.
  init(capacity: Int) {
    precondition(capacity > 0)
    self.capacity = capacity
  }

  /// Adds an event and numbers it. O(1).
  mutating func append(_ event: DeviceEvent) {
    var event = event
    newest += 1
    event.sequence = newest
    if ring.count < capacity {
      ring.append(event)
    } else {
      ring[oldest] = event
      oldest = oldest + 1 == capacity ? 0 : oldest + 1
    }
  }

  /// The first `limit` events after sequence number `after` that `matches`, oldest first, and whether all of them are there: false when
  /// some events after `after` are already gone.
  func events(after: UInt64, limit: Int, where matches: (DeviceEvent) -> Bool) -> (events: [DeviceEvent], isComplete: Bool) {
    let first = newest - UInt64(ring.count) + 1
    var found: [DeviceEvent] = []
    if after < newest {
      let skipped = after < first ? 0 : Int(after + 1 - first)
      for offset in skipped..<ring.count where found.count < limit {
        let position = oldest + offset
        let event = ring[position < ring.count ? position : position - ring.count]
        if !event.isForgotten, matches(event) { found.append(event) }
      }
    }
    return (found, after + 1 >= first)
  }

  /// Forgets the events that are meant; returns how many there were.
  mutating func forget(where isMeant: (DeviceEvent) -> Bool) -> Int {
    var forgotten = 0
    for place in ring.indices where !ring[place].isForgotten && isMeant(ring[place]) {
      ring[place].isForgotten = true
      forgotten += 1
    }
    return forgotten
  }
}
