import Primitives
import Push

/// Requests that were answered with an error, newest last: a ring of its own, so that a flood of them drives out no
/// accepted push. It is not saved.
struct RefusedLog: ~Copyable {
  struct Entry {
    var sequence: UInt64
    var id: PushID
    var token: DeviceToken?
    var type: PushType?
    var reason: Reason
    var cause: Cause
    var received: Instant
    var at: Instant
    var bundleID = none
    var detail = none
  }

  private let capacity: Int
  private let ring: UnsafeMutablePointer<Entry>
  private var texts: PagedSlab<LogText>
  /// The number of the next entry; numbers begin anew with each start.
  private(set) var next: UInt64 = 1

  /// An empty log; its memory is touched as it fills.
  init(capacity: Int) {
    self.capacity = max(1, capacity)
    ring = .allocate(capacity: self.capacity)
    texts = PagedSlab(capacity: 2 * self.capacity)
  }

  deinit { ring.deallocate() }

  /// The number of the oldest entry kept.
  var oldest: UInt64 { next > UInt64(capacity) ? next - UInt64(capacity) : 1 }

  /// The entry of that number, which is kept.
  subscript(sequence: UInt64) -> UnsafeMutablePointer<Entry> { ring + Int(sequence % UInt64(capacity)) }

  /// The text of that number; empty when there is none.
  func text(_ number: UInt32) -> String { number == none ? "" : texts[number].pointee.string }

  /// Adds an entry with its texts; its number is given here.
  mutating func append(_ entry: Entry, bundleID: RawSpan, detail: RawSpan) {
    let place = self[next]
    if next > UInt64(capacity) {
      if place.pointee.bundleID != none { texts.remove(place.pointee.bundleID) }
      if place.pointee.detail != none { texts.remove(place.pointee.detail) }
    }
    place.initialize(to: entry)
    place.pointee.sequence = next
    if bundleID.byteCount > 0 { place.pointee.bundleID = texts.insert(LogText(bundleID)) ?? none }
    if detail.byteCount > 0 { place.pointee.detail = texts.insert(LogText(detail)) ?? none }
    next += 1
  }
}
