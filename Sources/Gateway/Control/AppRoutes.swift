import Control
import JSON
import Push

extension ControlAPI {
  /// `/v1/apps`, where the gateway's apps can be changed at run time.
  var appRoutes: [Route] {
    guard parts.settings != nil else { return [] }
    return [
      Route(.get, "/v1/apps/{bundleID}", .scope(.read), app), Route(.put, "/v1/apps/{bundleID}", .scope(.admin), setApp),
      Route(.delete, "/v1/apps/{bundleID}", .scope(.admin), resetApp),
    ]
  }

  @Sendable private func app(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    .json(try view(try visibleBundleID(routed)))
  }

  /// Sets what the body has, in place of all that was set at run time before; the rest is as configured.
  @Sendable private func setApp(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    let bundleID = try visibleBundleID(routed)
    let settings = try routed.request.readJSON { reader throws(FieldError) in try AppSettings(&reader) }
    let isNew = try change(bundleID, settings)
    return .json(try view(bundleID), status: isNew ? 201 : 200)
  }

  @Sendable private func resetApp(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    let bundleID = try visibleBundleID(routed)
    guard settings.hasSet(bundleID) else {
      throw .notFound("nothing was set for the app \"\(bundleID)\" at run time; what the configuration has is changed there")
    }
    _ = try change(bundleID, nil)
    return .noContent
  }

  private var settings: LiveSettings {
    guard let settings = parts.settings else { preconditionFailure("the routes are there only with settings") }
    return settings
  }

  private func change(_ bundleID: String, _ wanted: AppSettings?) throws(ControlError) -> Bool {
    switch settings.set(bundleID, wanted) {
    case .made(let isNew):
      parts.recordings.changed(app: bundleID, at: now)
      return isNew
    case .refused(let error): throw ControlError(error)
    case .full: throw .conflict("there are \(Limits.apps) apps, which is the most")
    case .tooMuch(let bytes):
      throw .conflict(
        "the settings of all apps together would have \(bytes) bytes, and \(Limits.savedAppsBytes) are kept; shorten contentStates of this app, or delete apps that are not needed"
      )
    case .notKept(let reason): throw .unavailable("the settings cannot be kept, so nothing was changed: \(reason)")
    }
  }

  private func view(_ bundleID: String) throws(ControlError) -> JSONValue {
    let view: JSONValue?
    do throws(FieldError) {
      view = try settings.view(bundleID)
    } catch {
      throw .conflict("what was set for the app does not go with the configuration any more: \(error.message)")
    }
    guard let view else {
      throw .notFound("the app \"\(bundleID)\" is not known here; list it under apps in the configuration, or PUT its settings")
    }
    return view
  }

  private func visibleBundleID(_ routed: RoutedRequest) throws(ControlError) -> String {
    let bundleID = routed["bundleID"]
    guard AppDirectory.isBundleID(bundleID) else {
      throw .badRequest(
        "the app in the path must be a bundle id such as com.example.app, not \"\(bundleID.prefix(64))\"", field: "bundleID")
    }
    guard routed.grant.sees(bundleID) else {
      throw .forbidden("the access token \"\(routed.grant.name)\" is not one of the app \"\(bundleID)\"", field: "bundleID")
    }
    return bundleID
  }
}
