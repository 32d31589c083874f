import Control
import DeviceModel
import JSON
import Primitives
import Push

/// The routes of apps on a device: install, update, remove.
struct AppRoutes: Sendable {
  let door: FleetDoor
  let registrations: RegistrationWait

  var routes: [Route] {
    [
      Route(.post, "/v1/devices/{device}/apps", .scope(.admin), install),
      Route(.put, "/v1/devices/{device}/apps/{bundleID}", .scope(.admin), set),
      Route(.patch, "/v1/devices/{device}/apps/{bundleID}", .scope(.admin), merge),
      Route(.delete, "/v1/devices/{device}/apps/{bundleID}", .scope(.admin), remove),
    ]
  }

  private typealias Change = @Sendable (inout DeviceFleet, Instant) throws(DeviceError) -> DeviceFleet.Installation

  private func install(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    let (bundleID, update) = try routed.request.readJSON { reader throws(FieldError) in
      let bundleID = try reader.string("bundleID")
      guard let manifest = reader.optionalValue("manifest") else { return (bundleID, ManifestUpdate.nothing) }
      return (bundleID, try ManifestUpdate(manifest, at: "manifest"))
    }
    let (device, grant) = (routed["device"], routed.grant)
    return try await answer(bundleID, routed) { fleet, now throws(DeviceError) in
      try fleet.install(bundleID, update, on: device, at: now, sees: grant.sees)
    }
  }

  /// Without a body it installs the app, and leaves the manifest of one that is there as it is.
  private func set(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    let update = routed.request.body.isEmpty ? .nothing : try read(routed.request.json(), isPatch: false)
    let (bundleID, device, grant) = (routed["bundleID"], routed["device"], routed.grant)
    return try await answer(bundleID, routed) { fleet, now throws(DeviceError) in
      try fleet.install(bundleID, update, on: device, at: now, sees: grant.sees)
    }
  }

  /// Changes what the body has of the manifest of an app that is there, and takes away what is `null` in it (RFC 7396); a list is the whole
  /// list.
  private func merge(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    let update = try read(.object(routed.request.readPatch()), isPatch: true)
    let (bundleID, device, grant) = (routed["bundleID"], routed["device"], routed.grant)
    return try await answer(bundleID, routed) { fleet, now throws(DeviceError) in
      var made = try fleet.update(bundleID, update, on: device, at: now, sees: grant.sees)
      made.isNew = false  // Its tokens had brought it along.
      return made
    }
  }

  private func read(_ value: JSONValue, isPatch: Bool) throws(ControlError) -> ManifestUpdate {
    do throws(FieldError) {
      return try ManifestUpdate(value, isPatch: isPatch)
    } catch {
      throw ControlError(error)
    }
  }

  /// Makes the change, waits for the app's registrations, and tells how the app is then.
  private func answer(_ bundleID: String, _ routed: RoutedRequest, _ change: @escaping Change) async throws(ControlError) -> HTTPResponse {
    try routed.requireApp(bundleID)
    let wait = try registrations.readWait(routed.request)
    let made = try await door.perform(change)
    _ = try await door.wait(atMost: wait) { fleet in fleet.isRegistering(bundleID, on: made.device) ? nil : true }
    let state = try await door.perform { fleet, now throws(DeviceError) in fleet.state(of: bundleID, on: made.device, at: now) }
    var object = state.objectValue ?? [:]
    object["dropped"] = .array(made.dropped.map(JSONValue.string))
    return .json(.object(object), status: made.isNew ? 201 : 200)
  }

  private func remove(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    let (device, bundleID, grant) = (routed["device"], routed["bundleID"], routed.grant)
    try routed.requireApp(bundleID)
    try await door.perform { fleet, now throws(DeviceError) in
      try fleet.removeApp(bundleID, from: device, at: now, sees: grant.sees)
    }
    return .noContent
  }
}
