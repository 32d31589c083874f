import Delivery
import Primitives
import Push

// Opening: the pages give the state as it was folded, the journal's rows what has changed since.
extension StoreState {
  /// The state that `engine` has saved. What was in flight waits again: whether it arrived is not known, and a push that
  /// comes twice is better than one that never comes.
  static func load(
    _ engine: any Engine, settings: StoreSettings, resolver: RouteResolver, at now: Instant
  ) throws(StoreError) -> StoreState {
    var state = StoreState(settings: settings, resolver: resolver)
    var loader = StateLoader(logCapacity: state.log.capacity)
    try engine.load { (item) throws(StoreError) in
      do throws(ByteReader.Malformed) {
        try loader.take(item, &state)
      } catch {
        throw .corrupt(path: engine.description, "a saved record has no meaning")
      }
    }
    do throws(ByteReader.Malformed) {
      try loader.finish(&state, at: now)
    } catch {
      throw .corrupt(path: engine.description, "a waiting push has lost its payload")
    }
    state.routes.markSaved()
    return state
  }

  /// Goes on where a state that is ahead of the disk must be given up: pushes that loops have in hand stay in flight, and
  /// what is in memory only is kept.
  mutating func takeOver(_ old: inout StoreState, inFlight: Set<UInt64>) {
    swap(&refused, &old.refused)
    let (waiting, flying) = (counters.waiting, counters.inFlight)
    counters = old.counters
    (counters.waiting, counters.inFlight) = (waiting, flying)
    generator = old.generator
    group = old.group + 1
    isWatched = old.isWatched
    for number in 0..<tokens.end where tokens[number].pointee.laneHead != none {
      let slot = tokens[number].pointee.laneHead
      guard inFlight.contains(pushes[slot].pointee.sequence) else { continue }
      unlink(slot, from: number)
      pushes[slot].pointee.isInFlight = true
      tokens[number].pointee.inFlight = slot
      counters.inFlight += 1
      relocated[pushes[slot].pointee.sequence] = slot
      setWake(number, .distantFuture)
    }
  }

  /// Visits every push in flight.
  func forEachInFlight(_ body: (UnsafeMutablePointer<LivePush>) -> Void) {
    for slot in 0..<pushes.end where pushes[slot].pointee.isInFlight && pushes[slot].pointee.sequence != 0 { body(pushes[slot]) }
  }

  /// Gives the next commit something to write.
  mutating func probe() { journal.append(RecordTag.nothing.rawValue) }
}

/// What opening has to remember between one saved item and the next.
struct StateLoader {
  private var words: [(word: String, number: UInt8)] = []
  private var hasVocabulary = false
  /// Live pushes by number, referred to by a token or not.
  private var live: [UInt64: UInt32] = [:]
  /// The capacity of the log that wrote the pages.
  private var logLimit: Int

  init(logCapacity: Int) { logLimit = logCapacity }

  mutating func take(_ item: SavedItem, _ state: inout StoreState) throws(ByteReader.Malformed) {
    if case .word(let word, let number) = item {
      words.append((word, number))
      return
    }
    settleVocabulary(&state)
    switch item {
    case .word: break
    case .route(let number, let bundleID, let environment, let upstream):
      let name = RouteName(bundleID: bundleID, environment: environment, upstream: upstream)
      guard state.routes.number(of: name) == number else { throw ByteReader.Malformed() }
    case .tokenPage(_, let bytes): try takeRecords(ByteReader(bytes), &state, isJournal: false)
    case .logPage(_, let bytes):
      var reader = ByteReader(bytes)
      logLimit = min(state.log.capacity, Int(try reader.read(UInt32.self)))
      try takeRecords(reader, &state, isJournal: false)
    case .journal(let number, let bytes):
      state.lastCommit = number
      try takeRecords(ByteReader(bytes), &state, isJournal: true)
    }
  }

  mutating func finish(_ state: inout StoreState, at now: Instant) throws(ByteReader.Malformed) {
    settleVocabulary(&state)
    for number in 0..<state.tokens.end where state.tokens[number].pointee.flags.contains(.used) {
      let token = state.tokens[number]
      guard !token.pointee.flags.contains(.incomplete) else { throw ByteReader.Malformed() }
      var slot = token.pointee.laneHead
      while slot != none {
        let push = state.pushes[slot]
        let isBrief = push.pointee.expiration == .zero && push.pointee.traits.lane != .reload
        push.pointee.deadline =
          isBrief
          ? now + state.settings.connectPatience
          : push.pointee.expiration.deadline(received: push.pointee.received, storage: state.settings.storage)
        push.pointee.token = number
        live[push.pointee.sequence] = nil
        state.counters.waiting += 1
        slot = push.pointee.next
      }
    }
    for slot in live.values { state.release(slot) }
    live.removeAll()
    let tokens = LoadedTokens(state.tokens)
    state.log.finishLoading(limit: logLimit) { tokens.attach($0) }
    for number in 0..<state.tokens.end where state.tokens[number].pointee.flags.contains(.used) {
      let token = state.tokens[number]
      if !token.pointee.isActive, !token.pointee.hasLane, state.log[token.pointee.logHead] == nil {
        state.tokens.remove(number)
        continue
      }
      if !token.pointee.isActive { state.removed.append(number) }
      if token.pointee.laneHead != none {
        state.scheduleWake(number, at: now)
      }
    }
    state.tokens.finishLoading()
  }

