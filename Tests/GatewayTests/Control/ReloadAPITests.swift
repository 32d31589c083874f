import Control
import Delivery
import JSON
import Primitives
import Push
import Storage
import Testing

@Suite("Control API: reloads") struct ReloadAPITests {
  private static let all: JSONValue = ["bundleID": "com.example.app", "all": true]

  private func stage(_ widgets: Int = 3, controls: Int = 1) async throws -> APIStage {
    let stage = try APIStage()
    for number in 0..<widgets { try await stage.register(number) }
    for number in 0..<controls { try await stage.register(100 + number, "controls") }
    try await stage.register(200, "app")
    try await stage.register(300, bundle: APIStage.other)
    return stage
  }

  /// The reload once it runs no more; the store has a turn between two questions.
  private func ended(_ id: String, _ stage: APIStage) async throws -> JSONValue {
    let deadline = ContinuousClock.now + .seconds(120)
    while ContinuousClock.now < deadline {
      let reload = try await stage.call(.get, "/v1/reloads/\(id)", as: "reload").json
      if reload["state"] != "running" { return reload }
    }
    return .null
  }

  /// Asked for, carried out, and told: every widget and control of the app, and nothing else.
  @Test func aLife() async throws {
    let stage = try await stage()
    let answer = try await stage.call(.post, "/v1/reloads", as: "reload", Self.all)
    #expect(answer.status == 202)
    let id = try #require(answer.json["id"]?.stringValue)
    #expect(answer.fields["location"] == "/v1/reloads/\(id)")
    #expect(answer.json["bundleID"] == "com.example.app" && answer.json["all"] == true && answer.json["spreadSeconds"] == nil)
    #expect(answer.json["created"] == "2027-01-15T08:00:00.000Z")
    let ended = try await ended(id, stage)
    #expect(ended["state"] == "finished" && ended["matches"] == 4 && ended["visited"] == 4 && ended["skipped"] == 0)
    #expect(ended["dispositions"]?["forwarding"] == 4 && ended["dispositions"]?["applied"] == 0)
    #expect(ended["ended"] == "2027-01-15T08:00:00.000Z")
    let pushes = try #require(try await stage.call(.get, "/v1/pushes").json["pushes"]?.arrayValue)
    #expect(Set(pushes.compactMap { $0["token"]?.stringValue }) == Set([0, 1, 2, 100].map(APIStage.token)))
    #expect(pushes.allSatisfy { $0["reload"]?.stringValue == id && $0["status"] == 200 })
    let list = try await stage.call(.get, "/v1/reloads", as: "reload").json
    #expect(list["reloads"]?.arrayValue?.compactMap { $0["id"]?.stringValue } == [id] && list["next"] == nil)
  }

