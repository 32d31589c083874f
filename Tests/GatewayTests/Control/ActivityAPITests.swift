import Control
import Delivery
import JSON
import Primitives
import Push
import Storage
import Testing

@Suite("Control API: activities by name") struct ActivityAPITests {
  private static let target = "/v1/activities/com.example.app/order-9"
  private static let body: JSONValue = [
    "user": "alice", "attributesType": "Ride", "attributes": ["id": "9"], "contentState": ["stops": 3],
    "alert": ["title": "Your ride", "body": "It comes"], "staleDate": 1_800_003_600,
  ]

  private func register(_ stage: APIStage, _ number: Int, _ type: String, _ more: JSONObject = [:]) async throws {
    var body: JSONObject = [
      "type": .string(type), "bundleID": "com.example.app", "environment": "development", "user": "alice", "device": "phone",
    ]
    for key in more.keys { body[key] = more[key] }
    let answer = try await stage.call(.put, "/v1/registrations/\(APIStage.token(number))", .object(body))
    try #require(answer.status == 201, "\(answer.text)")
  }

  /// The activity once its state is that.
  private func state(_ name: String, _ stage: APIStage) async throws -> JSONValue {
    let deadline = ContinuousClock.now + .seconds(120)
    var seen = JSONValue.null
    repeat {
      seen = try await stage.call(.get, Self.target, as: "read").json
    } while seen["state"]?.stringValue != name
      && ContinuousClock.now < deadline
    #expect(seen["state"]?.stringValue == name, "\(seen.serialized())")
    return seen
  }

  @Test func aLife() async throws {
    let stage = try APIStage()
    let begun = try await stage.call(.put, Self.target, as: "reload", Self.body)
    #expect(begun.status == 201 && begun.json["state"] == "waitingForStartToken", "\(begun.text)")
    #expect(begun.json["waitsFor"]?.stringValue?.contains("user alice") == true && begun.json["contentState"] == ["stops": 3])
    #expect(begun.json["devices"] == [] && begun.json["pushes"] == [] && begun.json["staleDate"] == 1_800_003_600)
    try await register(stage, 1, "pushToStart")
    let starting = try await state("starting", stage)
    #expect(starting["devices"]?[0]?["device"] == "phone" && starting["devices"]?[0]?["startToken"] == .string(APIStage.token(1)))
    #expect(starting["pushes"]?[0]?["event"] == "start" && starting["pushes"]?[0]?["disposition"] == "forwarding")
    let id = try #require(starting["pushes"]?[0]?["id"]?.stringValue)
    let push = try await stage.call(.get, "/v1/pushes/\(id)").json
    #expect(push["activity"] == "order-9" && push["type"] == "liveactivity" && push["warnings"] == nil, "\(push.serialized())")

    try await register(stage, 2, "liveactivity", ["activity": ["id": "A1", "attributesType": "Ride"]])
    let active = try await state("active", stage)
    #expect(active["devices"]?[0]?["updateToken"] == .string(APIStage.token(2)) && active["devices"]?[0]?["isCurrent"] == true)
    let update = try await stage.call(.put, Self.target, as: "reload", ["contentState": ["stops": 2]])
    #expect(!update.text.contains(APIStage.token(2)), "who may not read sees no push token")
    #expect(update.status == 200 && update.json["contentState"] == ["stops": 2] && update.json["alert"] == nil, "\(update.text)")
    let again = try await stage.call(.put, Self.target, as: "reload", ["contentState": ["stops": 2]])
    #expect(again.status == 200 && again.json["pushes"]?.arrayValue?.count == 2, "the same once more makes no push: \(again.text)")
    let end = try await stage.call(
      .delete, Self.target, as: "reload", ["contentState": ["stops": 0], "dismissalDate": 1_800_000_060])
    #expect(end.status == 200 && end.json["state"] == "ending" && end.json["contentState"] == ["stops": 0], "\(end.text)")
    #expect(end.json["pushes"]?.arrayValue?.map { $0["event"] ?? .null } == ["start", "update", "end"])
    let late = try await stage.call(.put, Self.target, as: "reload", Self.body)
    #expect(late.status == 409 && late.message.contains("being ended"), "\(late.text)")
    let list = try await stage.call(.get, "/v1/activities", as: "read").json
    #expect(list["activities"]?.arrayValue?.map { $0["name"] ?? .null } == ["order-9"] && list["next"] == nil)
  }

