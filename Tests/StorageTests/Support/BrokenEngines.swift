import Primitives
import Push
import Recorder
import Synchronization

@testable import Storage

/// An engine that passes everything on to another, but for what a test wants different.
class WrappedEngine: Engine, @unchecked Sendable {
  // `@unchecked Sendable`: each test uses it from one thread at a time.
  let inner: any Engine
  init(_ inner: any Engine) { self.inner = inner }
  var description: String { inner.description }
  func load(_ visit: (SavedItem) throws(StoreError) -> Void) throws(StoreError) { try inner.load(visit) }
  func commit(_ commit: borrowing Commit) throws(StoreError) { try inner.commit(commit) }
  func registration(_ token: DeviceToken) throws(StoreError) -> (Registration, registered: Instant)? { try inner.registration(token) }
  func registrations(_ query: RegistrationQuery) throws(StoreError) -> [(Registration, registered: Instant)] {
    try inner.registrations(query)
  }
  func reloadPage(
    _ selector: ReloadSelector, from position: ReloadPosition, rows: Int, tokens: Int
  ) throws(StoreError) -> ReloadPage { try inner.reloadPage(selector, from: position, rows: rows, tokens: tokens) }
  func message(of channel: ChannelID) throws(StoreError) -> StoredMessage? { try inner.message(of: channel) }
  func payload(of number: UInt64) throws(StoreError) -> [UInt8]? { try inner.payload(of: number) }
  func dropPayloads() throws(StoreError) { try inner.dropPayloads() }
  func maintain() throws(StoreError) { try inner.maintain() }
  func check() throws(StoreError) { try inner.check() }
  var housekeepingFailure: String? { inner.housekeepingFailure }
  var failedCheckpoints: UInt64 { inner.failedCheckpoints }
  var journalBytes: Int { inner.journalBytes }
  var oldestJournalRow: UInt64? { inner.oldestJournalRow }
  func close() { inner.close() }
}

/// The fault that folding must not have: the journal goes as soon as the first pages are written.
final class EarlyTrimmingEngine: WrappedEngine, @unchecked Sendable {
  override func commit(_ commit: borrowing Commit) throws(StoreError) {
    try inner.commit(commit)
    if !commit.tokenPages.isEmpty { try inner.commit(Commit(number: commit.number, trimming: commit.number - 1)) }
  }
}

/// An engine that forgets the journal rows, and has only what was folded.
final class UnjournaledEngine: WrappedEngine, @unchecked Sendable {
  override func load(_ visit: (SavedItem) throws(StoreError) -> Void) throws(StoreError) {
    try inner.load { (item) throws(StoreError) in
      if case .journal = item { return }
      try visit(item)
    }
  }
}

/// An engine whose commits can be made to fail, by the test's thread while the store's uses it.
final class FailingEngine: WrappedEngine, @unchecked Sendable {
  private struct Faults {
    var failure: StoreError?
    var failsToLoad = false
    var grace = 0
    var attempts = 0
  }

  private let faults = Mutex(Faults())
  /// The numbers of the commits that have failed.
  let failed = Recorder<UInt64>()

  /// What commits fail with; nil when they work.
  var failure: StoreError? {
    get { faults.withLock(\.failure) }
    set { faults.withLock { $0.failure = newValue } }
  }
  /// Whether nothing can be read.
  var failsToLoad: Bool {
    get { faults.withLock(\.failsToLoad) }
    set { faults.withLock { $0.failsToLoad = newValue } }
  }
  /// How many commits work although `failure` is set.
  var grace: Int {
    get { faults.withLock(\.grace) }
    set { faults.withLock { $0.grace = newValue } }
  }
  /// How many commits were tried.
  var attempts: Int { faults.withLock(\.attempts) }

  override func load(_ visit: (SavedItem) throws(StoreError) -> Void) throws(StoreError) {
    if failsToLoad { throw .engine("no reading") }
    try inner.load(visit)
  }

  override func commit(_ commit: borrowing Commit) throws(StoreError) {
    let failure: StoreError? = faults.withLock { faults in
      faults.attempts += 1
      guard faults.failure != nil, faults.grace > 0 else { return faults.failure }
      faults.grace -= 1
      return nil
    }
    if let failure {
      failed.append(commit.number)
      throw failure
    }
    try inner.commit(commit)
  }
}

extension Commit {
  fileprivate init(number: UInt64, trimming through: UInt64) {
    self.init(number: number)
    trimJournalThrough = through
  }
}
