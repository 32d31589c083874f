import Control
import Primitives
import Push

extension ControlAPI {
  /// That no app has this bundle id, and what would help: of the apps, only those that the caller may see.
  func unknownApp(_ bundleID: String, _ grant: Grant) -> ControlError {
    let hint =
      nearestName(to: bundleID, among: parts.apps.bundleIDs.filter(grant.sees)).map { "did you mean \"\($0)\"?" }
      ?? "add it with PUT /v1/apps/\(bundleID), with --app at the start of dev, or under apps in the configuration"
    return .badRequest("bundleID \"\(bundleID)\" is not an app of this gateway; \(hint)", field: "bundleID")
  }
}
