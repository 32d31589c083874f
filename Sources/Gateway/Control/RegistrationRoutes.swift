import Control
import JSON
import Primitives
import Push
import Storage

extension ControlAPI {
  /// `/v1/registrations`.
  var registrationRoutes: [Route] {
    [
      Route(.put, "/v1/registrations/{token}", .scope(.register), register),
      Route(.get, "/v1/registrations/{token}", .scope(.read), registration),
      Route(.delete, "/v1/registrations/{token}", .scope(.register), unregister),
      Route(.get, "/v1/registrations", .scope(.read), registrations),
    ]
  }

  @Sendable private func register(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    let token = try token(routed)
    let (registration, replaced) = try routed.request.readJSON { reader throws(FieldError) in
      (try RegistrationBody.read(&reader, token: token), try RegistrationBody.replaced(&reader))
    }
    try check(registration, routed.grant)
    var taken = replaced
    if let replaced {
      let rotated = try await asking { () async throws(StoreError) in try await parts.store.registration(replaced) }
      // Another app's token is as unknown as one that nobody has.
      if let rotated, !routed.grant.sees(rotated.registration.bundleID) {
        taken = nil
      } else if let rotated, rotated.registration.bundleID != registration.bundleID || rotated.registration.kind != registration.kind {
        throw .conflict("replaces must name a token of the same app and type; the one it names is another's")
      }
    }
    let present = try await asking { () async throws(StoreError) in try await parts.store.registration(token) }
    if let present, !routed.grant.sees(present.registration.bundleID) {
      throw foreignToken(routed.grant)
    }
    let isNew = try await asking { [taken] () async throws(StoreError) in
      try await parts.store.register(registration, replacing: taken, isShared: routed.grant.bundleIDs != nil) { routed.grant.sees($0) }
    }
    parts.recordings.registered(registration, replacing: taken, at: now)
    // No more than was sent: who may only register reads nothing.
    return .json(.object(registration.json), status: isNew ? 201 : 200)
  }

  /// Whether the caller may register that, and the gateway can serve it.
  func check(_ registration: Registration, _ grant: Grant) throws(ControlError) {
    guard grant.sees(registration.bundleID) else {
      throw .forbidden("the access token \"\(grant.name)\" is not one of the app \"\(registration.bundleID)\"", field: "bundleID")
    }
    guard let index = parts.apps.index(of: registration.bundleID) else { throw unknownApp(registration.bundleID, grant) }
    let app = parts.apps[index]
    if let upstream = registration.upstream, !parts.upstreams.contains(upstream) {
      throw .badRequest(
        "upstream must be one of \(parts.upstreams.joined(separator: ", ")), not \"\(upstream)\"", field: "upstream")
    }
    if registration.upstream == nil && app.upstream(registration.environment) == nil {
      throw .badRequest(
        "the app \"\(registration.bundleID)\" has no upstream for environment \"\(registration.environment.name)\"; name one in upstream",
        field: "environment")
    }
    let parameters = app.policy[BudgetKind(of: registration.kind, frequentUpdates: registration.frequentUpdates) ?? .widgets]
    if let own = registration.budget, !grant.permits(.admin) {
      let budget = own.applied(to: parameters)
      guard budget.allowance <= parameters.allowance, budget.burst <= parameters.burst, budget.window >= parameters.window else {
        throw .forbidden(
          "budget must grant no more than the app's (allowance \(parameters.allowance), burst \(parameters.burst), windowSeconds \(parameters.window.seconds)); only an access token with the scope \"admin\" may raise it",
          field: "budget")
      }
    }
    if let interval = registration.minimumInterval, !grant.permits(.admin) {
      let least = parameters.minimumInterval
      guard interval >= least else {
        throw .forbidden(
          "minimumIntervalSeconds must be at least the app's \(least.seconds); only an access token with the scope \"admin\" may shorten it",
          field: "minimumIntervalSeconds")
      }
    }
  }

  @Sendable private func registration(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    .json(try await visibleRegistration(try token(routed), routed.grant).json)
  }

  @Sendable private func unregister(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    let token = try token(routed)
    let bundleID = try await visibleRegistration(token, routed.grant).registration.bundleID
    _ = try await asking { () async throws(StoreError) in try await parts.store.unregister(token) { routed.grant.sees($0) } }
    parts.recordings.unregistered(token, of: bundleID, at: now)
    return .noContent
  }

  @Sendable private func registrations(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    var reader = routed.request.query.reader()
    var query = RegistrationQuery(visibleBundleIDs: routed.grant.bundleIDs)
    query.bundleID = try reader.text("bundleID")
    query.user = try reader.text("user")
    query.device = try reader.text("device")
    query.kind = try reader.choice("type", of: TokenKind.allCases.map(\.name)).flatMap(TokenKind.init(name:))
    query.after = try reader.cursor("after") { bytes in DeviceToken(hex: Hexadecimal.encode(bytes)) }
    query.limit = try reader.integer("limit", in: 1...Limits.pageRows) ?? query.limit
    query.bytes = Limits.pageBytes
    try reader.finish()
    return try await parts.pages.pass { [query] () async throws(ControlError) in
      let records = try await asking { () async throws(StoreError) in try await parts.store.registrations(query) }
      var page = PageBody("registrations")
      var last = page.fill(records, \.json)
      if last == nil, records.count == query.limit || query.isFilled(by: records.map(\.registration)) { last = records.last }
      var rest: JSONObject = [:]
      if let last { rest["next"] = .string(PageCursor.text(of: last.registration.token.bytes)) }
      return page.response(rest)
    }
  }
}
