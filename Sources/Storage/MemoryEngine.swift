public import Primitives
public import Push
import Synchronization

/// An engine that keeps what it saves in memory: for tests, and for a gateway that may forget everything.
///
/// A second store opened on the same engine finds what the first had committed, as after a crash.
public final class MemoryEngine: Engine {
  private struct Contents: Sendable {
    var words: [(String, UInt8)] = []
    var budgets: [String: [UInt8]] = [:]
    var routes: [(UInt32, String, PushEnvironment, String?)] = []
    var tokenPages: [Int: [UInt8]] = [:]
    var logPages: [UInt64: [UInt8]] = [:]
    var refusedPages: [UInt64: [UInt8]] = [:]
    var journal: [(number: UInt64, bytes: [UInt8])] = []
    var channels: [ChannelID: (channel: Channel, message: StoredMessage?)] = [:]
    var broadcasts: [UInt64: (record: [UInt8], payload: [UInt8])] = [:]
    var payloads: [UInt64: [UInt8]] = [:]
    var errands: [UInt32: (fixed: [UInt8], progress: [UInt8])] = [:]
    var registrations: [DeviceToken: (Registration, registered: Instant)] = [:]

    mutating func apply(_ change: BroadcastChange) {
      switch change {
      case .putChannel(let channel): channels[channel.id] = (channel, nil)
      case .forgetChannel(let id): channels[id] = nil
      case .putMessage(let id, let message): channels[id]?.message = message
      case .putBroadcast(let number, let record, let payload): broadcasts[number] = (record, payload)
      case .forgetBroadcast(let number): broadcasts[number] = nil
      }
    }

    mutating func apply(_ change: PayloadChange) {
      payloads = payloads.filter { $0.key >= change.oldest }
      for number in change.forgotten { payloads[number] = nil }
      for (number, bytes) in change.kept { payloads[number] = Array(bytes) }
      var bytes = payloads.values.reduce(0) { $0 + $1.count + PayloadChange.overheadBytes }
      for number in payloads.keys.sorted() where bytes > change.bytesMax {
        bytes -= (payloads.removeValue(forKey: number)?.count ?? 0) + PayloadChange.overheadBytes
      }
    }

    mutating func apply(_ change: ErrandChange) {
      switch change {
      case .put(let number, let fixed, let progress): errands[number] = (fixed, progress)
      case .progress(let number, let progress): errands[number]?.progress = progress
      case .forget(let number): errands[number] = nil
      }
    }
  }

  /// The most recent message of a channel.
  public func message(of channel: ChannelID) throws(StoreError) -> StoredMessage? {
    contents.withLock { $0.channels[channel]?.message }
  }

  /// The payload of a push, if it is kept.
  public func payload(of number: UInt64) throws(StoreError) -> [UInt8]? { contents.withLock { $0.payloads[number] } }

  /// Forgets every payload.
  public func dropPayloads() throws(StoreError) { contents.withLock { $0.payloads.removeAll() } }

  private let contents = Mutex(Contents())

  /// An empty engine.
  public init() {}

  /// What errors call it.
  public var description: String { "the store in memory" }

  /// Gives back what was committed.
  public func load(_ visit: (SavedItem) throws(StoreError) -> Void) throws(StoreError) {
    let saved = contents.withLock { $0 }
    for (word, number) in saved.words { try visit(.word(word, number: number)) }
    for (bundleID, budgets) in saved.budgets {
      try visiting(budgets) { (bytes) throws(StoreError) in try visit(.budgets(bundleID: bundleID, bytes)) }
    }
    for (number, bundleID, environment, upstream) in saved.routes {
      try visit(.route(number: number, bundleID: bundleID, environment, upstream: upstream))
    }
    for saved in saved.channels.values.sorted(by: { $0.channel.number < $1.channel.number }) {
      try visit(.channel(saved.channel, messageUntil: saved.message?.until))
    }
    for (number, broadcast) in saved.broadcasts.sorted(by: { $0.key < $1.key }) {
      try visiting(broadcast.record) { (bytes) throws(StoreError) in
        try visit(.broadcast(number: number, bytes, payload: broadcast.payload))
      }
    }
    for (number, errand) in saved.errands.sorted(by: { $0.key < $1.key }) {
      try visiting(errand.fixed) { (fixed) throws(StoreError) in
        try visiting(errand.progress) { (progress) throws(StoreError) in
          try visit(.errand(number: number, fixed: fixed, progress: progress))
        }
      }
    }
    for number in saved.tokenPages.keys.sorted() {
      let bytes = saved.tokenPages[number] ?? []
      try visiting(bytes) { (bytes) throws(StoreError) in try visit(.tokenPage(number: number, bytes)) }
    }
    for number in saved.logPages.keys.sorted() {
      let bytes = saved.logPages[number] ?? []
      try visiting(bytes) { (bytes) throws(StoreError) in try visit(.logPage(number: number, bytes)) }
    }
    for number in saved.refusedPages.keys.sorted() {
      let bytes = saved.refusedPages[number] ?? []
      try visiting(bytes) { (bytes) throws(StoreError) in try visit(.refusedPage(number: number, bytes)) }
    }
    for row in saved.journal {
      try visiting(row.bytes) { (bytes) throws(StoreError) in try visit(.journal(number: row.number, bytes)) }
    }
  }

