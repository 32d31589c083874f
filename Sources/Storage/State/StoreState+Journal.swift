import Delivery
import Primitives
import Push

// What the journal says of one push: a few dozen bytes when it is taken in, a few when it has ended.
extension StoreState {
  /// A new push with its first step, and what its token's budgets have become when they paid for it.
  mutating func writeNew(_ slot: UInt32, _ step: LogStep) {
    stamp(step.at)
    let push = pushes[slot]
    var flags: SavedPushFlags = step.hasBudget ? .budget : []
    let isSame = journalMarks.repeats(push, in: journal)
    if isSame { flags.insert(.sameBytes) }
    let budgets = push.pointee.isCharged ? tokens.budgets(push.pointee.token) : nil
    writeHead(slot, budgets: UInt8(budgets?.count ?? 0), flags: flags, to: journal)
    writeBody(step, to: journal)
    if let budgets { journal.append(UnsafeRawBufferPointer(budgets)) }
    guard !isSame else { return }
    writeBytes(slot, to: journal)
    journalMarks.keep(push, end: journal.count)
  }

  /// The end of a live push; `step` is nil when the log has no use for one.
  mutating func writeEnd(_ push: UnsafeMutablePointer<LivePush>, _ step: LogStep?, _ entry: UnsafeMutablePointer<LogEntry>?) {
    if let step { stamp(step.at) }
    var flags: SavedEndFlags = step == nil ? [] : .step
    if let entry, entry.pointee.hasEnding { flags.insert(.ending) }
    journal.append(
      SavedEnd(
        flags: flags.rawValue, disposition: step.map { vocabulary.number(.disposition, $0.disposition.rawValue) } ?? 0,
        cause: step.map { vocabulary.number(.cause, $0.cause.rawValue) } ?? 0, token: push.pointee.token,
        sequence: push.pointee.sequence))
    if flags.contains(.ending), let entry { writeEnding(entry, to: journal) }
  }

  /// An entry whose push has ended, with its only step.
  mutating func writeNote(_ entry: borrowing LogEntry, _ step: LogStep) {
    stamp(step.at)
    writeHeader(entry, .note, hasBudget: step.hasBudget, to: journal)
    writeBody(step, to: journal)
    writeExpiration(of: entry, to: journal)
  }

  /// A further step.
  mutating func writeStep(_ step: LogStep, of entry: UnsafeMutablePointer<LogEntry>) {
    stamp(step.at)
    journal.append(RecordTag.step.rawValue)
    journal.append(entry.pointee.sequence)
    writeEnding(entry, to: journal)
    journal.append(step.hasBudget ? SavedPushFlags.budget.rawValue : 0)
    writeBody(step, to: journal)
  }

  /// A token goes over to another route; what was sent to it until now stays with the one before.
  mutating func writeFormerRoute(_ number: UInt32) {
    journal.append(RecordTag.formerRoute.rawValue)
    journal.append(number)
    journal.append(tokens[number].pointee.route)
    journal.append(log.next)
  }

  /// The instant of what follows in the journal, unless that stands there already.
  private mutating func stamp(_ instant: Instant) {
    guard journalMarks.time != instant else { return }
    journalMarks.time = instant
    journal.append(RecordTag.time.rawValue)
    journal.append(instant.nanoseconds)
  }
}

extension LogEntry {
  /// Whether the end of its push has added something beside the step.
  fileprivate var hasEnding: Bool { isMerged || savedUpstreamStatus != 0 || reason != nil || detail.count > 0 }
}

/// What the journal row that is being written has said already, so that it need not be said again.
struct JournalMarks {
  /// The instant of the steps.
  var time = Instant.distantPast
  /// Where the bytes of the last push that has its own begin; nil when there is none.
  private var start: Int?
  private var topic: UInt16 = 0
  private var collapse: UInt16 = 0
  private var payload: UInt16 = 0

  /// Nothing said.
  init() {}

  /// Whether the push has the bytes of the last one.
  func repeats(_ push: UnsafeMutablePointer<LivePush>, in journal: ByteArena) -> Bool {
    guard let start, push.pointee.topicCount == topic, push.pointee.collapseCount == collapse, push.pointee.payloadCount == payload
    else { return false }
    return push.pointee.bytes.isSame(as: UnsafeRawBufferPointer(rebasing: journal.buffer[start..<start + push.pointee.byteCount]))
  }

  /// Takes note of a push whose bytes end at `end`.
  mutating func keep(_ push: UnsafeMutablePointer<LivePush>, end: Int) {
    start = end - push.pointee.byteCount
    topic = push.pointee.topicCount
    collapse = push.pointee.collapseCount
    payload = push.pointee.payloadCount
  }
}
