import Push
import Testing

@testable import Rules

/// A key that is missing is looked for under other names, and in the wrong place.
@Suite("Misspelt keys") struct MisspeltKeyTests {
  private static func aps(_ members: String) -> String { "{\"aps\":{\"timestamp\":1796000000,\(members)}}" }

  static let cases: [(body: String, type: PushType, field: String, end: String)] = [
    (#"{"aps":{"content_changed":true}}"#, .widgets, "aps.content-changed", "; aps has content_changed, did you mean content-changed?"),
    (#"{"aps":{"contentChanged":true}}"#, .controls, "aps.content-changed", "; aps has contentChanged, did you mean content-changed?"),
    (#"{"aps":{"content-change":true}}"#, .widgets, "aps.content-changed", "; aps has content-change, did you mean content-changed?"),
    (#"{"aps":{"CONTENT_CHANGED":true}}"#, .widgets, "aps.content-changed", "; aps has CONTENT_CHANGED, did you mean content-changed?"),
    (#"{"aps":{"kind":"Weather"}}"#, .widgets, "aps.content-changed", "is missing; it must be the JSON value true"),
    (#"{"aps":{"content-available":1}}"#, .widgets, "aps.content-changed", "is missing; it must be the JSON value true"),
    (#"{"aps":{},"content-changed":true}"#, .widgets, "aps.content-changed", "; content-changed stands beside aps, put it into aps"),
    (#"{"Aps":{"content-changed":true}}"#, .widgets, "aps", "; there is Aps, did you mean aps?"),
    (
      aps(#""event":"update","contentState":{}"#), .liveactivity, "aps.content-state",
      "; aps has contentState, did you mean content-state?"
    ),
    (
      #"{"aps":{"timestamp":1796000000,"event":"update"},"content-state":{}}"#, .liveactivity, "aps.content-state",
      "; content-state stands beside aps, put it into aps"
    ),
    (
      #"{"aps":{"timestamp":1796000000,"event":"update"},"contentState":{}}"#, .liveactivity, "aps.content-state",
      "; contentState stands beside aps, put it into aps as content-state"
    ),
    (#"{"aps":{"timeStamp":1,"event":"end"}}"#, .liveactivity, "aps.timestamp", "; aps has timeStamp, did you mean timestamp?"),
    (aps(#""evnt":"end""#), .liveactivity, "aps.event", "; aps has evnt, did you mean event?"),
    (
      #"{"aps":{"content_available":1}}"#, .background, "aps.content-available",
      "; aps has content_available, did you mean content-available?"
    ),
    (#"{"aps":{"Sound":"x"}}"#, .alert, "aps.alert", "; aps has Sound, did you mean sound?"),
  ]

  @Test(arguments: cases.indices) func theRightKeyIsNamed(index: Int) throws {
    let (body, type, field, end) = Self.cases[index]
    let refusal = try #require(judge(TestRequest.of(type).with { $0.body = Array(body.utf8) }).refusal)
    #expect(refusal.field == field && refusal.detail.hasSuffix(end), "\(refusal.detail)")
  }

  @Test(arguments: [
    (
      #"{"aps":{"content-changed":true,"content_changed":true,"thread-id":"x"}}"#, PushType.widgets, "aps.content_changed",
      ": content_changed true (content-changed, which is there too, is what counts), thread-id \"x\""
    ),
    (
      aps(#""event":"update","content-state":{},"staleDate":1,"badge":1"#), .liveactivity, "aps.staleDate",
      ": staleDate 1 (did you mean stale-date?), badge 1"
    ),
    (
      aps(#""event":"update","content-state":{},"events":"end""#), .liveactivity, "aps.events",
      ": events \"end\" (event, which is there too, is what counts)"
    ),
    (#"{"aps":{"alert":"x","a":1,"b":1,"c":1,"d":1,"e":1,"f":1}}"#, .alert, "aps.a", ": a 1, b 1, c 1, d 1, e 1 and 1 more"),
  ]) func unusedKeysAreNamed(body: String, type: PushType, field: String, end: String) {
    var request = LintedRequest()
    (request.assumedType, request.body) = ("\(type)", Array(body.utf8))
    let finding = PushLint.findings(request, now: now).first { $0.rule == "unusedAPSKeys" }
    #expect(finding?.field == field && finding?.message.hasSuffix(end) == true, "\(String(describing: finding))")
  }

  /// What strict validation says of a key that is missing is told with the warning where it lets the push pass.
  @Test(arguments: cases.indices) func appleTellsTheSame(index: Int) throws {
    let request = TestRequest.of(Self.cases[index].type).with { $0.body = Array(Self.cases[index].body.utf8) }
    let refusal = try #require(judge(request).refusal)
    let details = try details(of: request)
    #expect(details.contains { $0.field == refusal.field && $0.detail == refusal.detail }, "\(refusal.detail) in \(details)")
  }

  /// The key that a managed device needs stands beside `aps`.
  @Test(arguments: [
    (#"{"MDM":"magic"}"#, "; there is MDM, did you mean mdm?"), (#"{"mdm":1}"#, "; the mdm that is there is no string"),
    (#"{"aps":{"mdm":"magic"}}"#, "; mdm stands in aps, put it beside aps"), (#"{"magic":"x"}"#, "of the device's enrolment"),
  ]) func theKeyOfManagementIsLookedFor(body: String, end: String) throws {
    let request = TestRequest.of(.mdm).with { $0.body = Array(body.utf8) }
    let refusal = try #require(judge(request, TestRules.apps(any: true)).refusal)
    #expect(refusal.detail.hasSuffix(end), "\(refusal.detail)")
    #expect(try details(of: request).first { $0.warning == .mdmMissing }?.detail == refusal.detail)
  }

  /// A name is repeated only where it is short and plain.
  @Test func aLongNameIsCut() throws {
    let name = "content_changed" + String(repeating: "x", count: 4000)
    let refusal = try #require(judge(TestRequest().with { $0.body = Array("{\"aps\":{\"\(name)\":true}}".utf8) }).refusal)
    #expect(refusal.detail == "aps.content-changed is missing; it must be the JSON value true")
    var request = LintedRequest()
    (request.assumedType, request.body) = ("widgets", Array("{\"aps\":{\"content-changed\":true,\"\(name)\":1}}".utf8))
    #expect(PushLint.findings(request, now: now).allSatisfy { $0.message.utf8.count < 200 })
  }
}