  private mutating func settleVocabulary(_ state: inout StoreState) {
    guard !hasVocabulary else { return }
    hasVocabulary = true
    state.vocabulary = Vocabulary(words)
  }

  private mutating func takeRecords(
    _ reader: consuming ByteReader, _ state: inout StoreState, isJournal: Bool
  ) throws(ByteReader.Malformed) {
    while !reader.isAtEnd {
      guard let tag = RecordTag(rawValue: try reader.read()) else { throw ByteReader.Malformed() }
      switch tag {
      case .token: try takeToken(&reader, &state, isJournal: isJournal)
      case .empty:
        let number: UInt32 = try reader.read()
        empty(number, &state)
        state.dirtyTokens.insert(Int(number) / StoreState.pageTokens)
      case .push: try takePush(&reader, &state, isJournal: isJournal)
      case .note:
        var entry = try reader.readHeader(state.vocabulary)
        entry.steps[0] = try reader.readStep(state.vocabulary)
        add(entry, &state)
      case .step:
        let sequence: UInt64 = try reader.read()
        let ending = try reader.readEnding(state.vocabulary)
        let step = try reader.readStep(state.vocabulary)
        guard let entry = state.log.loaded(sequence) else { continue }
        ending.apply(to: entry, &state.log)
        // A saved page may have it already, and steps that were never saved in between.
        if !state.log.hasStep(step, entry) { state.log.add(step, to: entry) }
      case .entry:
        let entry = try reader.readHeader(state.vocabulary)
        let ending = try reader.readEnding(state.vocabulary)
        let count = Int(try reader.read(UInt8.self))
        let place = state.log.load(entry)
        for index in 0..<count {
          let step = try reader.readStep(state.vocabulary)
          if let place, index < PushLog.stepsMax { state.log.set(step, at: index, of: place) }
        }
        if let place { ending.apply(to: place, &state.log) }
      case .nothing: break
      }
    }
  }

  private func add(_ entry: LogEntry, _ state: inout StoreState) {
    guard state.log.loaded(entry.sequence) == nil, let place = state.log.load(entry) else { return }
    state.log.touch(place)
  }

  /// A push that was taken in: it opens a life in the log, and is live if a token refers to it.
  private mutating func takePush(
    _ reader: inout ByteReader, _ state: inout StoreState, isJournal: Bool
  ) throws(ByteReader.Malformed) {
    let saved = try reader.readPush(state.vocabulary)
    state.log.raise(past: saved.push.sequence)
    if isJournal {
      let step = try reader.readStep(state.vocabulary)
      let push = saved.push
      add(
        LogEntry(
          sequence: push.sequence, received: push.received, id: push.id, token: push.token, route: none, warnings: push.warnings,
          type: push.type, priority: push.priority, step: step), &state)
    }
    guard live[saved.push.sequence] == nil else { return }
    guard let slot = saved.keep(in: &state) else { throw ByteReader.Malformed() }
    live[saved.push.sequence] = slot
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
    state.tokens.resetBudgets(saved.number, count: saved.budgets.count)
    let budgets = state.tokens.budgets(saved.number)
    for index in saved.budgets.indices { budgets[index] = saved.budgets[index] }
    if saved.flags.contains(.removed) { state.tokens.markRemoved(saved.number) }
    token.pointee.laneHead = none
    token.pointee.laneTail = none
    token.pointee.laneCount = 0
    for reference in saved.references {
      guard let slot = live[reference.sequence] else {
        token.pointee.flags.insert(.incomplete)
        continue
      }
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
    guard number < state.tokens.end, state.tokens[number].pointee.flags.contains(.used) else { return }
    drop(state.tokens[number].pointee.laneHead, unless: [], &state)
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

  init(_ tokens: borrowing TokenTable) {
    let end = tokens.end
    let address = tokens.addressing
    token = { $0 < end ? address($0) : nil }
  }

  func attach(_ entry: UnsafeMutablePointer<LogEntry>) -> Bool {
    guard let token = token(entry.pointee.token), token.pointee.flags.contains(.used) else { return false }
    if entry.pointee.route == none { entry.pointee.route = token.pointee.route }
    entry.pointee.previousOfToken = token.pointee.logHead
    token.pointee.logHead = entry.pointee.sequence
    return true
  }
}
