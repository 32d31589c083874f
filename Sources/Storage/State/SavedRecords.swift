import Delivery
import Primitives
import Push

/// A token as it was saved.
struct SavedToken {
  /// A live push of the token.
  struct Reference {
    var sequence: UInt64
    var isCharged: Bool
    var attempts: UInt16
    var expiration: Expiration
  }

  /// In the byte of the number of live pushes, which are never so many: another token has taken its place.
  static let replacedBit: UInt8 = 1 << 7

  var number: UInt32
  var flags: SavedTokenFlags
  var isReplaced: Bool
  var kind: TokenKind
  var route: UInt32
  var minimumInterval: UInt32
  var coalesce: UInt32
  var registered: Instant
  var retiredSince: Instant
  var ownTerms: OwnTerms?
  var token: DeviceToken
  var budgets: [BudgetState]
  var references: [Reference]

  /// Sets what is neither budget nor lane.
  func apply(to token: UnsafeMutablePointer<Token>) {
    token.pointee.minimumIntervalMilliseconds = minimumInterval
    token.pointee.coalesceMilliseconds = coalesce
    token.pointee.retiredSince = retiredSince
    if flags.contains(.developerMode) { token.pointee.flags.insert(.developerMode) }
    if flags.contains(.unmetered) { token.pointee.flags.insert(.unmetered) }
    if flags.contains(.frequentUpdates) { token.pointee.flags.insert(.frequentUpdates) }
    if flags.contains(.suspect) { token.pointee.flags.insert(.suspect) }
    if isReplaced { token.pointee.flags.insert(.replaced) }
    if flags.contains(.expired) { token.pointee.flags.insert(.expired) }
  }
}

/// A live push's topic, collapse id and payload as they were saved; valid while the saved item is.
struct SavedBytes {
  var topic: UInt16
  var collapse: UInt16
  var payload: UInt16
  var all: UnsafeRawBufferPointer

  var collapseID: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: all.dropFirst(Int(topic)).prefix(Int(collapse))) }

  /// Takes a push with these bytes into the state; nil when there is no room.
  func keep(_ push: LivePush, in state: inout StoreState) -> UInt32? {
    var push = push
    guard let block = state.pool.copy(RawSpan(_unsafeBytes: all)) else { return nil }
    push.block = block
    push.token = none
    push.topicCount = topic
    push.collapseCount = collapse
    push.payloadCount = payload
    guard let slot = state.pushes.insert(push) else {
      state.pool.release(block)
      return nil
    }
    return slot
  }
}

/// What the end of a push added to its entry.
struct SavedEnding {
  var mergedInto: PushID?
  var upstreamStatus: UInt16
  var reason: Reason?
  var detail: UnsafeRawBufferPointer

  func apply(to entry: UnsafeMutablePointer<LogEntry>, _ log: inout PushLog) {
    log.touch(entry)
    if let mergedInto {
      entry.pointee.mergedInto = mergedInto
    }
    if upstreamStatus != 0 { entry.pointee.savedUpstreamStatus = upstreamStatus }
    if let reason { entry.pointee.reason = reason }
    if !detail.isEmpty { log.setDetail(RawSpan(_unsafeBytes: detail), of: entry) }
  }
}

extension ByteReader {
  mutating func readToken(_ vocabulary: borrowing Vocabulary) throws(Malformed) -> SavedToken {
    let number: UInt32 = try read()
    let flags = SavedTokenFlags(rawValue: try read())
    guard let kind = vocabulary.value(.kind, try read()).flatMap(TokenKind.init) else { throw Malformed() }
    let byteCount = Int(try read(UInt8.self))
    let budgetCount = Int(try read(UInt8.self))
    let lane: UInt8 = try read()
    let liveCount = Int(lane & ~SavedToken.replacedBit)
    let route: UInt32 = try read()
    let minimumInterval: UInt32 = try read()
    let coalesce: UInt32 = try read()
    let registered = Instant(nanoseconds: try read())
    let retiredSince = flags.contains(.retired) ? Instant(nanoseconds: try read()) : .distantPast
    let ownTerms = flags.contains(.ownTerms) ? try OwnTerms(&self) : nil
    guard let token = DeviceToken(bytes: RawSpan(_unsafeBytes: try read(count: byteCount))) else { throw Malformed() }
    let budgets = try readBudgets(budgetCount)
    var references: [SavedToken.Reference] = []
    for _ in 0..<liveCount {
      let sequence: UInt64 = try read()
      let flags = SavedPushFlags(rawValue: try read())
      let attempts: UInt16 = try read()
      let kind: UInt8 = try read()
      guard let expiration = Expiration(saved: kind, kind == 2 ? try read() : 0) else { throw Malformed() }
      references.append(
        SavedToken.Reference(sequence: sequence, isCharged: flags.contains(.charged), attempts: attempts, expiration: expiration))
    }
    return SavedToken(
      number: number, flags: flags, isReplaced: lane & SavedToken.replacedBit != 0, kind: kind, route: route,
      minimumInterval: minimumInterval, coalesce: coalesce,
      registered: registered, retiredSince: retiredSince, ownTerms: ownTerms, token: token, budgets: budgets, references: references)
  }

