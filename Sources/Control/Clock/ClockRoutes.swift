import Configuration
import JSON
import Primitives

/// `/v1/clock`, the same at a gateway and at a mock device.
public struct ClockRoutes: Sendable {
  private let driver: ClockDriver

  /// The routes to `driver`.
  public init(_ driver: ClockDriver) { self.driver = driver }

  /// Every route.
  public var routes: [Route] {
    [
      Route(.get, "/v1/clock", .scope(.read), show), Route(.put, "/v1/clock", .scope(.admin), set),
      Route(.post, "/v1/clock/advance", .scope(.admin), advance),
    ]
  }

  @Sendable private func show(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    try routed.request.query.reader().finish()
    return .json(await driver.report().json(for: routed.grant))
  }

  /// `{"now"?: TIME, "frozen"?: BOOL}`.
  @Sendable private func set(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    try checkReach(routed)
    let (now, isFrozen) = try routed.request.readJSON { reader throws(FieldError) in
      let now = try reader.optionalString("now").map { text throws(FieldError) in try Self.instant(text, "now", reader) }
      let isFrozen = try reader.optionalBool("frozen")
      guard now != nil || isFrozen != nil else { throw reader.error("now", "or frozen must be given, or both") }
      return (now, isFrozen)
    }
    if let now { return .json(try await driver.move(.to(now), thenFrozen: isFrozen).json(for: routed.grant)) }
    return .json(try await driver.setFrozen(isFrozen ?? true).json(for: routed.grant))
  }

  /// `{"by": SPAN}`, `{"to": "next"}` or `{"to": TIME}`.
  @Sendable private func advance(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    try checkReach(routed)
    let goal = try routed.request.readJSON { reader throws(FieldError) -> ClockDriver.Goal in
      let by = try reader.optionalString("by")
      let to = try reader.optionalString("to")
      switch (by, to) {
      case (let by?, nil):
        guard let span = parseDuration(by) else {
          throw reader.error("by", "must be a length of time such as 500ms, 10s, 5m, 8h or 1d, not \"\(by)\"")
        }
        return .by(span)
      case (nil, "next"?): return .next
      case (nil, let to?): return .to(try Self.instant(to, "to", reader))
      default: throw reader.error("by", "or to must be given; one of them")
      }
    }
    return .json(try await driver.move(goal).json(for: routed.grant))
  }

  private static func instant(_ text: String, _ field: String, _ reader: JSONReader) throws(FieldError) -> Instant {
    guard let instant = Instant(rfc3339: text) else {
      throw reader.error(field, "must be a time such as 2027-01-31T12:00:00Z, not \"\(text)\"")
    }
    return instant
  }

  /// The clock is one for all apps.
  private func checkReach(_ routed: RoutedRequest) throws(ControlError) {
    guard routed.grant.bundleIDs == nil else {
      throw .forbidden("the clock is that of every app, and the access token \"\(routed.grant.name)\" is limited to some")
    }
  }
}
