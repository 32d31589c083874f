import CSQLite
public import Primitives
public import Push
import Synchronization

/// The embedded engine: one SQLite file beside the gateway, which alone may use it.
///
/// `commit` is one transaction: a journal row, and whatever pages and registrations go with it. In WAL mode with
/// `synchronous=FULL` it returns after the write-ahead log has been synced.
public final class SQLiteEngine: Engine, @unchecked Sendable {
  // `@unchecked Sendable`: everything but `reader` is used by one thread, first the one that opens, then the store's.

  /// The file's path.
  public let description: String

  /// What there is until `close`.
  private var opened: Opened?
  private let reader: Mutex<SQLiteRegistrations?>
  /// Pages in the write-ahead log, as SQLite tells after each commit.
  private let walPages = UnsafeMutablePointer<Int>.allocate(capacity: 1)
  private var journal = JournalSizes()
  /// Whether a write-ahead log that has lost its name has been copied into the database.
  private var isRescued = false

  private struct Opened {
    let lock: FileLock
    let connection: SQLiteConnection
    let statements: SQLiteCommit
    let registrations: SQLiteRegistrationWriter
    let broadcasts: SQLiteBroadcasts
    let errands: SQLiteErrands
    let payloads: SQLitePayloads
    let checkpointer: Checkpointer
    let files: StoreFiles
  }

  /// Opens the store at `path`, which is made when it is missing; its folder must exist.
  ///
  /// - Throws: `locked` when another process has it, `laterSchema` or `earlierSchema` when another version wrote it, `corrupt` when it is no
  ///   store, `missing` when there was one and only what stood beside it is there.
  public convenience init(path: String) throws(StoreError) { try self.init(path: path, fileSystem: nil) }

  /// Opens the store over another way to the disk, as the tests do that cut the power, or with other bounds.
  init(path: String, fileSystem: String?, bounds: Checkpointer.Bounds = Checkpointer.Bounds()) throws(StoreError) {
    description = path
    let lock = try FileLock(path)
    try StoreFiles.checkBeforeOpening(path)
    try StoreFiles.makePrivate(path)
    let connection: SQLiteConnection
    do throws(SQLiteConnection.Failure) { connection = try SQLiteConnection(path, fileSystem: fileSystem) } catch {
      throw error.storeError(path)
    }
    try SQLiteSchema.prepare(connection, path: path)
    try lock.sign()
    let checkpointer = try Checkpointer(path, fileSystem: fileSystem, bounds: bounds)
    let files = try StoreFiles(path)
    do throws(SQLiteConnection.Failure) {
      opened = Opened(
        lock: lock, connection: connection, statements: try SQLiteCommit(connection),
        registrations: try SQLiteRegistrationWriter(connection), broadcasts: try SQLiteBroadcasts(connection),
        errands: try SQLiteErrands(connection), payloads: try SQLitePayloads(connection), checkpointer: checkpointer,
        files: files)
      reader = Mutex(try SQLiteRegistrations(path, fileSystem: fileSystem))
    } catch {
      throw error.storeError(path)
    }
    walPages.initialize(to: 0)
    sqlite3_wal_hook(
      connection.handle,
      { pages, _, _, count in
        pages?.assumingMemoryBound(to: Int.self).pointee = Int(count)
        return SQLITE_OK
      }, walPages)
  }

  deinit {
    if let opened { sqlite3_wal_hook(opened.connection.handle, nil, nil) }
    walPages.deallocate()
  }

  private var open: Opened {
    guard let opened else { preconditionFailure("\(description) has been closed") }
    return opened
  }

  /// The connection that writes.
  var connection: SQLiteConnection { open.connection }
  /// The payloads that are kept.
  var payloads: SQLitePayloads { open.payloads }

  /// Gives everything back, in the order in which the state reads it.
  public func load(_ visit: (SavedItem) throws(StoreError) -> Void) throws(StoreError) {
    journal = JournalSizes()
    try rows("SELECT word, number FROM word") { (row) throws(StoreError) in
      try visit(.word(row.text(0) ?? "", number: UInt8(truncatingIfNeeded: row.int(1))))
    }
    try rows("SELECT bundle, data FROM app_budget") { (row) throws(StoreError) in
      try visit(.budgets(bundleID: row.text(0) ?? "", row.blob(1)))
    }
    try rows("SELECT number, bundle, environment, upstream FROM route ORDER BY number") { (row) throws(StoreError) in
      let environment = PushEnvironment(name: row.text(2) ?? "") ?? .production
      try visit(.route(number: UInt32(row.int(0)), bundleID: row.text(1) ?? "", environment, upstream: row.text(3)))
    }
    try rows("SELECT id, bundle, environment, policy, number, deleted, message_until FROM channel ORDER BY number") {
      (row) throws(StoreError) in
      guard let (channel, until) = SQLiteBroadcasts.channel(row) else { return }
      try visit(.channel(channel, messageUntil: until))
    }
    try rows("SELECT number, record, payload FROM broadcast ORDER BY number") { (row) throws(StoreError) in
      try visit(.broadcast(number: UInt64(row.int(0)), row.blob(1), payload: Array(row.blob(2))))
    }
    try rows("SELECT number, fixed, progress FROM errand ORDER BY number") { (row) throws(StoreError) in
      try visit(.errand(number: UInt32(row.int(0)), fixed: row.blob(1), progress: row.blob(2)))
    }
    try rows("SELECT number, data FROM token_page ORDER BY number") { (row) throws(StoreError) in
      try visit(.tokenPage(number: row.int(0), row.blob(1)))
    }
    try rows("SELECT number, data FROM log_page ORDER BY number") { (row) throws(StoreError) in
      try visit(.logPage(number: UInt64(row.int(0)), row.blob(1)))
    }
    try rows("SELECT number, data FROM refused_page ORDER BY number") { (row) throws(StoreError) in
      try visit(.refusedPage(number: UInt64(row.int(0)), row.blob(1)))
    }
    try rows("SELECT number, data FROM journal ORDER BY number") { (row) throws(StoreError) in
      let bytes = row.blob(1)
      journal.append(UInt64(row.int(0)), bytes.count)
      try visit(.journal(number: UInt64(row.int(0)), bytes))
    }
  }

