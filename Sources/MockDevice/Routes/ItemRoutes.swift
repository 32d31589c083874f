import Control
import DeviceModel
import JSON
import Primitives
import Push

/// The routes of what a person places and the app starts: widgets, controls, Live Activities.
struct ItemRoutes: Sendable {
  let door: FleetDoor
  let registrations: RegistrationWait

  var routes: [Route] {
    [
      Route(.post, "/v1/devices/{device}/widgets", .scope(.admin), placeWidget),
      Route(.delete, "/v1/devices/{device}/widgets/{id}", .scope(.admin)) { routed async throws(ControlError) in
        try await remove(routed) { fleet, id, device, now, grant throws(DeviceError) in
          try fleet.removeWidget(id, from: device, at: now, sees: grant.sees)
        }
      },
      Route(.post, "/v1/devices/{device}/controls", .scope(.admin), placeControl),
      Route(.delete, "/v1/devices/{device}/controls/{id}", .scope(.admin)) { routed async throws(ControlError) in
        try await remove(routed) { fleet, id, device, now, grant throws(DeviceError) in
          try fleet.removeControl(id, from: device, at: now, sees: grant.sees)
        }
      },
      Route(.post, "/v1/devices/{device}/activities", .scope(.admin), startActivity),
      Route(.delete, "/v1/devices/{device}/activities/{id}", .scope(.admin)) { routed async throws(ControlError) in
        try await remove(routed) { fleet, id, device, now, grant throws(DeviceError) in
          try fleet.dismissActivity(id, on: device, at: now, sees: grant.sees)
        }
      },
    ]
  }

  private func placeWidget(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    let wait = try registrations.readWait(routed.request)
    let device = routed["device"]
    let (bundleID, widget) = try routed.request.readJSON { reader throws(FieldError) in
      (try reader.string("bundleID"), try DevicePlan.Widget(&reader))
    }
    try routed.requireApp(bundleID)
    let placed = try await door.perform { fleet, now throws(DeviceError) in
      try fleet.placeWidget(kind: widget.kind, family: widget.family, id: widget.id, of: bundleID, on: device, at: now)
    }
    let object: JSONObject = [
      "id": .string(placed.widget.id), "kind": .string(placed.widget.kind), "family": .string(placed.widget.family.rawValue),
      "pushEnabled": .bool(placed.widget.pushEnabled),
    ]
    return try await answer(object, placed.token, wait)
  }

  private func placeControl(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    let wait = try registrations.readWait(routed.request)
    let device = routed["device"]
    let (bundleID, control) = try routed.request.readJSON { reader throws(FieldError) in
      (try reader.string("bundleID"), try DevicePlan.Control(&reader))
    }
    try routed.requireApp(bundleID)
    let placed = try await door.perform { fleet, now throws(DeviceError) in
      try fleet.placeControl(kind: control.kind, id: control.id, of: bundleID, on: device, at: now)
    }
    return try await answer(["id": .string(placed.id), "kind": .string(placed.kind)], placed.token, wait)
  }

  private func startActivity(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    let wait = try registrations.readWait(routed.request)
    let device = routed["device"]
    let dates = -9_000_000_000.0...9_000_000_000.0
    let (bundleID, activity, staleDate, score) = try routed.request.readJSON { reader throws(FieldError) in
      let bundleID = try reader.string("bundleID")
      let activity = try DevicePlan.Activity(&reader)
      let staleDate = try reader.optionalNumber("staleDate", in: dates).map { Instant(unixMilliseconds: Int64($0 * 1000)) }
      return (bundleID, activity, staleDate, try reader.optionalNumber("relevanceScore", in: -1e9...1e9))
    }
    try routed.requireApp(bundleID)
    let started = try await door.perform { fleet, now throws(DeviceError) in
      try fleet.startActivity(
        attributesType: activity.attributesType, attributes: activity.attributes, contentState: activity.contentState,
        staleDate: staleDate, relevanceScore: score, id: activity.id, channel: activity.channel, of: bundleID, on: device, at: now)
    }
    var object: JSONObject = ["id": .string(started.id), "attributesType": .string(activity.attributesType)]
    guard let channel = activity.channel else { return try await answer(object, started.token, wait) }
    object["channelID"] = .string(channel.description)
    object["channel"] = .string(try await checked(started.token, wait).name)
    return .json(.object(object), status: 201)
  }

  /// What the gateway has said of the channel of the activity with that token, once it has or `wait` has passed.
  ///
  /// - Throws: 409 where it has no such channel, so that the activity does not run.
  private func checked(_ token: DeviceToken, _ wait: TimeSpan) async throws(ControlError) -> ChannelCheck {
    _ = try await door.wait(atMost: wait) { fleet in fleet.channelCheck(of: token) == .pending ? nil : true }
    let check = try await door.perform { fleet, _ in fleet.channelCheck(of: token) }
    if case .unknown(let sentence) = check {
      throw ControlError(status: 409, code: Cause.channelUnknown.name, message: "\(sentence); no activity runs", field: "channelID")
    }
    return check
  }

  private func answer(_ object: JSONObject, _ token: DeviceToken?, _ wait: TimeSpan) async throws(ControlError) -> HTTPResponse {
    guard let token else { return .json(.object(object), status: 201) }
    return .json(.object(try await registrations.adding(token, to: object, wait)), status: 201)
  }

  private typealias Removal = @Sendable (inout DeviceFleet, String, String, Instant, Grant) throws(DeviceError) -> Void

  /// What belongs to an app that the caller does not see is as unknown as what is not there.
  private func remove(_ routed: RoutedRequest, _ removal: @escaping Removal) async throws(ControlError) -> HTTPResponse {
    let (device, id, grant) = (routed["device"], routed["id"], routed.grant)
    try await door.perform { fleet, now throws(DeviceError) in try removal(&fleet, id, device, now, grant) }
    return .noContent
  }
}
