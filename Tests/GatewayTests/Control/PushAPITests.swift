import Control
import JSON
import Primitives
import Push
import Storage
import Testing

@Suite("Control API: pushes") struct PushAPITests {
  private func ids(_ page: JSONValue) -> [String] { page["pushes"]?.arrayValue?.compactMap { $0["id"]?.stringValue } ?? [] }

  /// The life of a push that is forwarded, applied by the device later, and told in the words of the contract.
  @Test func aLife() async throws {
    let stage = try APIStage()
    try await stage.register(1)
    let batch = try await stage.push(1)
    let target = "/v1/pushes/\(APIStage.id(1))"
    let began = try await stage.call(.get, target).json
    #expect(began["id"] == .string(APIStage.id(1).description) && began["token"] == .string(APIStage.token(1)))
    #expect(began["bundleID"] == "com.example.app" && began["type"] == "widgets" && began["priority"] == 10)
    #expect(began["received"] == "2027-01-15T08:00:00.000Z" && began["status"] == 200 && began["disposition"] == "forwarding")
    #expect(began["warnings"]?[0]?["code"] == "customKeys")
    #expect(began["warnings"]?[0]?["message"]?.stringValue?.hasPrefix("Keys beside aps") == true)
    #expect(began["reason"] == nil && began["mergedInto"] == nil && began["detail"] == nil)
    let step = try #require(began["steps"]?.arrayValue?.last)
    #expect(step["disposition"] == "forwarding" && step["budgetBefore"] == 12 && step["budgetAfter"] == 11 && step["attempt"] == 1)
    #expect(step["at"] == "2027-01-15T08:00:00.000Z")

    let ticket = try #require(batch.forwards.first?.ticket)
    try await stage.settle { $0.completions.append(CompleteOperation(ticket: ticket, outcome: .pending)) }
    let outcome: JSONValue = ["disposition": "ignored", "cause": "noSuchWidget", "detail": "no widget of kind Score"]
    #expect(try await stage.call(.post, target + "/outcome", as: "register", outcome).status == 204)
    let ended = try await stage.call(.get, target).json
    #expect(ended["disposition"] == "ignored" && ended["cause"] == "noSuchWidget" && ended["detail"] == "no widget of kind Score")
    let remedy = Cause.noSuchWidget.remedy
    #expect(ended["remedy"] == .string(remedy.advice) && ended["happened"] == .string(remedy.happened))
    #expect(ended["certainty"] == .string(remedy.certainty.name))
  }

  @Test func theBeginningOfATokenWillDo() async throws {
    let stage = try APIStage()
    try await stage.register(1)
    try await stage.push(1)
    let whole = APIStage.token(1)
    for token in [whole, String(whole.prefix(8)), String(whole.prefix(62))] {
      #expect(ids(try await stage.call(.get, "/v1/pushes?token=\(token)").json).count == 1, "\(token)")
    }
    #expect(ids(try await stage.call(.get, "/v1/pushes?token=\(whole.prefix(6))").json).isEmpty, "too short to mean it")
    #expect(ids(try await stage.call(.get, "/v1/pushes?token=\(whole.prefix(8))", as: APIStage.other).json).isEmpty)
    try await stage.register(2)
    let unclear = try await stage.call(.get, "/v1/pushes?token=\(whole.prefix(8))")
    #expect(unclear.status == 400 && unclear.field == "token" && unclear.message.contains(APIStage.token(2)))
  }

  /// More pushes of one id than a page has room for: it says where it goes on.
  @Test func allOfAnIDAreListed() async throws {
    let stage = try APIStage()
    let detail = String(repeating: "x", count: 1000)
    for _ in 0..<2000 { try await stage.refuse(4, .badTopic, token: 1, detail: detail) }
    let target = "/v1/pushes/\(APIStage.id(4))"
    var (seen, pages, after) = (0, 0, "")
    repeat {
      let page = try await stage.call(.get, target + "?all=1" + after).json
      seen += ids(page).count
      pages += 1
      after = page["next"]?.stringValue.map { "&after=\($0)" } ?? ""
    } while !after.isEmpty && pages < 100
    #expect(seen == 2000 && pages > 1, "\(seen) in \(pages) pages")
    let alone = try await stage.call(.get, target + "?after=1.1")
    #expect(alone.status == 400 && alone.field == "after")
  }

