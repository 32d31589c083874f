import CSQLite
import Glibc
import Push

/// One connection to a database file; used by one thread at a time.
final class SQLiteConnection {
  /// What SQLite said, with its own name for it.
  struct Failure: Error, CustomStringConvertible {
    var code: Int32
    var description: String
  }

  let handle: OpaquePointer
  private let path: String

  /// Opens a file, which is made when it is missing and `isReader` is false.
  ///
  /// - Parameter fileSystem: SQLite's name for the way to the disk; nil means the system's own.
  init(_ path: String, isReader: Bool = false, fileSystem: String? = nil) throws(Failure) {
    self.path = path
    var opened: OpaquePointer?
    let mode = isReader ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
    let code = sqlite3_open_v2(Self.resolved(path), &opened, mode | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW, fileSystem)
    guard let opened else { throw Failure(code: code, description: Self.name(code)) }
    handle = opened
    guard code == SQLITE_OK else {
      let failure = failure(code)
      sqlite3_close_v2(opened)
      throw failure
    }
    let codes = [sqlite3_extended_result_codes(handle, 1), sqlite3_busy_timeout(handle, Limits.storeBusyMilliseconds)]
    for code in codes where code != SQLITE_OK {
      let failure = failure(code)
      sqlite3_close_v2(opened)
      throw failure
    }
  }

  /// The path with all links of its folder followed, since SQLite follows none at all: the folder was chosen, and what stands in it was not.
  static func resolved(_ path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return path }
    guard let folder = realpath(slash == path.startIndex ? "/" : String(path[..<slash]), nil) else { return path }
    defer { free(folder) }
    let text = String(cString: folder)
    return (text == "/" ? "" : text) + path[slash...]
  }

  // It answers SQLITE_OK always: a statement that is still there keeps the connection until it goes itself.
  deinit { sqlite3_close_v2(handle) }

  /// Runs statements that give no rows and take no values.
  func run(_ sql: String) throws(Failure) {
    let code = sqlite3_exec(handle, sql, nil, nil, nil)
    guard code == SQLITE_OK else { throw failure(code) }
  }

  /// A statement to be run many times.
  func prepare(_ sql: String) throws(Failure) -> SQLiteStatement {
    var statement: OpaquePointer?
    let code = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
    guard code == SQLITE_OK, let statement else { throw failure(code) }
    return SQLiteStatement(statement, self)
  }

  /// The first column of the first row, as a number; 0 when there is none.
  func number(_ sql: String) throws(Failure) -> Int {
    let statement = try prepare(sql)
    return try statement.step() ? statement.int(0) : 0
  }

  /// The first column of the first row, as text; nil when there is none.
  func text(_ sql: String) throws(Failure) -> String? {
    let statement = try prepare(sql)
    return try statement.step() ? statement.text(0) : nil
  }

  /// Whether a transaction is open.
  var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

  /// What the last call on this connection said.
  func failure(_ code: Int32) -> Failure {
    Failure(code: code, description: "\(String(cString: sqlite3_errmsg(handle))) (\(Self.name(code)))")
  }

  /// SQLite's own name of a result code.
  private static func name(_ code: Int32) -> String {
    switch code & 0xFF {
    case SQLITE_FULL: "SQLITE_FULL"
    case SQLITE_IOERR: "SQLITE_IOERR, \(code)"
    case SQLITE_BUSY: "SQLITE_BUSY"
    case SQLITE_LOCKED: "SQLITE_LOCKED"
    case SQLITE_CORRUPT: "SQLITE_CORRUPT"
    case SQLITE_NOTADB: "SQLITE_NOTADB"
    case SQLITE_CANTOPEN: "SQLITE_CANTOPEN"
    case SQLITE_READONLY: "SQLITE_READONLY"
    case SQLITE_NOMEM: "SQLITE_NOMEM"
    default: "SQLite code \(code)"
    }
  }
}
