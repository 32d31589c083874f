import Control
import JSON
import Primitives
import Push
import Reactor
import Testing

@testable import Gateway

/// One app's token takes what it gets; another app's is served all the same, and the error says whose share is used up.
@Suite("Control API: shares", .timeLimit(.minutes(10))) struct ShareAPITests {
  private func open(_ stage: APIStage, _ target: String, as secret: String) async throws -> HTTPResponse {
    await stage.table.respond(
      to: try HTTPRequest(
        method: .get, target: target, fields: ["authorization": "Bearer \(secret)"], authority: "gateway", body: [],
        peer: SocketAddress("127.0.0.1:5000"), face: .tls))
  }

  private func message(_ response: HTTPResponse) throws -> String? {
    try JSONValue.parse(response.body)["error"]?["message"]?.stringValue
  }

  @Test(arguments: [
    ("/v1/events", Limits.eventFollowers, "calls that follow the events"), ("/v1/recording", Limits.recorders, "calls that record"),
  ]) func streams(target: String, all: Int, things: String) async throws {
    let stage = try APIStage()
    var open: [HTTPResponse] = []
    for _ in 0..<(all / Limits.shareOfApp) { open.append(try await self.open(stage, target, as: APIStage.bundle)) }
    #expect(open.allSatisfy { $0.status == 200 })
    let further = try await self.open(stage, target, as: APIStage.bundle)
    #expect(further.status == 429 && further.stream == nil)
    #expect(
      try message(further)
        == "the app \"\(APIStage.bundle)\" has its share of \(things), which is \(all / Limits.shareOfApp); end one first")
    for _ in 0..<(all / Limits.shareOfApp) { open.append(try await self.open(stage, target, as: APIStage.other)) }
    #expect(open.allSatisfy { $0.status == 200 })
    // A call that ends makes room, one whose body nobody has asked for too.
    open.removeAll()
    #expect(try await self.open(stage, target, as: APIStage.bundle).status == 200)
  }

  /// The places are taken as calls take them, so that none is on its way when the next asks.
  @Test func waits() async throws {
    let stage = try APIStage()
    let grant = Grant(name: APIStage.bundle, scopes: [.read], bundleIDs: [APIStage.bundle])
    let taken = try (0..<(Limits.pushWaiters / Limits.shareOfApp)).map { _ in try stage.parts.waits.take(grant) }
    for target in ["/v1/pushes?wait=1ms", "/v1/pushes/\(APIStage.id(1))?wait=1ms"] {
      let further = try await open(stage, target, as: APIStage.bundle)
      #expect(further.status == 429)
      #expect(try message(further)?.contains("the app \"\(APIStage.bundle)\" has its share of calls that wait for pushes") == true)
    }
    // The other app waits as before, and gets what it waits for.
    async let other = open(stage, "/v1/pushes?wait=300s", as: APIStage.other)
    try await stage.refuse(1, .badTopic, bundle: APIStage.other)
    #expect(try await other.status == 200)
    withExtendedLifetime(taken) {}
  }

  @Test func reloads() async throws {
    let stage = try APIStage()
    func begin(_ bundleID: String, as secret: String) async throws -> APIStage.Answer {
      try await stage.call(.post, "/v1/reloads", as: secret, ["bundleID": .string(bundleID), "all": true, "spreadSeconds": 86_400])
    }
    // Each must have something to do, or it has ended at once.
    try await stage.register(1)
    try await stage.register(2)
    try await stage.register(3, bundle: APIStage.other)
    try await stage.register(4, bundle: APIStage.other)
    let share = Limits.reloadsRunning / Limits.shareOfApp
    for _ in 0..<share { #expect(try await begin(APIStage.bundle, as: APIStage.bundle).status == 202) }
    let further = try await begin(APIStage.bundle, as: APIStage.bundle)
    #expect(further.status == 429 && further.json["error"]?["code"] == "tooManyReloads")
    #expect(further.message.hasPrefix("the app \"\(APIStage.bundle)\" has its share of reloads that run, which is \(share); "))
    #expect(try await begin(APIStage.other, as: APIStage.other).status == 202)
  }

  /// One by one and many at once; what is registered already, or takes another's place, is none more.
  @Test func registrations() async throws {
    let stage = try APIStage { $0.registrations = 16 }
    func register(_ number: Int, _ bundleID: String, as secret: String, replacing old: Int? = nil) async throws -> APIStage.Answer {
      var body: JSONObject = ["type": "widgets", "bundleID": .string(bundleID), "environment": "development"]
      body["replaces"] = old.map { .string(APIStage.token($0)) }
      return try await stage.call(.put, "/v1/registrations/\(APIStage.token(number))", as: secret, .object(body))
    }
    let share = 16 / Limits.shareOfApp
    for number in 0..<share { #expect(try await register(number, APIStage.bundle, as: APIStage.bundle).status == 201) }
    let further = try await register(20, APIStage.bundle, as: APIStage.bundle)
    let sentence = "the app \"\(APIStage.bundle)\" has its share of the registrations that fit, which is \(share); remove tokens"
    #expect(further.status == 429 && further.json["error"]?["code"] == "shareUsedUp" && further.message.hasPrefix(sentence), "\(further)")
    let line = #"{"token":"\#(APIStage.token(20))","type":"widgets","bundleID":"\#(APIStage.bundle)","environment":"development"}"#
    let many = try await stage.call(.post, "/v1/registrations", as: APIStage.bundle, text: line + "\n")
    #expect(many.text.contains(#""line":1"#) && many.text.contains("shareUsedUp") && many.text.contains(#""refused":1"#), "\(many.text)")
    #expect(try await register(0, APIStage.bundle, as: APIStage.bundle).status == 200)
    #expect(try await register(21, APIStage.bundle, as: APIStage.bundle, replacing: 0).status == 201)
    // Another app has its own share, and an operator is bound by all there are alone.
    for number in 30..<30 + share { #expect(try await register(number, APIStage.other, as: APIStage.other).status == 201) }
    for number in 40..<40 + share { #expect(try await register(number, APIStage.bundle, as: "admin").status == 201) }
    #expect(try await register(22, APIStage.bundle, as: APIStage.bundle).status == 429)
    for number in 40..<40 + share {
      #expect(try await stage.call(.delete, "/v1/registrations/\(APIStage.token(number))", as: APIStage.bundle).status == 204)
    }
    #expect(try await stage.call(.delete, "/v1/registrations/\(APIStage.token(1))", as: APIStage.bundle).status == 204)
    #expect(try await register(22, APIStage.bundle, as: APIStage.bundle).status == 201)
  }

  @Test func faults() async throws {
    let stage = try APIStage()
    func set(_ bundleID: String, as secret: String) async throws -> APIStage.Answer {
      try await stage.call(.post, "/v1/faults", as: secret, ["match": ["bundleID": .string(bundleID)], "then": ["status": 503]])
    }
    let share = Limits.faultRules / Limits.shareOfApp
    for _ in 0..<share { #expect(try await set(APIStage.bundle, as: APIStage.bundle).status == 201) }
    let further = try await set(APIStage.bundle, as: APIStage.bundle)
    #expect(
      further.status == 409 && further.message == "the app \"\(APIStage.bundle)\" has its share of faults, which is \(share); remove some")
    #expect(try await set(APIStage.other, as: APIStage.other).status == 201)
    // An operator is bound by all there are alone.
    #expect(try await set(APIStage.bundle, as: "admin").status == 201)
  }
}
