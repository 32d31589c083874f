import Control
import Primitives
import Push

extension AppDirectory {
  /// That none of these apps has this bundle id, and what would help.
  func unknownApp(_ bundleID: String) -> ControlError {
    let hint =
      nearestName(to: bundleID, among: bundleIDs).map { "did you mean \"\($0)\"?" }
      ?? "add it with PUT /v1/apps/\(bundleID), with --app at the start of dev, or under apps in the configuration"
    return .badRequest("bundleID \"\(bundleID)\" is not an app of this gateway; \(hint)", field: "bundleID")
  }
}
