import Control
import DeviceModel
import JSON
import Push

/// The route that has a test begin afresh.
struct ResetRoutes: Sendable {
  let door: FleetDoor

  var routes: [Route] { [Route(.post, "/v1/reset", .scope(.admin), reset)] }

  private func reset(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    var query = routed.request.query.reader()
    let bundleID = try query.text("bundleID")
    try query.finish()
    if let bundleID, !AppDirectory.isBundleID(bundleID) {
      throw .badRequest("bundleID must be a bundle id such as com.example.app, not \"\(bundleID.prefix(64))\"", field: "bundleID")
    }
    if let bundleID { try routed.requireApp(bundleID) } else { try routed.requireAllApps("resets every app; name one in bundleID") }
    let events = try await door.perform { fleet, _ in fleet.reset(bundleID) }
    var body: JSONObject = [:]
    body["bundleID"] = bundleID.map(JSONValue.string)
    body["events"] = .integer(Int64(events))
    return .json(.object(body))
  }
}
