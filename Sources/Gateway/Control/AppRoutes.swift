import Control
import JSON
import Push
import Storage

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
    .json(try view(try visibleBundleID(routed), routed.grant))
  }

  /// Sets what the body has, in place of all that was set at run time before, and names what is not set any more; the rest is as
  /// configured. Schemas stay where the body has none.
  @Sendable private func setApp(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    let bundleID = try visibleBundleID(routed)
    let (wanted, hasSchemas) = try routed.request.readJSON { reader throws(FieldError) in
      (try AppSettings(&reader), ["contentStates", "schemas"].contains { reader.members[$0]?.isNull == false })
    }
    let (isNew, dropped) = try change(bundleID, routed.grant) { old in
      var wanted = wanted
      if !hasSchemas { wanted.schemas = old?.schemas ?? [] }
      return wanted
    }
    return .json(try view(bundleID, routed.grant, dropped: dropped), status: isNew ? 201 : 200)
  }

  /// Sets what the body has, takes back what is `null` in it, and names what is not set any more; all else that was set stays (RFC 7396).
  ///
  /// An app that nobody has listed or set up is known by its registrations, too. Any other may be a misspelt one.
  @Sendable private func patchApp(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    let bundleID = try visibleBundleID(routed)
    let patch = try routed.request.readPatch()
    let registered = try await asking { () async throws(StoreError) in
      try await parts.store.registrations(RegistrationQuery(bundleID: bundleID, limit: 1))
    }
    let (_, dropped) = try change(bundleID, routed.grant, mayBeNew: !registered.isEmpty) { old throws(FieldError) in
      let settings = try AppSettings(old ?? AppSettings(), patchedBy: patch)
      return old == nil && settings.fields.isEmpty ? nil : settings
    }
    return .json(try view(bundleID, routed.grant, dropped: dropped))
  }

  @Sendable private func resetApp(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    let bundleID = try visibleBundleID(routed)
    guard settings.hasSet(bundleID) else {
      throw .notFound("nothing was set for the app \"\(bundleID)\" at run time; what the configuration has is changed there")
    }
    _ = try change(bundleID, routed.grant) { _ in nil }
    return .noContent
  }

  private var settings: LiveSettings {
    guard let settings = parts.settings else { preconditionFailure("the routes are there only with settings") }
    return settings
  }

  private func change(
    _ bundleID: String, _ grant: Grant, mayBeNew: Bool = true, _ next: (AppSettings?) throws(FieldError) -> AppSettings?
  ) throws(ControlError) -> (isNew: Bool, dropped: [String]) {
    let (change, dropped) = settings.change(bundleID, mayBeNew: mayBeNew, next)
    switch change {
    case .made(let isNew):
      parts.recordings.changed(app: bundleID, at: now)
      return (isNew, dropped)
    case .unknown: throw noSuchApp(bundleID, grant)
    case .refused(let error): throw ControlError(error)
    case .full: throw .conflict("there are \(Limits.apps) apps, which is the most")
    case .noRoom, .broughtTooMuch: preconditionFailure("settings that have no room are refused with their field")
    case .tooMuch(let bytes):
      throw .conflict(
        "the settings of all apps together would have \(bytes) bytes, and \(Limits.savedAppsBytes) are kept; shorten contentStates of this app, or delete apps that are not needed"
      )
    case .notKept(let reason): throw .unavailable("the settings cannot be kept, so nothing was changed: \(reason)")
    }
  }

  /// - Parameter dropped: What was set before and is not any more; nil where nothing is said of that.
  private func view(_ bundleID: String, _ grant: Grant, dropped: [String]? = nil) throws(ControlError) -> JSONValue {
    let view: JSONValue?
    do throws(FieldError) {
      view = try settings.view(bundleID)
    } catch {
      throw .conflict("what was set for the app does not go with the configuration any more: \(error.message)")
    }
    guard var object = view?.objectValue else { throw noSuchApp(bundleID, grant) }
    object["dropped"] = dropped.map { .array($0.map(JSONValue.string)) }
    return .object(object)
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
