import Primitives
import Push

/// Reads registrations on a connection of its own, so that a long list does not hold up the store thread.
final class SQLiteRegistrations {
  let connection: SQLiteConnection
  private let one: SQLiteStatement

  static let columns = "token, bundle, kind, environment, upstream, device, user, platform, registered, details"

  init(_ path: String, fileSystem: String?) throws(SQLiteConnection.Failure) {
    connection = try SQLiteConnection(path, isReader: true, fileSystem: fileSystem)
    one = try connection.prepare("SELECT \(Self.columns) FROM registration WHERE token = ?")
  }

  /// The registration of a token.
  func find(_ token: DeviceToken) throws(SQLiteConnection.Failure) -> (Registration, registered: Instant)? {
    one.bind(1, token.bytes)
    defer { one.reset() }
    return try one.step() ? try Self.registration(one) : nil
  }

  /// One page of those that match, by token.
  func list(_ query: RegistrationQuery) throws(SQLiteConnection.Failure) -> [(Registration, registered: Instant)] {
    var conditions: [String] = []
    var texts: [String] = []
    func require(_ column: String, _ value: String?) {
      guard let value else { return }
      texts.append(value)
      conditions.append("\(column) = ?\(texts.count)")
    }
    require("user", query.user)
    require("device", query.device)
    require("bundle", query.bundleID)
    require("kind", query.kind?.name)
    if let visible = query.visibleBundleIDs {
      let places = visible.sorted().map { bundleID in
        texts.append(bundleID)
        return "?\(texts.count)"
      }
      conditions.append("bundle IN (\(places.joined(separator: ", ")))")
    }
    if query.after != nil { conditions.append("token > ?\(texts.count + 1)") }
    let filter = conditions.isEmpty ? "" : "WHERE \(conditions.joined(separator: " AND "))"
    let limit = max(1, min(query.limit, Limits.pageRows))
    let statement = try connection.prepare("SELECT \(Self.columns) FROM registration \(filter) ORDER BY token LIMIT \(limit)")
    for (index, text) in texts.enumerated() { statement.bind(Int32(index + 1), text) }
    if let after = query.after { statement.bind(Int32(texts.count + 1), after.bytes) }
    var (rows, room): ([(Registration, registered: Instant)], Int) = ([], query.bytes)
    while room >= 0, try statement.step() {
      guard let row = try Self.registration(statement) else { continue }
      rows.append(row)
      room -= row.0.bytesOfNames
    }
    return rows
  }

  /// The registration in the present row; nil when its token or kind is none that this build knows.
  static func registration(
    _ row: SQLiteStatement
  ) throws(SQLiteConnection.Failure) -> (Registration, registered: Instant)? {
    guard let token = DeviceToken(bytes: RawSpan(_unsafeBytes: row.blob(0))), let kind = row.text(2).flatMap(TokenKind.init(name:)),
      let environment = row.text(3).flatMap(PushEnvironment.init(name:))
    else { return nil }
    var registration = Registration(token: token, kind: kind, bundleID: row.text(1) ?? "", environment: environment)
    registration.upstream = row.text(4)
    registration.device = row.text(5)
    registration.user = row.text(6)
    registration.platform = row.text(7)
    guard (try? RegistrationDetails.decode(row.blob(9), into: &registration)) != nil else { return nil }
    return (registration, Instant(nanoseconds: Int64(row.int(8))))
  }
}

/// Writes registrations inside the commit that decided them.
final class SQLiteRegistrationWriter {
  private let put: SQLiteStatement
  private let remove: SQLiteStatement

  init(_ connection: SQLiteConnection) throws(SQLiteConnection.Failure) {
    put = try connection.prepare(
      """
      INSERT OR REPLACE INTO registration(token, bundle, kind, environment, upstream, device, user, platform, registered, details)
      VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """)
    remove = try connection.prepare("DELETE FROM registration WHERE token = ?")
  }

  func apply(_ changes: [RegistrationChange]) throws(SQLiteConnection.Failure) {
    for change in changes {
      switch change {
      case .put(let registration, let registered):
        put.bind(1, registration.token.bytes)
        put.bind(2, registration.bundleID)
        put.bind(3, registration.kind.name)
        put.bind(4, registration.environment.name)
        put.bind(5, registration.upstream)
        put.bind(6, registration.device)
        put.bind(7, registration.user)
        put.bind(8, registration.platform)
        put.bind(9, registered.nanoseconds)
        put.bind(10, RegistrationDetails.encode(registration))
        try put.run()
      case .remove(let token):
        remove.bind(1, token.bytes)
        try remove.run()
      }
    }
  }
}
