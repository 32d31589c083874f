import Delivery
import Primitives
import Push

// Forgetting what became of pushes, so that a test begins as after a fresh start: registrations stay.
extension StoreState {
  /// Drops what waits for the app's tokens among `count` numbers from `first` on, and fills their budgets. What is in flight comes to its
  /// end without a further attempt.
  ///
  /// - Parameter bundleID: Nil means every app.
  /// - Returns: How many tokens had spent something or had pushes.
  mutating func resetTokens(of bundleID: String?, from first: UInt32, count: UInt32, at now: Instant) -> Int {
    let isMeant = routes.names.map { bundleID == nil || $0.bundleID == bundleID }
    var reset = 0
    for number in first..<max(first, min(tokens.end, first.addingReportingOverflow(count).partialValue)) {
      let token = tokens[number]
      guard token.pointee.flags.contains(.used), isMeant[Int(token.pointee.route)] else { continue }
      let hasSpent = token.pointee.isActive && tokens.budgets(number).contains { $0 != .full }
      guard hasSpent || token.pointee.hasLane else { continue }
      reset += 1
      failLane(number, .reset, at: now)
      if token.pointee.inFlight != none {
        pushes[token.pointee.inFlight].pointee.isReset = true
      }
      if token.pointee.isActive {
        let budgets = tokens.budgets(number)
        for index in budgets.indices { budgets[index] = .full }
      }
      token.pointee.flags.remove(.touched)
      change(number)
      setWake(number, .distantFuture)
    }
    return reset
  }

  /// Has the app's reloads make no further pushes, and forgets its activities by name.
  mutating func stopErrands(of bundleID: String?, at now: Instant) {
    for number in errands.running where bundleID == nil || errands.reloads[number]?.request.selector.bundleID == bundleID {
      errands.change(number) { ($0.state, $0.ended) = (.stopped, now) }
    }
    for (number, activity) in errands.activities.activities where bundleID == nil || activity.bundleID == bundleID {
      errands.forgetActivity(number)
    }
  }

  /// Forgets the app's accepted pushes among the `count` numbers below `end`.
  ///
  /// - Returns: How many there were.
  mutating func forgetPushes(of bundleID: String?, below end: UInt64, count: UInt64) -> Int {
    let isMeant = routes.names.map { bundleID == nil || $0.bundleID == bundleID }
    var forgotten = 0
    // From new to old: the newest of a token is found at once.
    var sequence = end
    while sequence > max(log.oldest, end - min(end, count)) {
      sequence -= 1
      guard let entry = log[sequence], isMeant[Int(entry.pointee.route)] else { continue }
      leaveList(entry)
      journal.append(RecordTag.forget.rawValue)
      journal.append(sequence)
      log.remove(entry)
      if settings.keepsPayloads { payloads.forget(sequence) }
      forgotten += 1
    }
    return forgotten
  }

  /// Forgets the app's refused pushes and its broadcasts.
  ///
  /// - Returns: How many there were.
  mutating func forgetRefused(of bundleID: String?) -> Int {
    refused.forget { bundleID == nil || $0.bundleID == bundleID } + casts.reset(bundleID)
  }

  /// Takes an entry out of its token's list.
  private func leaveList(_ entry: UnsafeMutablePointer<LogEntry>) {
    let token = tokens[entry.pointee.token]
    guard token.pointee.logHead != entry.pointee.sequence else {
      token.pointee.logHead = entry.pointee.previousOfToken
      return
    }
    var newer = log[token.pointee.logHead]
    while let candidate = newer, candidate.pointee.previousOfToken != entry.pointee.sequence {
      newer = log[candidate.pointee.previousOfToken]
    }
    newer?.pointee.previousOfToken = entry.pointee.previousOfToken
  }
}
