import Delivery
import Primitives
import Push

// What a commit holds, in bytes: little-endian, no padding, no pointers.
extension StoreState {
  /// Writes the state of every changed token behind the records, and forgets that they changed.
  ///
  /// - Returns: Whether there is anything to commit.
  mutating func closeJournal() -> Bool {
    releaseRemoved()
    for number in changed {
      tokens[number].pointee.flags.remove(.changed)
      dirtyTokens.insert(Int(number) / Self.pageTokens)
      writeToken(number, to: journal)
    }
    changed.removeAll(keepingCapacity: true)
    return journal.count > 0
  }

  /// Tokens saved together.
  static var pageTokens: Int { 64 }

  /// The state of one slot; live pushes by number only.
  func writeToken(_ number: UInt32, to arena: ByteArena) {
    let token = tokens[number]
    guard token.pointee.flags.contains(.used) else {
      arena.append(RecordTag.empty.rawValue)
      arena.append(number)
      return
    }
    var flags: SavedTokenFlags = []
    if !token.pointee.isActive { flags.insert(.removed) }
    if token.pointee.flags.contains(.developerMode) { flags.insert(.developerMode) }
    if token.pointee.flags.contains(.suspect) { flags.insert(.suspect) }
    if token.pointee.isRetired { flags.insert(.retired) }
    let isInFlight = token.pointee.inFlight != none
    arena.append(RecordTag.token.rawValue)
    arena.append(number)
    arena.append(flags.rawValue)
    arena.append(vocabulary.number(.kind, token.pointee.kind.rawValue))
    arena.append(token.pointee.byteCount)
    arena.append(token.pointee.budgetCount)
    arena.append(token.pointee.laneCount + (isInFlight ? 1 : 0))
    arena.append(token.pointee.route)
    arena.append(token.pointee.minimumIntervalMilliseconds)
    arena.append(token.pointee.coalesceMilliseconds)
    arena.append(token.pointee.registered.nanoseconds)
    if token.pointee.isRetired { arena.append(token.pointee.retiredSince.nanoseconds) }
    tokens.withBytes(number) { _ = arena.append($0) }
    arena.append(UnsafeRawBufferPointer(tokens.budgets(number)))
    if isInFlight { writeReference(token.pointee.inFlight, to: arena) }
    var slot = token.pointee.laneHead
    while slot != none {
      writeReference(slot, to: arena)
      slot = pushes[slot].pointee.next
    }
  }

  /// A live push by number, with what may have changed since it was taken in.
  private func writeReference(_ slot: UInt32, to arena: ByteArena) {
    let push = pushes[slot]
    arena.append(push.pointee.sequence)
    arena.append(push.pointee.isCharged ? SavedPushFlags.charged.rawValue : 0)
    arena.append(push.pointee.attempts)
    write(push.pointee.expiration, to: arena)
  }

  /// A live push with its bytes.
  func writePush(_ slot: UInt32, to arena: ByteArena) {
    let push = pushes[slot]
    var flags: SavedPushFlags = []
    if push.pointee.prioritySent { flags.insert(.prioritySent) }
    if push.pointee.traits.hasContentState { flags.insert(.contentState) }
    if push.pointee.traits.hasAlert { flags.insert(.alert) }
    arena.append(RecordTag.push.rawValue)
    arena.append(push.pointee.sequence)
    arena.append(push.pointee.token)
    write(push.pointee.id, to: arena)
    arena.append(push.pointee.received.nanoseconds)
    arena.append(flags.rawValue)
    arena.append(vocabulary.number(.type, push.pointee.type.rawValue))
    arena.append(push.pointee.priority.rawValue)
    arena.append(vocabulary.number(.lane, push.pointee.traits.lane.rawValue))
    arena.append(vocabulary.number(.event, push.pointee.traits.activity.rawValue))
    arena.append(push.pointee.traits.timestamp)
    arena.append(vocabulary.map(push.pointee.warnings, saving: true).rawValue)
    write(push.pointee.expiration, to: arena)
    arena.append(push.pointee.topicCount)
    arena.append(push.pointee.collapseCount)
    arena.append(push.pointee.payloadCount)
    arena.append(push.pointee.bytes)
  }

  /// An entry whose push has ended; its step follows.
  func writeNote(_ entry: borrowing LogEntry, to arena: ByteArena) {
    arena.append(RecordTag.note.rawValue)
    writeHeader(entry, to: arena)
  }

  /// A further step.
  func writeStep(_ step: LogStep, of entry: UnsafeMutablePointer<LogEntry>, to arena: ByteArena) {
    arena.append(RecordTag.step.rawValue)
    arena.append(entry.pointee.sequence)
    writeEnding(entry, to: arena)
    write(step, to: arena)
  }

  /// An entry with all its steps.
  func writeEntry(_ entry: UnsafeMutablePointer<LogEntry>, to arena: ByteArena) {
    arena.append(RecordTag.entry.rawValue)
    writeHeader(entry.pointee, to: arena)
    writeEnding(entry, to: arena)
    arena.append(entry.pointee.stepCount)
    for index in 0..<Int(entry.pointee.stepCount) { write(log.step(index, of: entry), to: arena) }
  }

  func write(_ step: LogStep, to arena: ByteArena) {
    arena.append(step.at.nanoseconds)
    arena.append(step.hasBudget ? SavedPushFlags.budget.rawValue : 0)
    if step.hasBudget {
      arena.append(step.budgetBefore)
      arena.append(step.budgetAfter)
    }
    arena.append(step.attempt)
    arena.append(vocabulary.number(.disposition, step.disposition.rawValue))
    arena.append(vocabulary.number(.cause, step.cause.rawValue))
  }

  private func writeHeader(_ entry: borrowing LogEntry, to arena: ByteArena) {
    arena.append(entry.sequence)
    arena.append(entry.token)
    arena.append(entry.route)
    write(entry.id, to: arena)
    arena.append(entry.received.nanoseconds)
    arena.append(entry.isMerged ? SavedPushFlags.merged.rawValue : 0)
    if entry.isMerged { write(entry.mergedInto, to: arena) }
    arena.append(vocabulary.number(.type, entry.type.rawValue))
    arena.append(entry.priority.rawValue)
    arena.append(vocabulary.map(entry.warnings, saving: true).rawValue)
  }

  /// What the end of a push adds to its entry.
  private func writeEnding(_ entry: UnsafeMutablePointer<LogEntry>, to arena: ByteArena) {
    arena.append(entry.pointee.isMerged ? SavedPushFlags.merged.rawValue : 0)
    if entry.pointee.isMerged { write(entry.pointee.mergedInto, to: arena) }
    arena.append(entry.pointee.upstreamStatus)
    arena.append(entry.pointee.reason.map { vocabulary.number(.reason, $0.rawValue) } ?? .max)
    arena.append(entry.pointee.detail.count)
    arena.append(entry.pointee.detail.bytes)
  }

  private func write(_ id: PushID, to arena: ByteArena) {
    arena.append(id.high)
    arena.append(id.low)
    arena.append(id.upperCase)
  }

  private func write(_ expiration: Expiration, to arena: ByteArena) {
    switch expiration {
    case .absent: arena.append(UInt8(0))
    case .zero: arena.append(UInt8(1))
    case .at(let date):
      arena.append(UInt8(2))
      arena.append(date.nanoseconds)
    }
  }
}
