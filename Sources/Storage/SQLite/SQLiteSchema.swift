import CSQLite

/// The tables of a store's file, and its marks: whose it is, and which version wrote it.
enum SQLiteSchema {
  /// The version that this build reads and writes.
  static let version = 3
  /// The oldest version that this build reads, and makes into its own: it lacks the tables of broadcasts.
  static let oldestVersion = 2
  /// Bytes of a page. SQLite writes each page of a commit with two calls and reads each page that it frees; with twice its standard size
  /// there are half as many, for a fifth more bytes. With four times, the bytes eat what the calls save.
  static let pageBytes = 8192
  /// Bytes that the write-ahead log has before each page (SQLite, "WAL-mode file format").
  static let frameHeaderBytes = 24
  /// Marks the file as a store of widgetpush (`PRAGMA application_id`): "wpsh".
  private static let applicationID = 0x7770_7368

  private static let tables = """
    CREATE TABLE word(word TEXT PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE route(number INTEGER PRIMARY KEY, bundle TEXT NOT NULL, environment TEXT NOT NULL, upstream TEXT);
    CREATE TABLE token_page(number INTEGER PRIMARY KEY, data BLOB NOT NULL);
    CREATE TABLE log_page(number INTEGER PRIMARY KEY, data BLOB NOT NULL);
    CREATE TABLE journal(number INTEGER PRIMARY KEY, data BLOB NOT NULL);
    CREATE TABLE registration(
      token BLOB PRIMARY KEY, bundle TEXT NOT NULL, kind TEXT NOT NULL, environment TEXT NOT NULL, upstream TEXT, device TEXT,
      user TEXT, platform TEXT, registered INTEGER NOT NULL, details BLOB NOT NULL) WITHOUT ROWID;
    CREATE INDEX registration_device ON registration(device, token) WHERE device IS NOT NULL;
    CREATE INDEX registration_user ON registration(user, token) WHERE user IS NOT NULL;
    \(broadcastTables)
    \(laterTables)
    """

  /// Made in the files of earlier builds as well, which never look at them.
  private static let laterTables = """
    CREATE TABLE IF NOT EXISTS errand(number INTEGER PRIMARY KEY, fixed BLOB NOT NULL, progress BLOB NOT NULL);
    CREATE TABLE IF NOT EXISTS refused_page(number INTEGER PRIMARY KEY, data BLOB NOT NULL);
    CREATE TABLE IF NOT EXISTS payload(number INTEGER PRIMARY KEY, data BLOB NOT NULL);
    CREATE TABLE IF NOT EXISTS app_budget(bundle TEXT PRIMARY KEY, data BLOB NOT NULL) WITHOUT ROWID;
    """

  private static let broadcastTables = """
    CREATE TABLE channel(
      id BLOB PRIMARY KEY, bundle TEXT NOT NULL, environment TEXT NOT NULL, policy INTEGER NOT NULL, number INTEGER NOT NULL,
      deleted INTEGER NOT NULL, message_id TEXT, message_until INTEGER, message BLOB) WITHOUT ROWID;
    CREATE TABLE broadcast(number INTEGER PRIMARY KEY, record BLOB NOT NULL, payload BLOB NOT NULL);
    """

  /// Sets the connection up for commits that a power cut does not take back, and makes the tables in an empty file.
  ///
  /// `synchronous=FULL` makes WAL mode sync with each commit. Checkpoints are the engine's own affair.
  static func prepare(_ connection: SQLiteConnection, path: String) throws(StoreError) {
    let version: Int
    let isEmpty: Bool
    do throws(SQLiteConnection.Failure) {
      let found = try connection.number("PRAGMA application_id")
      version = try connection.number("PRAGMA user_version")
      isEmpty = try connection.number("SELECT count(*) FROM sqlite_schema") == 0
      guard isEmpty || found == applicationID else {
        throw SQLiteConnection.Failure(code: SQLITE_NOTADB, description: "it is a database of some other program")
      }
      if isEmpty || (oldestVersion...Self.version).contains(version) { try setUp(connection, isEmpty: isEmpty, version: version) }
    } catch {
      throw error.storeError(path)
    }
    guard version <= Self.version else { throw .laterSchema(path: path, found: version, supported: Self.version) }
    guard isEmpty || version >= oldestVersion else {
      throw .earlierSchema(path: path, found: version, supported: Self.version)
    }
  }

  /// Whether the file is a store that this build reads; throws when it is none.
  static func check(_ connection: SQLiteConnection, path: String) throws(SQLiteConnection.Failure) {
    let version = try connection.number("PRAGMA user_version")
    guard try connection.number("PRAGMA application_id") == applicationID else {
      throw SQLiteConnection.Failure(code: SQLITE_NOTADB, description: "it is no store of widgetpush")
    }
    guard (oldestVersion...Self.version).contains(version) else {
      throw SQLiteConnection.Failure(
        code: SQLITE_NOTADB, description: "it has schema \(version), and this build knows \(oldestVersion) to \(Self.version)")
    }
  }

  private static func setUp(_ connection: SQLiteConnection, isEmpty: Bool, version: Int) throws(SQLiteConnection.Failure) {
    // Debian's SQLite would write zeros over every page that the journal gives back, which doubles what folding writes.
    try connection.run("PRAGMA page_size=\(pageBytes)")
    // It says which mode holds, and fails in no other way.
    let mode = try connection.text("PRAGMA journal_mode=WAL")
    guard mode == "wal" else {
      let description = "its folder is none where a write-ahead log can be (journal_mode \(mode ?? "unknown"))"
      throw SQLiteConnection.Failure(code: SQLITE_CANTOPEN, description: description)
    }
    try connection.run(
      "PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=0; PRAGMA cache_size=-16384; PRAGMA secure_delete=OFF")
    if !isEmpty, version < Self.version {
      try connection.run("BEGIN IMMEDIATE; \(broadcastTables) PRAGMA user_version=\(Self.version); COMMIT")
    }
    guard isEmpty else { return try connection.run(laterTables) }
    try connection.run(
      "BEGIN IMMEDIATE; \(tables) PRAGMA application_id=\(applicationID); PRAGMA user_version=\(Self.version); COMMIT")
  }
}

extension SQLiteConnection.Failure {
  /// What it means for the store.
  func storeError(_ path: String) -> StoreError {
    switch code & 0xFF {
    case SQLITE_CORRUPT, SQLITE_NOTADB: .corrupt(path: path, description)
    default: .engine("\(path): \(description)")
    }
  }
}
