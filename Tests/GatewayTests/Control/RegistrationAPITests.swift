import Control
import JSON
import Primitives
import Push
import Testing

@Suite("Control API: registrations") struct RegistrationAPITests {
  private static let base: JSONObject = ["type": "widgets", "bundleID": "com.example.app", "environment": "development"]

  private static func body(_ change: (inout JSONObject) -> Void) -> JSONValue {
    var object = base
    change(&object)
    return .object(object)
  }

  private static let full: [(type: String, extra: JSONObject)] = [
    (
      "widgets",
      [
        "widgets": [["id": "w1", "kind": "Score", "family": "systemSmall"], ["kind": "Score", "family": "systemSmall"]],
        "user": "ann", "device": "Ann's iPhone", "platform": "iOS", "upstream": "apple", "developerMode": true,
        "minimumIntervalSeconds": 2, "coalesceSeconds": 0.5,
      ]
    ),
    ("controls", ["control": ["kind": "Lamp"]]),
    ("liveactivity", ["activity": ["id": "A1", "attributesType": "Trip"], "frequentUpdates": true]),
    ("pushToStart", [:]), ("app", ["user": "bob"]),
  ]

  /// What was registered comes back as it was written, for every type of token.
  @Test(arguments: full.indices) func whatIsRegisteredComesBack(index: Int) async throws {
    let stage = try APIStage()
    let (type, extra) = Self.full[index]
    let body = Self.body { object in
      object["type"] = .string(type)
      for (key, value) in extra { object[key] = value }
    }
    let target = "/v1/registrations/\(APIStage.token(7))"
    let made = try await stage.call(.put, target, body)
    #expect(made.status == 201, "\(made.text)")
    let got = try await stage.call(.get, target)
    #expect(got.status == 200 && made.json["waiting"] == nil)
    for (key, value) in try #require(made.json.objectValue) { #expect(got.json[key] == value, "\(key)") }
    for (key, value) in try #require(body.objectValue) { #expect(got.json[key] == value, "\(key)") }
    #expect(got.json["token"] == .string(APIStage.token(7)))
    #expect(got.json["registered"] == "2027-01-15T08:00:00.000Z")
    #expect(got.json["waiting"] == 0 && got.json["inFlight"] == false && got.json["retiredSince"] == nil)
    let again = try await stage.call(.put, target, Self.body { $0["type"] = "app" })
    #expect(again.status == 200 && again.json["type"] == "app" && again.json["user"] == nil)
    #expect(try await stage.call(.delete, target).status == 204)
    #expect(try await stage.call(.get, target).status == 404)
    #expect(try await stage.call(.delete, target).status == 404)
  }

  @Test func hexadecimalOfEitherCaseIsOneToken() async throws {
    let stage = try APIStage()
    try await stage.register(0xAB)
    let upper = try await stage.call(.get, "/v1/registrations/\(APIStage.token(0xAB).uppercased())")
    #expect(upper.status == 200 && upper.json["token"] == .string(APIStage.token(0xAB)))
  }

  @Test(arguments: ["abc", "xyz1", "a", "%20", "a5a5g5", String(repeating: "a", count: 202)]) func badTokens(text: String) async throws {
    let stage = try APIStage()
    for (method, path) in [(HTTPMethod.put, "registrations"), (.get, "registrations"), (.delete, "registrations"), (.get, "budgets")] {
      let answer = try await stage.call(method, "/v1/\(path)/\(text)", .object(Self.base))
      #expect(answer.status == 400 && answer.field == "token")
      #expect(answer.message.contains("hexadecimal with an even number of digits, 2 to 200"))
    }
  }

