import Primitives
import Push

// The tokens that a reload is for, a page at a time: never more rows than asked for, whatever matches, and of most no more than their
// names are read.
extension SQLiteRegistrations {
  func page(
    _ selector: ReloadSelector, from position: ReloadPosition, rows: Int, tokens: Int
  ) throws(SQLiteConnection.Failure) -> ReloadPage {
    guard let walk = ReloadWalk(selector, position) else { return ReloadPage(tokens: [], next: nil) }
    let (condition, name) = walk.condition
    let after = position.after?.bytes ?? []
    let statement = try connection.prepare(
      "SELECT \(Self.columns) FROM registration WHERE token > ?1 \(condition) ORDER BY token LIMIT \(rows)")
    statement.bind(1, after)
    if let name { statement.bind(2, name) }
    var page = ReloadPage(tokens: [], next: walk.next)
    var looked = 0
    while try statement.step() {
      looked += 1
      guard let token = DeviceToken(bytes: RawSpan(_unsafeBytes: statement.blob(0))) else { continue }
      if try matches(statement, selector) { page.tokens.append(token) }
      guard page.tokens.count < tokens, looked < rows else {
        page.next = ReloadPosition(list: position.list, after: token)
        break
      }
    }
    statement.reset()
    return page
  }

  private func matches(_ row: SQLiteStatement, _ selector: ReloadSelector) throws(SQLiteConnection.Failure) -> Bool {
    guard row.text(1) == selector.bundleID, let kind = row.text(2).flatMap(TokenKind.init(name:)), selector.isFor(kind),
      ReloadSelector.allows(selector.users, row.text(6)), ReloadSelector.allows(selector.devices, row.text(5))
    else { return false }
    guard selector.namesKinds else { return true }
    return try Self.registration(row).map { selector.matchesKinds(of: $0.0) } ?? false
  }
}

extension ReloadWalk {
  /// The condition that finds the list's rows by an index, and what its parameter 2 stands for.
  fileprivate var condition: (String, String?) {
    switch along {
    case .all: ("", nil)
    case .user(let name): ("AND user = ?2", name)
    case .device(let name): ("AND device = ?2", name)
    }
  }
}
