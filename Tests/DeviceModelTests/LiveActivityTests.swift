import JSON
import Primitives
import Push
import Testing

@testable import DeviceModel

@Suite("Live Activities on a device") struct LiveActivityTests {
  private let start = noon.unixSeconds

  private func fleet(_ schema: JSONValue? = nil) throws -> DeviceFleet {
    var manifest = AppManifest()
    let schemas = try schema.map { try ActivitySchemas("OrderAttributes", contentState: $0, at: "contentState") }
    manifest.activities = [AppManifest.ActivityType(attributesType: "OrderAttributes", schemas: schemas)]
    return try phone(manifest)
  }

  private func startPayload(
    _ type: String = "OrderAttributes", timestamp: Int64 = 1234, alert: String = #"{"title":"Order","body":"On its way"}"#,
    state: String = #"{"stage":"packed"}"#, more: String = ""
  ) -> String {
    #"{"aps":{"timestamp":\#(timestamp),"event":"start","content-state":\#(state),"attributes-type":"\#(type)","#
      + #""attributes":{"id":7},"alert":\#(alert)\#(more)}}"#
  }

  private func update(_ timestamp: Int64, _ state: String = #"{"stage":"sent"}"#, more: String = "") -> String {
    #"{"aps":{"timestamp":\#(timestamp),"event":"update","content-state":\#(state)\#(more)}}"#
  }

  private func end(_ timestamp: Int64, more: String = "") -> String {
    #"{"aps":{"timestamp":\#(timestamp),"event":"end"\#(more)}}"#
  }

  /// Starts an activity by a push and gives its update token.
  private func started(_ fleet: inout DeviceFleet, _ payload: String? = nil) throws -> DeviceToken {
    _ = fleet.takeEffects()
    let outcome = fleet.push(payload ?? startPayload(), to: try fleet.token("pushToStart"), .liveactivity)
    #expect(outcome.disposition == .applied)
    #expect(outcome.cause == .started)
    guard case .register(let registration)? = fleet.takeEffects().last else {
      throw DeviceError(.notFound, "a started activity must register its update token")
    }
    #expect(registration.kind == .liveactivity)
    #expect(registration.activity == Registration.Activity(id: "OrderAttributes-1", attributesType: "OrderAttributes"))
    return registration.token
  }

  private func activity(_ fleet: DeviceFleet, at now: Instant = noon) throws -> JSONValue {
    try #require(fleet.appState(at: now)["activities"]?[0])
  }

