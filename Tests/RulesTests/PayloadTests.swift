import Primitives
import Push
import Rules
import Testing

@Suite("Payloads") struct PayloadTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var warning: PushWarning
    var field = ""
    var detail = ""
    var request: TestRequest

    var testDescription: String { "\(warning): \(String(decoding: request.body, as: UTF8.self))" }
  }

  static let s = now.unixSeconds
  static let start = #""timestamp":\#(s),"event":"start","content-state":{},"attributes-type":"Ride","attributes":{},"alert":{"title":"t"}"#
  static let update = #""timestamp":\#(s),"event":"update","content-state":{"a":1}"#
  static let end = #""timestamp":\#(s),"event":"end""#

  private static func widgets(_ body: String) -> TestRequest { TestRequest().with { $0.body = Array(body.utf8) } }

  private static func background(_ body: String) -> TestRequest { TestRequest.of(.background).with { $0.body = Array(body.utf8) } }

  private static func activity(_ members: String, _ change: (inout TestRequest) -> Void = { _ in }) -> TestRequest {
    TestRequest.liveActivity("{\(members)}").with(change)
  }

  /// What strict validation refuses, and `apple` only notes.
  static let refused: [Case] = [
    Case(
      warning: .notJSON, field: "body", detail: "the body must be JSON: line 1, column 28: a JSON value must be",
      request: widgets(#"{"aps":{"content-changed": True}}"#)),
    Case(
      warning: .notJSON, field: "body", detail: "the body must be JSON: line 2, column 7: a key must be followed by a colon",
      request: widgets("{\"aps\":{},\n\"aps\" {}}")),
    Case(warning: .notJSON, field: "body", detail: "there is no JSON value", request: widgets("  ")),
    Case(
      warning: .notJSON, field: "body", detail: "column 37: a number must lie within the range of a double",
      request: widgets(#"{"aps":{"content-changed":true},"n":1e400}"#)),
    Case(warning: .notJSON, field: "body", detail: "must not be compressed", request: TestRequest().with { $0.body = [0x1F, 0x8B, 8, 0] }),
    Case(warning: .notAnObject, field: "body", detail: "a JSON object with aps, not an array", request: widgets("[]")),
    Case(warning: .notAnObject, field: "body", detail: "not a string", request: widgets("\"aps\"")),
    Case(
      warning: .apsMissing, field: "aps", detail: #"such as {"aps":{"content-changed":true}}"#,
      request: widgets(#"{"content-changed":true}"#)),
    Case(
      warning: .apsMissing, field: "aps", detail: #""event":"update""#,
      request: TestRequest.liveActivity("{}").with { $0.body = Array("{}".utf8) }),
    Case(warning: .apsMissing, field: "aps", detail: #"{"alert":{"#, request: TestRequest.alert("{}").with { $0.body = Array("{}".utf8) }),
    Case(warning: .apsNotAnObject, field: "aps", detail: "aps must be an object, not an array", request: widgets(#"{"aps":[]}"#)),
    Case(
      warning: .contentChangedNotTrue, field: "aps.content-changed",
      detail: "aps.content-changed is missing; it must be the JSON value true",
      request: widgets(#"{"aps":{}}"#)),
    Case(
      warning: .contentChangedNotTrue, field: "aps.content-changed", detail: "must be the JSON value true",
      request: widgets(#"{"aps":{"content-changed":"true"}}"#)),
    Case(
      warning: .contentChangedNotTrue, field: "aps.content-changed", detail: "must be the JSON value true",
      request: widgets(#"{"aps":{"content-changed":1}}"#)),
    Case(
      warning: .contentChangedNotTrue, field: "aps.content-changed", detail: "must be the JSON value true",
      request: widgets(#"{"aps":{"content-changed":false}}"#)),
    Case(
      warning: .contentChangedNotTrue, field: "aps.content-changed", detail: "must be the JSON value true",
      request: widgets(#"{"aps":{"content-available":1}}"#)),
    Case(
      warning: .channelOnDevicePush, field: "apns-channel-id", detail: "must not be sent with a widgets push",
      request: TestRequest().with { $0.channelID = "aMs2y8fFEe8AAPIAM4gHog==" }),

    Case(
      warning: .eventMissing, field: "aps.event", detail: #"aps.event is missing; it must be "start", "update" or "end""#,
      request: activity(#""timestamp":\#(s),"content-state":{}"#)),
    Case(
      warning: .eventMissing, field: "aps.events", detail: "aps.events must be named aps.event",
      request: activity(#""timestamp":\#(s),"events":"update","content-state":{}"#)),
    Case(
      warning: .eventUnknown, field: "aps.event", detail: #"or "end", not "Update""#,
      request: activity(#""timestamp":\#(s),"event":"Update","content-state":{}"#)),
    Case(
      warning: .eventUnknown, field: "aps.event", detail: "not 1", request: activity(#""timestamp":\#(s),"event":1,"content-state":{}"#)),
    Case(
      warning: .timestampMissing, field: "aps.timestamp",
      detail: "aps.timestamp is missing; it must be the current Unix time in whole seconds, now 1796000000",
      request: activity(#""event":"update","content-state":{}"#)),
    Case(
      warning: .timestampNotWholeSeconds, field: "aps.timestamp", detail: "now 1796000000, not \"1796000000\"",
      request: activity(#""timestamp":"1796000000","event":"update","content-state":{}"#)),
    Case(
      warning: .timestampNotWholeSeconds, field: "aps.timestamp", detail: "not 1796000000.25",
      request: activity(#""timestamp":1796000000.25,"event":"update","content-state":{}"#)),
    Case(
      warning: .timestampInMilliseconds, field: "aps.timestamp", detail: "in seconds, now 1796000000, not in milliseconds (1796000000000)",
      request: activity(#""timestamp":1796000000000,"event":"update","content-state":{}"#)),
    Case(
      warning: .timestampInFuture, field: "aps.timestamp",
      detail: "at most 8 hours ahead of the current time, now 1796000000, not 1796028801",
      request: activity(#""timestamp":1796028801,"event":"update","content-state":{}"#)),
    Case(
      warning: .contentStateMissing, field: "aps.content-state", detail: "aps.content-state is missing; it must be an object",
      request: activity(#""timestamp":\#(s),"event":"update""#)),
    Case(
      warning: .contentStateMissing, field: "aps.content-state", detail: "decodes into the app's ContentState",
      request: activity(start.replacing(#""content-state":{},"#, with: ""))),
    Case(
      warning: .contentStateNotAnObject, field: "aps.content-state", detail: "not \"{}\"",
      request: activity(#""timestamp":\#(s),"event":"update","content-state":"{}""#)),
    Case(
      warning: .contentStateNotAnObject, field: "aps.content-state", detail: "not an array",
      request: activity(end + #","content-state":[]"#)),
    Case(
      warning: .attributesTypeMissing, field: "aps.attributes-type", detail: "aps.attributes-type is missing",
      request: activity(start.replacing(#""attributes-type":"Ride","#, with: ""))),
    Case(
      warning: .attributesTypeMissing, field: "aps.attributes-type", detail: "not \"\"",
      request: activity(start.replacing("Ride", with: ""))),
    Case(
      warning: .attributesMissing, field: "aps.attributes", detail: "decodes into the app's ActivityAttributes",
      request: activity(start.replacing(#""attributes":{},"#, with: ""))),
    Case(
      warning: .startWithoutAlert, field: "aps.alert", detail: "aps.alert is missing",
      request: activity(start.replacing(#","alert":{"title":"t"}"#, with: ""))),
    Case(
      warning: .startWithoutAlert, field: "aps.alert", detail: "not \"Go\"",
      request: activity(start.replacing(#"{"title":"t"}"#, with: "\"Go\""))),
    Case(
      warning: .startWithoutAlert, field: "aps.alert", detail: "or the device starts no activity, not an empty object",
      request: activity(start.replacing(#"{"title":"t"}"#, with: "{ }"))),
    Case(
      warning: .alertNotAnObject, field: "aps.alert", detail: "an object with title and body, not \"Go\"",
      request: activity(update + #","alert":"Go""#)),
    Case(
      warning: .alertNotAnObject, field: "aps.alert", detail: "a string or an object with title and body, not true",
      request: .alert(#"{"alert":true}"#)),
    Case(
      warning: .inputPushTokenNotOne, field: "aps.input-push-token", detail: "be the number 1, not true",
      request: activity(start + #","input-push-token":true"#)),
    Case(
      warning: .inputPushChannelNotAString, field: "aps.input-push-channel", detail: "as a string, not 1",
      request: activity(start + #","input-push-channel":1"#)),
    Case(
      warning: .inputPushChannelNotAString, field: "aps.input-push-channel", detail: "as a string, not \"x\", which is no base 64",
      request: activity(start + #","input-push-channel":"x""#)),
    // The sample of Apple's documentation, which is base 64 and yet no id of a channel.
    Case(
      warning: .inputPushChannelNotAString, field: "aps.input-push-channel",
      detail: "as a string, not \"dHN0LXNyY2gtY2hubA==\", which is base 64 of 13 bytes",
      request: activity(start + #","input-push-channel":"dHN0LXNyY2gtY2hubA==""#)),
    Case(
      warning: .inputPushTokenAndChannel, field: "aps.input-push-channel", detail: "must not stand beside aps.input-push-token",
      request: activity(start + #","input-push-channel":"aMs2y8fFEe8AAPIAM4gHog==","input-push-token":1"#)),
    Case(
      warning: .dismissalWithoutEnd, field: "aps.dismissal-date", detail: "only with the event end, not with update",
      request: activity(update + #","dismissal-date":\#(s)"#)),
    Case(
      warning: .dateNotANumber, field: "aps.stale-date", detail: "a number of Unix seconds such as 1796003600, not \"soon\"",
      request: activity(update + #","stale-date":"soon""#)),
    Case(
      warning: .dateNotANumber, field: "aps.dismissal-date", detail: "not true",
      request: activity(end + #","dismissal-date":true,"stale-date":1"#)),
    Case(
      warning: .dateInMilliseconds, field: "aps.stale-date", detail: "in seconds such as 1796003600, not in milliseconds (1796000000000)",
      request: activity(update + #","stale-date":1796000000000"#)),
    Case(
      warning: .dateInMilliseconds, field: "aps.dismissal-date", detail: "(1796000000000)",
      request: activity(end + #","dismissal-date":1796000000000"#)),
    Case(
      warning: .relevanceNotANumber, field: "aps.relevance-score", detail: "a number such as 50, not \"high\"",
      request: activity(update + #","relevance-score":"high""#)),
    Case(
      warning: .nothingToShow, field: "aps.alert", detail: "or an alert push shows nothing", request: .alert(#"{"content-available":1}"#)),
    Case(
      warning: .nothingToShow, field: "aps.alert", detail: "a string or an object with title and body, not an empty object",
      request: .alert(#"{"alert":{}}"#)),
    Case(warning: .nothingToShow, field: "aps.badge", detail: "must be a number, not \"3\"", request: .alert(#"{"badge":"3"}"#)),
    Case(
      warning: .nothingToShow, field: "aps.sound", detail: "the name of a sound file, as a string, not true",
      request: .alert(#"{"sound":true}"#)),
    Case(
      warning: .contentAvailableMissing, field: "aps.content-available",
      detail: "aps.content-available is missing; it must be the number 1",
      request: background(#"{"aps":{}}"#)),
    Case(
      warning: .contentAvailableMissing, field: "aps.content-available", detail: "wakes no app, not \"1\"",
      request: background(#"{"aps":{"content-available":"1"}}"#)),
    Case(warning: .apsMissing, field: "aps", detail: #"such as {"aps":{"content-available":1}}"#, request: background("{}")),
    Case(
      warning: .mdmMissing, field: "mdm", detail: "mdm is missing; it must be the PushMagic",
      request: TestRequest.of(.mdm).with { $0.body = Array("{}".utf8) }),
    Case(
      warning: .mdmMissing, field: "mdm", detail: "PushMagic", request: TestRequest.of(.mdm).with { $0.body = Array(#"{"mdm":1}"#.utf8) }),
    Case(
      warning: .notAnObject, field: "body", detail: "must be a JSON object, not an array",
      request: TestRequest.of(.voip).with { $0.body = Array("[]".utf8) }),
  ]

  /// What is accepted with a warning under either validation.
  static let noted: [Case] = [
    Case(warning: .pushTypeMissing, request: TestRequest().with { $0.pushType = nil }),
    Case(warning: .duplicateKeys, request: widgets(#"{"aps":{"content-changed":false,"content-changed":true}}"#)),
    Case(warning: .duplicateKeys, request: widgets(#"{"aps":{"x":1,"alert":2},"a\u0070s":{"content-changed":true}}"#)),
    Case(warning: .priorityMissing, request: TestRequest().with { $0.priority = nil }),
    Case(warning: .priorityMissing, request: activity(update) { $0.priority = nil }),
    Case(warning: .priorityPassive, request: activity(update) { $0.priority = "1" }),
    Case(warning: .collapseIDMissing, request: TestRequest().with { $0.collapseID = nil }),
    Case(warning: .expirationInMilliseconds, request: TestRequest().with { $0.expiration = "1796000000000" }),
    Case(warning: .expirationRelative, request: TestRequest().with { $0.expiration = "3600" }),
    Case(warning: .expirationPassed, request: TestRequest().with { $0.expiration = "\(s)" }),
    Case(warning: .customKeys, request: widgets(#"{"aps":{"content-changed":true},"kind":"Weather"}"#)),
    Case(warning: .customKeys, request: TestRequest.liveActivity("{}").with { $0.body = Array("{\"aps\":{\(update)},\"x\":1}".utf8) }),
    Case(warning: .unusedAPSKeys, request: widgets(#"{"aps":{"content-changed":true,"kind":"Weather"}}"#)),
    Case(warning: .unusedAPSKeys, request: widgets(#"{"aps":{"content-changed":true,"timestamp":1}}"#)),
    Case(warning: .unusedAPSKeys, request: activity(update + #","sound":"default""#)),
    Case(warning: .unusedAPSKeys, request: activity(update + #","state":{}"#)),
    Case(warning: .unusedAPSKeys, request: activity(update + #","input-push-channel":1,"input-push-token":1"#)),
    Case(warning: .unusedAPSKeys, request: .alert(#"{"alert":"x","event":"update"}"#)),
    Case(warning: .unusedAPSKeys, request: .alert(#"{"alert":"x","title":"y"}"#)),
    Case(warning: .alertInReload, request: widgets(#"{"aps":{"content-changed":true,"alert":"x"}}"#)),
    Case(warning: .alertInReload, request: widgets(#"{"aps":{"content-changed":true,"content-available":1}}"#)),
    Case(warning: .alertInReload, request: widgets(#"{"aps":{"content-changed":true,"mutable-content":1,"badge":1,"sound":"x"}}"#)),
    Case(warning: .contentChangedWithoutReload, request: .alert(#"{"alert":"x","content-changed":true}"#)),
    Case(warning: .contentChangedWithoutReload, request: activity(update + #","content-changed":true"#)),
    Case(warning: .priorityMissing, request: TestRequest.of(.background).with { $0.priority = nil }),
    Case(warning: .alertInBackground, request: background(#"{"aps":{"content-available":1,"alert":"x"}}"#)),
    Case(warning: .unusedAPSKeys, request: background(#"{"aps":{"content-available":1,"event":"update"}}"#)),
    Case(warning: .contentChangedWithoutReload, request: background(#"{"aps":{"content-available":1,"content-changed":true}}"#)),
    Case(
      warning: .contentChangedWithoutReload,
      request: TestRequest.of(.voip).with { $0.body = Array(#"{"aps":{"content-changed":true}}"#.utf8) }),
    Case(warning: .unusedAPSKeys, request: TestRequest.of(.mdm).with { $0.body = Array(#"{"aps":{},"mdm":"magic"}"#.utf8) }),
    Case(warning: .attributesAfterStart, request: activity(update + #","attributes-type":"Ride""#)),
    Case(warning: .attributesAfterStart, request: activity(end + #","attributes":{}"#)),
    Case(warning: .alertInUpdate, request: activity(update + #","alert":{"title":"t"}"#) { $0.priority = "5" }),
    Case(warning: .alertInUpdate, request: activity(update + #","alert":{"title":"t","sound":"chime.aiff"}"#)),
    Case(warning: .unusedAlertKeys, request: activity(end + #","alert":{"title":"t","boddy":"b"}"#)),
    Case(warning: .unusedAlertKeys, request: .alert(#"{"alert":{"title":"t","badge":1}}"#)),
    Case(warning: .soundNamesNoFile, request: activity(end + #","alert":{"title":"t","sound":"None"}"#)),
    Case(warning: .soundNamesNoFile, request: .alert(#"{"alert":"x","sound":"nil"}"#)),
    Case(warning: .timestampOld, request: activity(#""timestamp":\#(s - 28_801),"event":"update","content-state":{}"#)),
    Case(warning: .dismissalBeyondFourHours, request: activity(end + #","dismissal-date":\#(s + 14_401)"#)),
  ]

  @Test(arguments: refused) func strictRefuses(_ item: Case) throws {
    let refusal = try #require(judge(item.request, TestRules.apps(any: true)).refusal)
    #expect(refusal.reason == .badPayload)
    #expect(refusal.field == item.field)
    #expect(refusal.detail.contains(item.detail), "\(refusal.detail)")
    #expect(!refusal.detail.hasSuffix("."))
    #expect(item.warning.isRefusedInStrict)
  }

  @Test(arguments: refused) func appleNotes(_ item: Case) throws {
    let push = try #require(judge(item.request, TestRules.apps(.apple, any: true)).push)
    #expect(push.warnings.contains(item.warning))
    #expect(push.warnings.firstRefused == item.warning)
    #expect(push.traits.lane == .keep, "it must not take a good push with it")
  }

  @Test(arguments: noted) func bothNote(_ item: Case) throws {
    for validation in AppPolicy.Validation.allCases {
      let push = try #require(judge(item.request, TestRules.apps(validation, any: true)).push)
      #expect(push.warnings == PushWarnings(item.warning))
    }
    #expect(!item.warning.isRefusedInStrict)
  }

  @Test func everyWarningIsInATable() {
    // A fault is no matter of the rules, the schemas ones of ContentStateTests, and a background push at 10 has its own test.
    let others = PushWarnings.ofSchemas.all + [.struckByFault, .unknownAttributesType, .qualifiedAttributesType, .backgroundAtTen]
    #expect(Set((Self.refused + Self.noted).map(\.warning)) == Set(PushWarning.allCases).subtracting(others))
  }

  static let sound: [(TestRequest, PushTraits)] = [
    (widgets(#" {"aps" : {"content-changed" : true} } "#), .reload),
    (widgets(#"{"\u0061ps":{"content\u002dchanged":true}}"#), .reload),
    (TestRequest().with { ($0.pushType, $0.topic) = ("controls", "com.example.app.push-type.controls") }, .reload),
    (activity(start), PushTraits(lane: .keep, activity: .start, hasContentState: true, hasAlert: true, timestamp: s)),
    (
      activity(start.replacing("\(s)", with: "1234") + #","input-push-token":1"#),
      PushTraits(lane: .keep, activity: .start, hasContentState: true, hasAlert: true, timestamp: 1234)
    ),
    (
      activity(start + #","input-push-channel":"aMs2y8fFEe8AAPIAM4gHog==""#),
      PushTraits(lane: .keep, activity: .start, hasContentState: true, hasAlert: true, timestamp: s)
    ),
    (activity(update), PushTraits(lane: .activityUpdate, activity: .update, hasContentState: true, timestamp: s)),
    (activity(update + #","alert":{}"#), PushTraits(lane: .keep, activity: .update, hasContentState: true, hasAlert: true, timestamp: s)),
    (
      activity(update + #","stale-date":\#(s + 60).5,"relevance-score":0.25,"alert":null,"dismissal-date":null"#),
      PushTraits(lane: .activityUpdate, activity: .update, hasContentState: true, timestamp: s)
    ),
    (
      activity(#""timestamp":\#(s + 28_800).0,"event":"update","content-state":{}"#),
      PushTraits(lane: .activityUpdate, activity: .update, hasContentState: true, timestamp: s + 28_800)
    ),
    (
      activity(#""timestamp":\#(s - 28_800),"event":"update","content-state":{}"#),
      PushTraits(lane: .activityUpdate, activity: .update, hasContentState: true, timestamp: s - 28_800)
    ),
    (
      activity(#""timestamp":1.796e9,"event":"update","content-state":{}"#),
      PushTraits(lane: .activityUpdate, activity: .update, hasContentState: true, timestamp: s)
    ),
    (activity(end), PushTraits(lane: .keep, activity: .end, timestamp: s)),
    (activity(#""timestamp":0,"event":"end""#), PushTraits(lane: .keep, activity: .end, timestamp: 0)),
    (
      activity(end + #","content-state":{},"dismissal-date":\#(s + 14_400)"#),
      PushTraits(lane: .activityEndWithState, activity: .end, hasContentState: true, timestamp: s)
    ),
    (activity(end + #","dismissal-date":0"#), PushTraits(lane: .keep, activity: .end, timestamp: s)),
    (.alert(#"{"alert":"x"}"#), PushTraits(lane: .keep, hasAlert: true)),
    (
      .alert(#"{"alert":{"title":"x"},"thread-id":"t","interruption-level":"active"}"#).with {
        $0.body = Array(#"{"aps":{"alert":{"title":"x"},"relevance-score":1},"mine":[1]}"#.utf8)
      }, PushTraits(lane: .keep, hasAlert: true)
    ),
    (background(#"{"aps":{"content-available":true},"mine":1}"#), PushTraits(lane: .background)),
    (TestRequest.of(.voip).with { $0.body = Array(#"{"caller":"x"}"#.utf8) }, PushTraits(lane: .keep)),
    (TestRequest.of(.mdm).with { $0.body = Array(#"{"mdm":"magic"}"#.utf8) }, PushTraits(lane: .keep)),
    (.alert(#"{"badge":0}"#).with { $0.priority = nil }, PushTraits(lane: .keep)),
    (.alert(#"{"sound":"default"}"#), PushTraits(lane: .keep)),
    (.alert(#"{"sound":{"critical":1,"name":"siren.caf","volume":1.0},"badge":3}"#), PushTraits(lane: .keep)),
    (
      activity(start + #","input-push-channel":"AAAA\/wAAAAAAAAAAAAAAAA==""#),
      PushTraits(lane: .keep, activity: .start, hasContentState: true, hasAlert: true, timestamp: s)
    ),
  ]

  @Test(arguments: sound.indices) func passesWhatIsSound(index: Int) throws {
    let (request, traits) = Self.sound[index]
    let push = try #require(judge(request, TestRules.apps(any: true)).push)
    #expect(push.traits == traits)
    #expect(push.warnings == [], "\(push.warnings.all)")
  }

  @Test func sizesAreBounded() throws {
    let frame = #"{"aps":{"content-changed":true,"x":""}}"#
    for (count, reason) in [(4096, nil), (4097, Reason.payloadTooLarge)] as [(Int, Reason?)] {
      let padding = String(repeating: "x", count: count - frame.utf8.count)
      let request = Self.widgets(frame.replacing("\"\"", with: "\"\(padding)\""))
      #expect(request.body.count == count)
      #expect(judge(request).refusal?.reason == reason)
    }
    // Of a body that is larger than was kept, only its size is looked at.
    #expect(judge(TestRequest().with { ($0.body, $0.bodyBytesTotal) = ([0x7B], 1 << 30) }).refusal?.reason == .payloadTooLarge)
  }
}