  /// Each names the place and the right form.
  private static let malformed: [(body: JSONValue, field: String, message: String)] = [
    (.object(["bundleID": "com.example.app", "environment": "development"]), "type", "type is missing"),
    (body { $0["type"] = "widget" }, "type", #"did you mean "widgets"?"#),
    (body { $0["type"] = 1 }, "type", "type must be a string, not 1"),
    (body { $0["bundleID"] = nil }, "bundleID", "bundleID is missing"),
    (body { $0["bundleID"] = "" }, "bundleID", "must be a bundle id such as com.example.app"),
    (body { $0["bundleID"] = "a b" }, "bundleID", "must be a bundle id such as com.example.app"),
    (body { $0["bundleID"] = "com.example.ap" }, "bundleID", #"did you mean "com.example.app"?"#),
    (body { $0["bundleID"] = "org.unknown.thing" }, "bundleID", "PUT /v1/apps/org.unknown.thing, with --app at the start of dev"),
    (body { $0["environment"] = "sandbox" }, "environment", #"must be "development" or "production""#),
    (body { $0["environment"] = "production" }, "environment", "has no upstream for environment"),
    (body { $0["upstream"] = "devise" }, "upstream", "must be one of device, apple"),
    (body { $0["platform"] = "macos" }, "platform", #"did you mean "macOS"?"#),
    (body { $0["bundelID"] = "x" }, "bundelID", #"did you mean "bundleID"?"#),
    (body { $0["widgets"] = "x" }, "widgets", "must be a list of objects"),
    (body { $0["widgets"] = [["kind": "a"]] }, "widgets[0].family", "is missing"),
    (
      body { $0["widgets"] = [["kind": "a", "family": "b"], ["kind": "a", "famly": "b", "family": "c"]] }, "widgets[1].famly",
      "did you mean"
    ),
    (
      body { $0["widgets"] = [["id": "1", "kind": "a", "family": "b"], ["id": "1", "kind": "c", "family": "d"]] }, "widgets[1].id",
      "stands twice"
    ),
    (body { $0["widgets"] = .array(Array(repeating: ["kind": "a", "family": "b"], count: 65)) }, "widgets", "at most 64"),
    (
      body {
        $0["type"] = "app"; $0["widgets"] = [["kind": "a", "family": "b"]]
      }, "widgets", #"belongs to the type "widgets""#
    ),
    (body { $0["control"] = ["kind": "a"] }, "control", #"belongs to the type "controls""#),
    (
      body {
        $0["type"] = "controls"; $0["control"] = [:]
      }, "control.kind", "is missing"
    ),
    (body { $0["activity"] = ["id": "a", "attributesType": "b"] }, "activity", #"belongs to the type "liveactivity""#),
    (
      body {
        $0["type"] = "liveactivity"; $0["activity"] = ["id": "a"]
      }, "activity.attributesType", "is missing"
    ),
    (body { $0["frequentUpdates"] = "yes" }, "frequentUpdates", "true or false"),
    (body { $0["minimumIntervalSeconds"] = -1 }, "minimumIntervalSeconds", "from 0"),
    (body { $0["minimumIntervalSeconds"] = 604_801 }, "minimumIntervalSeconds", "to 604800"),
    (body { $0["coalesceSeconds"] = 3601 }, "coalesceSeconds", "to 3600"),
    (body { ($0["bundleID"], $0["bundelID"]) = (nil, "com.example.app") }, "bundleID", #"did you mean it by "bundelID"?"#),
    (body { $0["user"] = .string(String(repeating: "u", count: 257)) }, "user", "not 257"),
  ]

  @Test(arguments: malformed.indices) func malformedBodiesAreRefused(index: Int) async throws {
    let stage = try APIStage()
    let (body, field, message) = Self.malformed[index]
    let answer = try await stage.call(.put, "/v1/registrations/\(APIStage.token(1))", body)
    #expect(answer.status == 400)
    #expect(answer.field == field, "\(answer.text)")
    #expect(answer.message.contains(message), "\(answer.text)")
    #expect(try await stage.call(.get, "/v1/registrations/\(APIStage.token(1))").status == 404)
  }

  /// Only `admin` may shorten an app's minimum interval: whoever registers would otherwise lift the budget.
  @Test func onlyAdminShortensTheInterval() async throws {
    let stage = try APIStage()
    for (type, least) in [("widgets", 300), ("controls", 10)] {
      let target = "/v1/registrations/\(APIStage.token(1))"
      for (seconds, secret, isAllowed) in [(least - 1, "register", false), (least, "register", true), (least - 1, "admin", true)] {
        let body = Self.body {
          $0["type"] = .string(type)
          $0["minimumIntervalSeconds"] = .integer(Int64(seconds))
        }
        let answer = try await stage.call(.put, target, as: secret, body)
        #expect((200...204).contains(answer.status) == isAllowed, "\(type) \(seconds) \(secret): \(answer.text)")
        if !isAllowed { #expect(answer.status == 403 && answer.field == "minimumIntervalSeconds") }
      }
    }
  }

  /// Pages together are the whole list, each token once, in order.
  @Test(arguments: [1, 3, 7, 8, 100]) func pages(limit: Int) async throws {
    let stage = try APIStage()
    for number in 0..<8 { try await stage.register(number) }
    var tokens: [String] = []
    var after: String? = ""
    while let cursor = after {
      let page = try await stage.call(.get, "/v1/registrations?limit=\(limit)&after=\(cursor)").json
      let rows = try #require(page["registrations"]?.arrayValue)
      #expect(rows.count <= limit)
      tokens += rows.compactMap { $0["token"]?.stringValue }
      after = page["next"]?.stringValue
    }
    #expect(tokens == (0..<8).map(APIStage.token))
  }

  @Test func filters() async throws {
    let stage = try APIStage()
    for (number, (type, user, device)) in [("widgets", "ann", "one"), ("app", "ann", "two"), ("app", "bob", "one")].enumerated() {
      let body = Self.body {
        $0["type"] = .string(type)
        $0["user"] = .string(user)
        $0["device"] = .string(device)
      }
      #expect(try await stage.call(.put, "/v1/registrations/\(APIStage.token(number))", body).status == 201)
    }
    for (query, expected) in [
      ("", [0, 1, 2]), ("user=ann", [0, 1]), ("device=one", [0, 2]), ("type=app", [1, 2]), ("type=app&user=ann", [1]), ("user=zoe", []),
      ("bundleID=com.example.app", [0, 1, 2]), ("bundleID=com.example.other", []),
    ] {
      let rows = try await stage.call(.get, "/v1/registrations?\(query)").json["registrations"]?.arrayValue
      #expect(rows?.compactMap { $0["token"]?.stringValue } == expected.map(APIStage.token), "\(query)")
    }
    for (query, field) in [("typ=app", "typ"), ("type=apps", "type"), ("limit=0", "limit"), ("limit=1001", "limit"), ("after=!", "after")] {
      let answer = try await stage.call(.get, "/v1/registrations?\(query)")
      #expect(answer.status == 400 && answer.field == field, "\(query)")
    }
  }

  // MARK: Many at once

  private static func row(_ number: Int, bundle: String = APIStage.bundle, _ more: String = "") -> String {
    #"{"token":"\#(APIStage.token(number))","type":"widgets","bundleID":"\#(bundle)","environment":"development"\#(more)}"#
  }

  @Test func manyAreRegisteredAndWhatIsWrongIsToldByItsLine() async throws {
    let stage = try APIStage()
    try await stage.register(3, bundle: APIStage.other)
    let body = [
      Self.row(1, #","user":"alice""#), "", Self.row(2, #","usr":"x""#), "{", Self.row(2, bundle: "com.example.ap"), Self.row(3),
      #"{"token":"xy"}"#, Self.row(1, #","user":"bob""#), "  \r",
    ].joined(separator: "\n")
    let answer = try await stage.call(.post, "/v1/registrations", as: APIStage.bundle, text: body)
    #expect(answer.status == 200)
    let lines = try answer.text.split(separator: "\n").map { try JSONValue.parse(String($0)) }
    #expect(lines.dropLast().compactMap { $0["line"]?.intValue } == [3, 4, 5, 6, 7], "\(answer.text)")
    #expect(lines.last == ["created": 1, "replaced": 1, "refused": 5])
    #expect(lines[0]["error"]?["field"] == "usr" && lines[4]["error"]?["field"] == "token")
    #expect(lines[3]["error"]?["message"]?.stringValue?.contains("another app") == true)
    let target = "/v1/registrations/\(APIStage.token(1))"
    #expect(try await stage.call(.get, target, as: "read").json["user"] == "bob", "in their order")
    #expect(try await stage.call(.get, "/v1/registrations/\(APIStage.token(3))").json["bundleID"] == .string(APIStage.other))
  }

  @Test func moreThanASliceIsRegistered() async throws {
    let stage = try APIStage()
    let count = 2 * Limits.importSlice + 7
    let body = (0..<count).map { Self.row($0) }.joined(separator: "\n")
    let answer = try await stage.call(.post, "/v1/registrations", as: "register", text: body)
    #expect(answer.json == ["created": .integer(Int64(count)), "replaced": 0, "refused": 0], "\(answer.text)")
    #expect(try await stage.call(.get, "/v1/registrations?limit=1000").json["registrations"]?.arrayValue?.count == count)
    let again = try await stage.call(.post, "/v1/registrations", as: "register", text: body)
    #expect(again.json["replaced"] == .integer(Int64(count)))
  }

  @Test func tooManyRowsAreRefusedWhole() async throws {
    let stage = try APIStage()
    let body = String(repeating: "\n", count: Limits.importRows + 1)
    #expect(try await stage.call(.post, "/v1/registrations", as: "register", text: body).status == 400)
    #expect(try await stage.call(.post, "/v1/registrations", as: "register", text: "").json == ["created": 0, "replaced": 0, "refused": 0])
  }

  /// As many as fit are taken, and the others are told.
  @Test func aFullStoreTakesNoMore() async throws {
    let stage = try APIStage()
    for start in stride(from: 0, to: 10_000, by: 4000) {
      let body = (start..<min(start + 4000, 10_000)).map { Self.row($0) }.joined(separator: "\n")
      #expect(try await stage.call(.post, "/v1/registrations", as: "register", text: body).json["refused"] == 0)
    }
    let answer = try await stage.call(.post, "/v1/registrations", as: "register", text: Self.row(1) + "\n" + Self.row(10_001))
    let lines = try answer.text.split(separator: "\n").map { try JSONValue.parse(String($0)) }
    #expect(lines.count == 2 && lines[0]["line"] == 2 && lines[1] == ["created": 0, "replaced": 1, "refused": 1], "\(answer.text)")
  }
}