  /// In aps the last counts, in the content-state the first.
  @Test func aKeyThatStandsTwiceIsTakenAsFoundationTakesIt() throws {
    var fleet = try fleet(["required": ["stops"], "properties": ["stops": ["type": "integer"]]])
    let token = try started(&fleet, startPayload(state: #"{"stops":1}"#))
    let repeated = #"{"aps":{"timestamp":2000,"event":"start","event":"update","content-state":{"stops":2,"stops":"x"}}}"#
    #expect(fleet.push(repeated, to: token, .liveactivity).cause == .updated)
    #expect(try activity(fleet)["contentState"] == ["stops": 2])
    let wrong = #"{"aps":{"timestamp":2001,"event":"update","content-state":{"stops":"x","stops":3}}}"#
    #expect(fleet.push(wrong, to: token, .liveactivity).cause == .contentStateNotDecodable)
  }

  @Test func startShowsWhatThePushCarried() throws {
    var fleet = try fleet()
    _ = try started(&fleet)
    let activity = try activity(fleet)
    #expect(activity["state"] == "active")
    #expect(activity["attributes"] == ["id": 7])
    #expect(activity["contentState"] == ["stage": "packed"])
    #expect(activity["endsAt"]?.stringValue == (noon + seconds(8 * 3600)).description)
  }

  /// Acceptance vector 14, and every other start that does nothing.
  @Test(arguments: [
    (
      #"{"aps":{"timestamp":1,"event":"start","content-state":{},"attributes-type":"OrderAttributes","attributes":{}}}"#, Cause.alertMissing
    ),
    (
      #"{"aps":{"timestamp":1,"event":"start","content-state":{},"attributes-type":"OrderAttributes","attributes":{},"alert":"x"}}"#,
      .alertMissing
    ),
    (
      #"{"aps":{"timestamp":1,"event":"start","content-state":{},"attributes-type":"Order","attributes":{},"alert":{"title":"x"}}}"#,
      .attributesTypeUnknown
    ),
    (#"{"aps":{"timestamp":1,"event":"start","content-state":{},"attributes":{},"alert":{"title":"x"}}}"#, .payloadNotUnderstood),
    (
      #"{"aps":{"timestamp":1,"event":"start","content-state":{},"attributes-type":"OrderAttributes","alert":{"title":"x"}}}"#,
      .payloadNotUnderstood
    ),
    (
      #"{"aps":{"timestamp":1,"event":"start","attributes-type":"OrderAttributes","attributes":{},"alert":{"title":"x"}}}"#,
      .contentStateNotDecodable
    ),
    (#"{"aps":{"timestamp":1,"events":"start","content-state":{}}}"#, .payloadNotUnderstood),
    (#"{"aps":{"event":"update","content-state":{}}}"#, .payloadNotUnderstood),
    (#"{"aps":{"timestamp":1,"event":"update","content-state":{}}}"#, .tokenKindMismatch),
    (#"{"aps":{"timestamp":1,"event":"end"}}"#, .tokenKindMismatch),
  ])
  func startThatStartsNothing(payload: String, cause: Cause) throws {
    var fleet = try fleet()
    let outcome = fleet.push(payload, to: try fleet.token("pushToStart"), .liveactivity)
    #expect(outcome.disposition == .ignored)
    #expect(outcome.cause == cause)
    #expect(outcome.detail?.isEmpty == false)
    #expect(try fleet.appState()["activities"] == [])
  }

  /// A decoder takes a member that is null for one that is not there.
  @Test func nullIsAbsent() throws {
    var fleet = try fleet()
    let token = try started(&fleet, startPayload(more: #","input-push-channel":null,"stale-date":null,"relevance-score":null"#))
    #expect(fleet.push(end(start, more: #","content-state":null,"dismissal-date":null"#), to: token, .liveactivity).cause == .ended)
  }

  /// Acceptance vector 8: the newest timestamp wins, milliseconds lie in the future, an end may be old.
  @Test func newestTimestampWins() throws {
    var fleet = try fleet()
    let token = try started(&fleet)
    let first = fleet.push(update(start), to: token, .liveactivity)
    #expect(first.cause == .updated && first.detail?.hasPrefix("activity OrderAttributes-1; no schema is known") == true)
    let older = fleet.push(update(start - 1, #"{"stage":"old"}"#), to: token, .liveactivity)
    #expect(older.cause == .staleTimestamp)
    #expect(fleet.push(update(start, #"{"stage":"same second"}"#), to: token, .liveactivity).disposition == .applied)
    let milliseconds = fleet.push(update(start * 1000), to: token, .liveactivity)
    #expect(milliseconds.cause == .futureTimestamp)
    #expect(milliseconds.detail?.contains("it looks like milliseconds") == true)
    #expect(fleet.push(update(start + 8 * 3600 + 1), to: token, .liveactivity).cause == .futureTimestamp)
    #expect(try activity(fleet)["contentState"] == ["stage": "same second"])
    #expect(fleet.push(update(start + 8 * 3600), to: token, .liveactivity).disposition == .applied)
    #expect(fleet.push(end(1), to: token, .liveactivity) == .applied(.ended, detail: "activity OrderAttributes-1"))
    #expect(try activity(fleet)["state"] == "ended")
    #expect(fleet.push(update(start + 8 * 3600), to: token, .liveactivity).cause == .activityEnded)
    #expect(fleet.push(end(start), to: token, .liveactivity).cause == .activityEnded)
    #expect(fleet.push(startPayload(), to: token, .liveactivity).cause == .tokenKindMismatch)
  }

  /// Milliseconds, or a clock that is fast, make nothing start and nothing end; a fraction is no timestamp.
  @Test func noEventMayBeFarAhead() throws {
    var fleet = try fleet()
    let starter = try fleet.token("pushToStart")
    for ahead in [start * 1000, start + 8 * 3600 + 1] {
      #expect(fleet.push(startPayload(timestamp: ahead), to: starter, .liveactivity).cause == .futureTimestamp)
    }
    let token = try started(&fleet, startPayload(timestamp: start + 8 * 3600))
    for ahead in [start * 1000, start + 8 * 3600 + 1] {
      #expect(fleet.push(end(ahead), to: token, .liveactivity).cause == .futureTimestamp)
    }
    let fraction = #"{"aps":{"timestamp":\#(start).5,"event":"end"}}"#
    #expect(fleet.push(fraction, to: token, .liveactivity).cause == .payloadNotUnderstood)
    #expect(fleet.push(end(start + 8 * 3600), to: token, .liveactivity).cause == .ended)
  }

  /// A schema in which a keyword has been forgotten, or stands at the wrong type, would let everything pass.
  @Test func aKeywordTellsItsTypeAndStandsBesideNoOther() throws {
    for (schema, value, problem) in [
      (["properties": ["stage": ["type": "string"]], "required": ["stage"]], [:], "x.stage is missing"),
      (["properties": ["stage": [:]], "required": ["stage"]], ["stage": 1], nil),
      (["items": ["type": "integer"]], ["a"], "x[0] must be an integer"),
      (["format": "date2001"], "now", "x must be a number of seconds"), (["enum": ["a"]], "b", "x must be one of a"),
    ] as [(JSONValue, JSONValue, String?)] {
      let found = try CodableSchema(schema, at: "x").problem(in: value, at: "x")?.message
      #expect(found.map { $0.hasPrefix(problem ?? "nothing") } ?? (problem == nil), "\(schema): \(found ?? "")")
    }
    for (schema, field) in [
      (["type": "array", "properties": [:]], "x.properties"), (["type": "string", "items": [:]], "x.items"),
      (["type": "integer", "format": "date2001"], "x.format"), (["type": "object", "enum": ["a"]], "x.enum"),
      (["enum": ["a"], "required": ["b"]], "x.required"), (["properties": [1]], "x.properties"),
    ] as [(JSONValue, String)] {
      let error = #expect(throws: FieldError.self) { try CodableSchema(schema, at: "x") }
      #expect(error?.field == field, "\(schema): \(error?.message ?? "")")
    }
  }

  /// The part of acceptance vector 9 that needs no Swift: a Unix date decodes and shows 2054, an ISO date does not decode.
  @Test func contentStateMustDecode() throws {
    let schema: JSONValue = [
      "type": "object",
      "properties": ["stage": ["enum": ["packed", "sent"]], "eta": ["type": "number", "format": "date2001"], "note": ["type": "string"]],
      "required": ["stage"],
    ]
    var fleet = try fleet(schema)
    let token = try started(&fleet)
    let unix = fleet.push(update(start, #"{"stage":"sent","eta":1700000000}"#), to: token, .liveactivity)
    #expect(unix.disposition == .applied)
    #expect(
      unix.detail
        == "activity OrderAttributes-1; aps.content-state.eta is a Unix time; Swift's Date shows 2054, send 721692800")
    for (state, sentence) in [
      (#"{"stage":"sent","eta":"2026-11-30T00:00:00Z"}"#, "aps.content-state.eta must be a number of seconds since 2001-01-01 UTC"),
      (#"{"stage":"lost"}"#, "aps.content-state.stage must be one of packed, sent, not \"lost\""),
      (#"{"Stage":"sent"}"#, "aps.content-state.stage is missing; it must be one of packed, sent; is Stage meant for it?"),
      (#"{"stage":"sent","note":5}"#, "aps.content-state.note must be a string, not 5; send \"5\""),
    ] {
      let outcome = fleet.push(update(start + 1, state), to: token, .liveactivity)
      #expect(outcome.cause == .contentStateNotDecodable)
      #expect(outcome.detail?.hasPrefix(sentence) == true, "\(outcome.detail ?? "")")
    }
    #expect(try activity(fleet)["contentState"] == ["stage": "sent", "eta": 1_700_000_000])
    #expect(fleet.push(update(start + 1, #"{"stage":"sent","note":null,"extra":1}"#), to: token, .liveactivity).disposition == .applied)
  }

  /// Acceptance vector 10: the dismissal date is clipped to four hours, one in the past dismisses at once, none means four hours.
  @Test(arguments: [
    (Int64?.some(10 * 3600), Int64(4 * 3600)), (.some(-60), 0), (.some(3600), 3600), (nil, 4 * 3600), (.some(0), 0),
  ])
  func dismissalAfterEnd(date: Int64?, expected: Int64) throws {
    var fleet = try fleet()
    let token = try started(&fleet)
    let endedAt = noon + seconds(60)
    let more = date.map { #","dismissal-date":\#(endedAt.unixSeconds + $0)"# } ?? ""
    #expect(fleet.push(end(start, more: more), to: token, .liveactivity, at: endedAt).disposition == .applied)
    let dismissal = endedAt + seconds(expected)
    if expected > 0 {
      #expect(try activity(fleet, at: dismissal - TimeSpan(nanoseconds: 1))["state"] == "ended")
    }
    #expect(try activity(fleet, at: dismissal)["state"] == "dismissed")
    fleet.advance(to: noon + seconds(12 * 3600))
    #expect(fleet.events(of: nil, after: 0, limit: 10) { $0.what == .activityDismissed }.events.map(\.at) == [dismissal])
    #expect(fleet.nextDue == nil)
  }

  /// Acceptance vector 11: eight hours and a second after the start it has ended and stays on the Lock Screen for four hours.
  @Test func endsByItselfAfterEightHours() throws {
    var fleet = try fleet()
    let token = try started(&fleet)
    let end = noon + seconds(8 * 3600)
    #expect(fleet.nextDue == end)
    #expect(try activity(fleet, at: end - seconds(1))["state"] == "active")
    #expect(try activity(fleet, at: end + seconds(1))["state"] == "ended")
    let late = fleet.push(update(end.unixSeconds), to: token, .liveactivity, at: end + seconds(1))
    #expect(late == .ignored(.activityEnded, detail: "activity OrderAttributes-1 ended at \(end)"))
    #expect(fleet.events(of: "phone", after: 0, limit: 10) { $0.what == .activityEnded }.events.map(\.at) == [end])
    #expect(fleet.nextDue == end + seconds(4 * 3600))
    #expect(try activity(fleet, at: end + seconds(4 * 3600))["state"] == "dismissed")
  }

  @Test func staleDateMarksAndAnUpdateTakesTheMarkAway() throws {
    var fleet = try fleet()
    let token = try started(&fleet, startPayload(more: #","stale-date":\#(start + 60)"#))
    #expect(fleet.nextDue == noon + seconds(60))
    fleet.advance(to: noon + seconds(61))
    #expect(fleet.events(of: "phone", after: 0, limit: 10) { $0.what == .activityStale }.events.map(\.at) == [noon + seconds(60)])
    #expect(try activity(fleet, at: noon + seconds(61))["state"] == "stale")
    _ = fleet.push(update(start + 61), to: token, .liveactivity, at: noon + seconds(61))
    #expect(try activity(fleet, at: noon + seconds(3600))["state"] == "active")
  }

  @Test func aSwipeEndsItForGood() throws {
    var fleet = try fleet()
    let token = try started(&fleet)
    try fleet.dismissActivity("OrderAttributes-1", on: "phone", at: noon)
    #expect(try activity(fleet)["state"] == "dismissed")
    #expect(fleet.push(update(start), to: token, .liveactivity).cause == .activityEnded)
  }

  @Test func changingTheSwitchForFrequentUpdatesEndsAll() throws {
    var fleet = try fleet()
    _ = try started(&fleet)
    var manifest = AppManifest()
    manifest.frequentUpdates = true
    #expect(try fleet.install(app, manifest, on: "phone", at: noon) == false)
    #expect(try activity(fleet)["state"] == "ended")
    guard case .register(let registration)? = fleet.takeEffects().last else {
      Issue.record("tokens must be registered again with the new switch")
      return
    }
    #expect(registration.frequentUpdates)
  }

  @Test func runningAndEndedActivitiesAreBounded() throws {
    var fleet = try fleet()
    let pushToStart = try fleet.token("pushToStart")
    for _ in 0..<Limits.activitiesPerApp {
      #expect(fleet.push(startPayload(), to: pushToStart, .liveactivity).disposition == .applied)
    }
    #expect(fleet.push(startPayload(), to: pushToStart, .liveactivity).cause == .activityLimitReached)
    let first = try #require(activity(fleet)["token"]?.stringValue.flatMap { DeviceToken(hex: $0) })
    for _ in 0..<3 {
      let tokens = try #require(fleet.appState()["activities"]?.arrayValue).compactMap { $0["token"]?.stringValue }
      for token in tokens { _ = fleet.push(end(1), to: try #require(DeviceToken(hex: token)), .liveactivity) }
      for _ in 0..<Limits.activitiesPerApp { _ = fleet.push(startPayload(), to: pushToStart, .liveactivity) }
    }
    #expect(try fleet.appState()["activities"]?.arrayValue?.count ?? 0 <= Limits.activitiesPerApp + Limits.endedActivitiesPerApp)
    #expect(fleet.push(update(start), to: first, .liveactivity) == .ignored(.activityEnded, detail: nil))
  }
}
