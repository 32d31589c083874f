import Control
import JSON
import Primitives
import Push
import Security
import Storage

extension ControlAPI {
  /// `/v1/pushes`.
  var pushRoutes: [Route] {
    [
      Route(.get, "/v1/pushes/{id}", .scope(.read), push),
      Route(.get, "/v1/pushes", .scope(.read), pushes),
      Route(.post, "/v1/pushes/{id}/outcome", .scope(.register), recordOutcome),
    ]
  }

  @Sendable private func push(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    var reader = routed.request.query.reader()
    let all = try reader.flag("all")
    let after = try cursor(&reader)
    let span = try reader.duration("wait", max: .seconds(Limits.waitSeconds))
    try reader.finish()
    guard all || after == nil else { throw .badRequest("after goes on with a list, so give all=1 too", field: "after") }
    let id = try id(routed)
    let until = span.map { parts.clock.clock.steady + $0 }
    let place = try span.map { _ throws(ControlError) in try parts.waits.take(routed.grant) }
    defer { withExtendedLifetime(place) {} }
    if let broadcasts = try await broadcasts(id, until: until, all: all, routed.grant) { return broadcasts }
    if let span {
      // Until the push has ended, or as long as was asked for; then it is told as it is.
      let query = PushQuery(id: id, visibleBundleIDs: routed.grant.bundleIDs)
      let wait = PushWait(count: 1, until: parts.clock.clock.steady + span)
      _ = try await asking { () async throws(StoreError) in try await parts.store.pushes(matching: query, wait: wait) }
    }
    let records = try await visiblePushes(id, all: all, routed.grant)
    guard all else { return .json(told(records[0]).json) }
    var page = PageBody("pushes")
    let last = page.fill(after.map { after in records.filter { $0.cursor.isBehind(after) } } ?? records) { told($0).json }
    return page.response(last.map { ["next": .string($0.cursor.text(sealing: parts.numbers.text))] } ?? [:])
  }

  /// Where a list of pushes goes on.
  private func cursor(_ reader: inout QueryReader) throws(ControlError) -> PushCursor? {
    try reader.value("after", "the \"next\" of an earlier page") { [numbers = parts.numbers] in
      PushCursor(text: $0) { numbers.number(in: $0) }
    }
  }

  @Sendable private func pushes(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    var reader = routed.request.query.reader()
    var query = try await criteria(&reader, routed.grant)
    query.after = try cursor(&reader)
    query.limit = try reader.integer("limit", in: 1...Limits.pageRows) ?? query.limit
    let span = try reader.duration("wait", max: .seconds(Limits.waitSeconds))
    let count = try reader.integer("count", in: 1...Limits.pageRows)
    try reader.finish()
    if count != nil && span == nil {
      throw .badRequest("count says how many pushes to wait for, so give wait too, such as wait=10s", field: "count")
    }
    let wait = span.map { PushWait(count: count ?? 1, until: parts.clock.clock.steady + $0) }
    guard let wait else {
      return try await parts.pages.pass { [query] () async throws(ControlError) in
        let page = try await asking { () async throws(StoreError) in try await parts.store.pushes(matching: query) }
        return response(page, to: routed.grant, hasWaited: false)
      }
    }
    let place = try parts.waits.take(routed.grant, bundleID: query.bundleID)
    defer { withExtendedLifetime(place) {} }
    let page = try await asking { [query] () async throws(StoreError) in try await parts.store.pushes(matching: query, wait: wait) }
    return response(page, to: routed.grant, hasWaited: true)
  }

  private func response(_ page: PushPage, to grant: Grant, hasWaited: Bool) -> HTTPResponse {
    var body = PageBody("pushes")
    let last = body.fill(page.pushes) { told($0.shown(to: grant)).json }
    var rest: JSONObject = [:]
    rest["next"] = (last?.cursor ?? page.next).map { .string($0.text(sealing: parts.numbers.text)) }
    if hasWaited {
      rest["complete"] = .bool(page.complete)
      rest["matched"] = .integer(Int64(page.matched))
      rest["nearMisses"] = .array(page.nearMisses.map { ["push": $0.push.shown(to: grant).json, "differs": .string($0.differs)] })
    }
    return body.response(rest)
  }

  /// The push; one that waits for its upstream with where that was looked for, as far as the settings of its app tell which it is.
  private func told(_ record: PushRecord) -> PushRecord {
    guard record.disposition == .waiting, record.cause == .upstreamUnavailable, record.detail == nil else { return record }
    let unreachable = parts.unreachable()
    let app = parts.apps.index(of: record.bundleID).map { parts.apps[$0] }
    let names = Set([app?.developmentUpstream, app?.productionUpstream].compactMap(\.self))
    let clauses = names.sorted().compactMap { unreachable[$0] }
    guard !clauses.isEmpty else { return record }
    var record = record
    record.detail = clauses.joined(separator: "; ")
    return record
  }

