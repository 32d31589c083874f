import Control
import JSON
import Push
import Storage

extension ControlAPI {
  /// `/v1/reset`, for test suites.
  var resetRoutes: [Route] { [Route(.post, "/v1/reset", .scope(.admin), reset)] }

  /// Forgets pushes and fills budgets, of one app or of all; registrations stay.
  @Sendable private func reset(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    var query = routed.request.query.reader()
    let bundleID = try query.text("bundleID")
    try query.finish()
    if let bundleID {
      guard AppDirectory.isBundleID(bundleID) else {
        throw .badRequest("bundleID must be a bundle id such as com.example.app, not \"\(bundleID.prefix(64))\"", field: "bundleID")
      }
      guard routed.grant.sees(bundleID) else {
        throw .forbidden("the access token \"\(routed.grant.name)\" is not one of the app \"\(bundleID)\"", field: "bundleID")
      }
    } else if routed.grant.bundleIDs != nil {
      throw .forbidden(
        "the access token \"\(routed.grant.name)\" is limited to some apps, and this resets every app; name one in bundleID",
        field: "bundleID")
    }
    let report = try await asking { () async throws(StoreError) in try await parts.store.reset(bundleID) }
    var body: JSONObject = [:]
    body["bundleID"] = bundleID.map(JSONValue.string)
    body["pushes"] = .integer(Int64(report.pushes))
    body["tokens"] = .integer(Int64(report.tokens))
    return .json(.object(body))
  }
}
