/// A slot that is in one `SlotList` at a time.
protocol LinkedSlot {
  var previous: UnsafeMutablePointer<Self>? { get set }
  var next: UnsafeMutablePointer<Self>? { get set }
}

/// Slots of one state, oldest first, linked through the slots themselves. Every operation is O(1).
struct SlotList<Slot: LinkedSlot> {
  private(set) var first: UnsafeMutablePointer<Slot>?
  private var last: UnsafeMutablePointer<Slot>?

  var isEmpty: Bool { first == nil }

  mutating func append(_ slot: UnsafeMutablePointer<Slot>) {
    slot.pointee.previous = last
    slot.pointee.next = nil
    if let last { last.pointee.next = slot } else { first = slot }
    last = slot
  }

  mutating func remove(_ slot: UnsafeMutablePointer<Slot>) {
    let (previous, next) = (slot.pointee.previous, slot.pointee.next)
    if let previous { previous.pointee.next = next } else { first = next }
    if let next { next.pointee.previous = previous } else { last = previous }
  }
}