  @Test(
    arguments: [
      ("user", nil, "user"), ("alert", nil, "alert"), ("attributesType", nil, "attributesType"), ("contentState", nil, "contentState"),
      ("contentState", [1], "contentState"), ("alert", "Hello", "alert"), ("alert", [:], "alert"), ("attributes", 1, "attributes"),
      ("staleDate", "soon", "staleDate"), ("device", "phone", "device"), ("attributesType", "", "attributesType"),
      ("contentstate", [:], "contentstate"), ("staleDate", 1_800_000_000_000, "staleDate"), ("staleDate", -1, "staleDate"),
    ] as [(String, JSONValue?, String)])
  func whatIsRefused(field: String, value: JSONValue?, named: String) async throws {
    var body = Self.body.objectValue!
    body[field] = value
    let answer = try await APIStage().call(.put, Self.target, as: "reload", .object(body))
    #expect(answer.status == 400, "\(answer.text)")
    #expect(answer.field == named || answer.field == "body", "\(answer.text)")
  }

  @Test(
    arguments: [
      ("order-9", true), ("A.z_0~", true), ("%7E", true), ("a%20b", false), ("%C2%84", false), ("%C3%A9", false), ("a%2Fb", false),
      ("a%00", false),
    ])
  func namesArePlain(name: String, isTaken: Bool) async throws {
    let answer = try await APIStage().call(.put, "/v1/activities/com.example.app/\(name)", as: "reload", Self.body)
    #expect(answer.status == (isTaken ? 201 : 400) && answer.field == (isTaken ? nil : "name"), "\(answer.text)")
  }

  /// What a push could not carry, or a device would ignore, is told at once.
  @Test func whatWouldNotBeShownIsRefused() async throws {
    var body = Self.body.objectValue!
    body["contentState"] = ["text": .string(String(repeating: "x", count: 4096))]
    let answer = try await APIStage().call(.put, Self.target, as: "reload", .object(body))
    #expect(answer.status == 400 && answer.message.contains("PayloadTooLarge"), "\(answer.text)")
  }

  @Test func appsAreApart() async throws {
    let stage = try APIStage()
    let foreign = try await stage.call(.put, Self.target, as: APIStage.other, Self.body)
    #expect(foreign.status == 403)
    #expect(try await stage.call(.put, Self.target, as: APIStage.bundle, Self.body).status == 201)
    for method in [HTTPMethod.get, .delete] { #expect(try await stage.call(method, Self.target, as: APIStage.other).status == 404) }
    #expect(try await stage.call(.get, "/v1/activities", as: APIStage.other).json["activities"] == [])
    #expect(try await stage.call(.get, Self.target, as: APIStage.bundle).status == 200)
    #expect(try await stage.call(.put, "/v1/activities/com.example.ap/x", as: "reload", Self.body).field == "bundleID")
    #expect(try await stage.call(.delete, "/v1/activities/com.example.app/other", as: "reload").status == 404)
  }

  @Test func whatHasStartedStays() async throws {
    let stage = try APIStage()
    try await register(stage, 1, "pushToStart")
    #expect(try await stage.call(.put, Self.target, as: "reload", Self.body).status == 201)
    _ = try await state("starting", stage)
    for (field, value) in [("attributesType", "Other"), ("attributes", ["id": "10"]), ("user", "bob")] as [(String, JSONValue)] {
      var body = Self.body.objectValue!
      body[field] = value
      let answer = try await stage.call(.put, Self.target, as: "reload", .object(body))
      #expect(answer.status == 409 && answer.field == field, "\(answer.text)")
    }
  }

  @Test func listsPage() async throws {
    let stage = try APIStage()
    for name in ["b", "a", "d", "c"] {
      #expect(try await stage.call(.put, "/v1/activities/com.example.app/\(name)", as: "reload", Self.body).status == 201)
    }
    var seen: [String] = []
    var after: String? = ""
    while let cursor = after {
      let page = try await stage.call(.get, "/v1/activities?limit=3&after=\(cursor)").json
      seen += page["activities"]?.arrayValue?.compactMap { $0["name"]?.stringValue } ?? []
      after = page["next"]?.stringValue
    }
    #expect(seen == ["a", "b", "c", "d"])
    // Ended before anything was started, it is over at once.
    #expect(try await stage.call(.delete, "/v1/activities/com.example.app/a", as: "reload").json["state"] == "ended")
  }
}
