import Glibc
import Primitives
import Push

/// Accepted pushes, newest last: a ring of fixed capacity, found by number, by apns-id and by token.
struct PushLog: ~Copyable {
  /// Steps that fit: three in the entry, the others beside it.
  static let stepsMax = 3 + MoreSteps.count
  /// Entries saved together.
  static let pageEntries: UInt64 = 256

  /// Further steps of one entry.
  struct MoreSteps {
    static let count = 5
    var steps: InlineArray<5, LogStep>
  }

  /// How many entries it keeps.
  let capacity: Int
  /// The number of the next entry.
  private(set) var next: UInt64 = 1
  /// How many entries there are.
  private(set) var count = 0
  private let ring: UnsafeMutablePointer<LogEntry>
  private var moreSteps: PagedSlab<MoreSteps>
  private let texts: BlockPool
  /// The number of the first entry whose warnings' details have not been dropped for want of room.
  private var detailed: UInt64 = 1
  private var byID: HashIndex
  private let seed: UInt64
  /// The number of the first entry that `forget(before:)` has not looked at.
  private var aged: UInt64 = 1
  /// Which pages of the ring have changed since they were saved.
  private(set) var dirty: DirtyPages

  /// An empty log; its memory is touched as it fills.
  init(capacity: Int, seed: UInt64, texts: BlockPool) {
    let pages = (max(capacity, 1) + Int(Self.pageEntries) - 1) / Int(Self.pageEntries)
    self.capacity = pages * Int(Self.pageEntries)
    // Zeroed memory, which the system gives page by page as it is written: number 0 is no entry.
    let size = self.capacity * MemoryLayout<LogEntry>.stride
    guard let memory = calloc(size, 1) else { preconditionFailure("no memory for the push log") }
    ring = memory.bindMemory(to: LogEntry.self, capacity: self.capacity)
    moreSteps = PagedSlab(capacity: self.capacity)
    self.texts = texts
    byID = HashIndex(capacity: self.capacity)
    self.seed = seed
    dirty = DirtyPages(capacity: pages)
  }

  deinit {
    for place in 0..<capacity where ring[place].sequence != 0 { ring[place].detail.release(to: texts) }
    free(ring)
  }

  /// The number of the oldest entry kept.
  var oldest: UInt64 { next > UInt64(capacity) ? next - UInt64(capacity) : 1 }

  /// The entry of that number; nil when it is not kept any more, or was never written.
  subscript(sequence: UInt64) -> UnsafeMutablePointer<LogEntry>? {
    guard sequence >= oldest, sequence < next else { return nil }
    let entry = ring + slot(sequence)
    return entry.pointee.sequence == sequence ? entry : nil
  }

  /// Adds an entry, whose number must be `next`.
  mutating func append(_ entry: consuming LogEntry) {
    precondition(entry.sequence == next)
    let place = slot(next)
    if ring[place].sequence != 0 { forget(ring + place) }
    link(&entry, place)
    (ring + place).initialize(to: entry)
    count += 1
    dirty.insert(Int(UInt64(place) / Self.pageEntries))
    next += 1
  }

  /// Adds a step, or replaces the last when there is no room.
  mutating func add(_ step: LogStep, to entry: UnsafeMutablePointer<LogEntry>) {
    set(step, at: min(Int(entry.pointee.stepCount), Self.stepsMax - 1), of: entry)
  }

  /// Whether the entry has this very step.
  func hasStep(_ step: LogStep, _ entry: UnsafeMutablePointer<LogEntry>) -> Bool {
    (0..<Int(entry.pointee.stepCount)).contains { self.step($0, of: entry) == step }
  }

  /// Puts a step at an index, at most one past the last.
  mutating func set(_ step: LogStep, at index: Int, of entry: UnsafeMutablePointer<LogEntry>) {
    touch(entry)
    if index < 3 {
      entry.pointee.steps[index] = step
    } else {
      if entry.pointee.moreSteps == none {
        guard let more = moreSteps.insert(MoreSteps(steps: InlineArray(repeating: step))) else { return }
        entry.pointee.moreSteps = more
      }
      moreSteps[entry.pointee.moreSteps].pointee.steps[index - 3] = step
    }
    entry.pointee.stepCount = max(entry.pointee.stepCount, UInt8(index + 1))
  }

  /// The step at an index below the entry's count.
  func step(_ index: Int, of entry: UnsafeMutablePointer<LogEntry>) -> LogStep {
    index < 3 ? entry.pointee.steps[index] : moreSteps[entry.pointee.moreSteps].pointee.steps[index - 3]
  }

  /// The latest step.
  func last(of entry: UnsafeMutablePointer<LogEntry>) -> LogStep { step(Int(entry.pointee.stepCount) - 1, of: entry) }