  @Test func mergedAndRefused() async throws {
    let stage = try APIStage()
    try await stage.register(1)
    for id in 1...3 { try await stage.push(id) }
    try await stage.refuse(4, .badTopic, token: 1, detail: "the topic lacks .push-type.widgets")
    let merged = try await stage.call(.get, "/v1/pushes/\(APIStage.id(3))").json
    #expect(merged["disposition"] == "merged" && merged["mergedInto"] == .string(APIStage.id(2).description) && merged["status"] == 200)
    let refused = try await stage.call(.get, "/v1/pushes/\(APIStage.id(4))").json
    #expect(refused["disposition"] == "refused" && refused["status"] == 400 && refused["reason"] == "BadTopic")
    #expect(refused["detail"] == "the topic lacks .push-type.widgets")
    #expect(refused["remedy"] == .string(Reason.badTopic.remedy.advice))
    let outcome = try await stage.call(.post, "/v1/pushes/\(APIStage.id(3))/outcome", ["disposition": "applied"])
    #expect(outcome.status == 409 && outcome.message.contains("merged"))
  }

  /// Whose a token is that an app sent to by mistake is no business of those who see that app alone.
  @Test func anotherAppsTokenIsNamedToThoseWhoSeeAll() async throws {
    let stage = try APIStage()
    try await stage.register(1, bundle: APIStage.other)
    try await stage.push(1, bundle: APIStage.bundle)
    for target in ["/v1/pushes/\(APIStage.id(1))", "/v1/pushes/\(APIStage.id(1))?all=1", "/v1/pushes", "/v1/pushes?disposition=refused"] {
      let whole = try await stage.call(.get, target, as: "read").text
      #expect(whole.contains("otherApp") && whole.contains("a widgets token of \(APIStage.other)"), "\(target): \(whole)")
      let part = try await stage.call(.get, target, as: APIStage.bundle).text
      #expect(part.contains("otherApp") && !part.contains(APIStage.other), "\(target): \(part)")
      #expect(part.contains(Cause.otherApp.remedy.advice), "\(target): \(part)")
    }
    let misses = try await stage.call(.get, "/v1/pushes?type=controls&wait=0s", as: APIStage.bundle)
    #expect(misses.status == 200 && !misses.text.contains(APIStage.other), "\(misses.text)")
  }

  /// A refused push that names no app is its token's, and what was wrong with it, which may name its sender's apps, is for who sees all.
  @Test func aRefusedPushThatNamesNoAppIsOfItsTokens() async throws {
    let stage = try APIStage()
    try await stage.register(1)
    let detail = "configured are \(APIStage.bundle), \(APIStage.other)"
    try await stage.refuse(1, .topicDisallowed, token: 1, bundle: "com.example.ap", isAppKnown: false, detail: detail)
    let target = "/v1/pushes/\(APIStage.id(1))"
    #expect(try await stage.call(.get, target, as: "read").json["detail"] == .string(detail))
    let own = try await stage.call(.get, target, as: APIStage.bundle)
    #expect(own.status == 200 && own.json["bundleID"] == .string(APIStage.bundle) && !own.text.contains(APIStage.other), "\(own.text)")
    #expect(own.json["remedy"] == .string(Reason.topicDisallowed.remedy.advice))
    let foreign = try await stage.call(.get, target, as: APIStage.other)
    #expect(foreign.status == 404 && foreign.message.hasSuffix("or it is of another app than \(APIStage.other)"), "\(foreign.message)")
    #expect(try await stage.call(.get, "/v1/pushes/\(APIStage.id(2))", as: "read").message.hasSuffix("that it is forgotten"))
    #expect(ids(try await stage.call(.get, "/v1/pushes?disposition=refused", as: APIStage.other).json).isEmpty)
    #expect(try await stage.call(.post, "/v1/reset?bundleID=\(APIStage.bundle)", as: "admin").status == 200)
    #expect(try await stage.call(.get, target, as: "read").status == 404)
  }

  /// A date that had passed is named, and so is what is right for a token that was registered once.
  @Test func whatHadPassedIsNamed() async throws {
    let stage = try APIStage { $0.triesPastExpirations = false }
    try await stage.register(1)
    let received = stage.now.value
    try await stage.settle { batch in
      batch.admits.append(
        AdmitOperation(
          reply: 0, id: APIStage.id(1), token: DeviceToken(hex: APIStage.token(1))!, type: .widgets,
          expiration: .at(Instant(unixSeconds: 3600)), traits: .reload, received: received,
          topic: batch.append("\(APIStage.bundle).push-type.widgets"), bundleID: batch.append(APIStage.bundle), payload: batch.append("{}"))
      )
    }
    let expired = try await stage.call(.get, "/v1/pushes/\(APIStage.id(1))").json
    #expect(expired["disposition"] == "expired" && expired["expiration"] == "1970-01-01T01:00:00.000Z")
    let detail = expired["detail"]?.stringValue ?? ""
    #expect(detail.hasPrefix("apns-expiration is 1970-01-01T01:00:00.000Z") && detail.hasSuffix("3600 in Unix seconds"))
    #expect(try await stage.call(.delete, "/v1/registrations/\(APIStage.token(1))").status == 204)
    try await stage.push(2)
    let refused = try await stage.call(.get, "/v1/pushes/\(APIStage.id(2))").json
    #expect(refused["reason"] == "BadDeviceToken" && refused["cause"] == "tokenUnknown" && refused["expiration"] == nil)
    #expect(refused["remedy"]?.stringValue?.hasPrefix("This token was registered until 2027-01-15T08:00:00.000Z") == true, "\(refused)")
  }

