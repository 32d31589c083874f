import Delivery
import Primitives
import Push

/// What opening has to remember between one saved item and the next.
struct StateLoader {
  private var words: [(word: String, number: UInt8)] = []
  private var hasVocabulary = false
  /// Live pushes by number, referred to by a token or not.
  private var live: [UInt64: UInt32] = [:]
  /// Pushes to which the state of a token refers, but that are not there: a page was ahead, and a later row must tell of their end.
  private var missing: [UInt32: Set<UInt64>] = [:]
  /// Tokens that went over to another route: those before, each with the number of the first push after it, in order.
  private var formerRoutes: [UInt32: [(end: UInt64, route: UInt32)]] = [:]
  /// The capacity of the log that wrote the pages.
  private var logLimit: Int

  init(logCapacity: Int) { logLimit = logCapacity }

  mutating func take(_ item: SavedItem, _ state: inout StoreState, at now: Instant) throws(ByteReader.Malformed) {
    if case .word(let word, let number) = item {
      words.append((word, number))
      return
    }
    settleVocabulary(&state)
    switch item {
    case .word: break
    case .budgets(let bundleID, let bytes):
      state.routes.budgets.load(try AppBudgets(bytes, state.routes.policy(bundleID)), of: bundleID)
    case .route(let number, let bundleID, let environment, let upstream):
      let name = RouteName(bundleID: bundleID, environment: environment, upstream: upstream)
      guard state.routes.number(of: name) == number else { throw ByteReader.Malformed() }
    case .channel(let channel, let until): state.casts.channels.load(channel, messageUntil: until)
    case .errand(let number, let fixed, let progress): try state.errands.load(number, fixed: fixed, progress: progress)
    case .broadcast(let number, let bytes, let payload):
      let record = try BroadcastCoding.decode(bytes, number: number)
      state.casts.load(record, payload: payload, route: state.broadcastRoute(record.owner), at: now)
    case .tokenPage(_, let bytes): try takeRecords(ByteReader(bytes), &state, isJournal: false)
    case .logPage(_, let bytes):
      var reader = ByteReader(bytes)
      logLimit = min(state.log.capacity, Int(try reader.read(UInt32.self)))
      try takeRecords(reader, &state, isJournal: false)
    case .refusedPage(_, let bytes): try state.loadRefused(ByteReader(bytes))
    case .journal(let number, let bytes):
      state.lastCommit = number
      try takeRecords(ByteReader(bytes), &state, isJournal: true)
    }
  }

  mutating func finish(_ state: inout StoreState, at now: Instant) throws(ByteReader.Malformed) {
    settleVocabulary(&state)
    state.refused.allSaved()
    guard missing.values.allSatisfy(\.isEmpty) else { throw ByteReader.Malformed() }
    for number in 0..<state.tokens.end where state.tokens[number].pointee.flags.contains(.used) {
      let token = state.tokens[number]
      var slot = token.pointee.laneHead
      while slot != none {
        let push = state.pushes[slot]
        push.pointee.deadline =
          push.pointee.isReset
          ? .distantPast
          : push.pointee.isBrief
            ? state.steady(now) + state.settings.connectPatience
            : push.pointee.expiration.deadline(received: push.pointee.received, storage: state.settings.storage)
        push.pointee.token = number
        live[push.pointee.sequence] = nil
        state.counters.waiting += 1
        if let errand = state.errands.number(of: push.pointee.id) {
          push.pointee.errand = errand
          state.errands.opened(errand)
        }
        slot = push.pointee.next
      }
    }
    // Each belongs to a token, or has ended.
    guard live.isEmpty else { throw ByteReader.Malformed() }
    let tokens = LoadedTokens(state.tokens, formerRoutes)
    state.log.finishLoading(limit: logLimit) { tokens.attach($0) }
    for number in 0..<state.tokens.end where state.tokens[number].pointee.flags.contains(.used) {
      let token = state.tokens[number]
      if !token.pointee.isActive, !token.pointee.hasLane, state.log[token.pointee.logHead] == nil {
        state.setOwnTerms(nil, of: number)
        state.tokens.remove(number)
        continue
      }
      if !token.pointee.isActive { state.removed.append(number) }
      if token.pointee.laneHead != none {
        state.scheduleWake(number, at: now)
      }
    }
    state.tokens.finishLoading()
    state.countShares()
    state.reconcileActivities()
  }

  private mutating func settleVocabulary(_ state: inout StoreState) {
    guard !hasVocabulary else { return }
    hasVocabulary = true
    state.vocabulary = Vocabulary(words)
  }

