public import Primitives
public import Push

/// An API: its routes, and who may use them. Safe to use from any thread.
public struct RouteTable: Sendable {
  /// The routes, in the order in which they are tried.
  public let routes: [Route]
  private let router: Router<Route>
  private let authorizer: Authorizer
  private let now: @Sendable () -> Instant
  private let audit: (@Sendable (AdminCall) -> Void)?
  private let recheck: TimeSpan

  /// A table of these routes; `now` decides whether an access token has expired.
  ///
  /// - Parameters:
  ///   - audit: Told of each call of a route that asks for the scope `admin`, or with it where it has more power, once it is answered.
  ///   - recheck: How often the access tokens of calls that last are looked at again.
  public init(
    _ routes: [Route], authorizer: Authorizer, audit: (@Sendable (AdminCall) -> Void)? = nil,
    recheck: TimeSpan = .milliseconds(Limits.accessRecheckMilliseconds), now: @escaping @Sendable () -> Instant
  ) {
    self.audit = audit
    self.recheck = recheck
    self.routes = routes
    self.authorizer = authorizer
    self.now = now
    router = Router(routes.map { ($0.method, $0.pattern, $0) })
  }

  /// The answer to a request: its route's, or the error that stands in the way.
  public func respond(to request: HTTPRequest) async -> HTTPResponse {
    do throws(ControlError) {
      return try await answer(request)
    } catch {
      return HTTPResponse(error)
    }
  }

  private func answer(_ request: HTTPRequest) async throws(ControlError) -> HTTPResponse {
    switch router.match(request.method, request.segments) {
    case .found(let route, let parameters):
      guard let audit, route.access.asks(for: .admin) || route.hasPowersOfAdmin && isAdmin(request, on: route) else {
        return try await perform(route, request, parameters)
      }
      let caller = authorizer.name(of: request, now: now())
      do throws(ControlError) {
        let response = try await perform(route, request, parameters)
        audit(AdminCall(request, caller: caller, status: response.status, problem: ""))
        return response
      } catch {
        audit(AdminCall(request, caller: caller, status: error.status, problem: error.message))
        throw error
      }
    case .methodNotAllowed(let methods):
      let list = methods.map(\.text).joined(separator: ", ")
      throw ControlError(
        status: 405, code: "methodNotAllowed", message: "\(request.method) is not served at \(request.path); served are \(list)",
        field: "method", fields: ["allow": list])
    case .notFound(let nearest):
      let isOfProviderAPI = ["/3/", "/4/", "/1/apps/"].contains { request.path.hasPrefix($0) }
      let hint =
        isOfProviderAPI
        ? "; pushes and channels are for the provider API, whose port is another" : nearest.map { "; did you mean \($0)?" } ?? ""
      throw ControlError(status: 404, code: "unknownRoute", message: "there is nothing at \(request.path)\(hint)", field: "path")
    }
  }

  private func isAdmin(_ request: HTTPRequest, on route: Route) -> Bool {
    (try? authorizer.grant(request, for: route.access, now: now()))?.permits(.admin) == true
  }

  /// Has the route's handler answer for as long as the access token is good for it.
  private func perform(_ route: Route, _ request: HTTPRequest, _ parameters: [String: String]) async throws(ControlError) -> HTTPResponse {
    let grant = try authorizer.grant(request, for: route.access, now: now())
    let routed = RoutedRequest(request: request, grant: grant, parameters: parameters)
    switch route.access {
    case .open, .localhost: return try await route.handler(routed)
    case .scope, .localScope: break
    }
    request.caller.admit(grant.name)
    let watch = GrantWatch(
      problem: { [authorizer, now] in authorizer.problem(request, for: route.access, since: grant, now: now()) }, interval: recheck)
    // Whatever waits for longer than a moment is told so by this parameter.
    let mayWait = request.query.parameters.contains { $0.name == "wait" }
    guard mayWait else {
      var response = try await route.handler(routed)
      response.stream = response.stream.map(watch.over)
      return response
    }
    return try await watch.answering { () async throws(ControlError) in try await route.handler(routed) }
  }
}