  @Test func anIDUsedTwice() async throws {
    let stage = try APIStage()
    for token in 1...2 {
      try await stage.register(token)
      try await stage.push(1, to: token)
    }
    let target = "/v1/pushes/\(APIStage.id(1))"
    #expect(try await stage.call(.get, target).json["token"] == .string(APIStage.token(2)))
    let lower = try await stage.call(.get, target.lowercased() + "?all=1").json["pushes"]?.arrayValue
    #expect(lower?.compactMap { $0["token"]?.stringValue } == [APIStage.token(2), APIStage.token(1)])
  }

  @Test func unknownAndMalformedIDs() async throws {
    let stage = try APIStage()
    #expect(try await stage.call(.get, "/v1/pushes/\(APIStage.id(1))").status == 404)
    for text in ["1", "123e4567e89b12d3a456426655440000", "123e4567-e89b-12d3-a456-42665544000g"] {
      let answer = try await stage.call(.get, "/v1/pushes/\(text)")
      #expect(answer.status == 400 && answer.field == "id" && answer.message.contains("123e4567-e89b-12d3-a456-426655440000"))
    }
    #expect(try await stage.call(.get, "/v1/pushes/\(APIStage.id(1))?al=1").message.contains("did you mean all?"))
  }

  @Test(
    arguments: [
      (["disposition": "waiting"], "disposition"), ([:], "disposition"), (["disposition": "applied", "cause": "noSuchWidgit"], "cause"),
      (["disposition": "applied", "detail": .string(String(repeating: "d", count: 1025))], "detail"),
      (["disposition": "applied", "details": "x"], "details"),
    ] as [(JSONValue, String)])
  func malformedOutcomes(body: JSONValue, field: String) async throws {
    let stage = try APIStage()
    try await stage.register(1)
    try await stage.push(1)
    let answer = try await stage.call(.post, "/v1/pushes/\(APIStage.id(1))/outcome", body)
    #expect(answer.status == 400 && answer.field == field, "\(answer.text)")
  }

  // MARK: Lists

  @Test func listsAreFilteredAndPaged() async throws {
    let stage = try APIStage()
    try await stage.register(1)
    try await stage.register(2, "controls")
    try await stage.push(1)
    try await stage.push(2)
    try await stage.push(3, to: 2, .controls)
    stage.now.value = stage.now.value + .seconds(1)
    try await stage.refuse(4, .badTopic, token: 1)
    for (query, expected) in [
      ("", [4, 3, 2, 1]), ("type=controls", [3]), ("token=\(APIStage.token(1).uppercased())", [4, 2, 1]), ("disposition=refused", [4]),
      ("disposition=waiting&type=widgets", [2]), ("bundleID=com.example.other", []),
    ] {
      let page = try await stage.call(.get, "/v1/pushes?\(query)").json
      #expect(ids(page) == expected.map { APIStage.id($0).description }, "\(query)")
      #expect(page["complete"] == nil && page["matched"] == nil)
    }
    var seen: [String] = []
    var after: String? = ""
    while let cursor = after {
      let page = try await stage.call(.get, "/v1/pushes?limit=3&after=\(cursor)").json
      seen += ids(page)
      after = page["next"]?.stringValue
    }
    #expect(seen == [4, 3, 2, 1].map { APIStage.id($0).description })
    for (query, field) in [
      ("type=widget", "type"), ("disposition=done", "disposition"), ("token=xyz", "token"), ("wait=10", "wait"), ("wait=301s", "wait"),
      ("count=2", "count"), ("wait=1s&count=0", "count"), ("after=x", "after"), ("tokn=aa", "tokn"),
    ] {
      let answer = try await stage.call(.get, "/v1/pushes?\(query)")
      #expect(answer.status == 400 && answer.field == field, "\(query): \(answer.text)")
    }
  }

  @Test func aWaitEndsWithEnoughMatches() async throws {
    let stage = try APIStage()
    try await stage.register(1)
    try await stage.push(1)
    async let waited = stage.call(.get, "/v1/pushes?token=\(APIStage.token(1))&wait=5m&count=3")
    for id in 2...3 { try await stage.push(id) }
    let page = try await waited.json
    #expect(page["complete"] == true && page["matched"] == 3)
    #expect(ids(page) == [3, 2, 1].map { APIStage.id($0).description })
  }

