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

  var number: UInt32
  var flags: SavedTokenFlags
  var kind: TokenKind
  var route: UInt32
  var minimumInterval: UInt32
  var coalesce: UInt32
  var registered: Instant
  var retiredSince: Instant
  var token: DeviceToken
  var budgets: [BudgetState]
  var references: [Reference]

  /// Sets what is neither budget nor lane.
  func apply(to token: UnsafeMutablePointer<Token>) {
    token.pointee.minimumIntervalMilliseconds = minimumInterval
    token.pointee.coalesceMilliseconds = coalesce
    token.pointee.retiredSince = retiredSince
    if flags.contains(.developerMode) { token.pointee.flags.insert(.developerMode) }
    if flags.contains(.suspect) { token.pointee.flags.insert(.suspect) }
  }
}

/// A live push as it was saved; the bytes are valid while the saved item is.
struct SavedPush {
  var push: LivePush
  var bytes: UnsafeRawBufferPointer

  /// Takes the push into the state; nil when there is no room.
  func keep(in state: inout StoreState) -> UInt32? {
    var push = push
    guard let block = state.pool.copy(RawSpan(_unsafeBytes: bytes)) else { return nil }
    push.block = block
    push.token = none
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
      entry.pointee.isMerged = true
    }
    if upstreamStatus != 0 { entry.pointee.upstreamStatus = upstreamStatus }
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
    let liveCount = Int(try read(UInt8.self))
    let route: UInt32 = try read()
    let minimumInterval: UInt32 = try read()
    let coalesce: UInt32 = try read()
    let registered = Instant(nanoseconds: try read())
    let retiredSince = flags.contains(.retired) ? Instant(nanoseconds: try read()) : .distantPast
    guard let token = DeviceToken(bytes: RawSpan(_unsafeBytes: try read(count: byteCount))) else { throw Malformed() }
    var budgets: [BudgetState] = []
    for _ in 0..<budgetCount {
      budgets.append(BudgetState(fullAt: Instant(nanoseconds: try read()), lastCharge: Instant(nanoseconds: try read())))
    }
    var references: [SavedToken.Reference] = []
    for _ in 0..<liveCount {
      let sequence: UInt64 = try read()
      let flags = SavedPushFlags(rawValue: try read())
      let attempts: UInt16 = try read()
      references.append(
        SavedToken.Reference(
          sequence: sequence, isCharged: flags.contains(.charged), attempts: attempts, expiration: try readExpiration()))
    }
    return SavedToken(
      number: number, flags: flags, kind: kind, route: route, minimumInterval: minimumInterval, coalesce: coalesce,
      registered: registered, retiredSince: retiredSince, token: token, budgets: budgets, references: references)
  }

  mutating func readPush(_ vocabulary: borrowing Vocabulary) throws(Malformed) -> SavedPush {
    let sequence: UInt64 = try read()
    let token: UInt32 = try read()
    let id = try readID()
    let received = Instant(nanoseconds: try read())
    let flags = SavedPushFlags(rawValue: try read())
    let type = try readType(vocabulary)
    guard let priority = Priority(rawValue: try read()), let lane = vocabulary.value(.lane, try read()).flatMap(LaneClass.init),
      let event = vocabulary.value(.event, try read()).flatMap(ActivityEvent.init)
    else { throw Malformed() }
    let timestamp: Int64 = try read()
    let warnings = vocabulary.map(PushWarnings(rawValue: try read()), saving: false)
    let expiration = try readExpiration()
    let topic: UInt16 = try read()
    let collapse: UInt16 = try read()
    let payload: UInt16 = try read()
    let bytes = try read(count: Int(topic) + Int(collapse) + Int(payload))
    let traits = PushTraits(
      lane: lane, activity: event, hasContentState: flags.contains(.contentState), hasAlert: flags.contains(.alert),
      timestamp: timestamp)
    let push = LivePush(
      sequence: sequence, received: received, deadline: .distantFuture, notBefore: .distantPast, block: nil, id: id,
      expiration: expiration, traits: traits, token: token, warnings: warnings, topicCount: topic, collapseCount: collapse,
      payloadCount: payload, type: type, priority: priority, prioritySent: flags.contains(.prioritySent))
    return SavedPush(push: push, bytes: bytes)
  }

  mutating func readHeader(_ vocabulary: borrowing Vocabulary) throws(Malformed) -> LogEntry {
    let sequence: UInt64 = try read()
    let token: UInt32 = try read()
    let route: UInt32 = try read()
    let id = try readID()
    let received = Instant(nanoseconds: try read())
    let isMerged = SavedPushFlags(rawValue: try read()).contains(.merged)
    let mergedInto = isMerged ? try readID() : nil
    let type = try readType(vocabulary)
    guard let priority = Priority(rawValue: try read()) else { throw Malformed() }
    let warnings = vocabulary.map(PushWarnings(rawValue: try read()), saving: false)
    var entry = LogEntry(
      sequence: sequence, received: received, id: id, token: token, route: route, warnings: warnings, type: type,
      priority: priority, step: LogStep(at: received, disposition: .waiting, cause: .none))
    if let mergedInto {
      entry.mergedInto = mergedInto
      entry.isMerged = true
    }
    return entry
  }

  mutating func readEnding(_ vocabulary: borrowing Vocabulary) throws(Malformed) -> SavedEnding {
    let mergedInto = SavedPushFlags(rawValue: try read()).contains(.merged) ? try readID() : nil
    let status: UInt16 = try read()
    let reason = vocabulary.value(.reason, try read()).flatMap(Reason.init)
    let count = Int(try read(UInt16.self))
    return SavedEnding(mergedInto: mergedInto, upstreamStatus: status, reason: reason, detail: try read(count: count))
  }

  mutating func readStep(_ vocabulary: borrowing Vocabulary) throws(Malformed) -> LogStep {
    let at = Instant(nanoseconds: try read())
    let hasBudget = SavedPushFlags(rawValue: try read()).contains(.budget)
    let before: Int32 = hasBudget ? try read() : 0
    let after: Int32 = hasBudget ? try read() : 0
    let attempt: UInt16 = try read()
    guard let disposition = vocabulary.value(.disposition, try read()).flatMap(Disposition.init) else { throw Malformed() }
    // A cause of a later version is no reason to refuse the whole store.
    let cause = vocabulary.value(.cause, try read()).flatMap(Cause.init) ?? .none
    return LogStep(
      at: at, budgetBefore: before, budgetAfter: after, attempt: attempt, disposition: disposition, cause: cause,
      hasBudget: hasBudget)
  }

  private mutating func readType(_ vocabulary: borrowing Vocabulary) throws(Malformed) -> PushType {
    guard let type = vocabulary.value(.type, try read()).flatMap(PushType.init(rawValue:)) else { throw Malformed() }
    return type
  }

  private mutating func readID() throws(Malformed) -> PushID {
    PushID(high: try read(), low: try read(), upperCase: try read())
  }

  private mutating func readExpiration() throws(Malformed) -> Expiration {
    switch try read(UInt8.self) {
    case 0: .absent
    case 1: .zero
    case 2: .at(Instant(nanoseconds: try read()))
    default: throw Malformed()
    }
  }
}
