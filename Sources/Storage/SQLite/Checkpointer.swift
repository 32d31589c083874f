import CSQLite
import Push
import Reactor
import Synchronization

/// Moves pages from the write-ahead log into the database on a thread and a connection of its own, so that commits go on meanwhile.
///
/// A pass copies what was there when it began; the commits that came since keep the log from starting over. So the store thread
/// itself copies the little that is left after a pass, between two commits. Then the log starts over with the next commit, and its file
/// stays about as large as `Limits.writeAheadBytes`.
///
/// A pass that fails loses nothing: the log has all pages still, and the next pass copies them anew. But the log grows meanwhile, so the
/// failure is kept for whoever is to know of it, until a pass works again.
final class Checkpointer: Sendable {
  /// Bounds of the write-ahead log, in pages.
  struct Bounds: Sendable {
    /// With so many, a pass begins.
    var start = Limits.writeAheadBytes / SQLiteSchema.pageBytes
    /// So many are left to the store thread.
    var rest = Limits.writeAheadRestBytes / SQLiteSchema.pageBytes
    /// With so many, commits wait for the pass.
    var wait = Limits.writeAheadWaitBytes / SQLiteSchema.pageBytes
    /// More than this never are in the log; each has a header there.
    var most = Limits.writeAheadBytesMax / (SQLiteSchema.pageBytes + SQLiteSchema.frameHeaderBytes)
    /// So many of those are left to the commit that comes before it is noticed that the log is full.
    var spare = Limits.writeAheadSpareBytes / SQLiteSchema.pageBytes
  }

  /// How far a pass has come.
  struct Progress: Sendable {
    /// Pages of the log.
    var pages: Int
    /// How many of them have been copied by now.
    var copied: Int
  }

  /// What the connection is used with, one thread at a time.
  private struct Shared: @unchecked Sendable {
    // `@unchecked Sendable`: only used while the mutex is held.
    var connection: SQLiteConnection
  }

  let bounds: Bounds
  private let shared: Mutex<Shared>
  private let running = Mutex<Thread?>(nil)
  private let isDone = Atomic(true)
  private let copiedPages = Atomic(0)
  /// Pages that the log had when the last pass began.
  private let begunPages = Atomic(0)
  private let lastFailure = Mutex<String?>(nil)
  private let failureCount = Atomic<UInt64>(0)

  init(_ path: String, fileSystem: String?, bounds: Bounds) throws(StoreError) {
    self.bounds = bounds
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

  /// What the last pass failed with; nil when it worked.
  var failure: String? { lastFailure.withLock { $0 } }

  /// How many passes have failed.
  var failures: UInt64 { failureCount.load(ordering: .relaxed) }

  /// Begins a pass, when none is under way and the log has grown since the last, or that one is to be made again. A thread lives for
  /// one pass; there are a few a minute.
  func begin(at pages: Int, again: Bool = false) throws(StoreError) {
    guard isIdle, again || pages - begunPages.load(ordering: .relaxed) >= bounds.rest else { return }
    begunPages.store(pages, ordering: .relaxed)
    isDone.store(false, ordering: .releasing)
    do {
      let thread = try Thread.start(name: "checkpoint") { [self] in
        let progress = shared.withLock { pass($0.connection) }
        copiedPages.store(progress?.copied ?? 0, ordering: .releasing)
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

  /// Copies what can be copied without waiting for anybody, and keeps what went wrong.
  ///
  /// - Returns: Nil when it failed. A pass that another process is making at the moment is none.
  func pass(_ connection: SQLiteConnection) -> Progress? {
    var pages: Int32 = 0
    var copied: Int32 = 0
    let code = sqlite3_wal_checkpoint_v2(connection.handle, nil, SQLITE_CHECKPOINT_PASSIVE, &pages, &copied)
    switch code & 0xFF {
    case SQLITE_OK:
      lastFailure.withLock { $0 = nil }
      return Progress(pages: Int(max(0, pages)), copied: Int(max(0, copied)))
    case SQLITE_BUSY, SQLITE_LOCKED: return nil
    default:
      let failure = "\(connection.failure(code))"
      lastFailure.withLock { $0 = failure }
      failureCount.add(1, ordering: .relaxed)
      return nil
    }
  }
}
