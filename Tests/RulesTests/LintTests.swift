import Primitives
import Push
import Rules
import Testing

@Suite("Lint") struct LintTests {
  private static func request(_ type: PushType, _ body: String, _ headers: [(String, String?)] = []) -> LintedRequest {
    var request = LintedRequest()
    request.method = "POST"
    request.path = "/3/device/" + String(repeating: "a1", count: 32)
    let standard: [(String, String?)] = [
      ("authorization", nil), ("apns-push-type", "\(type)"), ("apns-topic", "com.example.app\(type.topicSuffix)"),
      ("apns-priority", "5"), ("apns-collapse-id", "x"),
    ]
    for (name, value) in standard where !headers.contains(where: { $0.0 == name }) { request.headers.append(.init(name, value)) }
    for (name, value) in headers where value != "-" { request.headers.append(.init(name, value)) }
    request.body = Array(body.utf8)
    return request
  }

  private static let reload = #"{"aps":{"content-changed":true}}"#
  private static func activity(_ aps: String) -> String { "{\"aps\":{\"timestamp\":\(now.unixSeconds),\(aps)}}" }
  private static let update = activity(#""event":"update","content-state":{"stops":3}"#)
  private static let start = activity(
    #""event":"start","attributes-type":"Ride","attributes":{},"content-state":{},"alert":{"title":"t","body":"b"}"#)

  private static func rules(_ request: LintedRequest) -> [String] { PushLint.findings(request, now: now).map(\.rule) }

  @Test func whatIsRightHasNoFindings() {
    for type in PushType.allCases where type != .mdm {
      let body = type == .liveactivity ? Self.update : TestRequest.payload(of: type)
      #expect(Self.rules(Self.request(type, body)) == [], "\(type)")
    }
    var payload = LintedRequest()
    payload.body = Array(Self.reload.utf8)
    #expect(Self.rules(payload) == [])
  }

  /// What went wrong in the field, as far as a request alone shows it, and the rule that tells it.
  static let failures: [(name: String, request: LintedRequest, rule: String, level: LintFinding.Level)] = [
    (
      "a widget token's push with another suffix", request(.widgets, reload, [("apns-topic", "com.example.app.push-type.controls")]),
      "InvalidPushType", .refused
    ),
    (
      "an activity under the bare bundle id", request(.liveactivity, update, [("apns-topic", "com.example.app")]), "InvalidPushType",
      .refused
    ),
    (
      "a suffix twice", request(.widgets, reload, [("apns-topic", "com.example.app.push-type.widgets.push-type.widgets")]),
      "TopicDisallowed",
      .refused
    ),
    ("events for event", request(.liveactivity, activity(#""events":"end""#)), "eventMissing", .ignored),
    ("no dismissal, no event", request(.liveactivity, activity(#""content-state":{}"#)), "eventMissing", .ignored),
    (
      "milliseconds", request(.liveactivity, #"{"aps":{"timestamp":1796000000000,"event":"update","content-state":{}}}"#),
      "timestampInMilliseconds", .ignored
    ),
    (
      "far ahead",
      request(.liveactivity, "{\"aps\":{\"timestamp\":\(now.unixSeconds + 30_000),\"event\":\"update\",\"content-state\":{}}}"),
      "timestampInFuture", .ignored
    ),
    (
      "long past",
      request(.liveactivity, "{\"aps\":{\"timestamp\":\(now.unixSeconds - 30_000),\"event\":\"update\",\"content-state\":{}}}"),
      "timestampOld", .warning
    ),
    (
      "an alert in each update", request(.liveactivity, activity(#""event":"update","content-state":{},"alert":{"title":"t"}"#)),
      "alertInUpdate", .warning
    ),
    (
      "a dismissal before the end",
      request(.liveactivity, activity(#""event":"update","content-state":{"stops":1},"dismissal-date":\#(now.unixSeconds)"#)),
      "dismissalWithoutEnd", .fieldIgnored
    ),
    ("everything at ten", request(.liveactivity, update, [("apns-priority", "-")]), "priorityMissing", .warning),
    (
      "no alert in a start", request(.liveactivity, activity(#""event":"start","attributes-type":"R","attributes":{},"content-state":{}"#)),
      "startWithoutAlert", .ignored
    ),
    (
      "a type of another name",
      request(
        .liveactivity,
        activity(#""event":"start","attributes-type":"App.Ride","attributes":{},"content-state":{},"alert":{"title":"t"}"#)),
      "qualifiedAttributesType", .warning
    ),
    (
      "no attributes", request(.liveactivity, activity(#""event":"start","content-state":{},"alert":{"title":"t","body":"b"}"#)),
      "attributesTypeMissing", .ignored
    ),
    ("a start that nothing stores", request(.liveactivity, start, [("apns-expiration", "0")]), "startNotStored", .warning),
    ("a start that begins twice", request(.liveactivity, start, [("apns-collapse-id", "-")]), "startNotCollapsed", .warning),
    ("keys beside aps", request(.liveactivity, #"{"aps":{},"content-state":{},"event":"update"}"#), "outsideAPS", .ignored),
    (
      "keys in snake case", request(.liveactivity, activity(#""event":"update","content-state":{"next_stop":1}"#)), "snakeCaseKey", .warning
    ),
    (
      "a Unix date", request(.liveactivity, activity(#""event":"update","content-state":{"trip":{"arrivalTime":1796000000}}"#)), "unixDate",
      .warning
    ),
    (
      "a date as text", request(.liveactivity, activity(#""event":"update","content-state":{"stops":[{"x":"2026-11-30"}]}"#)), "dateAsText",
      .warning
    ),
    ("one instead of true", request(.widgets, #"{"aps":{"content-changed":1}}"#), "contentChangedNotTrue", .ignored),
    (
      "content-available in a reload", request(.widgets, #"{"aps":{"content-changed":true,"content-available":1}}"#), "alertInReload",
      .warning
    ),
    ("state in a reload", request(.controls, #"{"aps":{"content-changed":true},"on":true}"#), "customKeys", .warning),
    ("another service's envelope", request(.widgets, #"{"message":{"token":"x"}}"#), "otherService", .warning),
    (
      "a background push at ten", request(.background, #"{"aps":{"content-available":1}}"#, [("apns-priority", "10")]), "backgroundAtTen",
      .refused
    ),
    ("no push type", request(.widgets, reload, [("apns-push-type", "-")]), "pushTypeMissing", .warning),
    ("an unknown push type", request(.widgets, reload, [("apns-push-type", "widget")]), "InvalidPushType", .refused),
    ("a fraction of a second", request(.widgets, reload, [("apns-expiration", "1.5")]), "BadExpirationDate", .refused),
    ("seconds from now", request(.widgets, reload, [("apns-expiration", "3600")]), "expirationRelative", .warning),
    (
      "an expiration in milliseconds", request(.widgets, reload, [("apns-expiration", "1796000000000")]), "expirationInMilliseconds",
      .warning
    ),
    ("no UUID", request(.widgets, reload, [("apns-id", "1")]), "BadMessageId", .refused),
    ("a long collapse id", request(.widgets, reload, [("apns-collapse-id", String(repeating: "x", count: 65))]), "BadCollapseId", .refused),
    ("a header twice", request(.widgets, reload, [("apns-id", nil), ("apns-id", nil)]), "DuplicateHeaders", .refused),
    ("no token", request(.widgets, reload, [("authorization", "-")]), "MissingProviderToken", .refused),
    ("half a token", request(.widgets, reload, [("authorization", "bearer a.b")]), "InvalidProviderToken", .refused),
    (
      "an old token",
      request(
        .widgets, reload,
        [
          (
            "authorization",
            "bearer "
              + {
                var t = TestToken(); t.issuedAt = "\(now.unixSeconds - 4000)"; return t.text
              }()
          )
        ]),
      "ExpiredProviderToken", .refused
    ),
    ("nothing", request(.widgets, ""), "PayloadEmpty", .refused),
    (
      "too much", request(.widgets, #"{"aps":{"content-changed":true},"x":"\#(String(repeating: "x", count: 4096))"}"#), "PayloadTooLarge",
      .refused
    ),
    ("no JSON", request(.widgets, "{"), "notJSON", .ignored),
  ]

  @Test(arguments: failures.indices) func whatWentWrongIsTold(index: Int) {
    let failure = Self.failures[index]
    let findings = PushLint.findings(failure.request, now: now)
    let found = findings.first { $0.rule == failure.rule }
    for finding in findings {
      #expect(PushLint.ruleNames.contains(finding.rule) || Reason.allCases.contains { "\($0.text)" == finding.rule }, "\(finding.rule)")
    }
    #expect(found?.level == failure.level, "\(failure.name): \(findings)")
    #expect(found?.message.isEmpty == false && found?.field.isEmpty == false)
  }

  /// Keys beside aps are custom keys where no activity is meant.
  @Test func aReloadMayCarryAnything() {
    let request = Self.request(.widgets, #"{"aps":{"content-changed":true},"event":"shipped","timestamp":1}"#)
    #expect(Self.rules(request) == ["customKeys"])
  }

  @Test func aCertificateBesideATokenIsTold() {
    var request = Self.request(.liveactivity, Self.update)
    request.hasClientCertificate = true
    #expect(Self.rules(request) == ["certificateBesideToken", "TopicDisallowed"])
    request = Self.request(.alert, #"{"aps":{"alert":"x"}}"#, [("authorization", "-")])
    request.hasClientCertificate = true
    #expect(Self.rules(request) == [])
  }

  @Test func everythingIsToldAtOnce() {
    var request = Self.request(
      .widgets, #"{"aps":{"content-changed":"true"}}"#,
      [("apns-priority", "7"), ("apns-id", "x"), ("apns-topic", "com.example.app.push-type.widget")])
    request.path = "/3/device/zz"
    #expect(
      Self.rules(request) == ["BadDeviceToken", "BadMessageId", "BadPriority", "TopicDisallowed", "contentChangedNotTrue"])
  }

  /// What is only known to a shell is not judged.
  @Test func whatIsUnknownIsNotJudged() {
    var request = Self.request(.widgets, Self.reload, [("apns-topic", nil), ("apns-id", nil), ("apns-priority", nil)])
    request.path = nil
    request.body = nil
    #expect(Self.rules(request) == [])
  }

  /// Wherever in a sound payload a shell puts something in, nothing is told that may not hold.
  @Test(arguments: [(PushType.widgets, reload), (.liveactivity, update), (.liveactivity, start)])
  func aGapIsNotJudged(type: PushType, body: String) {
    for offset in 0...body.utf8.count {
      var request = Self.request(type, body)
      request.bodyGaps = [offset]
      #expect(Self.rules(request) == [], "\(body.prefix(offset))")
    }
  }

  /// The time that the number stands for is told, and what to send.
  @Test func anExpirationFromNowIsPutRight() {
    let findings = PushLint.findings(Self.request(.widgets, Self.reload, [("apns-expiration", "3600")]), now: now)
    let message = "apns-expiration is a Unix time in seconds; 3600 is 1970-01-01T01:00:00Z, long past; send now + 3600, at present "
    #expect(findings.map(\.message) == [message + "\(now.unixSeconds + 3600)"])
  }

  /// The date that is proposed is the one that was meant.
  @Test func aUnixDateIsPutRight() {
    let body = Self.activity(#""event":"update","content-state":{"eta":1700000000}"#)
    let finding = PushLint.findings(Self.request(.liveactivity, body), now: now).first { $0.rule == "unixDate" }
    #expect(finding?.message.hasSuffix("send 721692800") == true)
    #expect(finding?.field == "aps.content-state.eta")
  }

  /// Neither a number that is no date, nor a deep or odd payload, is taken for something.
  @Test(arguments: [
    #"{"count":1796000000}"#, #"{"eta":12}"#, #"{"eta":817692800}"#, #"{"text":"2026 is near"}"#, #"{"a":[[[[1]]]]}"#, "{}",
  ]) func whatIsNoDateIsNone(state: String) {
    #expect(Self.rules(Self.request(.liveactivity, Self.activity("\"event\":\"update\",\"content-state\":\(state)"))) == [])
  }
}