  /// Forgets the pushes that came before `instant`, but for those to which something may still happen. O(what is forgotten).
  ///
  /// - Returns: The numbers of the pushes that came before.
  @discardableResult
  mutating func forget(before instant: Instant) -> Range<UInt64> {
    aged = max(aged, oldest)
    let first = aged
    while aged < next {
      if let entry = self[aged] {
        guard entry.pointee.received < instant else { break }
        if last(of: entry).disposition.isFinal {
          touch(entry)
          forget(entry)
        }
      }
      aged += 1
    }
    return first..<aged
  }

  /// Notes that an entry differs from what was saved.
  mutating func touch(_ entry: UnsafeMutablePointer<LogEntry>) {
    dirty.insert(Int(UInt64(slot(entry.pointee.sequence)) / Self.pageEntries))
  }

  /// The newest entry with that id.
  func find(_ id: PushID) -> UnsafeMutablePointer<LogEntry>? {
    byID.find(hash(id)) { ring[Int($0)].id == id }.map { ring + Int($0) }
  }

  /// The entries in a page of the ring, and the numbers under which they are saved: those of the latest round, and behind
  /// them, in the page that is being filled, what is left of the round before.
  func parts(of page: Int) -> [(number: UInt64, sequences: Range<UInt64>)] {
    let first = UInt64(page) * Self.pageEntries
    var start = (next - 1) / UInt64(capacity) * UInt64(capacity) + first
    var parts: [(number: UInt64, sequences: Range<UInt64>)] = []
    for _ in 0..<2 {
      let sequences = max(start, oldest)..<max(start, oldest, min(start + Self.pageEntries, next))
      if !sequences.isEmpty { parts.append((start / Self.pageEntries, sequences)) }
      guard start >= UInt64(capacity) else { break }
      start -= UInt64(capacity)
    }
    return parts
  }

  /// Takes the changed pages out, one at a time, for saving.
  mutating func popDirty(from page: Int) -> Int? { dirty.pop(from: page) }

  /// The hash of the id that goes when the entry after `count` others is added; 0 when none goes.
  func hashOfForgotten(_ count: Int) -> UInt64 {
    let entry = ring + slot(next &+ UInt64(count))
    return entry.pointee.sequence == 0 ? 0 : hash(entry.pointee.id)
  }

  /// What the index holds where looking for that hash begins.
  func peek(_ hash: UInt64) -> UInt64 { byID.peek(hash) }

  private func slot(_ sequence: UInt64) -> Int { Int(sequence % UInt64(capacity)) }

  /// The seeded hash of an id.
  func hash(_ id: PushID) -> UInt64 {
    let product = (id.high ^ seed).multipliedFullWidth(by: id.low | 1 ^ seed &* 0x9E37_79B9_7F4A_7C15)
    return (product.high ^ product.low) &* 0xA076_1D64_78BD_642F
  }

  private mutating func link(_ entry: inout LogEntry, _ place: Int) {
    let hash = hash(entry.id)
    let id = entry.id
    if let earlier = byID.find(hash, where: { ring[Int($0)].id == id }) {
      entry.previousOfID = ring[Int(earlier)].sequence
      byID.replace(hash, earlier, with: UInt32(place))
    } else {
      byID.insert(hash, UInt32(place))
    }
  }

  /// Takes an entry out before its time; it must be in no token's list any more. O(1) expected.
  mutating func remove(_ entry: UnsafeMutablePointer<LogEntry>) {
    touch(entry)
    let (place, hash) = (UInt32(entry - ring), hash(entry.pointee.id))
    if byID.find(hash, where: { $0 == place }) == nil {
      // A newer one of the same id stands for it in the index.
      var newer = find(entry.pointee.id)
      while let candidate = newer, candidate.pointee.previousOfID != entry.pointee.sequence { newer = self[candidate.pointee.previousOfID] }
      newer?.pointee.previousOfID = entry.pointee.previousOfID
    } else if let earlier = self[entry.pointee.previousOfID] {
      byID.replace(hash, place, with: UInt32(earlier - ring))
    } else {
      byID.remove(hash, place)
    }
    discard(entry)
    count -= 1
  }

  private mutating func forget(_ entry: UnsafeMutablePointer<LogEntry>) {
    let place = UInt32(entry - ring)
    let hash = hash(entry.pointee.id)
    if byID.find(hash, where: { $0 == place }) != nil { byID.remove(hash, place) }
    discard(entry)
    count -= 1
  }
}

// The texts of entries, in a pool that they share.
extension PushLog {
  /// Keeps a sentence with the entry.
  mutating func setDetail(_ text: RawSpan, of entry: UnsafeMutablePointer<LogEntry>) {
    setText(RawSpan(_unsafeBytes: entry.pointee.detail.head), text, of: entry)
  }

