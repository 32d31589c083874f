import Control
import DeviceModel
import JSON
import Primitives
import Push

/// The routes of what has happened: of one device, or of all.
struct EventRoutes: Sendable {
  let door: FleetDoor

  var routes: [Route] {
    [
      Route(.get, "/v1/events", .scope(.read)) { routed async throws(ControlError) in try await events(routed, of: nil) },
      Route(.get, "/v1/devices/{device}/events", .scope(.read)) { routed async throws(ControlError) in
        try await events(routed, of: routed["device"])
      },
    ]
  }

  /// What a list is asked for.
  private struct Selection: Sendable {
    var device: String?
    var after: UInt64
    var limit: Int
    var what: DeviceEvent.What?
    var disposition: Disposition?
    var push: PushID?
    var grant: Grant

    func events(_ fleet: DeviceFleet) -> (events: [DeviceEvent], isComplete: Bool) {
      fleet.events(of: device, after: after, limit: limit) { event in
        (what == nil || event.what == what) && (disposition == nil || event.disposition == disposition)
          && (push == nil || event.push == push) && event.bundleID.map(grant.sees) ?? (grant.bundleIDs == nil)
      }
    }
  }

  private func events(_ routed: RoutedRequest, of device: String?) async throws(ControlError) -> HTTPResponse {
    var query = routed.request.query.reader()
    let after = try query.integer("after", in: 0...Int.max) ?? 0
    let limit = try query.integer("limit", in: 1...Limits.pageRows) ?? 100
    let wait = try query.duration("wait", max: .seconds(Limits.waitSeconds))
    let count = try query.integer("count", in: 1...Limits.pageRows) ?? 1
    let names = DeviceEvent.What.allCases.map(\.name)
    let what = try query.choice("event", of: names).flatMap { DeviceEvent.What(name: $0) }
    let dispositions = [Disposition.applied, .ignored, .refused].map(\.name)
    let disposition = try query.choice("disposition", of: dispositions).flatMap { Disposition(name: $0) }
    let push = try query.value("push", "an apns-id") { PushID($0) }
    try query.finish()
    let selection = Selection(
      device: device, after: UInt64(after), limit: max(limit, wait == nil ? 1 : count), what: what, disposition: disposition,
      push: push, grant: routed.grant)
    var hasEnough = true
    if let wait {
      let place = try door.waits.take(routed.grant)
      defer { withExtendedLifetime(place) {} }
      let found = try await door.wait(atMost: wait) { fleet in selection.events(fleet).events.count >= count ? true : nil }
      hasEnough = found != nil
    }
    return try await door.pages.pass { [hasEnough] () async throws(ControlError) in
      let (events, newest) = try await door.perform { fleet, _ in (selection.events(fleet), fleet.newestEvent) }
      return Self.response(events, newest: newest, hasEnough: wait == nil ? nil : hasEnough)
    }
  }

  private static func response(_ found: (events: [DeviceEvent], isComplete: Bool), newest: UInt64, hasEnough: Bool?) -> HTTPResponse {
    var page = PageBody("events")
    let last = page.fill(found.events, \.json) ?? found.events.last
    var body: JSONObject = [:]
    if let hasEnough {
      body["complete"] = .bool(hasEnough)
      body["matched"] = .integer(Int64(found.events.count))
    }
    // The cursor goes on after the last event shown, or after all that have been looked through.
    body["next"] = .integer(Int64(last?.sequence ?? newest))
    if !found.isComplete { body["lost"] = true }
    return page.response(body)
  }
}
