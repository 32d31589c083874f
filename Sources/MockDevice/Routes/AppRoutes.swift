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
      Route(.put, "/v1/devices/{device}/apps/{bundleID}", .scope(.admin), update),
      Route(.patch, "/v1/devices/{device}/apps/{bundleID}", .scope(.admin), patch),
      Route(.delete, "/v1/devices/{device}/apps/{bundleID}", .scope(.admin), remove),
    ]
  }

  private func install(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    let (bundleID, manifest) = try routed.request.readJSON { reader throws(FieldError) in
      let bundleID = try reader.string("bundleID")
      guard var inner = try reader.optionalObject("manifest") else { return (bundleID, AppManifest?.none) }
      let manifest = try AppManifest(&inner)
      try inner.finish()
      return (bundleID, .some(manifest))
    }
    return try await install(bundleID, manifest, routed)
  }

  private func update(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    let manifest =
      routed.request.body.isEmpty
      ? AppManifest() : try routed.request.readJSON { reader throws(FieldError) in try AppManifest(&reader) }
    return try await install(routed["bundleID"], manifest, routed)
  }

  /// Changes what the body has of a manifest, and takes away what is `null` in it (RFC 7396); lists are replaced whole.
  private func patch(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    guard let patch = try routed.request.json().objectValue else { throw .badRequest("body must be a JSON object") }
    let (device, bundleID) = (routed["device"], routed["bundleID"])
    try routed.requireApp(bundleID)
    let source = try await door.perform { fleet, _ throws(DeviceError) in
      _ = try fleet.hasApp(bundleID, on: device)
      return fleet.manifest(of: bundleID, on: device)?.source
    }
    guard let source else { throw .notFound("the app \(bundleID) is not installed on \(device); PUT its manifest") }
    let manifest: AppManifest
    do throws(FieldError) {
      var reader = try JSONReader(.object(source.patched(by: patch)))
      manifest = try AppManifest(&reader)
      try reader.finish()
    } catch {
      throw ControlError(error)
    }
    return try await install(bundleID, manifest, routed)
  }

  /// - Parameter manifest: Nil leaves that of an app which is installed as it is.
  private func install(_ bundleID: String, _ manifest: AppManifest?, _ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    try routed.requireApp(bundleID)
    let wait = try registrations.readWait(routed.request)
    let device = routed["device"]
    let (isNew, dropped) = try await door.perform { fleet, now throws(DeviceError) in
      if manifest == nil, try fleet.hasApp(bundleID, on: device) { return (false, [String]()) }
      let (old, new) = (fleet.manifest(of: bundleID, on: device), manifest ?? AppManifest())
      return (try fleet.install(bundleID, new, on: device, at: now), old?.declarations(missingIn: new) ?? [])
    }
    _ = try await door.wait(atMost: wait) { fleet in fleet.isRegistering(bundleID, on: device) ? nil : true }
    let state = try await door.perform { fleet, now throws(DeviceError) in
      try fleet.state(of: device, at: now) { $0 == bundleID }
    }
    var app = state["apps"]?[0] ?? state
    if !dropped.isEmpty, case .object(var object) = app {
      object["dropped"] = .array(dropped.map(JSONValue.string))
      app = .object(object)
    }
    return .json(app, status: isNew ? 201 : 200)
  }

  private func remove(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    let (device, bundleID) = (routed["device"], routed["bundleID"])
    try routed.requireApp(bundleID)
    try await door.perform { fleet, now throws(DeviceError) in try fleet.removeApp(bundleID, from: device, at: now) }
    return .noContent
  }
}