  private mutating func takeRecords(
    _ reader: consuming ByteReader, _ state: inout StoreState, isJournal: Bool
  ) throws(ByteReader.Malformed) {
    var time = Instant.distantPast
    var bytes: SavedBytes?
    while !reader.isAtEnd {
      guard let tag = RecordTag(rawValue: try reader.read()) else { throw ByteReader.Malformed() }
      switch tag {
      case .token: try takeToken(&reader, &state, isJournal: isJournal)
      case .empty:
        let number: UInt32 = try reader.read()
        empty(number, &state)
        state.dirtyTokens.insert(Int(number) / StoreState.pageTokens)
      case .push: try takePush(&reader, &state, isJournal: isJournal, at: time, &bytes)
      case .end: try takeEnd(&reader, &state, at: time)
      case .time: time = Instant(nanoseconds: try reader.read())
      case .note:
        var (entry, hasBudget) = try reader.readHeader(state.vocabulary)
        entry.steps[0] = try reader.readStep(state.vocabulary, at: time, hasBudget: hasBudget)
        add(entry, &state)
      case .step:
        let sequence: UInt64 = try reader.read()
        let ending = try reader.readEnding(state.vocabulary)
        let hasBudget = SavedPushFlags(rawValue: try reader.read()).contains(.budget)
        add(try reader.readStep(state.vocabulary, at: time, hasBudget: hasBudget), ending, to: sequence, &state)
      case .entry:
        let (entry, _) = try reader.readHeader(state.vocabulary)
        let ending = try reader.readEnding(state.vocabulary)
        let count = Int(try reader.read(UInt8.self))
        let place = state.log.load(entry)
        for index in 0..<count {
          let at = Instant(nanoseconds: try reader.read())
          let hasBudget = SavedPushFlags(rawValue: try reader.read()).contains(.budget)
          let step = try reader.readStep(state.vocabulary, at: at, hasBudget: hasBudget)
          if let place, index < PushLog.stepsMax { state.log.set(step, at: index, of: place) }
        }
        if let place { ending.apply(to: place, &state.log) }
      case .expiration:
        let entry = state.log.loaded(try reader.read())
        let expiration: UInt32 = try reader.read()
        entry?.pointee.savedExpiration = expiration
      case .head:
        let entry = state.log.loaded(try reader.read())
        let head = try reader.read(count: Int(try reader.read(UInt16.self)))
        if let entry { state.log.setHead(RawSpan(_unsafeBytes: head), of: entry) }
      case .formerRoute:
        let (number, route): (UInt32, UInt32) = (try reader.read(), try reader.read())
        formerRoutes[number, default: []].append((try reader.read(), route))
      case .forget: state.log.unload(try reader.read())
      case .nothing: break
      }
    }
  }

  private func add(_ entry: LogEntry, _ state: inout StoreState) {
    guard state.log.loaded(entry.sequence) == nil, let place = state.log.load(entry) else { return }
    state.log.touch(place)
  }

  private func add(_ step: LogStep?, _ ending: SavedEnding?, to sequence: UInt64, _ state: inout StoreState) {
    guard let entry = state.log.loaded(sequence) else { return }
    ending?.apply(to: entry, &state.log)
    // A saved page may have it already, and steps that were never saved in between.
    guard let step, !state.log.hasStep(step, entry) else { return }
    state.log.add(step, to: entry)
  }

  /// A push that was taken in. In the journal it opens a life in the log, and joins its token's lane; in a page, its token's state
  /// follows.
  private mutating func takePush(
    _ reader: inout ByteReader, _ state: inout StoreState, isJournal: Bool, at time: Instant, _ bytes: inout SavedBytes?
  ) throws(ByteReader.Malformed) {
    let (push, head) = try reader.readPush(state.vocabulary)
    let flags = SavedPushFlags(rawValue: head.flags)
    state.log.raise(past: push.sequence)
    if isJournal {
      let step = try reader.readStep(state.vocabulary, at: time, hasBudget: flags.contains(.budget))
      add(
        LogEntry(
          sequence: push.sequence, received: push.received, id: push.id, token: push.token, route: none, warnings: push.warnings,
          type: push.type, priority: push.priority, expiration: push.expiration, step: step), &state)
      setBudgets(try reader.readBudgets(Int(head.budgets)), of: push.token, &state)
    }
    if !flags.contains(.sameBytes) { bytes = try reader.readBytes() }
    guard let bytes else { throw ByteReader.Malformed() }
    // A page that was ahead has it already.
    if isJournal, bytes.collapse > 0, let entry = state.log.loaded(push.sequence), entry.pointee.detail.head.isEmpty {
      state.log.setCollapseID(RawSpan(_unsafeBytes: bytes.collapseID), of: entry)
    }
    guard live[push.sequence] == nil else { return }
    guard let slot = bytes.keep(push, in: &state) else { throw ByteReader.Malformed() }
    live[push.sequence] = slot
    if isJournal { join(slot, push.token, &state) }
  }

