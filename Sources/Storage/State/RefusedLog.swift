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
    var reason: Reason?
    var cause: Cause
    var received: Instant
    var at: Instant
    var bundleID = LogText()
    var detail = LogText()
  }

  private let capacity: Int
  private let ring: UnsafeMutablePointer<Entry>
  private let texts: BlockPool
  /// The number of the next entry; numbers begin anew with each start.
  private(set) var next: UInt64 = 1

  /// An empty log; its memory is touched as it fills.
  init(capacity: Int, texts: BlockPool) {
    self.capacity = max(1, capacity)
    ring = .allocate(capacity: self.capacity)
    self.texts = texts
  }

  deinit {
    for sequence in oldest..<next {
      self[sequence].pointee.bundleID.release(to: texts)
      self[sequence].pointee.detail.release(to: texts)
    }
    ring.deallocate()
  }

  /// The number of the oldest entry kept.
  var oldest: UInt64 { next > UInt64(capacity) ? next - UInt64(capacity) : 1 }

  /// The entry of that number, which is kept.
  subscript(sequence: UInt64) -> UnsafeMutablePointer<Entry> { ring + Int(sequence % UInt64(capacity)) }

  /// Adds an entry with its texts; its number is given here.
  mutating func append(_ entry: Entry, bundleID: RawSpan, detail: RawSpan) {
    let place = self[next]
    if next > UInt64(capacity) {
      place.pointee.bundleID.release(to: texts)
      place.pointee.detail.release(to: texts)
    }
    place.initialize(to: entry)
    place.pointee.sequence = next
    place.pointee.bundleID = LogText(bundleID, in: texts)
    place.pointee.detail = LogText(detail, in: texts)
    next += 1
  }
}
