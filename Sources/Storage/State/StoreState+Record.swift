import Primitives
import Push

// The log's side of every decision: an entry for each accepted push, a step for each thing that happens to it.
extension StoreState {
  /// One thing that happened, as the log keeps it.
  static func step(
    _ disposition: Disposition, _ cause: Cause, _ before: Int? = nil, _ after: Int? = nil, attempt: Int = 0, at now: Instant
  ) -> LogStep {
    LogStep(
      at: now, budgetBefore: Int32(clamping: before ?? 0), budgetAfter: Int32(clamping: after ?? 0),
      attempt: UInt16(clamping: attempt), disposition: disposition, cause: cause, hasBudget: before != nil)
  }

  /// Opens the life of a push that was taken in.
  mutating func record(new slot: UInt32, _ step: LogStep) {
    let push = pushes[slot]
    dirtyTokens.insert(Int(push.pointee.token) / Self.pageTokens)
    writeNew(slot, step)
    appendEntry(
      LogEntry(
        sequence: push.pointee.sequence, received: push.pointee.received, id: push.pointee.id, token: push.pointee.token,
        route: tokens[push.pointee.token].pointee.route, warnings: push.pointee.warnings, type: push.pointee.type,
        priority: push.pointee.priority, expiration: push.pointee.expiration, step: step))
  }

  /// Opens and closes the life of a push that needs nothing more.
  mutating func recordNote(_ operation: AdmitOperation, token: UInt32, mergedInto: PushID?, _ step: LogStep) {
    var entry = LogEntry(
      sequence: log.next, received: operation.received, id: operation.id, token: token, route: tokens[token].pointee.route,
      warnings: operation.warnings, type: operation.type, priority: operation.priority,
      expiration: operation.expiration, step: step)
    if let mergedInto {
      entry.mergedInto = mergedInto
    }
    writeNote(entry, step)
    appendEntry(entry)
    counters.count(operation.type, step.disposition)
  }

  /// Adds a step to the life of a push, which the log may have forgotten.
  ///
  /// - Parameter isDurable: Whether the next commit must hold it; attempts that come to nothing need not survive a crash.
  mutating func recordStep(_ sequence: UInt64, _ step: LogStep, isDurable: Bool) {
    guard let entry = log[sequence] else { return }
    log.add(step, to: entry)
    if isWatched { touchedEntries.append(sequence) }
    if isDurable { writeStep(step, of: entry) }
  }

  /// Ends the life of a push; `step` is nil when the log has its end already.
  mutating func recordEnd(_ slot: UInt32, _ step: LogStep?) {
    let push = pushes[slot]
    dirtyTokens.insert(Int(push.pointee.token) / Self.pageTokens)
    let entry = log[push.pointee.sequence]
    if let step, let entry {
      log.add(step, to: entry)
      if isWatched { touchedEntries.append(push.pointee.sequence) }
    }
    writeEnd(push, step, entry)
  }

  /// Adds an entry to the log and to its token's list; the oldest leaves when there is no room.
  mutating func appendEntry(_ entry: consuming LogEntry) {
    let token = tokens[entry.token]
    entry.previousOfToken = token.pointee.logHead
    token.pointee.logHead = entry.sequence
    if isWatched { touchedEntries.append(entry.sequence) }
    log.append(entry)
  }

  /// Forgets pushes and refused requests that came before `instant`.
  mutating func forget(before instant: Instant) {
    let passed = log.forget(before: instant)
    if settings.keepsPayloads { for number in passed where log[number] == nil { payloads.forget(number) } }
    refused.forget(before: instant)
  }

  /// Forgets the removed tokens of which the log has forgotten the last push, in the order of their removal.
  mutating func releaseRemoved() {
    while let first = removed.first {
      // It may have been registered again, or its number given to another.
      let isRemoved = tokens[first].pointee.flags.contains(.removed)
      guard !isRemoved || log[tokens[first].pointee.logHead] == nil else { return }
      removed.removeFirst()
      if isRemoved { releaseTokenIfUnused(first) }
    }
  }

  /// Forgets a removed token once nothing mentions it.
  mutating func releaseTokenIfUnused(_ number: UInt32) {
    let token = tokens[number]
    guard token.pointee.flags.contains(.removed), !token.pointee.hasLane, log[token.pointee.logHead] == nil else { return }
    let wasChanged = token.pointee.flags.contains(.changed)
    setOwnTerms(nil, of: number)
    tokens.remove(number, isLoading: false)
    // The slot is empty now; the next commit says so.
    tokens[number].pointee.flags = .changed
    if !wasChanged { changed.append(number) }
  }
}
