import Primitives
import Push

/// Requests that were answered with an error, newest last: a ring of its own, so that a flood of them drives out no
/// accepted push. It is saved beside the journal, in pages, some time after the requests were answered.
struct RefusedLog: ~Copyable {
  /// Entries saved together.
  static let pageEntries: UInt64 = 64

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
    /// The bundle id is that of the token's registration, since the request named no app that may be sent to.
    var isOfTokensApp = false
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
  /// The number of the next entry.
  private(set) var next: UInt64 = 1
  /// The number below which all are forgotten.
  private var first: UInt64 = 1
  /// Which pages differ from what was saved, by their numbers modulo `places`.
  private var unsaved: DirtyPages
  /// How many pages the ring can lie in, and one more.
  private let places: UInt64
  /// The page below which none is saved any more.
  private var firstSaved: UInt64 = 0
  /// Whether the next commit must save all that differs: somebody has had requests forgotten, and is told when that is durable.
  private(set) var isUrgent = false

  /// An empty log; its memory is touched as it fills.
  init(capacity: Int, texts: BlockPool) {
    self.capacity = max(1, capacity)
    ring = .allocate(capacity: self.capacity)
    self.texts = texts
    places = UInt64(self.capacity) / Self.pageEntries + 2
    unsaved = DirtyPages(capacity: Int(places))
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
    // A sender may have written more than any bundle id has, or bytes whose text is longer.
    let bundleID = bundleID.extracting(first: Limits.topicBytes)
    if next >= first + UInt64(capacity) { place.pointee.text.release(to: texts) }
    place.initialize(to: entry)
    place.pointee.sequence = next
    place.pointee.text = LogText(bundleID, detail, in: texts)
    place.pointee.bundleIDBytes = min(bundleID.byteCount, place.pointee.text.bytes.count)
    touch(next)
    next += 1
  }

  /// Forgets the entries that are meant; returns how many there were.
  mutating func forget(where isMeant: (Entry) -> Bool) -> Int {
    var forgotten = 0
    for sequence in oldest..<next where !self[sequence].pointee.isForgotten && isMeant(self[sequence].pointee) {
      self[sequence].pointee.isForgotten = true
      touch(sequence)
      forgotten += 1
    }
    if forgotten > 0 { isUrgent = true }
    return forgotten
  }
}

// Saving, and loading what was saved.
extension RefusedLog {
  /// Whether anything differs from what was saved.
  var hasUnsaved: Bool { unsaved.count > 0 || firstPage > firstSaved }

  /// The page of the oldest entry kept.
  var firstPage: UInt64 { oldest / Self.pageEntries }

  /// Takes out the newest page below `end` that differs from what was saved, to be saved now; nil when there is none.
  mutating func popUnsaved(below end: UInt64) -> (number: UInt64, sequences: Range<UInt64>)? {
    var page = min(end, (next - 1) / Self.pageEntries + 1)
    while page > firstPage {
      page -= 1
      guard unsaved.remove(Int(page % places)) else { continue }
      let start = page * Self.pageEntries
      return (page, max(start, oldest)..<min(start + Self.pageEntries, next))
    }
    return nil
  }

  /// Notes that all that differed is to be saved, and that no page below `firstPage` stays.
  mutating func allSaved() {
    unsaved.removeAll()
    firstSaved = firstPage
    isUrgent = false
  }

  /// Has everything saved once more: what was to be saved was not.
  mutating func touchAll() {
    firstSaved = 0
    for page in firstPage..<max(firstPage, (next - 1) / Self.pageEntries + 1) { unsaved.insert(Int(page % places)) }
  }

  /// Takes an entry that was saved, with its number; they come from old to new. Numbers between that have none stand for forgotten ones.
  mutating func load(_ entry: Entry, bundleID: RawSpan, detail: RawSpan) {
    guard entry.sequence >= next else { return }
    if oldest == next || entry.sequence - next > UInt64(capacity) {
      forget(before: .distantFuture)
      (first, next) = (entry.sequence, entry.sequence)
    }
    var missing = entry
    missing.isForgotten = true
    let nothing = bundleID.extracting(0..<0)
    while next < entry.sequence { append(missing, bundleID: nothing, detail: nothing) }
    append(entry, bundleID: bundleID, detail: detail)
  }

  private mutating func touch(_ sequence: UInt64) { unsaved.insert(Int(sequence / Self.pageEntries % places)) }
}
