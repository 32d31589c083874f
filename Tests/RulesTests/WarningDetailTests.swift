import Primitives
import Push
import Rules
import Testing

/// What the rules say of an accepted push beside the sentences of its warnings, with validation `apple`.
func details(of request: TestRequest, _ validation: AppPolicy.Validation = .apple) throws -> [WarningDetail] {
  let push = try #require(judge(request, TestRules.apps(validation, any: true)).push)
  let (fields, headers) = TestRules.fields(request)
  let rules = TestRules(TestRules.apps(validation, any: true))
  return rules.rules.details(of: push, fields, headers: headers.span.bytes, body: request.body.span.bytes, now: request.at)
}

/// A warning names the key, what stands there, and where it would be right.
@Suite("Details of warnings") struct WarningDetailTests {
  private static let s = now.unixSeconds

  private static func activity(_ members: String, _ more: String = "") -> TestRequest {
    TestRequest.liveActivity("{}").with {
      $0.body = Array("{\"aps\":{\"timestamp\":\(s),\"event\":\"update\",\"content-state\":{\"a\":1}\(members)}\(more)}".utf8)
    }
  }

  static let cases: [(request: TestRequest, warning: PushWarning, field: String, detail: String)] = [
    (
      activity(#","alert":{"title":"t","body":"b"},"sound":"chime.aiff""#), .unusedAPSKeys, "aps.sound",
      #": sound "chime.aiff" (put it at aps.alert.sound)"#
    ),
    (activity(#","staleDate":\#(s)"#), .unusedAPSKeys, "aps.staleDate", ": staleDate \(s) (did you mean stale-date?)"),
    (activity(#","relevanceScore":50"#), .unusedAPSKeys, "aps.relevanceScore", ": relevanceScore 50 (did you mean relevance-score?)"),
    (activity(#","dismissalDate":\#(s)"#), .unusedAPSKeys, "aps.dismissalDate", ": dismissalDate \(s) (did you mean dismissal-date?)"),
    (
      activity(#","contentState":{"a":2}"#), .unusedAPSKeys, "aps.contentState",
      ": contentState (content-state, which is there too, is what counts)"
    ),
    (
      activity(#","title":"t","body":"b""#), .unusedAPSKeys, "aps.title",
      #": title "t" (put it at aps.alert.title), body "b" (put it at aps.alert.body)"#
    ),
    (
      activity(#","alert":{"title":"t"},"title":"u""#), .unusedAPSKeys, "aps.title", #": title "u" (aps.alert.title is what counts)"#
    ),
    (activity(#","alert":{"title":"t","boddy":"b"}"#), .unusedAlertKeys, "aps.alert.boddy", #": boddy "b" (did you mean body?)"#),
    (
      activity(#","alert":{"title":"t","stale-date":1}"#), .unusedAlertKeys, "aps.alert.stale-date",
      ": stale-date 1 (put it at aps.stale-date)"
    ),
    (
      .alert(#"{"alert":"x","content_available":1}"#), .unusedAPSKeys, "aps.content_available",
      ": content_available 1 (did you mean content-available?)"
    ),
    (
      .alert(#"{"alert":{"body":"b","sound":"chime.aiff"}}"#), .unusedAlertKeys, "aps.alert.sound",
      #": sound "chime.aiff" (put it at aps.sound)"#
    ),
    (.alert(#"{"alert":{"title":"t"},"body":"b"}"#), .unusedAPSKeys, "aps.body", #": body "b" (put it at aps.alert.body)"#),
    (activity("", #","staleDate":1,"x":2"#), .customKeys, "staleDate", ": staleDate 1 (put it at aps.stale-date), x 2"),
    (activity("", #","sound":"a""#), .customKeys, "sound", #": sound "a" (put it at aps.alert.sound)"#),
    (
      TestRequest().with { $0.body = Array(#"{"aps":{"content-changed":true,"badge":3},"kind":"Weather"}"#.utf8) }, .alertInReload,
      "aps.badge", ": badge 3"
    ),
    (
      TestRequest().with { $0.body = Array(#"{"aps":{"content-changed":true},"kind":"Weather"}"#.utf8) }, .customKeys, "kind",
      #": kind "Weather""#
    ),
    (
      TestRequest.of(.background).with { $0.body = Array(#"{"aps":{"content-available":1,"sound":""}}"#.utf8) }, .alertInBackground,
      "aps.sound", #": sound """#
    ),
    (activity(#","attributes-type":"Ride""#), .attributesAfterStart, "aps.attributes-type", #": attributes-type "Ride""#),
    (
      activity(#","content-changed":true"#), .contentChangedWithoutReload, "aps.content-changed",
      "of type widgets or controls with its own token"
    ),
    (activity(#","alert":{"title":"t"}"#), .alertInUpdate, "aps.alert", "leave it out of the updates that are to be silent"),
    (
      activity(#","alert":{"title":"t","sound":"nil"}"#), .soundNamesNoFile, "aps.alert.sound",
      #"aps.alert.sound is "nil", which is taken for the name of a sound file; leave the key out for no sound"#
    ),
    (.alert(#"{"alert":"x","sound":""}"#), .soundNamesNoFile, "aps.sound", #"for no sound"#),
    (
      TestRequest.liveActivity(#"{"timestamp":\#(s - 86_400),"event":"update","content-state":{}}"#), .timestampOld, "aps.timestamp",
      "aps.timestamp \(s - 86_400) (2026-11-29T00:53:20Z) is more than 8 hours old; send the current time, now \(s)"
    ),
    (
      TestRequest.liveActivity(#"{"timestamp":\#(s),"event":"end","dismissal-date":\#(s + 86_400)}"#), .dismissalBeyondFourHours,
      "aps.dismissal-date",
      "aps.dismissal-date \(s + 86_400) (2026-12-01T00:53:20Z) is more than 4 hours ahead, and the device removes the activity by \(s + 14_400)"
    ),
    (activity(#","stale-date":\#(s)000"#), .dateInMilliseconds, "aps.stale-date", "not in milliseconds (\(s)000)"),
    (activity(#","dismissal-date":\#(s)"#), .dismissalWithoutEnd, "aps.dismissal-date", "not with update"),
    (
      TestRequest().with { $0.expiration = "\(s)000" }, .expirationInMilliseconds, "apns-expiration",
      "apns-expiration must be in seconds, \(s), not in milliseconds (\(s)000)"
    ),
    (
      TestRequest().with { $0.expiration = "45" }, .expirationRelative, "apns-expiration",
      "45 is 1970-01-01T00:00:45Z, long past; send now + 45, at present \(s + 45)"
    ),
  ]

  @Test(arguments: cases.indices) func theSubjectIsNamed(index: Int) throws {
    let (request, warning, field, end) = Self.cases[index]
    let all = try details(of: request)
    let told = all.first { $0.warning == warning }
    #expect(told?.field == field && told?.detail.hasSuffix(end) == true, "\(all)")
    #expect(told?.detail.hasSuffix(".") == false)
  }

  /// Every warning that is of a key, a header or a date is in one of the tables, and the others have no detail.
  @Test func everyWarningHasItsDetail() throws {
    for item in PayloadTests.refused + PayloadTests.noted {
      let all = try details(of: item.request)
      let told = all.first { $0.warning == item.warning }
      #expect((told != nil) == PushWarnings.withSubject.contains(item.warning), "\(item.testDescription): \(all)")
      #expect(told.map { $0.detail.isEmpty || $0.field.isEmpty } != true, "\(all)")
    }
  }

  /// Lint says the same, whatever the priority.
  @Test(arguments: cases.indices) func lintSaysTheSame(index: Int) throws {
    let (request, warning, field, end) = Self.cases[index]
    guard request.expiration == nil else { return }
    var linted = LintedRequest()
    (linted.body, linted.assumedType) = (request.body, request.pushType)
    let finding = PushLint.findings(linted, now: now).first { $0.rule == warning.name }
    #expect(finding?.field == field && finding?.message.hasSuffix(end) == true, "\(String(describing: finding))")
  }

  /// An alert in every update, and a word for a sound, are told whatever the priority, in broadcasts, and of a payload alone.
  @Test(arguments: ["10", "5", "1", nil]) func anAlertIsToldWhateverThePriority(priority: String?) throws {
    let request = Self.activity(#","alert":{"title":"t","body":"b","sound":"nil"}"#).with { $0.priority = priority }
    let push = try #require(judge(request).push)
    #expect(push.warnings.isSuperset(of: [PushWarnings(.alertInUpdate), PushWarnings(.soundNamesNoFile)]))
    var linted = LintedRequest()
    (linted.body, linted.assumedType) = (request.body, "liveactivity")
    #expect(PushLint.findings(linted, now: now).map(\.rule) == ["alertInUpdate", "soundNamesNoFile"])
  }

  @Test(arguments: ["nil", "NULL", "none", "undefined", ""]) func aWordIsNoSound(word: String) throws {
    let push = try #require(judge(.alert("{\"alert\":\"x\",\"sound\":\"\(word)\"}")).push)
    #expect(push.warnings == PushWarnings(.soundNamesNoFile))
  }

  @Test(arguments: ["default", "nil.aiff", "nothing", "chime"]) func aFileIsASound(name: String) throws {
    #expect(try #require(judge(.alert("{\"alert\":\"x\",\"sound\":\"\(name)\"}")).push).warnings == [])
  }

  /// A push without such a warning has no detail, and so costs nothing.
  @Test func whatIsRightHasNone() throws {
    for type in PushType.allCases where type != .mdm {
      #expect(try details(of: .of(type)) == [])
      #expect(try details(of: .of(type).with { ($0.priority, $0.collapseID) = (nil, nil) }) == [])
    }
  }

  /// What is kept is bounded and on one line, and what was kept is read.
  @Test func detailsAreKeptAsText() throws {
    let all = try details(of: Self.activity(#","alert":{"a\tb\n":"x\u0001"},"sound":"a""#))
    #expect(all.map(\.warning) == [.unusedAPSKeys, .alertInUpdate, .unusedAlertKeys])
    let text = WarningDetail.text(of: all)
    #expect(WarningDetail.read(text).map(\.warning) == all.map(\.warning) && !text.contains("\u{1}"))
    #expect(text.split(separator: "\n").count == 3)
    #expect(WarningDetail.read("later\tx\ty\n" + text) == WarningDetail.read(text), "one of a later version is passed over")
    let long = PushWarning.allCases.map { WarningDetail($0, field: "aps", detail: String(repeating: "é", count: 4000)) }
    let kept = WarningDetail.text(of: long)
    #expect(kept.utf8.count <= Limits.warningDetailsBytes && WarningDetail.read(kept).count == 2)
    #expect(WarningDetail.read(kept).allSatisfy { $0.detail.utf8.count <= Limits.warningDetailBytes + 3 })
    #expect(WarningDetail.text(of: []) == "" && WarningDetail.read("") == [])
  }
}
