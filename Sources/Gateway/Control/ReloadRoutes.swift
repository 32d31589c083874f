import Control
import JSON
import Primitives
import Push
import Security
import Storage

extension ControlAPI {
  /// `/v1/reloads`.
  var reloadRoutes: [Route] {
    [
      Route(.post, "/v1/reloads", .scope(.reload), beginReload),
      Route(.get, "/v1/reloads", .scope(.reload), reloads),
      Route(.get, "/v1/reloads/{id}", .scope(.reload), reload),
      Route(.delete, "/v1/reloads/{id}", .scope(.reload), stopReload),
    ]
  }

  /// Begins a reload, or tells what it would do.
  @Sendable private func beginReload(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    var (request, isDryRun) = try routed.request.readJSON { reader throws(FieldError) in try ReloadBody.read(&reader) }
    try checkApp(request.selector.bundleID, routed.grant)
    if isDryRun {
      let selector = request.selector
      let place = try parts.forecasts.take(routed.grant, bundleID: selector.bundleID)
      defer { withExtendedLifetime(place) {} }
      return .json(try await asking { () async throws(StoreError) in try await parts.store.forecastReload(selector) }.json(selector))
    }
    request.key = try Self.idempotencyKey(routed.request)
    request.caller = routed.grant.name
    let answer = try await asking { [request] () async throws(StoreError) in try await parts.store.beginReload(request) }
    switch answer {
    case .begun(let reload), .repeated(let reload):
      var response = HTTPResponse.json(reload.json, status: 202)
      response.fields.append("location", "/v1/reloads/\(reload.id)")
      return response
    case .keyInUse(let id):
      throw ControlError(
        status: 422, code: "idempotencyKeyInUse",
        message: "this Idempotency-Key stands for the reload \(id), which asks for something else; take a new key for a new request",
        field: "idempotency-key")
    case .tooMany(let refusal):
      throw ControlError(
        status: 429, code: "tooManyReloads",
        message: "\(refusal.sentence("reloads that run")); wait for one to finish, or stop one with DELETE /v1/reloads/ID",
        fields: ["retry-after": "1"])
    }
  }

  @Sendable private func reload(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    .json(try await visibleReload(routed).json)
  }

  /// The reloads of the apps that the caller sees, newest first.
  @Sendable private func reloads(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    var reader = routed.request.query.reader()
    let bundleID = try reader.text("bundleID")
    let state = try reader.choice("state", of: Reload.State.allCases.map(\.name)).flatMap { name in
      Reload.State.allCases.first { $0.name == name }
    }
    let before = try reader.value("after", "the \"next\" of an earlier page") { [numbers = parts.numbers] in
      numbers.number(in: $0).map { UInt32(clamping: $0) }
    }
    let limit = try reader.integer("limit", in: 1...Limits.pageRows) ?? 100
    try reader.finish()
    return try await parts.pages.pass { () async throws(ControlError) in
      let page = try await asking { () async throws(StoreError) in
        try await parts.store.reloads(
          bundleID: bundleID, visibleBundleIDs: routed.grant.bundleIDs, state: state, before: before, limit: limit)
      }
      var body = PageBody("reloads", bytesMax: .max)
      _ = body.fill(page.reloads, \.json)
      var rest: JSONObject = [:]
      rest["next"] = page.next.map { .string(parts.numbers.text(of: UInt64($0))) }
      return body.response(rest)
    }
  }

  /// Stops a reload; one that has ended stays as it is.
  @Sendable private func stopReload(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    let id = try await visibleReload(routed).id
    _ = try await asking { () async throws(StoreError) in try await parts.store.stopReload(id) }
    return .noContent
  }

  private func visibleReload(_ routed: RoutedRequest) async throws(ControlError) -> Reload {
    guard let id = PushID(routed["id"]) else {
      throw .badRequest(
        "the reload's id in the path must be a UUID such as 123e4567-e89b-12d3-a456-426655440000, not \"\(routed["id"].prefix(64))\"",
        field: "id")
    }
    return try await visibleReload(id, routed.grant)
  }

  /// The reload of that id, if the caller may see it.
  func visibleReload(_ id: PushID, _ grant: Grant) async throws(ControlError) -> Reload {
    let reload = try await asking { () async throws(StoreError) in try await parts.store.reload(id) }
    guard let reload, grant.sees(reload.request.selector.bundleID) else {
      throw .notFound("no reload \(id) is known here; it was asked of another gateway, or so long ago that it is forgotten")
    }
    return reload
  }

  /// Whether the caller may do something for that app, and the gateway knows it.
  func checkApp(_ bundleID: String, _ grant: Grant) throws(ControlError) {
    guard grant.sees(bundleID) else {
      throw .forbidden("the access token \"\(grant.name)\" is not one of the app \"\(bundleID)\"", field: "bundleID")
    }
    guard AppDirectory.isBundleID(bundleID) else {
      throw .badRequest("bundleID must be a bundle id such as com.example.app, not \"\(bundleID.prefix(64))\"", field: "bundleID")
    }
    if parts.apps.index(of: bundleID) == nil { throw unknownApp(bundleID, grant) }
  }

  /// The caller's name for a request that it may send twice.
  private static func idempotencyKey(_ request: HTTPRequest) throws(ControlError) -> String? {
    let values = request.fields.all("idempotency-key")
    guard let key = values.first else { return nil }
    guard values.count == 1, !key.isEmpty, key.utf8.count <= Limits.idempotencyKeyBytes, key.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
    else {
      throw .badRequest(
        "Idempotency-Key must be one line of 1 to \(Limits.idempotencyKeyBytes) visible ASCII characters, such as a UUID",
        field: "idempotency-key")
    }
    return key
  }
}
