import Control
import DeviceModel
import JSON
import Primitives
import Push

/// The routes of devices themselves: list, set up, look at, wipe, rotate tokens.
struct DeviceRoutes: Sendable {
  let door: FleetDoor
  let registrations: RegistrationWait

  var routes: [Route] {
    [
      Route(.get, "/v1/devices", .scope(.read), list),
      Route(.put, "/v1/devices/{device}", .scope(.admin), set),
      Route(.delete, "/v1/devices/{device}", .scope(.admin), remove),
      Route(.get, "/v1/devices/{device}", .scope(.read), state),
      Route(.get, "/v1/devices/{device}/state", .scope(.read), state),
      Route(.post, "/v1/devices/{device}/rotate", .scope(.admin), rotate),
    ]
  }

  private func list(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    var query = routed.request.query.reader()
    let after = try query.cursor("after") { String(validating: $0, as: UTF8.self) } ?? ""
    let limit = try query.integer("limit", in: 1...Limits.pageRows) ?? 100
    try query.finish()
    let grant = routed.grant
    return try await door.pages.pass { () async throws(ControlError) in
      let page = try await door.perform { fleet, _ in fleet.devices(after: after, limit: limit, sees: grant.sees) }
      var body = PageBody("devices")
      let last = body.fill(zip(page.names, page.list), \.1)?.0 ?? (page.isLast ? nil : page.names.last)
      var rest: JSONObject = [:]
      if let last { rest["next"] = .string(PageCursor.text(of: last.utf8)) }
      return body.response(rest)
    }
  }

  private func set(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    try routed.requireAllApps("sets up a device")
    let name = routed["device"]
    let (settings, members): (DeviceSettings?, JSONObject) =
      routed.request.body.isEmpty
      ? (nil, [:]) : try routed.request.readJSON { reader throws(FieldError) in (try DeviceSettings(&reader), reader.members) }
    let (isNew, dropped, state) = try await door.perform { fleet, now throws(DeviceError) in
      let old = try fleet.settings(of: name)
      // Without a body, those of a device that is there stay.
      let isNew = try fleet.setDevice(name, settings ?? old ?? DeviceSettings(), at: now)
      let dropped = settings == nil ? [] : (old?.given ?? []).filter { members[$0]?.isNull ?? true }
      return (isNew, dropped, try fleet.state(of: name, at: now))
    }
    var object = state.objectValue ?? [:]
    object["dropped"] = .array(dropped.map(JSONValue.string))
    return .json(.object(object), status: isNew ? 201 : 200)
  }

  private func remove(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    try routed.requireAllApps("wipes a device")
    let name = routed["device"]
    var query = routed.request.query.reader()
    let forgetting = try query.flag("forget")
    try query.finish()
    try await door.perform { fleet, now throws(DeviceError) in try fleet.removeDevice(name, forgetting: forgetting, at: now) }
    return .noContent
  }

  private func state(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    let (name, grant) = (routed["device"], routed.grant)
    return try await door.pages.pass { () async throws(ControlError) in
      .json(try await door.perform { fleet, now throws(DeviceError) in try fleet.state(of: name, at: now, sees: grant.sees) })
    }
  }

  private func rotate(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    let name = routed["device"]
    let wait = try registrations.readWait(routed.request)
    let (bundleID, kind, id) =
      routed.request.body.isEmpty
      ? (nil, nil, nil)
      : try routed.request.readJSON { reader throws(FieldError) in
        let bundleID = try reader.optionalString("bundleID")
        let kind = try reader.optionalChoice("type", of: TokenKind.allCases.map(\.name)).flatMap { TokenKind(name: $0) }
        return (bundleID, kind, try reader.optionalString("id"))
      }
    if let bundleID { try routed.requireApp(bundleID) } else { try routed.requireAllApps("rotates the tokens of all apps") }
    let rotated = try await door.perform { fleet, now throws(DeviceError) in
      try fleet.rotateTokens(of: name, bundleID: bundleID, kind: kind, id: id, at: now)
    }
    var list: [JSONValue] = []
    for token in rotated {
      let entry: JSONObject = [
        "type": .string(token.kind.name), "bundleID": .string(token.bundleID), "old": .string(token.old.hex),
      ]
      list.append(.object(try await registrations.adding(token.new, to: entry, wait)))
    }
    return .json(["rotated": .array(list)])
  }
}

extension RoutedRequest {
  /// Refuses an access token that does not see the app.
  func requireApp(_ bundleID: String) throws(ControlError) {
    guard grant.sees(bundleID) else {
      throw .forbidden("the access token \"\(grant.name)\" is not for the app \(bundleID)", field: "bundleID")
    }
  }

  /// Refuses an access token that is for some apps only.
  func requireAllApps(_ what: String) throws(ControlError) {
    guard grant.bundleIDs == nil else {
      throw .forbidden("the access token \"\(grant.name)\" is for some apps only, and this \(what)")
    }
  }
}
