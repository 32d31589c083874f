import Control
import Primitives
import Push

extension ControlAPI {
  /// That there is no app of the bundle id in the path, and what would help: of the apps, only those that the caller may see.
  func noSuchApp(_ bundleID: String, _ grant: Grant) -> ControlError {
    let hint = nearestApp(to: bundleID, grant).map { "did you mean \"\($0)\"? If not, " } ?? ""
    return .notFound("the app \"\(bundleID)\" is not known here; \(hint)PUT its settings, or list it under apps in the configuration")
  }

  private func nearestApp(to bundleID: String, _ grant: Grant) -> String? {
    nearestName(to: bundleID, among: parts.apps.bundleIDs.filter(grant.sees))
  }

  /// That no app has this bundle id, and what would help: of the apps, only those that the caller may see.
  func unknownApp(_ bundleID: String, _ grant: Grant) -> ControlError {
    let hint =
      nearestApp(to: bundleID, grant).map { "did you mean \"\($0)\"?" }
      ?? "add it with PUT /v1/apps/\(bundleID), with --app at the start of dev, or under apps in the configuration"
    return .badRequest("bundleID \"\(bundleID)\" is not an app of this gateway; \(hint)", field: "bundleID")
  }
}