  /// Keeps a copy of the commit.
  public func commit(_ commit: borrowing Commit) throws(StoreError) {
    contents.withLock { contents in
      contents.words += commit.words.map { ($0.word, $0.number) }
      contents.routes += commit.routes.map { ($0.number, $0.bundleID, $0.environment, $0.upstream) }
      for app in commit.budgets { contents.budgets[app.bundleID] = app.budgets }
      for change in commit.registrations {
        switch change {
        case .put(let registration, let registered): contents.registrations[registration.token] = (registration, registered)
        case .remove(let token): contents.registrations[token] = nil
        }
      }
      for change in commit.broadcasts { contents.apply(change) }
      for change in commit.errands { contents.apply(change) }
      if let change = commit.payloads { contents.apply(change) }
      for page in commit.tokenPages { contents.tokenPages[page.number] = Array(page.bytes) }
      for page in commit.logPages { contents.logPages[page.number] = Array(page.bytes) }
      for page in commit.refusedPages { contents.refusedPages[page.number] = Array(page.bytes) }
      if !commit.journal.isEmpty { contents.journal.append((commit.number, Array(commit.journal))) }
      if let last = commit.trimJournalThrough { contents.journal.removeAll { $0.number <= last } }
      if let first = commit.dropLogPagesBefore { contents.logPages = contents.logPages.filter { $0.key >= first } }
      if let first = commit.dropRefusedPagesBefore { contents.refusedPages = contents.refusedPages.filter { $0.key >= first } }
    }
  }

  /// The registration of a token.
  public func registration(_ token: DeviceToken) throws(StoreError) -> (Registration, registered: Instant)? {
    contents.withLock { $0.registrations[token] }
  }

  /// The registrations that match.
  public func registrations(_ query: RegistrationQuery) throws(StoreError) -> [(Registration, registered: Instant)] {
    let matches = contents.withLock { Array($0.registrations.values) }.filter { query.matches($0.0) }
    var (page, room): ([(Registration, registered: Instant)], Int) = ([], query.bytes)
    for match in matches.sorted(by: { $0.0.token.bytes.lexicographicallyPrecedes($1.0.token.bytes) }).prefix(query.limit) where room >= 0 {
      page.append(match)
      room -= match.0.bytesOfNames
    }
    return page
  }

  /// A page of the tokens that a reload is for.
  public func reloadPage(
    _ selector: ReloadSelector, from position: ReloadPosition, rows: Int, tokens: Int
  ) throws(StoreError) -> ReloadPage {
    guard let walk = ReloadWalk(selector, position) else { return ReloadPage(tokens: [], next: nil) }
    let looked = contents.withLock { Array($0.registrations.values) }.map(\.0).filter { registration in
      walk.isAlong(registration) && (position.after.map { $0.bytes.lexicographicallyPrecedes(registration.token.bytes) } ?? true)
    }.sorted { $0.token.bytes.lexicographicallyPrecedes($1.token.bytes) }.prefix(rows)
    var page = ReloadPage(tokens: [], next: walk.next)
    for (index, registration) in looked.enumerated() {
      if selector.matches(registration) { page.tokens.append(registration.token) }
      guard page.tokens.count < tokens, index + 1 < rows else {
        page.next = ReloadPosition(list: position.list, after: registration.token)
        break
      }
    }
    return page
  }

  /// Nothing to do.
  public func maintain() throws(StoreError) {}

  /// Bytes of the journal.
  public var journalBytes: Int { contents.withLock { $0.journal.reduce(0) { $0 + $1.bytes.count } } }

  /// The number of the oldest row.
  public var oldestJournalRow: UInt64? { contents.withLock { $0.journal.first?.number } }

  /// Nothing to do; what was committed stays for the next store.
  public func close() {}

  private func visiting(
    _ bytes: [UInt8], _ body: (UnsafeRawBufferPointer) throws(StoreError) -> Void
  ) throws(StoreError) {
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 8)
    defer { copy.deallocate() }
    copy.copyBytes(from: bytes)
    try body(UnsafeRawBufferPointer(copy))
  }
}

extension RegistrationQuery {
  /// Whether `registration` meets every criterion, the place after which to begin included.
  func matches(_ registration: Registration) -> Bool {
    (bundleID == nil || bundleID == registration.bundleID) && (user == nil || user == registration.user)
      && (device == nil || device == registration.device) && (kind == nil || kind == registration.kind)
      && (visibleBundleIDs.map { $0.contains(registration.bundleID) } ?? true)
      && (after.map { $0.bytes.lexicographicallyPrecedes(registration.token.bytes) } ?? true)
  }
}
