import Control

/// All that a mock device answers off its loop: its own API, and pushes that did not come over HTTP/2.
struct DeviceAPI: Sendable {
  let routes: RouteTable
  let pushes: PushRoute

  /// The answer to a request.
  func respond(to request: HTTPRequest) async -> HTTPResponse {
    guard request.segments.first == "3" else { return await routes.respond(to: request) }
    do throws(ControlError) {
      return try await pushes.respond(to: request)
    } catch {
      return HTTPResponse(error)
    }
  }
}