  /// The rest of a push's fixed part; the tag has been read.
  mutating func readPush(_ vocabulary: borrowing Vocabulary) throws(Malformed) -> (push: LivePush, head: SavedPushHead) {
    let head: SavedPushHead = try readBehindTag()
    let flags = SavedPushFlags(rawValue: head.flags)
    let more = flags.contains(.more) ? try read(SavedPushMore.self) : SavedPushMore(timestamp: 0, warnings: 0, expiration: 0)
    guard let type = vocabulary.value(.type, head.type).flatMap(PushType.init(rawValue:)),
      let priority = Priority(rawValue: head.priority), let lane = vocabulary.value(.lane, head.lane).flatMap(LaneClass.init),
      let event = vocabulary.value(.event, head.event).flatMap(ActivityEvent.init),
      let expiration = Expiration(saved: head.expiration, more.expiration)
    else { throw Malformed() }
    let traits = PushTraits(
      lane: lane, activity: event, hasContentState: flags.contains(.contentState), hasAlert: flags.contains(.alert),
      timestamp: more.timestamp)
    var push = LivePush(
      sequence: head.sequence, received: Instant(nanoseconds: head.received), deadline: .distantFuture, notBefore: .distantPast,
      block: nil, id: PushID(high: head.high, low: head.low, upperCase: head.upperCase), expiration: expiration, traits: traits,
      token: head.token, warnings: vocabulary.map(PushWarnings(rawValue: more.warnings), saving: false), topicCount: 0,
      collapseCount: 0, payloadCount: 0, type: type, priority: priority, prioritySent: flags.contains(.prioritySent))
    push.isCharged = flags.contains(.charged)
    return (push, head)
  }

  /// Topic, collapse id and payload.
  mutating func readBytes() throws(Malformed) -> SavedBytes {
    let topic: UInt16 = try read()
    let collapse: UInt16 = try read()
    let payload: UInt16 = try read()
    return SavedBytes(
      topic: topic, collapse: collapse, payload: payload, all: try read(count: Int(topic) + Int(collapse) + Int(payload)))
  }

  /// The states of `count` budgets.
  mutating func readBudgets(_ count: Int) throws(Malformed) -> [BudgetState] {
    var budgets: [BudgetState] = []
    for _ in 0..<count {
      budgets.append(BudgetState(fullAt: Instant(nanoseconds: try read()), lastCharge: Instant(nanoseconds: try read())))
    }
    return budgets
  }

  /// The rest of an entry's header, and whether its step has a budget; the tag has been read.
  mutating func readHeader(_ vocabulary: borrowing Vocabulary) throws(Malformed) -> (entry: LogEntry, hasBudget: Bool) {
    let head: SavedEntryHead = try readBehindTag()
    let flags = SavedPushFlags(rawValue: head.flags)
    let mergedInto = flags.contains(.merged) ? try readID() : nil
    let warnings = flags.contains(.more) ? vocabulary.map(PushWarnings(rawValue: try read()), saving: false) : []
    guard let type = vocabulary.value(.type, head.type).flatMap(PushType.init(rawValue:)),
      let priority = Priority(rawValue: head.priority)
    else { throw Malformed() }
    let received = Instant(nanoseconds: head.received)
    var entry = LogEntry(
      sequence: head.sequence, received: received, id: PushID(high: head.high, low: head.low, upperCase: head.upperCase),
      token: head.token, route: head.route, warnings: warnings, type: type, priority: priority,
      step: LogStep(at: received, disposition: .waiting, cause: .none))
    if let mergedInto {
      entry.mergedInto = mergedInto
    }
    return (entry, flags.contains(.budget))
  }

  mutating func readEnding(_ vocabulary: borrowing Vocabulary) throws(Malformed) -> SavedEnding {
    let mergedInto = SavedPushFlags(rawValue: try read()).contains(.merged) ? try readID() : nil
    let status: UInt16 = try read()
    let reason = vocabulary.value(.reason, try read()).flatMap(Reason.init)
    let count = Int(try read(UInt16.self))
    return SavedEnding(mergedInto: mergedInto, upstreamStatus: status, reason: reason, detail: try read(count: count))
  }

  /// A step at an instant that is known, without its mark.
  mutating func readStep(_ vocabulary: borrowing Vocabulary, at instant: Instant, hasBudget: Bool) throws(Malformed) -> LogStep {
    let step: SavedStep = try read()
    let before: Int32 = hasBudget ? try read() : 0
    let after: Int32 = hasBudget ? try read() : 0
    return LogStep(
      at: instant, budgetBefore: before, budgetAfter: after, attempt: step.attempt,
      disposition: try disposition(vocabulary, step.disposition), cause: cause(vocabulary, step.cause), hasBudget: hasBudget)
  }

  /// The rest of the end of a push, and its step; the tag has been read.
  mutating func readEnd(
    _ vocabulary: borrowing Vocabulary, at instant: Instant
  ) throws(Malformed) -> (end: SavedEnd, step: LogStep?, ending: SavedEnding?) {
    let end: SavedEnd = try readBehindTag()
    let flags = SavedEndFlags(rawValue: end.flags)
    let ending = flags.contains(.ending) ? try readEnding(vocabulary) : nil
    guard flags.contains(.step) else { return (end, nil, ending) }
    let step = LogStep(at: instant, disposition: try disposition(vocabulary, end.disposition), cause: cause(vocabulary, end.cause))
    return (end, step, ending)
  }

  private func disposition(_ vocabulary: borrowing Vocabulary, _ number: UInt8) throws(Malformed) -> Disposition {
    guard let disposition = vocabulary.value(.disposition, number).flatMap(Disposition.init) else { throw Malformed() }
    return disposition
  }

  /// A cause of a later version is no reason to refuse the whole store.
  private func cause(_ vocabulary: borrowing Vocabulary, _ number: UInt8) -> Cause {
    vocabulary.value(.cause, number).flatMap(Cause.init) ?? .none
  }

  private mutating func readID() throws(Malformed) -> PushID {
    PushID(high: try read(), low: try read(), upperCase: try read())
  }
}
