import CSQLite

/// Payloads of logged pushes in the database, written inside the commit that took them in, and read one by one.
final class SQLitePayloads {
  /// The oldest that go in one step where there is no room.
  private static let stepRows = 64

  private let put, forget, forgetOldest, drop, read, sum, clear: SQLiteStatement
  /// Bytes of all, with what each counts beside; nil where that has to be found out.
  private var bytes: Int?

  init(_ connection: SQLiteConnection) throws(SQLiteConnection.Failure) {
    put = try connection.prepare("INSERT OR REPLACE INTO payload(number, data) VALUES(?, ?)")
    forget = try connection.prepare("DELETE FROM payload WHERE number = ? RETURNING length(data)")
    drop = try connection.prepare("DELETE FROM payload WHERE number < ? RETURNING length(data)")
    forgetOldest = try connection.prepare(
      "DELETE FROM payload WHERE number IN (SELECT number FROM payload ORDER BY number LIMIT \(Self.stepRows)) RETURNING length(data)")
    read = try connection.prepare("SELECT data FROM payload WHERE number = ?")
    sum = try connection.prepare("SELECT coalesce(sum(length(data) + \(PayloadChange.overheadBytes)), 0) FROM payload")
    clear = try connection.prepare("DELETE FROM payload")
  }

  func apply(_ change: PayloadChange) throws(SQLiteConnection.Failure) {
    var bytes = try size()
    // Until this is through, another commit could not rely on it.
    self.bytes = nil
    drop.bind(1, Int64(change.oldest))
    bytes -= try freed(by: drop)
    for number in change.forgotten {
      forget.bind(1, Int64(number))
      bytes -= try freed(by: forget)
    }
    for (number, payload) in change.kept {
      put.bind(1, Int64(number))
      put.bind(2, borrowing: payload)
      try put.run()
      bytes += payload.count + PayloadChange.overheadBytes
    }
    while bytes > change.bytesMax {
      let freed = try freed(by: forgetOldest)
      guard freed > 0 else { break }
      bytes -= freed
    }
    self.bytes = bytes
  }

  /// The commit that `apply` was part of has not happened.
  func undo() { bytes = nil }

  /// The payload of a push, if it is kept.
  func payload(of number: UInt64) throws(SQLiteConnection.Failure) -> [UInt8]? {
    read.bind(1, Int64(number))
    defer { read.reset() }
    return try read.step() ? Array(read.blob(0)) : nil
  }

  /// Forgets all.
  func removeAll() throws(SQLiteConnection.Failure) {
    try clear.run()
    bytes = 0
  }

  /// Bytes of all, with what each counts beside.
  private func size() throws(SQLiteConnection.Failure) -> Int {
    if let bytes { return bytes }
    defer { sum.reset() }
    return try sum.step() ? sum.int(0) : 0
  }

  /// Runs a statement to its end; what the rows that it gives back counted.
  private func freed(by statement: SQLiteStatement) throws(SQLiteConnection.Failure) -> Int {
    defer { statement.reset() }
    var bytes = 0
    while try statement.step() { bytes += statement.int(0) + PayloadChange.overheadBytes }
    return bytes
  }
}

extension SQLiteEngine {
  /// The payload of a push, if it is kept.
  public func payload(of number: UInt64) throws(StoreError) -> [UInt8]? {
    do throws(SQLiteConnection.Failure) { return try payloads.payload(of: number) } catch { throw error.storeError(description) }
  }

  /// Forgets every payload.
  public func dropPayloads() throws(StoreError) {
    do throws(SQLiteConnection.Failure) { try payloads.removeAll() } catch { throw error.storeError(description) }
  }
}