  /// Lists, waits and events can be about the pushes of one reload.
  @Test func itsPushesAreListed() async throws {
    let stage = try await stage()
    try await stage.push(1, to: 1)
    var ids: [String] = []
    for _ in 0..<2 {
      let id = try #require(try await stage.call(.post, "/v1/reloads", as: "reload", Self.all).json["id"]?.stringValue)
      _ = try await ended(id, stage)
      ids.append(id)
    }
    // Whoever knows a reload's id may send pushes of another app with half of it.
    let forged = try #require(PushID(ids[0].prefix(18) + "-0000-000000000001"))
    let received = stage.now.value
    try await stage.settle { batch in
      for bundle in [APIStage.bundle, APIStage.other] {
        batch.refusals.append(
          RefusedOperation(
            id: forged, token: nil, type: .widgets, bundleID: batch.append(bundle), reason: .badTopic, received: received))
      }
    }
    func pushes(_ query: String, as secret: String = "admin") async throws -> [JSONValue] {
      let answer = try await stage.call(.get, "/v1/pushes?\(query)", as: secret)
      #expect(answer.status == 200, "\(answer.text)")
      return answer.json["pushes"]?.arrayValue ?? []
    }
    #expect(try await pushes("reload=\(ids[1])").count == 4)
    #expect(try await pushes("reload=\(ids[1])").allSatisfy { $0["reload"]?.stringValue == ids[1] })
    #expect(try await pushes("reload=\(ids[0])&disposition=forwarding").count == 3, "and one waited, behind the provider's")
    #expect(try await pushes("reload=\(ids[0])", as: APIStage.bundle).count == 5)
    #expect(try await pushes("reload=\(ids[0].uppercased())&token=\(APIStage.token(1))").map { $0["disposition"] } == ["waiting"])
    #expect(try await pushes("reload=\(ids[0])&bundleID=\(APIStage.other)").isEmpty, "none of another app's is its")
    for (query, status) in [("reload=\(APIStage.id(77))", 404), ("reload=x", 400), ("reloads=\(ids[0])", 400)] {
      for path in ["/v1/pushes", "/v1/events"] { #expect(try await stage.call(.get, "\(path)?\(query)").status == status) }
    }
    for path in ["/v1/pushes", "/v1/events"] {
      let answer = try await stage.call(.get, "\(path)?reload=\(ids[0])", as: APIStage.other)
      #expect(answer.status == 404 && answer.message.contains("no reload"), "another app's is as unknown as one that never was")
    }
  }

  /// A dry run counts and does nothing.
  @Test func aDryRun() async throws {
    let stage = try await stage()
    try await stage.push(1, to: 0)
    try await stage.push(2, to: 1)
    try await stage.push(3, to: 1)
    let answer = try await stage.call(
      .post, "/v1/reloads", as: "reload", ["bundleID": "com.example.app", "all": true, "dryRun": true])
    #expect(answer.status == 200 && answer.json["dryRun"] == true && answer.json["matches"] == 4)
    #expect(answer.json["dispositions"] == ["forwarding": 2, "waiting": 1, "merged": 1, "refused": 0])
    #expect(try await stage.call(.get, "/v1/reloads").json["reloads"] == [])
    #expect(try await stage.call(.get, "/v1/pushes").json["pushes"]?.arrayValue?.count == 3)
  }

  @Test(
    arguments: [
      (["bundleID": "com.example.app"], 400, "all"), (["all": true], 400, "bundleID"),
      (["bundleID": "com.example.app", "all": false], 400, "all"), (["bundleID": "com.example.app", "kinds": []], 400, "kinds"),
      (["bundleID": "com.example.app", "kinds": [""]], 400, "kinds"), (["bundleID": "com.example.app", "users": ["a", 1]], 400, "users"),
      (["bundleID": "com.example.app", "kinds": ["a"], "all": true], 400, "all"),
      (["bundleID": "com.example.app", "all": true, "spreadSeconds": -1], 400, "spreadSeconds"),
      (["bundleID": "com.example.app", "all": true, "spreadSeconds": 86_401], 400, "spreadSeconds"),
      (["bundleID": "com.example.app", "kind": ["a"]], 400, "all"),
      (["bundleID": "com.example.app", "all": true, "kind": ["a"]], 400, "kind"),
      (["bundleID": "com.example.ap", "all": true], 400, "bundleID"),
    ] as [(JSONValue, Int, String)])
  func whatIsRefused(body: JSONValue, status: Int, field: String) async throws {
    let answer = try await APIStage().call(.post, "/v1/reloads", as: "reload", body)
    #expect(answer.status == status && answer.field == field, "\(answer.text)")
  }

  @Test func unknownFieldsNameTheNearest() async throws {
    let answer = try await APIStage().call(.post, "/v1/reloads", ["bundleID": "com.example.app", "all": true, "dryrun": true])
    #expect(answer.status == 400 && answer.message.contains("did you mean \"dryRun\"?"), "\(answer.text)")
  }

  @Test func listsAreBounded() async throws {
    let names = JSONValue.array((0...Limits.reloadNames).map { .string("k\($0)") })
    let answer = try await APIStage().call(.post, "/v1/reloads", ["bundleID": "com.example.app", "kinds": names])
    #expect(answer.status == 400 && answer.field == "kinds")
  }

  /// The same request again is the same reload; another one under its key is refused; another caller's key is another.
  @Test func keysAreHonoured() async throws {
    let stage = try await stage()
    func post(_ key: String, as secret: String, _ body: JSONValue = ReloadAPITests.all) async throws -> APIStage.Answer {
      try await stage.call(.post, "/v1/reloads", as: secret, body, fields: ["idempotency-key": key])
    }
    let first = try await post("one", as: "reload")
    let again = try await post("one", as: "reload")
    #expect(first.status == 202 && again.status == 202 && first.json["id"] == again.json["id"])
    let other = try await post("one", as: "reload", ["bundleID": "com.example.app", "kinds": ["Steps"]])
    #expect(other.status == 422 && other.field == "idempotency-key" && other.message.contains(first.json["id"]?.stringValue ?? "?"))
    #expect(try await post("one", as: "admin").json["id"] != first.json["id"])
    #expect(try await post("two", as: "reload").json["id"] != first.json["id"])
    for bad in ["", " ", "a b", String(repeating: "k", count: 256)] {
      let answer = try await post(bad, as: "reload")
      #expect(answer.status == 400 && answer.field == "idempotency-key", "\(bad): \(answer.text)")
    }
  }

  /// Spread over time, it makes its pushes as the clock goes, and can be stopped in the middle.
  @Test func itSpreadsAndStops() async throws {
    let stage = try await stage(10, controls: 0)
    let answer = try await stage.call(
      .post, "/v1/reloads", as: "reload", ["bundleID": "com.example.app", "all": true, "spreadSeconds": 100])
    let target = "/v1/reloads/\(answer.json["id"]?.stringValue ?? "")"
    func visited(_ count: Int64) async throws {
      let deadline = ContinuousClock.now + .seconds(120)
      var seen: Int64?
      repeat {
        seen = try await stage.call(.get, target, as: "reload").json["visited"]?.intValue
      } while seen != count && ContinuousClock.now < deadline
      #expect(seen == count)
    }
    try await visited(1)
    for (seconds, count) in [(9, 1), (1, 2), (25, 4), (5, 5)] as [(Int64, Int64)] {
      stage.now.value = stage.now.value + .seconds(seconds)
      stage.store.clockChanged()
      try await visited(count)
    }
    #expect(try await stage.call(.delete, target, as: "reload").status == 204)
    #expect(try await stage.call(.delete, target, as: "reload").status == 204)
    stage.now.value = stage.now.value + .seconds(1000)
    stage.store.clockChanged()
    let stopped = try await stage.call(.get, target, as: "reload").json
    #expect(stopped["state"] == "stopped" && stopped["visited"] == 5 && stopped["matches"] == 10)
    #expect(stopped["dispositions"]?["forwarding"] == 5)
    #expect(try await stage.call(.get, "/v1/reloads?state=stopped", as: "reload").json["reloads"]?.arrayValue?.count == 1)
    #expect(try await stage.call(.get, "/v1/reloads?state=running", as: "reload").json["reloads"]?.arrayValue?.count == 0)
  }

  /// An access token of one app neither reloads another's widgets, nor sees or stops its reloads.
  @Test func appsAreApart() async throws {
    let stage = try await stage()
    let own = try await stage.call(.post, "/v1/reloads", as: APIStage.bundle, Self.all)
    let target = "/v1/reloads/\(own.json["id"]?.stringValue ?? "")"
    let foreign = try await stage.call(.post, "/v1/reloads", as: APIStage.other, Self.all)
    #expect(foreign.status == 403 && foreign.field == "bundleID")
    for method in [HTTPMethod.get, .delete] {
      #expect(try await stage.call(method, target, as: APIStage.other).status == 404)
      #expect(try await stage.call(method, "/v1/reloads/\(APIStage.id(9))", as: APIStage.other).status == 404)
    }
    #expect(try await stage.call(.get, "/v1/reloads", as: APIStage.other).json["reloads"] == [])
    #expect(try await stage.call(.get, "/v1/reloads?bundleID=com.example.app", as: APIStage.other).json["reloads"] == [])
    #expect(try await stage.call(.get, target, as: APIStage.bundle).status == 200)
    #expect(try await stage.call(.get, "/v1/reloads/xyz", as: "reload").status == 400)
  }

  @Test func pagesGoFromNewToOld() async throws {
    let stage = try await stage()
    var ids: [String] = []
    for _ in 0..<5 {
      let id = try #require(try await stage.call(.post, "/v1/reloads", Self.all).json["id"]?.stringValue)
      _ = try await ended(id, stage)
      ids.append(id)
    }
    var seen: [String] = []
    var after: String? = ""
    while let cursor = after {
      let page = try await stage.call(.get, "/v1/reloads?limit=2&after=\(cursor)").json
      seen += page["reloads"]?.arrayValue?.compactMap { $0["id"]?.stringValue } ?? []
      after = page["next"]?.stringValue
    }
    #expect(seen == ids.reversed())
    for (query, field) in [("state=done", "state"), ("after=x", "after"), ("limit=0", "limit"), ("stat=1", "stat")] {
      let answer = try await stage.call(.get, "/v1/reloads?\(query)")
      #expect(answer.status == 400 && answer.field == field, "\(answer.text)")
    }
  }
}
