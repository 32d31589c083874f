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
    /// The bundle id, and the detail behind it; in one block, since there is no smaller one.
    var text = LogText()
    var bundleIDBytes = 0
    /// Somebody has had it forgotten; its place in the ring stays.
    var isForgotten = false

    /// The bundle id; empty when there is none.
    var bundleID: String { String(decoding: text.bytes.prefix(bundleIDBytes), as: UTF8.self) }
    /// What exactly was wrong; empty when there is nothing to say.
    var detail: String { String(decoding: text.bytes.dropFirst(bundleIDBytes), as: UTF8.self) }
  }

  private let capacity: Int
  private let ring: UnsafeMutablePointer<Entry>
  private let texts: BlockPool
  /// The number of the next entry; numbers begin anew with each start.
  private(set) var next: UInt64 = 1
  /// The number below which all are forgotten.
  private var first: UInt64 = 1

  /// An empty log; its memory is touched as it fills.
  init(capacity: Int, texts: BlockPool) {
    self.capacity = max(1, capacity)
    ring = .allocate(capacity: self.capacity)
    self.texts = texts
  }

  deinit {
    for sequence in oldest..<next { self[sequence].pointee.text.release(to: texts) }
    ring.deallocate()
  }

  /// The number of the oldest entry kept.
  var oldest: UInt64 { max(first, next > UInt64(capacity) ? next - UInt64(capacity) : 1) }

  /// Forgets the requests that came before `instant`. O(what is forgotten).
  mutating func forget(before instant: Instant) {
    while oldest < next, self[oldest].pointee.received < instant {
      let entry = self[oldest]
      entry.pointee.text.release(to: texts)
      (entry.pointee.text, entry.pointee.bundleIDBytes) = (LogText(), 0)
      first = oldest + 1
    }
  }

  /// The entry of that number, which is kept.
  subscript(sequence: UInt64) -> UnsafeMutablePointer<Entry> { ring + Int(sequence % UInt64(capacity)) }

  /// Adds an entry with its texts; its number is given here.
  mutating func append(_ entry: Entry, bundleID: RawSpan, detail: RawSpan) {
    let place = self[next]
    if next > UInt64(capacity) { place.pointee.text.release(to: texts) }
    place.initialize(to: entry)
    place.pointee.sequence = next
    place.pointee.text = LogText(bundleID, detail, in: texts)
    place.pointee.bundleIDBytes = min(bundleID.byteCount, place.pointee.text.bytes.count)
    next += 1
  }

  /// Forgets the entries that are meant; returns how many there were.
  mutating func forget(where isMeant: (Entry) -> Bool) -> Int {
    var forgotten = 0
    for sequence in oldest..<next where !self[sequence].pointee.isForgotten && isMeant(self[sequence].pointee) {
      self[sequence].pointee.isForgotten = true
      forgotten += 1
    }
    return forgotten
  }
}
