/// A request on its route.
public struct RoutedRequest: Sendable {
  /// The request.
  public let request: HTTPRequest
  /// What the caller may do and see.
  public let grant: Grant
  private let parameters: [String: String]

  init(request: HTTPRequest, grant: Grant, parameters: [String: String]) {
    self.request = request
    self.grant = grant
    self.parameters = parameters
  }

  /// The value of the pattern's segment `{name}`, percent-decoded; the pattern must have it.
  public subscript(name: String) -> String {
    guard let value = parameters[name] else { preconditionFailure("the route has no {\(name)}") }
    return value
  }
}

/// One method on one path.
public struct Route: Sendable {
  /// Answers a request; what it throws becomes the answer.
  public typealias Handler = @Sendable (RoutedRequest) async throws(ControlError) -> HTTPResponse

  /// The method.
  public let method: HTTPMethod
  /// The form of the path, such as `/v1/pushes/{id}`.
  public let pattern: String
  /// What it asks of the caller.
  public let access: RouteAccess
  /// Whether the scope `admin` does something there that the one it asks for does not, so that calls with it are noted as an administrator's.
  let hasPowersOfAdmin: Bool
  let handler: Handler

  /// A route.
  public init(
    _ method: HTTPMethod, _ pattern: String, _ access: RouteAccess, hasPowersOfAdmin: Bool = false, _ handler: @escaping Handler
  ) {
    self.hasPowersOfAdmin = hasPowersOfAdmin
    self.method = method
    self.pattern = pattern
    self.access = access
    self.handler = handler
  }
}
