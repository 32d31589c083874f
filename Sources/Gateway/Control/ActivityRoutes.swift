import Control
import JSON
import Primitives
import Push
import Storage

extension ControlAPI {
  /// `/v1/activities`.
  var activityRoutes: [Route] {
    [
      Route(.get, "/v1/activities", .scope(.read), activities),
      Route(.put, "/v1/activities/{bundleID}/{name}", .scope(.reload), showActivity),
      Route(.get, "/v1/activities/{bundleID}/{name}", .scope(.read), activity),
      Route(.delete, "/v1/activities/{bundleID}/{name}", .scope(.reload), endActivity),
    ]
  }

  /// Begins an activity, or has it show what the body says.
  @Sendable private func showActivity(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    let (bundleID, name) = try activityName(routed)
    try checkApp(bundleID, routed.grant)
    let request = try routed.request.readJSON { reader throws(FieldError) in
      try ActivityBody.read(&reader, bundleID: bundleID, name: name)
    }
    try await judge(request)
    let answer = try await asking { () async throws(StoreError) in try await parts.store.show(request) }
    switch answer {
    case .begun, .there: break
    case .missing(let field): throw ActivityBody.missing(field, name)
    case .fixed(let field):
      throw ControlError(
        status: 409, code: "conflict",
        message:
          "\(field) differs from what the activity \"\(name)\" has been started with, which stays for its life; end it first, or leave it out",
        field: field)
    case .isEnding: throw .conflict("the activity \"\(name)\" is being ended; take another name, or wait until its state is \"ended\"")
    case .tooMany(let refusal):
      let things = refusal.measure == .count ? "activities that are known" : "bytes of the texts of known activities"
      throw ControlError(
        status: 429, code: "tooManyActivities", message: "\(refusal.share.sentence(things)); end some first",
        fields: ["retry-after": "60"])
    }
    return .json(try await view(bundleID, name, routed.grant), status: answer == .begun ? 201 : 200)
  }

  /// Whether devices would take what is to be sent: by the rules that hold for pushes of backends, and strictly whatever the app's say.
  private func judge(_ request: ActivityRequest) async throws(ControlError) {
    let known = try await asking { () async throws(StoreError) in
      try await parts.store.activity(bundleID: request.bundleID, name: request.name)
    }?.activity
    let alert = request.content.alert ?? known.flatMap { $0.phase == .running ? $0.content.alert : nil }
    if known == nil || known?.phase == .ended {
      if request.target == nil { throw ActivityBody.missing("user", request.name) }
      if request.attributesType == nil { throw ActivityBody.missing("attributesType", request.name) }
      if alert == nil { throw ActivityBody.missing("alert", request.name) }
    }
    for event in [ActivityEvent.start, .update] where event == .update || alert != nil {
      let now = parts.clock.clock.real
      let payload = NamedActivity.payload(
        event, timestamp: now.unixSeconds, content: request.content,
        attributesType: request.attributesType ?? known?.attributesType ?? "", attributes: request.attributes ?? known?.attributes ?? "{}",
        startAlert: alert ?? "")
      try check(payload, bundleID: request.bundleID)
    }
    try check(
      request.content.state, attributes: request.attributes ?? known?.attributes,
      of: request.attributesType ?? known?.attributesType, bundleID: request.bundleID)
  }

  @Sendable private func activity(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    let (bundleID, name) = try visibleName(routed)
    return .json(try await view(bundleID, name, routed.grant))
  }

  @Sendable private func activities(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    var reader = routed.request.query.reader()
    let bundleID = try reader.text("bundleID")
    let after = try reader.cursor("after") { bytes -> (bundleID: String, name: String)? in
      let parts = String(decoding: bytes, as: UTF8.self).split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
      return parts.count == 2 ? (String(parts[0]), String(parts[1])) : nil
    }
    let limit = try reader.integer("limit", in: 1...Limits.pageRows) ?? 100
    try reader.finish()
    return try await parts.pages.pass { () async throws(ControlError) in
      let (page, hasMore) = try await asking { () async throws(StoreError) in
        try await parts.store.activities(bundleID: bundleID, visibleBundleIDs: routed.grant.bundleIDs, after: after, limit: limit)
      }
      var body = PageBody("activities")
      let last = body.fill(page) { .object($0.summary) } ?? (hasMore ? page.last : nil)
      var rest: JSONObject = [:]
      if let last { rest["next"] = .string(PageCursor.text(of: Array("\(last.bundleID)\n\(last.name)".utf8))) }
      return body.response(rest)
    }
  }

  /// Ends an activity, with a last content-state where the body has one.
  @Sendable private func endActivity(_ routed: RoutedRequest) async throws(ControlError) -> HTTPResponse {
    let (bundleID, name) = try visibleName(routed)
    var (state, dismissalDate): (String?, String?) = (nil, nil)
    if !routed.request.body.isEmpty {
      (state, dismissalDate) = try routed.request.readJSON { reader throws(FieldError) in try ActivityBody.readEnd(&reader) }
    }
    let known = try await asking { () async throws(StoreError) in try await parts.store.activity(bundleID: bundleID, name: name) }
    guard let activity = known?.activity else { throw unknownActivity(name) }
    let now = parts.clock.clock.real
    let payload = NamedActivity.payload(
      .end, timestamp: now.unixSeconds, content: state.map { .init(state: $0) } ?? activity.content,
      attributesType: activity.attributesType, attributes: activity.attributes, startAlert: "", dismissalDate: dismissalDate)
    try check(payload, bundleID: bundleID)
    try check(state, attributes: nil, of: activity.attributesType, bundleID: bundleID)
    _ = try await asking { () async throws(StoreError) in
      try await parts.store.endActivity(bundleID: bundleID, name: name, state: state, dismissalDate: dismissalDate)
    }
    return .json(try await view(bundleID, name, routed.grant))
  }

  /// The activity; push tokens are for those who may read registrations.
  private func view(_ bundleID: String, _ name: String, _ grant: Grant) async throws(ControlError) -> JSONValue {
    let found = try await asking { () async throws(StoreError) in try await parts.store.activity(bundleID: bundleID, name: name) }
    guard let found else { throw unknownActivity(name) }
    return found.activity.json(found.pushes, showsTokens: grant.permits(.read))
  }

  private func visibleName(_ routed: RoutedRequest) throws(ControlError) -> (bundleID: String, name: String) {
    let (bundleID, name) = try activityName(routed)
    guard routed.grant.sees(bundleID) else { throw unknownActivity(name) }
    return (bundleID, name)
  }

  private func activityName(_ routed: RoutedRequest) throws(ControlError) -> (bundleID: String, name: String) {
    let name = routed["name"]
    // What a path holds as it is (RFC 3986 section 2.3), so that a name looks the same wherever it is written.
    guard (1...Limits.nameBytes).contains(name.utf8.count), name.utf8.allSatisfy(Self.isUnreserved) else {
      throw .badRequest(
        "the activity's name in the path must be 1 to \(Limits.nameBytes) of the characters A-Z, a-z, 0-9, \"-\", \".\", \"_\" and \"~\"",
        field: "name"
      )
    }
    return (routed["bundleID"], name)
  }

  private static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
    case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
    default: false
    }
  }

  private func unknownActivity(_ name: String) -> ControlError {
    .notFound("no activity \"\(name)\" of the app is known here; begin one with PUT /v1/activities/BUNDLE-ID/NAME")
  }
}