  /// A push has ended: it leaves its token's lane.
  private mutating func takeEnd(
    _ reader: inout ByteReader, _ state: inout StoreState, at time: Instant
  ) throws(ByteReader.Malformed) {
    let (end, step, ending) = try reader.readEnd(state.vocabulary, at: time)
    add(step, ending, to: end.sequence, &state)
    missing[end.token]?.remove(end.sequence)
    guard let slot = live.removeValue(forKey: end.sequence) else { return }
    state.dirtyTokens.insert(Int(end.token) / StoreState.pageTokens)
    leave(slot, &state)
    state.release(slot)
  }

  /// The state of a token replaces what was known of it.
  private mutating func takeToken(
    _ reader: inout ByteReader, _ state: inout StoreState, isJournal: Bool
  ) throws(ByteReader.Malformed) {
    let saved = try reader.readToken(state.vocabulary)
    var keeps = Set<UInt64>()
    if saved.number < state.tokens.end, state.tokens[saved.number].pointee.flags.contains(.used) {
      keeps = Set(saved.references.map(\.sequence))
      drop(state.tokens[saved.number].pointee.laneHead, unless: keeps, &state)
    }
    guard state.tokens.restore(saved.number, saved.token, kind: saved.kind, route: saved.route, registered: saved.registered)
    else { throw ByteReader.Malformed() }
    if isJournal { state.dirtyTokens.insert(Int(saved.number) / StoreState.pageTokens) }
    let token = state.tokens[saved.number]
    saved.apply(to: token)
    state.setOwnTerms(saved.ownTerms, of: saved.number)
    state.tokens.resetBudgets(saved.number, count: saved.budgets.count)
    let budgets = state.tokens.budgets(saved.number)
    for index in saved.budgets.indices { budgets[index] = saved.budgets[index] }
    if saved.flags.contains(.removed) { state.tokens.markRemoved(saved.number) }
    token.pointee.laneHead = none
    token.pointee.laneTail = none
    token.pointee.laneCount = 0
    missing[saved.number] = nil
    for reference in saved.references {
      guard let slot = live[reference.sequence] else {
        missing[saved.number, default: []].insert(reference.sequence)
        continue
      }
      state.pushes[slot].pointee.token = saved.number
      state.pushes[slot].pointee.isCharged = reference.isCharged
      state.pushes[slot].pointee.attempts = reference.attempts
      state.pushes[slot].pointee.expiration = reference.expiration
      state.pushes[slot].pointee.next = none
      if token.pointee.laneHead == none {
        token.pointee.laneHead = slot
      } else {
        state.pushes[token.pointee.laneTail].pointee.next = slot
      }
      token.pointee.laneTail = slot
      token.pointee.laneCount += 1
    }
  }

  private mutating func empty(_ number: UInt32, _ state: inout StoreState) {
    missing[number] = nil
    guard number < state.tokens.end, state.tokens[number].pointee.flags.contains(.used) else { return }
    drop(state.tokens[number].pointee.laneHead, unless: [], &state)
    state.setOwnTerms(nil, of: number)
    state.tokens.remove(number)
  }

  private mutating func drop(_ head: UInt32, unless kept: Set<UInt64>, _ state: inout StoreState) {
    var slot = head
    while slot != none {
      let next = state.pushes[slot].pointee.next
      let sequence = state.pushes[slot].pointee.sequence
      if !kept.contains(sequence) {
        live[sequence] = nil
        state.release(slot)
      }
      slot = next
    }
  }
}

/// Lets the log join its entries to tokens while it is changed itself.
private struct LoadedTokens {
  private let token: (UInt32) -> UnsafeMutablePointer<Token>?
  private let formerRoutes: [UInt32: [(end: UInt64, route: UInt32)]]

  init(_ tokens: borrowing TokenTable, _ formerRoutes: [UInt32: [(end: UInt64, route: UInt32)]]) {
    self.formerRoutes = formerRoutes
    let end = tokens.end
    let address = tokens.addressing
    token = { $0 < end ? address($0) : nil }
  }

  func attach(_ entry: UnsafeMutablePointer<LogEntry>) -> Bool {
    guard let token = token(entry.pointee.token), token.pointee.flags.contains(.used) else { return false }
    if entry.pointee.route == none {
      let former = formerRoutes[entry.pointee.token]?.first { entry.pointee.sequence < $0.end }
      entry.pointee.route = former?.route ?? token.pointee.route
    }
    entry.pointee.previousOfToken = token.pointee.logHead
    token.pointee.logHead = entry.pointee.sequence
    return true
  }
}
