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
    return try await door.pages.pass { () async throws(ControlError) in
      try await door.perform { fleet, now throws(DeviceError) in
        let old = try fleet.settings(of: name)
        // Without a body, those of a device that is there stay.
        let isNew = try fleet.setDevice(name, settings ?? old ?? DeviceSettings(), at: now)
        let dropped = settings == nil ? [] : (old?.given ?? []).filter { members[$0]?.isNull ?? true }
        var response = try Self.page(of: name, after: nil, fleet, now, behind: ["dropped": .array(dropped.map(JSONValue.string))]) { _ in
          true
        }
        response.status = isNew ? 201 : 200
        return response
      }
    }
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
    var query = routed.request.query.reader()
    let after = try query.cursor("after") { bytes -> AppCursor? in AppCursor(bytes) }
    try query.finish()
    return try await door.pages.pass { () async throws(ControlError) in
      try await door.perform { fleet, now throws(DeviceError) in try Self.page(of: name, after: after, fleet, now, grant.sees) }
    }
  }

  /// The place in a device's apps behind which a page begins.
  private struct AppCursor {
    var place: Int
    var bundleID: String

    init(place: Int, bundleID: String) { (self.place, self.bundleID) = (place, bundleID) }

    init?(_ bytes: [UInt8]) {
      let parts = String(decoding: bytes, as: UTF8.self).split(separator: " ", maxSplits: 1)
      guard parts.count == 2, let place = Int(parts[0]), place >= 0 else { return nil }
      self.init(place: place, bundleID: String(parts[1]))
    }

    var text: String { PageCursor.text(of: Array("\(place) \(bundleID)".utf8)) }

    /// Where the page begins; where the app has gone, with the one that has moved up.
    func start(in apps: [String]) -> Int { apps.firstIndex(of: bundleID).map { $0 + 1 } ?? min(place, apps.count) }
  }

  /// The device with as many of its apps as one page has.
  private static func page(
    of name: String, after: AppCursor?, _ fleet: DeviceFleet, _ now: Instant, behind rest: JSONObject = [:], _ sees: (String) -> Bool
  ) throws(DeviceError) -> HTTPResponse {
    let (head, apps) = try fleet.summary(of: name, sees: sees)
    var body = PageBody("apps", behind: head)
    let start = after?.start(in: apps) ?? 0
    let last = body.fill(zip(start..., apps[start...])) { fleet.state(of: $0.1, on: name, at: now) }
    var rest = rest
    if let last { rest["next"] = .string(AppCursor(place: last.0, bundleID: last.1).text) }
    return body.response(rest)
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