  /// Keeps with the entry what its warnings are about.
  mutating func setWarningDetails(_ details: RawSpan, of entry: UnsafeMutablePointer<LogEntry>) {
    guard details.byteCount <= Limits.warningDetailsBytes else { return }
    let collapseID = LogHead(entry.pointee.detail.head).collapseID
    details.withUnsafeBytes { details in
      LogHead.withBytes(collapseID: collapseID, warningDetails: details) { setHead($0, of: entry) }
    }
  }

  /// Keeps the collapse id with the entry. The oldest are forgotten where there are many: most pushes may have one.
  mutating func setCollapseID(_ id: RawSpan, of entry: UnsafeMutablePointer<LogEntry>) {
    guard id.byteCount <= Limits.collapseIDBytes else { return }
    while texts.lentBytes >= Limits.logCollapseBytes, dropOldestDetails(before: entry.pointee.sequence) {}
    let details = LogHead(entry.pointee.detail.head).warningDetails
    id.withUnsafeBytes { id in
      LogHead.withBytes(collapseID: id, warningDetails: details) { setHead($0, of: entry) }
    }
  }

  /// Keeps with the entry what stands in front of its sentence, as it was saved.
  mutating func setHead(_ head: RawSpan, of entry: UnsafeMutablePointer<LogEntry>) {
    guard head.byteCount <= LogHead.bytesMax else { return }
    setText(head, RawSpan(_unsafeBytes: entry.pointee.detail.bytes), of: entry)
  }

  private mutating func setText(_ head: RawSpan, _ text: RawSpan, of entry: UnsafeMutablePointer<LogEntry>) {
    touch(entry)
    var new = LogText(head: head, text, in: texts)
    while !new.hasBlock, head.byteCount + text.byteCount > 0, dropOldestDetails(before: entry.pointee.sequence) {
      new = LogText(head: head, text, in: texts)
    }
    entry.pointee.detail.release(to: texts)
    entry.pointee.detail = new
  }

  /// Makes room for a newer text: the oldest entry that tells what its warnings are about tells it no more. O(1) amortised; false when
  /// no entry before that of `number` does.
  private mutating func dropOldestDetails(before number: UInt64) -> Bool {
    detailed = max(detailed, oldest)
    while detailed < number {
      defer { detailed += 1 }
      guard let entry = self[detailed], !entry.pointee.detail.head.isEmpty else { continue }
      let detail = Array(entry.pointee.detail.bytes)
      entry.pointee.detail.release(to: texts)
      entry.pointee.detail = LogText(detail.span.bytes, in: texts)
      return true
    }
    return false
  }
}

// Loading puts entries where they belong in any order, and links them when all are there.
extension PushLog {
  /// The entry of that number, if it has been loaded.
  func loaded(_ sequence: UInt64) -> UnsafeMutablePointer<LogEntry>? {
    let entry = ring + slot(sequence)
    return entry.pointee.sequence == sequence ? entry : nil
  }

  /// Puts an entry in its place, unless a newer one has it.
  mutating func load(_ entry: LogEntry) -> UnsafeMutablePointer<LogEntry>? {
    raise(past: entry.sequence)
    let place = ring + slot(entry.sequence)
    guard place.pointee.sequence < entry.sequence else { return nil }
    if place.pointee.sequence != 0 { discard(place) }
    place.initialize(to: entry)
    return place
  }

  /// Takes out an entry that was forgotten before its time.
  mutating func unload(_ sequence: UInt64) {
    raise(past: sequence)
    guard let entry = loaded(sequence) else { return }
    touch(entry)
    discard(entry)
  }

  /// Makes sure that no number up to `sequence` is given out again.
  mutating func raise(past sequence: UInt64) { next = max(next, sequence + 1) }

  /// Links what was loaded, from old to new, and forgets what is older than the last `limit` numbers.
  ///
  /// - Parameter attach: Joins an entry to its token's list; false when there is no such token.
  mutating func finishLoading(limit: Int, attach: (UnsafeMutablePointer<LogEntry>) -> Bool) {
    let first = next > UInt64(limit) ? next - UInt64(limit) : 1
    for place in 0..<capacity where ring[place].sequence != 0 && ring[place].sequence < first { discard(ring + place) }
    for sequence in max(first, oldest)..<next {
      guard let entry = self[sequence] else { continue }
      guard attach(entry) else {
        discard(entry)
        continue
      }
      link(&entry.pointee, slot(sequence))
      count += 1
    }
  }

  /// Takes out an entry that is linked nowhere.
  private mutating func discard(_ entry: UnsafeMutablePointer<LogEntry>) {
    if entry.pointee.moreSteps != none { moreSteps.remove(entry.pointee.moreSteps) }
    entry.pointee.detail.release(to: texts)
    entry.pointee.sequence = 0
  }
}