  /// By id: as soon as nothing more happens to the push, and at once where that is so already.
  @Test func aWaitForOnePushEndsWithIt() async throws {
    let stage = try APIStage()
    try await stage.register(1)
    let ticket = try #require(try await stage.push(1).forwards.first?.ticket)
    async let waited = stage.call(.get, "/v1/pushes/\(APIStage.id(1))?wait=5m")
    async let refused = stage.call(.get, "/v1/pushes/\(APIStage.id(9))?wait=5m")
    try await stage.push(2)
    try await stage.settle { $0.completions.append(CompleteOperation(ticket: ticket, outcome: .finished(.applied, .reloaded))) }
    #expect(try await waited.json["disposition"] == "applied")
    #expect(try await stage.call(.get, "/v1/pushes/\(APIStage.id(1))?wait=5m").json["disposition"] == "applied")
    try await stage.refuse(9, .badTopic, token: 1)
    #expect(try await refused.json["reason"] == "BadTopic")
    #expect(try await stage.call(.get, "/v1/pushes/\(APIStage.id(2))?wait=0s").json["disposition"] == "waiting")
    #expect(try await stage.call(.get, "/v1/pushes/\(APIStage.id(3))?wait=0s").status == 404)
    let answer = try await stage.call(.get, "/v1/pushes/\(APIStage.id(1))?wait=10")
    #expect(answer.status == 400 && answer.field == "wait")
  }

  /// Too few when the time is over: what there is, and what nearly matched.
  @Test func aWaitEndsWithItsTime() async throws {
    let stage = try APIStage()
    try await stage.register(1)
    try await stage.register(2)
    try await stage.push(1, to: 1)
    try await stage.push(2, to: 2)
    let waiting = Task { try await stage.call(.get, "/v1/pushes?token=\(APIStage.token(1))&wait=10s&count=2") }
    let isOver = Box(false)
    let watching = Task {
      defer { isOver.value = true }
      return try await waiting.value
    }
    // The wait may begin late, so its time passes again and again.
    while !isOver.value {
      stage.now.value = stage.now.value + .seconds(11)
      stage.store.clockChanged()
      await Task.yield()
    }
    let page = try await watching.value.json
    #expect(page["complete"] == false && page["matched"] == 1)
    #expect(ids(page) == [APIStage.id(1).description])
    let miss = try #require(page["nearMisses"]?.arrayValue?.last)
    #expect(miss["differs"] == "token" && miss["push"]?["token"] == .string(APIStage.token(2)))
  }

  /// Whoever stops waiting holds no place among those who wait.
  @Test func aWaitThatIsCancelledEndsAtOnce() async throws {
    let stage = try APIStage()
    for _ in 0..<(Limits.pushWaiters + 10) {
      let waiting = Task { try await stage.call(.get, "/v1/pushes?wait=300s") }
      waiting.cancel()
      let page = try await waiting.value
      #expect(page.status == 200 && page.json["complete"] == false)
    }
  }

  // MARK: Budgets

  @Test func status() async throws {
    let stage = try APIStage()
    #expect(try await stage.call(.get, "/livez", as: nil).status == 200)
    #expect(try await stage.call(.get, "/readyz", as: nil).json == ["ready": true, "obstacles": []])
    #expect(try await stage.call(.get, "/version", as: nil).json == ["name": "widgetpush", "version": "1.2.3"])
    stage.obstacles.value = ["the disk is full"]
    let notReady = try await stage.call(.get, "/readyz", as: nil)
    #expect(notReady.status == 503 && notReady.json == ["ready": false, "obstacles": ["the disk is full"]])
    #expect(try await stage.call(.get, "/livez", as: nil).status == 200)
    let metrics = try await stage.call(.get, "/metrics", as: "read")
    #expect(metrics.text == "# HELP pushes_total Pushes.\n# TYPE pushes_total counter\npushes_total 3\n")
    #expect(metrics.fields["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
  }

  /// A store that is gone is a 503 that says so, never a silent success.
  @Test func aStoppedStore() async throws {
    let stage = try APIStage()
    try await stage.register(1)
    stage.store.stop()
    let ready = try await stage.call(.get, "/readyz", as: nil)
    #expect(ready.status == 503 && ready.text.contains("The store takes no pushes: the store has been stopped."))
    #expect(try await stage.call(.get, "/livez", as: nil).status == 200)
    let body: JSONValue = ["type": "app", "bundleID": "com.example.app", "environment": "development"]
    for (method, target) in [
      (HTTPMethod.put, "/v1/registrations/\(APIStage.token(2))"), (.get, "/v1/registrations/\(APIStage.token(1))"), (.get, "/v1/pushes"),
      (.get, "/v1/pushes/\(APIStage.id(1))"),
    ] {
      let answer = try await stage.call(method, target, body)
      #expect(answer.status == 503 && answer.message.contains("stopped"), "\(method) \(target)")
      #expect(answer.fields["retry-after"] == "1")
    }
  }
}
