import JSON
import Primitives
import Push
import Rules
import Testing

@Suite("Content-states by schema") struct ContentStateTests {
  private static func types() throws -> [String: [ActivitySchemas]] {
    [
      "com.example.app": try ActivitySchemas.list(
        [
          "Ride": ["required": ["stops"], "properties": ["stops": ["type": "integer"], "eta": ["format": "date2001"]]],
          "Game": ["required": ["goals"], "properties": ["goals": ["type": "integer"]]],
        ], at: "contentStates", max: 32, contentStatesOnly: true)
    ]
  }

  private static func verdict(_ aps: String, _ validation: AppPolicy.Validation = .strict) throws -> Verdict {
    var rules = TestRules(TestRules.apps(validation))
    rules.rules = RequestRules(
      apps: TestRules.apps(validation), providers: TestRules.providers, contentStates: try types())
    return rules.evaluate(.liveActivity("{\"timestamp\":\(now.unixSeconds),\(aps)}"))
  }

  private static func start(_ type: String, _ state: String) -> String {
    #""event":"start","attributes-type":"\#(type)","attributes":{},"alert":{"title":"t","body":"b"},"content-state":\#(state)"#
  }

  @Test func aStartIsJudgedByTheTypeThatItNames() throws {
    #expect(try Self.verdict(Self.start("Ride", #"{"stops":3}"#)).push?.contentStateMismatches == 0)
    let missing = try #require(try Self.verdict(Self.start("Ride", #"{"stop":3}"#)).refusal)
    #expect(missing.reason == .badPayload && missing.field == "aps.content-state.stops")
    #expect(missing.cause == .contentStateNotDecodable)
    #expect(missing.detail == "aps.content-state.stops is missing; it must be an integer; is stop meant for it?")
    let date = try #require(try Self.verdict(Self.start("Ride", #"{"stops":3,"eta":\#(now.unixSeconds)}"#)).refusal)
    #expect(date.detail.hasPrefix("aps.content-state.eta is a Unix time; Swift's Date shows 20"))
    #expect(date.cause == .dateMisread)
    // Of a type that has no schema nothing is known.
    #expect(try Self.verdict(Self.start("Other", #"{"stop":3}"#)).push != nil)
  }