  /// Saves all of it in one transaction.
  public func commit(_ commit: borrowing Commit) throws(StoreError) {
    let statements = open.statements
    guard walPages.pointee + commit.pagesMax(of: SQLiteSchema.pageBytes) <= open.checkpointer.bounds.most else { throw fullLog }
    do throws(SQLiteConnection.Failure) {
      // What could not be taken back when it failed.
      if connection.isInTransaction { try statements.rollback.run() }
      try statements.begin.run()
      let trimmed = try write(commit, statements)
      try statements.end.run()
      journal.removeFirst(trimmed)
      if !commit.journal.isEmpty { journal.append(commit.number, commit.journal.count) }
    } catch {
      payloads.undo()
      var failure = error
      if connection.isInTransaction {
        do throws(SQLiteConnection.Failure) { try statements.rollback.run() } catch {
          failure.description += ", and it cannot be taken back: \(error)"
        }
      }
      throw failure.storeError(description)
    }
  }

  /// The registration of a token.
  public func registration(_ token: DeviceToken) throws(StoreError) -> (Registration, registered: Instant)? {
    try reading { (reader) throws(SQLiteConnection.Failure) in try reader.find(token) }
  }

  /// The registrations that match.
  public func registrations(_ query: RegistrationQuery) throws(StoreError) -> [(Registration, registered: Instant)] {
    try reading { (reader) throws(SQLiteConnection.Failure) in try reader.list(query) }
  }

  /// A page of the tokens that a reload is for.
  public func reloadPage(
    _ selector: ReloadSelector, from position: ReloadPosition, rows: Int, tokens: Int
  ) throws(StoreError) -> ReloadPage {
    try reading { (reader) throws(SQLiteConnection.Failure) in try reader.page(selector, from: position, rows: rows, tokens: tokens) }
  }

  /// The most recent message of a channel.
  public func message(of channel: ChannelID) throws(StoreError) -> StoredMessage? {
    do throws(SQLiteConnection.Failure) { return try open.broadcasts.message(of: channel) } catch { throw error.storeError(description) }
  }

  /// Keeps the write-ahead log short.
  public func maintain() throws(StoreError) {
    let pages = walPages.pointee
    let checkpointer = open.checkpointer
    let bounds = checkpointer.bounds
    // The log has started over since the last pass.
    if pages < checkpointer.copied { checkpointer.startOver() }
    guard pages >= bounds.start else { return }
    // One that fails is made again by `check`, once in a while: each costs as much as one that works.
    if checkpointer.failure == nil {
      if pages >= bounds.wait { checkpointer.finish() }
      guard checkpointer.isIdle else { return }
      if checkpointer.failure == nil {
        if pages - checkpointer.copied > bounds.rest, pages < bounds.wait { return try checkpointer.begin(at: pages) }
        copyRest()
      }
    }
    guard hasRoom else { throw fullLog }
  }

  /// Whether the files are where they were, and the write-ahead log has room; makes a pass that has failed again.
  public func check() throws(StoreError) {
    let opened = open
    do throws(StoreError) { try opened.files.check() } catch {
      // Nothing new is written to a log without a name, and what is in it is saved where that is possible.
      if opened.files.hasDatabase, !isRescued {
        opened.checkpointer.finish()
        isRescued = opened.checkpointer.pass(opened.connection).map { $0.copied >= $0.pages } ?? false
      }
      throw error
    }
    isRescued = false
    if opened.checkpointer.failure != nil {
      try opened.checkpointer.begin(at: walPages.pointee, again: true)
    } else if !hasRoom, opened.checkpointer.isIdle {
      copyRest()
    }
    guard hasRoom else { throw fullLog }
  }

  /// Why pages of the write-ahead log cannot be copied into the database; nil when they can.
  public var housekeepingFailure: String? { opened?.checkpointer.failure }

