import CSQLite
import Push
import Reactor
import Synchronization

/// Moves pages from the write-ahead log into the database on a thread and a connection of its own, so that commits go on meanwhile.
///
/// A pass copies what was there when it began; the commits that came since keep the log from starting over. So the store thread
/// itself copies the little that is left after a pass, between two commits. Then the log starts over with the next commit, and its file
/// stays about as large as `Limits.writeAheadBytes`.
final class Checkpointer: Sendable {
  static let startPages = Limits.writeAheadBytes / SQLiteSchema.pageBytes
  static let restPages = Limits.writeAheadRestBytes / SQLiteSchema.pageBytes
  static let waitPages = Limits.writeAheadWaitBytes / SQLiteSchema.pageBytes
  static let pagesMax = Limits.writeAheadBytesMax / SQLiteSchema.pageBytes

  /// What the connection is used with, one thread at a time.
  private struct Shared: @unchecked Sendable {
    // `@unchecked Sendable`: only used while the mutex is held.
    var connection: SQLiteConnection
  }

  private let shared: Mutex<Shared>
  private let running = Mutex<Thread?>(nil)
  private let isDone = Atomic(true)
  private let copiedPages = Atomic(0)
  /// Pages that the log had when the last pass began.
  private let begunPages = Atomic(0)

  init(_ path: String, fileSystem: String?) throws(StoreError) {
    do {
      let connection = try SQLiteConnection(path, isReader: true, fileSystem: fileSystem)
      // A connection that has read nothing does not know that there is a log.
      _ = try connection.number("SELECT count(*) FROM sqlite_schema")
      shared = Mutex(Shared(connection: connection))
    } catch {
      throw error.storeError(path)
    }
  }

  /// Whether no pass is under way.
  var isIdle: Bool { isDone.load(ordering: .acquiring) }

  /// Pages of the log that the last pass has copied.
  var copied: Int { copiedPages.load(ordering: .acquiring) }

  /// Begins a pass, when none is under way and the log has grown since the last. A thread lives for one pass; there are a few a
  /// minute.
  func begin(at pages: Int) throws(StoreError) {
    guard isIdle, pages - begunPages.load(ordering: .relaxed) >= Self.restPages else { return }
    begunPages.store(pages, ordering: .relaxed)
    isDone.store(false, ordering: .releasing)
    do {
      let thread = try Thread.start(name: "checkpoint") { [self] in
        let copied = shared.withLock { Self.pass($0.connection).copied }
        copiedPages.store(copied, ordering: .releasing)
        isDone.store(true, ordering: .releasing)
      }
      running.withLock { $0 = thread }
    } catch {
      isDone.store(true, ordering: .releasing)
      throw .engine("\(error)")
    }
  }

  /// The log starts over, so nothing of it has been copied.
  func startOver() {
    copiedPages.store(0, ordering: .releasing)
    begunPages.store(0, ordering: .relaxed)
  }

  /// Waits for the pass that is under way.
  func finish() { running.withLock { $0 }?.join() }

  /// Copies what can be copied without waiting for anybody.
  ///
  /// - Returns: How many pages the log has, and how many of them have been copied by now.
  @discardableResult
  static func pass(_ connection: SQLiteConnection) -> (pages: Int, copied: Int) {
    var pages: Int32 = 0
    var copied: Int32 = 0
    sqlite3_wal_checkpoint_v2(connection.handle, nil, SQLITE_CHECKPOINT_PASSIVE, &pages, &copied)
    return (Int(max(0, pages)), Int(max(0, copied)))
  }
}