  @Test func withValidationAppleItIsAWarning() throws {
    let push = try #require(try Self.verdict(Self.start("Ride", #"{"stop":3}"#), .apple).push)
    #expect(push.warnings.contains(.contentStateMismatch))
    let rules = RequestRules(apps: TestRules.apps(.apple), providers: TestRules.providers, contentStates: try Self.types())
    let request = TestRequest.liveActivity("{\"timestamp\":\(now.unixSeconds),\(Self.start("Ride", #"{"stop":3}"#))}")
    let (fields, headers) = TestRules.fields(request)
    let details = rules.details(of: push, fields, headers: headers.span.bytes, body: request.body.span.bytes, now: now)
    #expect(
      details == [
        WarningDetail(
          .contentStateMismatch, field: "aps.content-state.stops",
          detail: "aps.content-state.stops is missing; it must be an integer; is stop meant for it?")
      ])
    #expect(try Self.verdict(Self.start("Ride", #"{"stops":3}"#), .apple).push?.warnings.contains(.contentStateMismatch) == false)
  }

  /// An app that only the entry for every other app stands for has schemas of its own all the same, and the next one has none of them.
  @Test func anAppThatIsNotListedIsJudgedByItsOwn() throws {
    let types = try Self.types()["com.example.app"]!
    let anyApp = AppDirectory.App(bundleID: "", developmentUpstream: "device")
    var rules = TestRules(TestRules.apps(.strict))
    rules.rules = RequestRules(
      apps: AppDirectory([AppDirectory.App(bundleID: "com.listed", developmentUpstream: "device")], anyApp: anyApp),
      providers: TestRules.providers, contentStates: ["com.pizza": types, "": [types[1]]])
    func verdict(_ bundleID: String, _ type: String, _ state: String) -> Verdict {
      var request = TestRequest.liveActivity("{\"timestamp\":\(now.unixSeconds),\(Self.start(type, state))}")
      request.topic = "\(bundleID).push-type.liveactivity"
      return rules.evaluate(request)
    }
    // Twice each, the second time from what is remembered of the topic.
    for _ in 0..<2 {
      #expect(verdict("com.pizza", "Ride", "{}").refusal?.field == "aps.content-state.stops")
      #expect(verdict("com.pizza", "Ride", #"{"stops":1}"#).push != nil)
      #expect(verdict("com.other", "Ride", "{}").push != nil)
      #expect(verdict("com.other", "Game", "{}").refusal?.field == "aps.content-state.goals")
      #expect(verdict("com.listed", "Game", "{}").push != nil)
    }
  }

  /// Which type an update is of depends on its token.
  @Test func anUpdateIsComparedWithEachType() throws {
    for (state, bits) in [(#"{"stops":3}"#, 0b10), (#"{"goals":1}"#, 0b01), ("{}", 0b11), (#"{"stops":1,"goals":1}"#, 0)]
      as [(String, UInt32)]
    {
      let push = try #require(try Self.verdict("\"event\":\"update\",\"content-state\":\(state)").push)
      #expect(push.contentStateMismatches == bits, "\(state)")
      #expect(!push.warnings.contains(.contentStateMismatch))
      let rules = RequestRules(apps: TestRules.apps(), providers: TestRules.providers, contentStates: try Self.types())
      let body = Array("{\"aps\":{\"content-state\":\(state)}}".utf8)
      let doubts = rules.contentStateDoubts(push, body: body.span.bytes, now: now)
      #expect(doubts.map(\.attributesType) == ["Ride", "Game"])
      #expect(doubts.map { $0.problem != nil } == [bits & 1 != 0, bits & 2 != 0])
    }
    #expect(try Self.verdict(#""event":"end""#).push?.contentStateMismatches == 0)
  }

  @Test func otherAppsAndOtherPushesAreLeftAlone() throws {
    var rules = TestRules()
    rules.rules = RequestRules(apps: TestRules.apps(), providers: TestRules.providers, contentStates: try Self.types())
    for type in PushType.allCases where type != .liveactivity && type != .mdm {
      #expect(rules.evaluate(.of(type)).push?.contentStateMismatches == 0)
    }
    let other = TestRequest.liveActivity("{\"timestamp\":\(now.unixSeconds),\(Self.start("Ride", "{}"))}").with {
      $0.topic = "com.example.other.push-type.liveactivity"
    }
    #expect(rules.evaluate(other).push != nil)
  }

  @Test func lintKnowsTheSchema() throws {
    func findings(_ state: String) throws -> [LintFinding] {
      var request = LintedRequest()
      request.body = Array("{\"aps\":{\"timestamp\":\(now.unixSeconds),\"event\":\"update\",\"content-state\":\(state)}}".utf8)
      request.schemas = [try Self.types()["com.example.app"]![0]]
      return PushLint.findings(request, now: now)
    }
    #expect(try findings(#"{"stops":3,"arrival_time":\#(now.unixSeconds)}"#).isEmpty, "what the schema does not name is not guessed at")
    let missing = try findings("{}")
    #expect(missing.map(\.rule) == ["contentStateNotDecodable"] && missing[0].level == .ignored)
    #expect(missing[0].field == "aps.content-state.stops")
    let date = try findings(#"{"stops":3,"eta":\#(now.unixSeconds)}"#)
    #expect(date.map(\.rule) == ["dateMisread"] && date[0].level == .misread && date[0].field == "aps.content-state.eta")
  }

  /// The attributes of a start are judged by their schema, too: refused in strict, and warned of as Apple would take them.
  @Test func attributesOfAStartAreJudged() throws {
    let types = [
      "com.example.app": [
        try ActivitySchemas("Ride", ["attributes": ["required": ["goal"], "properties": ["goal": ["type": "string"]]]], at: "s")
      ]
    ]
    let start =
      #"{"timestamp":\#(now.unixSeconds),"event":"start","attributes-type":"Ride","attributes":{"totalDays":7},"content-state":{},"alert":{"title":"a","body":"b"}}"#
    func verdict(_ validation: AppPolicy.Validation) -> Verdict {
      var rules = TestRules(TestRules.apps(validation))
      rules.rules = RequestRules(apps: TestRules.apps(validation), providers: TestRules.providers, contentStates: types)
      return rules.evaluate(.liveActivity(start))
    }
    let refusal = try #require(verdict(.strict).refusal)
    #expect(refusal.reason == .badPayload && refusal.detail == "aps.attributes.goal is missing; it must be a string")
    #expect(refusal.cause == .attributesNotDecodable)
    let push = try #require(verdict(.apple).push)
    #expect(push.warnings.contains(.attributesMismatch) && !push.warnings.contains(.contentStateMismatch))
  }

  /// A date of the attributes that decodes is refused, or warned of, as what it is: something is started.
  @Test func aDateThatIsMisreadIsToldAsSuch() throws {
    for (attributes, state, fields) in [
      (#"{"when":\#(now.unixSeconds)}"#, #"{"eta":1}"#, ["aps.attributes.when"]),
      (#"{"when":1}"#, #"{"eta":\#(now.unixSeconds)}"#, ["aps.content-state.eta"]),
      (#"{"when":\#(now.unixSeconds)}"#, "{}", ["aps.content-state.eta", "aps.attributes.when"]),
    ] {
      let schema: JSONValue = ["required": ["eta"], "properties": ["eta": ["format": "date2001"]]]
      let types = [
        "com.example.app": [
          try ActivitySchemas("Ride", ["attributes": ["properties": ["when": ["format": "date2001"]]], "contentState": schema], at: "s")
        ]
      ]
      let request = TestRequest.liveActivity(
        #"{"timestamp":\#(now.unixSeconds),"event":"start","attributes-type":"Ride","attributes":\#(attributes),"content-state":\#(state),"alert":{"title":"a","body":"b"}}"#
      )
      func rules(_ validation: AppPolicy.Validation) -> TestRules {
        var rules = TestRules(TestRules.apps(validation))
        rules.rules = RequestRules(apps: TestRules.apps(validation), providers: TestRules.providers, contentStates: types)
        return rules
      }
      var strict = rules(.strict)
      var apple = rules(.apple)
      let refusal = try #require(strict.evaluate(request).refusal)
      #expect(refusal.cause == (fields.count == 1 ? .dateMisread : .contentStateNotDecodable))
      #expect(fields.allSatisfy { refusal.detail.contains($0) } && refusal.field == fields[0])
      let push = try #require(apple.evaluate(request).push)
      #expect(push.warnings.contains(.dateMisread) && push.warnings.contains(.contentStateMismatch) == (fields.count == 2))
      #expect(!push.warnings.contains(.attributesMismatch))
      let (places, headers) = TestRules.fields(request)
      let details = apple.rules.details(of: push, places, headers: headers.span.bytes, body: request.body.span.bytes, now: now)
      #expect(details.map(\.field) == fields)
    }
  }

  @Test func aTypeThatIsNoneOfThoseKnownIsWarnedOf() throws {
    for (type, warnings, hint) in [
      ("Rides", [PushWarning.unknownAttributesType], "is Ride meant?"),
      ("Pizza.Ride", [.qualifiedAttributesType, .unknownAttributesType], "is Ride meant?"), ("Ride", [], ""),
    ] as [(String, [PushWarning], String)] {
      let push = try #require(try Self.verdict(Self.start(type, #"{"stops":3}"#)).push)
      let told = push.warnings.all.filter { [.qualifiedAttributesType, .unknownAttributesType].contains($0) }
      #expect(told == warnings, "\(type)")
      let rules = RequestRules(apps: TestRules.apps(), providers: TestRules.providers, contentStates: try Self.types())
      let request = TestRequest.liveActivity("{\"timestamp\":\(now.unixSeconds),\(Self.start(type, #"{"stops":3}"#))}")
      let (fields, headers) = TestRules.fields(request)
      let details = rules.details(of: push, fields, headers: headers.span.bytes, body: request.body.span.bytes, now: now)
      #expect(hint.isEmpty || details.last?.detail.contains(hint) == true, "\(details)")
    }
  }
}
