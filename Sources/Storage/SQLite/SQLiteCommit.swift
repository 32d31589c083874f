import Push

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

extension Commit {
  /// The most pages that it may add to the write-ahead log: each row is reckoned with pages of its own, and with those above it in its
  /// table and indexes.
  func pagesMax(of pageBytes: Int) -> Int {
    var bytes = journal.count
    for page in tokenPages { bytes += page.bytes.count }
    for page in logPages { bytes += page.bytes.count }
    for page in refusedPages { bytes += page.bytes.count }
    for payload in payloads?.kept ?? [] { bytes += payload.bytes.count }
    var rows = routes.count + budgets.count + registrations.count + broadcasts.count + errands.count
    rows += tokenPages.count + logPages.count + refusedPages.count + (payloads?.kept.count ?? 0)
    let freed = trimJournalThrough == nil ? 0 : Limits.journalTrimBytes / pageBytes
    // Words are few and short: all of them fit a page or two.
    return 2 * bytes / pageBytes + 8 * rows + words.count / 8 + freed + 64
  }
}
