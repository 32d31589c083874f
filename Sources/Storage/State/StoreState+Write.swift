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
    if token.pointee.flags.contains(.frequentUpdates) { flags.insert(.frequentUpdates) }
    if token.pointee.flags.contains(.unmetered) { flags.insert(.unmetered) }
    let terms = ownTerms(number)
    if terms != nil { flags.insert(.ownTerms) }
    if token.pointee.flags.contains(.suspect) { flags.insert(.suspect) }
    if token.pointee.isRetired { flags.insert(.retired) }
    if token.pointee.flags.contains(.expired) { flags.insert(.expired) }
    let isInFlight = token.pointee.inFlight != none
    arena.append(RecordTag.token.rawValue)
    arena.append(number)
    arena.append(flags.rawValue)
    arena.append(vocabulary.number(.kind, token.pointee.kind.rawValue))
    arena.append(token.pointee.byteCount)
    arena.append(token.pointee.budgetCount)
    arena.append(
      (token.pointee.laneCount + (isInFlight ? 1 : 0)) | (token.pointee.flags.contains(.replaced) ? SavedToken.replacedBit : 0))
    arena.append(token.pointee.route)
    arena.append(token.pointee.minimumIntervalMilliseconds)
    arena.append(token.pointee.coalesceMilliseconds)
    arena.append(token.pointee.registered.nanoseconds)
    if token.pointee.isRetired { arena.append(token.pointee.retiredSince.nanoseconds) }
    terms?.write(to: arena)
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
    let (expiration, date) = push.pointee.expiration.saved
    arena.append(expiration)
    if expiration == 2 { arena.append(date) }
  }

  /// A live push with its bytes, for a saved page.
  func writePush(_ slot: UInt32, to arena: ByteArena) {
    writeHead(slot, budgets: 0, flags: [], to: arena)
    writeBytes(slot, to: arena)
  }

  /// An entry with all its steps.
  func writeEntry(_ entry: UnsafeMutablePointer<LogEntry>, to arena: ByteArena) {
    writeHeader(entry.pointee, .entry, hasBudget: false, to: arena)
    writeEnding(entry, to: arena)
    arena.append(entry.pointee.stepCount)
    for index in 0..<Int(entry.pointee.stepCount) {
      let step = log.step(index, of: entry)
      arena.append(step.at.nanoseconds)
      arena.append(step.hasBudget ? SavedPushFlags.budget.rawValue : 0)
      writeBody(step, to: arena)
    }
    writeExpiration(of: entry.pointee, to: arena)
    writeHead(of: entry, to: arena)
  }

  /// An entry's collapse id and what its warnings are about, if any: a record of its own, since earlier versions have saved entries without.
  func writeHead(of entry: UnsafeMutablePointer<LogEntry>, to arena: ByteArena) {
    let head = entry.pointee.detail.head
    guard !head.isEmpty else { return }
    arena.append(RecordTag.head.rawValue)
    arena.append(entry.pointee.sequence)
    arena.append(UInt16(head.count))
    arena.append(head)
  }

  /// The expiration of an entry, if one was sent: a record of its own, since earlier versions have saved entries without.
  func writeExpiration(of entry: borrowing LogEntry, to arena: ByteArena) {
    guard entry.savedExpiration != none else { return }
    arena.append(RecordTag.expiration.rawValue)
    arena.append(entry.sequence)
    arena.append(entry.savedExpiration)
  }

  func writeHead(_ slot: UInt32, budgets: UInt8, flags: SavedPushFlags, to arena: ByteArena) {
    let push = pushes[slot]
    var flags = flags
    if push.pointee.prioritySent { flags.insert(.prioritySent) }
    if push.pointee.traits.hasContentState { flags.insert(.contentState) }
    if push.pointee.traits.hasAlert { flags.insert(.alert) }
    if push.pointee.isCharged { flags.insert(.charged) }
    let (expiration, date) = push.pointee.expiration.saved
    let hasMore = push.pointee.traits.timestamp != 0 || !push.pointee.warnings.isEmpty || date != 0
    if hasMore { flags.insert(.more) }
    arena.append(
      SavedPushHead(
        flags: flags.rawValue, type: vocabulary.number(.type, push.pointee.type.rawValue), priority: push.pointee.priority.rawValue,
        lane: vocabulary.number(.lane, push.pointee.traits.lane.rawValue),
        event: vocabulary.number(.event, push.pointee.traits.activity.rawValue), expiration: expiration, budgets: budgets,
        sequence: push.pointee.sequence, token: push.pointee.token, upperCase: push.pointee.id.upperCase, high: push.pointee.id.high,
        low: push.pointee.id.low, received: push.pointee.received.nanoseconds))
    guard hasMore else { return }
    arena.append(
      SavedPushMore(
        timestamp: push.pointee.traits.timestamp, warnings: vocabulary.map(push.pointee.warnings, saving: true).rawValue,
        expiration: date))
  }

  func writeBytes(_ slot: UInt32, to arena: ByteArena) {
    let push = pushes[slot]
    arena.append(push.pointee.topicCount)
    arena.append(push.pointee.collapseCount)
    arena.append(push.pointee.payloadCount)
    arena.append(push.pointee.bytes)
  }

  func writeBody(_ step: LogStep, to arena: ByteArena) {
    arena.append(
      SavedStep(
        attempt: step.attempt, disposition: vocabulary.number(.disposition, step.disposition.rawValue),
        cause: vocabulary.number(.cause, step.cause.rawValue)))
    guard step.hasBudget else { return }
    arena.append(step.budgetBefore)
    arena.append(step.budgetAfter)
  }

  func writeHeader(_ entry: borrowing LogEntry, _ tag: RecordTag, hasBudget: Bool, to arena: ByteArena) {
    var flags: SavedPushFlags = hasBudget ? .budget : []
    if entry.isMerged { flags.insert(.merged) }
    if !entry.warnings.isEmpty { flags.insert(.more) }
    arena.append(
      SavedEntryHead(
        tag: tag.rawValue, flags: flags.rawValue, type: vocabulary.number(.type, entry.type.rawValue),
        priority: entry.priority.rawValue, token: entry.token, sequence: entry.sequence, route: entry.route,
        upperCase: entry.id.upperCase, high: entry.id.high, low: entry.id.low, received: entry.received.nanoseconds))
    if entry.isMerged { write(entry.mergedInto, to: arena) }
    if !entry.warnings.isEmpty { arena.append(vocabulary.map(entry.warnings, saving: true).rawValue) }
  }

  /// What the end of a push adds to its entry.
  func writeEnding(_ entry: UnsafeMutablePointer<LogEntry>, to arena: ByteArena) {
    arena.append(entry.pointee.isMerged ? SavedPushFlags.merged.rawValue : 0)
    if entry.pointee.isMerged { write(entry.pointee.mergedInto, to: arena) }
    arena.append(entry.pointee.savedUpstreamStatus)
    arena.append(entry.pointee.reason.map { vocabulary.number(.reason, $0.rawValue) } ?? .max)
    arena.append(entry.pointee.detail.count)
    arena.append(entry.pointee.detail.bytes)
  }

  private func write(_ id: PushID, to arena: ByteArena) {
    arena.append(id.high)
    arena.append(id.low)
    arena.append(id.upperCase)
  }
}

extension Expiration {
  /// The number of the case, and its date in nanoseconds.
  var saved: (UInt8, Int64) {
    switch self {
    case .absent: (0, 0)
    case .zero: (1, 0)
    case .at(let date): (2, date.nanoseconds)
    }
  }

  /// The case of that number; nil when there is none.
  init?(saved number: UInt8, _ date: Int64) {
    switch number {
    case 0: self = .absent
    case 1: self = .zero
    case 2: self = .at(Instant(nanoseconds: date))
    default: return nil
    }
  }
}
