/// The statements of a commit, prepared once.
struct SQLiteCommit {
  var begin, end, rollback: SQLiteStatement
  var journal, trim, tokenPage, logPage, dropLogPages, refusedPage, dropRefusedPages, word, route, budgets: SQLiteStatement

  init(_ connection: SQLiteConnection) throws(SQLiteConnection.Failure) {
    begin = try connection.prepare("BEGIN IMMEDIATE")
    end = try connection.prepare("COMMIT")
    rollback = try connection.prepare("ROLLBACK")
    journal = try connection.prepare("INSERT INTO journal(number, data) VALUES(?, ?)")
    trim = try connection.prepare("DELETE FROM journal WHERE number <= ?")
    tokenPage = try connection.prepare("INSERT OR REPLACE INTO token_page(number, data) VALUES(?, ?)")
    logPage = try connection.prepare("INSERT OR REPLACE INTO log_page(number, data) VALUES(?, ?)")
    dropLogPages = try connection.prepare("DELETE FROM log_page WHERE number < ?")
    refusedPage = try connection.prepare("INSERT OR REPLACE INTO refused_page(number, data) VALUES(?, ?)")
    dropRefusedPages = try connection.prepare("DELETE FROM refused_page WHERE number < ?")
    word = try connection.prepare("INSERT OR REPLACE INTO word(word, number) VALUES(?, ?)")
    route = try connection.prepare("INSERT INTO route(number, bundle, environment, upstream) VALUES(?, ?, ?, ?)")
    budgets = try connection.prepare("INSERT OR REPLACE INTO app_budget(bundle, data) VALUES(?, ?)")
  }
}
