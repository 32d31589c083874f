public import Primitives
public import Push

/// What makes the state last: it saves commits whole or not at all, and gives back what it saved.
///
/// The state is in memory; an engine never decides anything. It keeps a journal of what each commit changed, pages of tokens and
/// of log entries into which the journal is folded, and the registrations for listing. All calls come from the store thread, but for
/// `registrations`, which may come from any.
public protocol Engine: AnyObject, Sendable, CustomStringConvertible {
  /// Gives everything back in the order in which it must be read: words, budgets of apps, routes, channels, broadcasts and errands by number, pages of tokens, pages of the log
  /// and of refused requests, journal rows; from old to new.
  func load(_ visit: (SavedItem) throws(StoreError) -> Void) throws(StoreError)
  /// Saves all of `commit`, so that a power cut does not take it back, or throws and saves nothing.
  func commit(_ commit: borrowing Commit) throws(StoreError)
  /// The registration of a token, or nil.
  func registration(_ token: DeviceToken) throws(StoreError) -> (Registration, registered: Instant)?
  /// The registrations that match, by token in byte order; callable from any thread.
  func registrations(_ query: RegistrationQuery) throws(StoreError) -> [(Registration, registered: Instant)]
  /// A page of the tokens that a reload is for, and where the next begins; looks at no more than `rows` registrations and gives no more
  /// than `tokens`. Callable from any thread.
  func reloadPage(
    _ selector: ReloadSelector, from position: ReloadPosition, rows: Int, tokens: Int
  ) throws(StoreError) -> ReloadPage
  /// The most recent message of a channel, or nil; whether it is still to be kept is not the engine's to know.
  func message(of channel: ChannelID) throws(StoreError) -> StoredMessage?
  /// The payload of the push of that number, if it is kept.
  func payload(of number: UInt64) throws(StoreError) -> [UInt8]?
  /// Forgets every payload: the log is one that keeps none.
  func dropPayloads() throws(StoreError)
  /// Housekeeping between commits that must not take long; called after each.
  func maintain() throws(StoreError)
  /// Throws what would make commits worthless or too large, such as files that have been removed; called about once a second, and before
  /// commits are tried again after one has failed.
  func check() throws(StoreError)
  /// Why housekeeping fails at present, although commits work; nil when it does not.
  var housekeepingFailure: String? { get }
  /// How many of the copies from the write-ahead log into the database have failed.
  var failedCheckpoints: UInt64 { get }
  /// Bytes of the journal rows that have not been trimmed.
  var journalBytes: Int { get }
  /// The number of the oldest journal row; nil when there is none.
  var oldestJournalRow: UInt64? { get }
  /// Ends the use of the engine; later calls are an error of the caller.
  func close()
}

/// One thing that an engine gives back when the store opens. Bytes are valid during the call only.
public enum SavedItem {
  /// The number under which an enumeration case is saved.
  case word(String, number: UInt8)
  /// What the saved budgets of an app's tokens mean; without it, what the app's mean now.
  case budgets(bundleID: String, UnsafeRawBufferPointer)
  /// A route.
  case route(number: UInt32, bundleID: String, PushEnvironment, upstream: String?)
  /// A channel, and until when its message is kept, if it has one.
  case channel(Channel, messageUntil: Instant?)
  /// A broadcast's record, and its payload if it was still to be sent.
  case broadcast(number: UInt64, UnsafeRawBufferPointer, payload: [UInt8])
  /// An errand: what never changes of it, and how far it has come.
  case errand(number: UInt32, fixed: UnsafeRawBufferPointer, progress: UnsafeRawBufferPointer)
  /// A page of tokens.
  case tokenPage(number: Int, UnsafeRawBufferPointer)
  /// A page of the log.
  case logPage(number: UInt64, UnsafeRawBufferPointer)
  /// A page of refused requests.
  case refusedPage(number: UInt64, UnsafeRawBufferPointer)
  /// A row of the journal.
  case journal(number: UInt64, UnsafeRawBufferPointer)
}

/// What one commit saves.
public struct Commit: ~Copyable {
  /// The number of the journal row.
  public internal(set) var number: UInt64
  /// The bytes of the journal row; empty when there is none.
  public internal(set) var journal = UnsafeRawBufferPointer(start: nil, count: 0)
  /// New words.
  public internal(set) var words: [(word: String, number: UInt8)] = []
  /// New routes.
  public internal(set) var routes: [(number: UInt32, bundleID: String, environment: PushEnvironment, upstream: String?)] = []
  /// What the budgets of apps mean from this commit on.
  public internal(set) var budgets: [(bundleID: String, budgets: [UInt8])] = []
  /// Changes to registrations, in order.
  public internal(set) var registrations: [RegistrationChange] = []
  /// Changes to channels and broadcasts, in order.
  public internal(set) var broadcasts: [BroadcastChange] = []
  /// Changes to errands, in order.
  public internal(set) var errands: [ErrandChange] = []
  /// Changes to the payloads that are kept with the log; nil when there are none.
  public internal(set) var payloads: PayloadChange?
  /// Pages of tokens that replace what was saved under their numbers.
  public internal(set) var tokenPages: [(number: Int, bytes: UnsafeRawBufferPointer)] = []
  /// Pages of the log that replace what was saved under their numbers.
  public internal(set) var logPages: [(number: UInt64, bytes: UnsafeRawBufferPointer)] = []
  /// Pages of refused requests that replace what was saved under their numbers.
  public internal(set) var refusedPages: [(number: UInt64, bytes: UnsafeRawBufferPointer)] = []
  /// Journal rows up to this number are not needed any more; the engine removes them, the oldest first, as fast as it sees fit.
  public internal(set) var trimJournalThrough: UInt64?
  /// Pages of the log below this number are not needed any more.
  public internal(set) var dropLogPagesBefore: UInt64?
  /// Pages of refused requests below this number are not needed any more.
  public internal(set) var dropRefusedPagesBefore: UInt64?

  init(number: UInt64) { self.number = number }
}

extension Engine {
  /// An engine without files has nothing to check.
  public func check() throws(StoreError) {}
  /// Nor housekeeping that could fail.
  public var housekeepingFailure: String? { nil }
  /// Nor checkpoints.
  public var failedCheckpoints: UInt64 { 0 }
}