  /// Which pushes are meant: by token, app, type, what became of them, why, and the reload that they were made for, of those that the caller may see.
  func criteria(_ reader: inout QueryReader, _ grant: Grant) async throws(ControlError) -> PushQuery {
    var query = PushQuery(visibleBundleIDs: grant.bundleIDs)
    let token = try reader.value("token", "hexadecimal with an even number of digits") { DeviceToken(hex: $0) }
    query.bundleID = try reader.text("bundleID")
    query.type = try reader.choice("type", of: PushType.allCases.map(\.description)).flatMap(PushType.init)
    query.disposition = try reader.choice("disposition", of: Disposition.allCases.map(\.name)).flatMap(Disposition.init(name:))
    query.cause = try reader.choice("cause", of: Cause.allCases.filter { $0 != .none }.map(\.name)).flatMap(Cause.init(name:))
    let reload = try reader.value("reload", "the id of a reload, a UUID") { PushID($0) }
    if let token { query.token = try await wholeToken(token, grant) }
    if let reload { query.reload = try await visibleReload(reload, grant).id }
    return query
  }

  /// The registered token that alone begins with `prefix`, where `prefix` is none itself; else `prefix`, which need not be registered.
  private func wholeToken(_ prefix: DeviceToken, _ grant: Grant) async throws(ControlError) -> DeviceToken {
    guard (Self.tokenPrefixBytes..<32).contains(prefix.bytes.count) else { return prefix }
    let query = RegistrationQuery(visibleBundleIDs: grant.bundleIDs, after: prefix, limit: 2)
    let found = try await asking { () async throws(StoreError) in
      try await parts.store.registration(prefix) == nil ? try await parts.store.registrations(query) : []
    }
    let tokens = found.map(\.registration.token).filter { $0.bytes.starts(with: prefix.bytes) }
    guard tokens.count < 2 else {
      throw .badRequest(
        "several registered tokens begin with \(prefix.hex), such as \(tokens[0].hex) and \(tokens[1].hex); give more of the one that is meant",
        field: "token")
    }
    return tokens.first ?? prefix
  }

  /// Bytes of a token that may stand for all of it: fewer are found by chance too easily.
  private static let tokenPrefixBytes = 4

  /// What a device reports of a push that it answered with `pending`.
  @Sendable private func recordOutcome(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    let id = try id(routed)
    let (disposition, cause, detail) = try routed.request.readJSON { reader throws(FieldError) in
      let disposition = Disposition(name: try reader.choice("disposition", of: [Disposition.applied.name, Disposition.ignored.name]))!
      let cause = try reader.optionalChoice("cause", of: Cause.allCases.map(\.name)).flatMap(Cause.init(name:))
      let detail = try reader.optionalString("detail")
      if let detail, detail.utf8.count > Limits.detailBytes {
        throw reader.error("detail", "must have at most \(Limits.detailBytes) bytes, not \(detail.utf8.count)")
      }
      return (disposition, cause ?? .none, detail)
    }
    let records = try await asking { () async throws(StoreError) in try await parts.store.push(id, all: true) }
    // An id that another app has used too is not told apart by the store, so it is nobody's.
    guard let record = records.first, records.allSatisfy({ routed.grant.sees($0.bundleID) }) else { throw unknown(id, to: routed.grant) }
    let isTaken = try await asking { () async throws(StoreError) in
      try await parts.store.recordOutcome(id, disposition, cause: cause, detail: detail) { routed.grant.sees($0) }
    }
    guard isTaken else { throw .conflict("the push is \(record.disposition.name) and takes no outcome any more") }
    return .noContent
  }

  private func id(_ routed: RoutedRequest) throws(ControlError) -> PushID {
    guard let id = PushID(routed["id"]) else {
      throw .badRequest(
        "the apns-id in the path must be a UUID such as 123e4567-e89b-12d3-a456-426655440000, not \"\(routed["id"].prefix(64))\"",
        field: "id")
    }
    return id
  }

  /// The pushes of that id that the caller may see, newest first; at least one.
  private func visiblePushes(_ id: PushID, all: Bool, _ grant: Grant) async throws(ControlError) -> [PushRecord] {
    let records = try await asking { () async throws(StoreError) in try await parts.store.push(id, all: true) }
    let visible = records.filter { grant.sees($0.bundleID) }.map { $0.shown(to: grant) }
    guard let newest = visible.first else { throw unknown(id, to: grant) }
    return all ? visible : [newest]
  }

  /// Why nothing is told of that id. It must not tell whether another app has a push of it.
  func unknown(_ id: PushID, to grant: Grant) -> ControlError {
    let other = grant.bundleIDs.map { ", or it is of another app than \($0.sorted().joined(separator: ", "))" } ?? ""
    return .notFound("no push \(id) is known here; it was sent to another gateway, or so long ago that it is forgotten\(other)")
  }
}
