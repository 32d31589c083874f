import CSQLite

/// A prepared statement; its connection lives as long as it does.
final class SQLiteStatement {
  private let handle: OpaquePointer
  private let connection: SQLiteConnection
  /// The first code that was no success, of what has been bound and read since the last step.
  private var failed = SQLITE_OK

  init(_ handle: OpaquePointer, _ connection: SQLiteConnection) {
    self.handle = handle
    self.connection = connection
  }

  deinit { sqlite3_finalize(handle) }

  /// Binds a number to parameter `index`, from 1.
  func bind(_ index: Int32, _ value: Int64) { keep(sqlite3_bind_int64(handle, index, value)) }

  /// Binds text, or NULL.
  func bind(_ index: Int32, _ value: String?) {
    guard var value else { return keep(sqlite3_bind_null(handle, index)) }
    let code = value.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { text in
        // An empty string has no address, which SQLite would take for NULL.
        guard let start = text.baseAddress else { return sqlite3_bind_text(handle, index, "", 0, Self.copied) }
        return sqlite3_bind_text(handle, index, start, Int32(text.count), Self.copied)
      }
    }
    keep(code)
  }

  /// Binds bytes without copying them; they stay until the statement has been stepped.
  func bind(_ index: Int32, borrowing bytes: UnsafeRawBufferPointer) {
    guard let start = bytes.baseAddress, !bytes.isEmpty else { return keep(sqlite3_bind_zeroblob(handle, index, 0)) }
    keep(sqlite3_bind_blob64(handle, index, start, UInt64(bytes.count), nil))
  }

  /// Binds a copy of bytes.
  func bind(_ index: Int32, _ bytes: [UInt8]) {
    let code = bytes.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress, !bytes.isEmpty else { return sqlite3_bind_zeroblob(handle, index, 0) }
      return sqlite3_bind_blob64(handle, index, start, UInt64(bytes.count), Self.copied)
    }
    keep(code)
  }

  /// Keeps the first thing that went wrong with a parameter or a column, for the next step to throw.
  private func keep(_ code: Int32) {
    if code != SQLITE_OK, failed == SQLITE_OK { failed = code }
  }

  /// Goes to the next row; false when there is none, and the statement is ready for its next run.
  ///
  /// Throws as well what went wrong with the parameters and columns before it.
  func step() throws(SQLiteConnection.Failure) -> Bool {
    guard failed == SQLITE_OK else {
      let failure = connection.failure(failed)
      failed = SQLITE_OK
      reset()
      throw failure
    }
    switch sqlite3_step(handle) {
    case SQLITE_ROW: return true
    case SQLITE_DONE:
      reset()
      return false
    case let code:
      let failure = connection.failure(code)
      reset()
      throw failure
    }
  }

  /// Runs a statement that gives no rows.
  func run() throws(SQLiteConnection.Failure) {
    while try step() {}
  }

  /// Abandons the rows that have not been read. What it returns is what the last step has thrown already.
  func reset() { sqlite3_reset(handle) }

  /// A column of the row, from 0, as a number.
  func int(_ column: Int32) -> Int { Int(sqlite3_column_int64(handle, column)) }

  /// A column of the row as text; nil when it is NULL.
  func text(_ column: Int32) -> String? {
    guard sqlite3_column_type(handle, column) != SQLITE_NULL else { return nil }
    guard let start = sqlite3_column_text(handle, column) else {
      keep(SQLITE_NOMEM)
      return nil
    }
    let count = Int(sqlite3_column_bytes(handle, column))
    return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  }

  /// A column of the row as bytes, valid until the next step.
  func blob(_ column: Int32) -> UnsafeRawBufferPointer {
    let start = sqlite3_column_blob(handle, column)
    let count = Int(sqlite3_column_bytes(handle, column))
    // No address and some bytes: there was no memory for them.
    guard start != nil || count == 0 else {
      keep(SQLITE_NOMEM)
      return UnsafeRawBufferPointer(start: nil, count: 0)
    }
    return UnsafeRawBufferPointer(start: start, count: count)
  }

  /// SQLITE_TRANSIENT, a macro that Swift cannot import: SQLite makes a copy.
  private static var copied: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }
}