  /// How many passes over the write-ahead log have failed.
  public var failedCheckpoints: UInt64 { opened?.checkpointer.failures ?? 0 }

  /// Copies what is left after a pass, between two commits.
  private func copyRest() {
    guard let progress = open.checkpointer.pass(connection) else { return }
    // All copied: the next commit starts the log over. Else a reader was in the way, and the next pass comes later.
    walPages.pointee = progress.copied >= progress.pages ? 0 : progress.pages
    open.checkpointer.startOver()
  }

  /// Whether the next commit finds room in the write-ahead log.
  private var hasRoom: Bool { walPages.pointee + open.checkpointer.bounds.spare <= open.checkpointer.bounds.most }

  private var fullLog: StoreError {
    let why = open.checkpointer.failure.map { "its pages cannot be copied into \(description): \($0)" }
    return .engine(
      "\(description)-wal is as large as it may be: \(why ?? "something has the store open for reading, which must be closed")")
  }

  /// Bytes of the journal.
  public var journalBytes: Int { journal.bytes }

  /// The number of the oldest journal row.
  public var oldestJournalRow: UInt64? { journal.first }

  /// Copies the write-ahead log into the database, so that the next start has one file to read, closes the file, and lets go of
  /// its lock. Registrations asked for later are answered with `stopped`.
  public func close() {
    guard let opened else { return }
    opened.checkpointer.finish()
    reader.withLock { $0 = nil }
    sqlite3_wal_hook(opened.connection.handle, nil, nil)
    // Where it fails, the next start finds the log and copies it.
    _ = opened.checkpointer.pass(opened.connection)
    self.opened = nil
  }

  /// Writes everything but the boundaries of the transaction.
  ///
  /// - Returns: How many journal rows were removed.
  private func write(_ commit: borrowing Commit, _ statements: SQLiteCommit) throws(SQLiteConnection.Failure) -> Int {
    for (word, number) in commit.words {
      statements.word.bind(1, word)
      statements.word.bind(2, Int64(number))
      try statements.word.run()
    }
    for route in commit.routes {
      statements.route.bind(1, Int64(route.number))
      statements.route.bind(2, route.bundleID)
      statements.route.bind(3, route.environment.name)
      statements.route.bind(4, route.upstream)
      try statements.route.run()
    }
    for app in commit.budgets {
      statements.budgets.bind(1, app.bundleID)
      statements.budgets.bind(2, app.budgets)
      try statements.budgets.run()
    }
    if !commit.registrations.isEmpty { try open.registrations.apply(commit.registrations) }
    if !commit.broadcasts.isEmpty { try open.broadcasts.apply(commit.broadcasts) }
    if !commit.errands.isEmpty { try open.errands.apply(commit.errands) }
    if let change = commit.payloads { try payloads.apply(change) }
    for page in commit.tokenPages {
      statements.tokenPage.bind(1, Int64(page.number))
      statements.tokenPage.bind(2, borrowing: page.bytes)
      try statements.tokenPage.run()
    }
    for page in commit.logPages {
      statements.logPage.bind(1, Int64(page.number))
      statements.logPage.bind(2, borrowing: page.bytes)
      try statements.logPage.run()
    }
    if let first = commit.dropLogPagesBefore {
      statements.dropLogPages.bind(1, Int64(first))
      try statements.dropLogPages.run()
    }
    for page in commit.refusedPages {
      statements.refusedPage.bind(1, Int64(page.number))
      statements.refusedPage.bind(2, borrowing: page.bytes)
      try statements.refusedPage.run()
    }
    if let first = commit.dropRefusedPagesBefore {
      statements.dropRefusedPages.bind(1, Int64(first))
      try statements.dropRefusedPages.run()
    }
    if !commit.journal.isEmpty {
      statements.journal.bind(1, Int64(commit.number))
      statements.journal.bind(2, borrowing: commit.journal)
      try statements.journal.run()
    }
    guard let through = commit.trimJournalThrough else { return 0 }
    let slice = journal.slice(through: through, bytesMax: Limits.journalTrimBytes)
    guard let last = slice.last else { return 0 }
    statements.trim.bind(1, Int64(last))
    try statements.trim.run()
    return slice.count
  }

  private func rows(_ sql: String, _ body: (SQLiteStatement) throws(StoreError) -> Void) throws(StoreError) {
    do {
      let statement = try connection.prepare(sql)
      defer { statement.reset() }
      while try statement.step() { try body(statement) }
    } catch let error as SQLiteConnection.Failure {
      throw error.storeError(description)
    } catch let error as StoreError {
      throw error
    } catch {
      throw .engine("\(error)")
    }
  }

  private func reading<T: Sendable>(
    _ body: (borrowing SQLiteRegistrations) throws(SQLiteConnection.Failure) -> T
  ) throws(StoreError) -> T {
    let result: Result<T, StoreError> = reader.withLock { reader in
      guard let reader else { return .failure(.stopped) }
      do throws(SQLiteConnection.Failure) { return .success(try body(reader)) } catch { return .failure(error.storeError(description)) }
    }
    return try result.get()
  }
}
