import Control
import JSON
import Primitives
import Push
import Security
import Storage

extension ControlAPI {
  /// `/v1/channels` and `/v1/broadcasts`.
  var channelRoutes: [Route] {
    [
      Route(.get, "/v1/channels/{bundleID}/{channelID}/message", .scope(.register), storedMessage),
      Route(.get, "/v1/broadcasts", .scope(.read), broadcasts),
    ]
  }

  /// What became of broadcasts, newest first.
  @Sendable private func broadcasts(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    var reader = routed.request.query.reader()
    var query = BroadcastQuery(visibleBundleIDs: routed.grant.bundleIDs)
    query.bundleID = try reader.text("bundleID")
    query.channel = try reader.value("channelID", "\(ChannelID.form), with + and / percent-encoded") { ChannelID($0) }
    query.disposition = try reader.choice("disposition", of: Disposition.allCases.map(\.name)).flatMap(Disposition.init(name:))
    query.before = try reader.value("after", "the \"next\" of an earlier page") { [numbers = parts.numbers] in numbers.number(in: $0) }
    query.limit = try reader.integer("limit", in: 1...Limits.pageRows) ?? query.limit
    try reader.finish()
    return try await parts.pages.pass { [query] () async throws(ControlError) in
      let page = try await asking { () async throws(StoreError) in try await parts.store.broadcasts(query) }
      var body = PageBody("broadcasts")
      let last = body.fill(page.records) { $0.json(parts.upstreams) } ?? (page.hasMore ? page.records.last : nil)
      var rest: JSONObject = [:]
      rest["next"] = last.map { .string(parts.numbers.text(of: $0.sequence)) }
      return body.response(rest)
    }
  }

  /// The most recent message of a channel, for a device on which an activity begins to follow it: the payload as it was sent.
  @Sendable private func storedMessage(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    let bundleID = routed["bundleID"]
    guard let channel = ChannelID(routed["channelID"]) else {
      let fault = ChannelID.fault(of: routed["channelID"]) ?? "is none"
      throw .badRequest(
        "the channel's id in the path must be \(ChannelID.form), with / written as %2F, not \"\(routed["channelID"].prefix(64))\", which \(fault)",
        field: "channelID")
    }
    var reader = routed.request.query.reader()
    let environment = try reader.choice("environment", of: PushEnvironment.allCases.map(\.name)).flatMap(PushEnvironment.init(name:))
    try reader.finish()
    // Another app's channel is as unknown as one that nobody has.
    guard routed.grant.sees(bundleID) else {
      throw .unknownChannel("\(bundleID) has no channel \(channel) that the access token \"\(routed.grant.name)\" sees")
    }
    let missing = try await asking { () async throws(StoreError) in
      try await parts.store.missingChannel(channel, bundleID: bundleID, in: environment)
    }
    if let missing { throw .unknownChannel(missing) }
    let message = try await asking { () async throws(StoreError) in try await parts.store.storedMessage(channel, bundleID: bundleID) }
    guard let message else {
      throw .notFound("the channel \(channel) of \(bundleID) has no stored message: it stores none, or has had none of late")
    }
    return HTTPResponse(
      status: 200, fields: ["content-type": "application/json", "apns-request-id": message.id.description], body: message.payload)
  }

  /// The broadcasts of that id that the caller may see, or nil when there are none; waits for the end of the newest.
  func broadcasts(_ id: PushID, until: Instant?, all: Bool, _ grant: Grant) async throws(ControlError) -> HTTPResponse? {
    let records = try await asking { () async throws(StoreError) in try await parts.store.broadcasts(id, until: until) }
    let visible = records.filter { grant.sees($0.owner.bundleID) }
    guard let newest = visible.first else { return nil }
    return .json(all ? ["pushes": .array(visible.map { $0.json(parts.upstreams) })] : newest.json(parts.upstreams))
  }
}

extension ControlError {
  /// 404 for a channel that the app does not have, apart from one that has nothing stored.
  fileprivate static func unknownChannel(_ message: String) -> ControlError {
    ControlError(status: 404, code: Cause.channelUnknown.name, message: message, field: "channelID")
  }
}

extension BroadcastRecord {
  /// The broadcast as the control side shows it: like a push, with a channel in place of a token, and the activities it reached.
  fileprivate func json(_ upstreams: [String]) -> JSONValue {
    let (disposition, cause) = outcome
    let remedy = Remedy(disposition, cause: cause, reason: nil)
    var object: JSONObject = [
      "id": .string(id.description), "channelID": .string(channel.description), "bundleID": .string(owner.bundleID),
      "environment": .string(owner.environment.name), "type": .string(PushType.liveactivity.description),
    ]
    object["priority"] = priority.map { .integer(Int64($0.rawValue)) }
    object["received"] = received.json
    object["status"] = 200
    object["disposition"] = .string(disposition.name)
    if cause != .none { object["cause"] = .string(cause.name) }
    object["certainty"] = .string(remedy.certainty.name)
    object["happened"] = .string(remedy.happened)
    object["remedy"] = .string(remedy.advice)
    object["mergedInto"] = mergedInto.map { .string($0.description) }
    object["activities"] = activities.map { ["reached": .integer(Int64($0.reached)), "applied": .integer(Int64($0.applied))] }
    object["warnings"] = warnings.json(warningDetails)
    func name(_ upstream: UInt16) -> JSONValue { .string(upstreams.indices.contains(Int(upstream)) ? upstreams[Int(upstream)] : "none") }
    object["upstreams"] = .array(
      deliveries.map { delivery in
        var object: JSONObject = ["upstream": name(delivery.upstream), "disposition": .string(delivery.disposition.name)]
        if delivery.cause != .none { object["cause"] = .string(delivery.cause.name) }
        object["attempts"] = .integer(Int64(delivery.attempts))
        object["activitiesReached"] = delivery.reached.map { .integer(Int64($0)) }
        object["activitiesApplied"] = delivery.applied.map { .integer(Int64($0)) }
        object["detail"] = delivery.detail.map(JSONValue.string)
        return .object(object)
      })
    object["steps"] = .array(
      steps.map { step in
        var object: JSONObject = ["at": step.at.json, "disposition": .string(step.disposition.name)]
        if step.cause != .none { object["cause"] = .string(step.cause.name) }
        object["upstream"] = step.upstream.map(name)
        object["attempt"] = step.attempt.map { .integer(Int64($0)) }
        return .object(object)
      })
    return .object(object)
  }
}
