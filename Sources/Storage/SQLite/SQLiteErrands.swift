/// Errands in the database, written inside the commit that decided them.
final class SQLiteErrands {
  private let put, progress, forget: SQLiteStatement

  init(_ connection: SQLiteConnection) throws(SQLiteConnection.Failure) {
    put = try connection.prepare("INSERT OR REPLACE INTO errand(number, fixed, progress) VALUES(?, ?, ?)")
    progress = try connection.prepare("UPDATE errand SET progress = ?2 WHERE number = ?1")
    forget = try connection.prepare("DELETE FROM errand WHERE number = ?")
  }

  func apply(_ changes: [ErrandChange]) throws(SQLiteConnection.Failure) {
    for change in changes {
      switch change {
      case .put(let number, let fixed, let bytes):
        put.bind(1, Int64(number))
        put.bind(2, fixed)
        put.bind(3, bytes)
        try put.run()
      case .progress(let number, let bytes):
        progress.bind(1, Int64(number))
        progress.bind(2, bytes)
        try progress.run()
      case .forget(let number):
        forget.bind(1, Int64(number))
        try forget.run()
      }
    }
  }
}
