import Control
import JSON
import Push

extension ControlAPI {
  /// `/v1/apps`, where the gateway's apps can be changed at run time.
  var appRoutes: [Route] {
    guard parts.settings != nil else { return [] }
    return [
      Route(.get, "/v1/apps/{bundleID}", .scope(.read), app), Route(.put, "/v1/apps/{bundleID}", .scope(.admin), setApp),
      Route(.patch, "/v1/apps/{bundleID}", .scope(.admin), patchApp),
      Route(.delete, "/v1/apps/{bundleID}", .scope(.admin), resetApp),
    ]
  }

  @Sendable private func app(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    .json(try view(try visibleBundleID(routed)))
  }

  /// Sets what the body has, in place of all that was set at run time before, and names what is not set any more; the rest is as
  /// configured. Schemas stay where the body has none.
  @Sendable private func setApp(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    let bundleID = try visibleBundleID(routed)
    let old = settings.settings(of: bundleID) ?? AppSettings()
    let wanted = try routed.request.readJSON { reader throws(FieldError) in
      var wanted = try AppSettings(&reader)
      if reader.members["contentStates"] == nil, reader.members["schemas"] == nil { wanted.schemas = old.schemas }
      return wanted
    }
    let isNew = try change(bundleID, wanted)
    return .json(try view(bundleID, dropped: old.fields.subtracting(wanted.fields)), status: isNew ? 201 : 200)
  }

  /// Sets what the body has, and takes back what is `null` in it; all else that was set stays (RFC 7396).
  @Sendable private func patchApp(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    let bundleID = try visibleBundleID(routed)
    guard var patch = try routed.request.json().objectValue else { throw .badRequest("body must be a JSON object") }
    // The schemas of content-states alone are kept with the others.
    if let states = patch["contentStates"] {
      patch["contentStates"] = nil
      var schemas = patch["schemas"]?.objectValue ?? [:]
      for (type, state) in states.objectValue ?? [:] { schemas[type] = state.isNull ? .null : ["contentState": state] }
      patch["schemas"] = states.isNull ? .null : .object(schemas)
    }
    let wanted: AppSettings
    do throws(FieldError) {
      // By itself, so that an unknown field is told although it is null.
      var spoken: JSONObject = [:]
      for (key, value) in patch { spoken[key] = value.objectValue.map { .object(JSONObject().patched(by: $0)) } ?? value }
      var own = try JSONReader(.object(spoken))
      _ = try AppSettings(&own)
      var reader = try JSONReader(.object((settings.settings(of: bundleID)?.json ?? [:]).patched(by: patch)))
      wanted = try AppSettings(&reader)
    } catch {
      throw ControlError(error)
    }
    let isNew = try change(bundleID, wanted)
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

  /// - Parameter dropped: What was set before and is not any more; nil where nothing is said of that.
  private func view(_ bundleID: String, dropped: Set<String>? = nil) throws(ControlError) -> JSONValue {
    guard var object = try view(of: bundleID).objectValue else { return .null }
    object["dropped"] = dropped.map { .array($0.sorted().map(JSONValue.string)) }
    return .object(object)
  }

  private func view(of bundleID: String) throws(ControlError) -> JSONValue {
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

  /// The app in the path, which the access token must see.
  func visibleBundleID(_ routed: RoutedRequest) throws(ControlError) -> String {
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
