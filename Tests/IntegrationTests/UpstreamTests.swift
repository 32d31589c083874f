import Foundation
import Testing

/// What becomes of pushes when the upstream refuses, stalls, resets or goes away.
@Suite("Upstreams that misbehave", .processes) struct UpstreamTests {
  private func push(_ gateway: Deployment, _ request: PushRequest) async throws -> String {
    let answer = try await gateway.send(request)
    guard answer.status == 200, let id = answer["apns-id"] else { throw HarnessError("not accepted: \(answer)") }
    return id
  }

  @Test func aForwardedPushIsTheOneThatCame() async throws {
    let gateway = try await Deployment.behind(["200"])
    let (token, id) = (newToken(), newID())
    try await gateway.register(token, RegistrationBody.app)
    let expiration = "\(Int(Date().timeIntervalSince1970) + 3600)"
    let body = #"{"aps":{"alert":{"title":"Hello","body":"World"}},"spaces" : [1, 2]}"#
    let request = PushRequest("alert", to: token, body: body).with("apns-id", id).with("apns-priority", "5").with(
      "apns-expiration", expiration
    )
    .with("apns-collapse-id", "one")
    _ = try await push(gateway, request)

    try await gateway.settled(id, as: "accepted")
    try await gateway.upstream?.hasSeen(1)
    let seen = try #require(gateway.upstream?.requests.first)
    #expect(seen["body"].string == body)
    for (name, value) in [
      (":method", "POST"), (":path", "/3/device/\(token)"), ("apns-id", id), ("apns-topic", "com.example.app"), ("apns-push-type", "alert"),
      ("apns-priority", "5"), ("apns-expiration", expiration), ("apns-collapse-id", "one"),
    ] {
      #expect(seen["fields"][name].string == value, "\(name): \(seen)")
    }
    #expect(seen["fields"]["authorization"].string?.hasPrefix("bearer ") == true)
    #expect(seen["fields"]["authorization"].string != "bearer \(try await ProviderToken.of(gateway))", "the gateway signs its own")
    #expect(try await gateway.terminate() == 0)
  }

  @Test(arguments: [
    ["503:{\"reason\":\"ServiceUnavailable\"}", "200"], ["500:{\"reason\":\"InternalServerError\"}", "200"], ["refuse", "200"],
    ["goaway", "200"], ["close", "200"], ["reset", "200"], ["429:{\"reason\":\"TooManyRequests\"}", "200"],
  ]) func whatMayWorkLaterIsTriedAgain(answers: [String]) async throws {
    let gateway = try await Deployment.behind(answers)
    let token = newToken()
    try await gateway.register(token, RegistrationBody.app)
    let id = try await push(gateway, PushRequest("alert", to: token))
    try await gateway.settled(id, as: "accepted", within: .seconds(40))
    try await gateway.upstream?.hasSeen(2)
    let requests = gateway.upstream?.requests ?? []
    #expect(Set(requests.map { $0["fields"]["apns-id"].string?.lowercased() }) == [id.lowercased()])
    #expect(try await gateway.terminate() == 0)
  }

  @Test func whatIsRefusedForGoodFails() async throws {
    let gateway = try await Deployment.behind(["413:{\"reason\":\"PayloadTooLarge\"}"])
    let token = newToken()
    try await gateway.register(token, RegistrationBody.app)
    let record = try await gateway.settled(push(gateway, PushRequest("alert", to: token)), as: "failed")
    #expect(record["cause"].string == "upstreamRefused")
    #expect("\(record)".contains("PayloadTooLarge"))
    try await gateway.upstream?.hasSeen(1)
    #expect(try await gateway.terminate() == 0)
  }

  @Test func aRetiredTokenIsGoneUntilItIsRegisteredAgain() async throws {
    // A time before the registration would say nothing about it.
    let since = (Int(Date().timeIntervalSince1970) + 60) * 1000
    let gateway = try await Deployment.behind([#"410:{"reason":"Unregistered","timestamp":\#(since)}"#, "200"])
    let token = newToken()
    try await gateway.register(token, RegistrationBody.app)
    let record = try await gateway.settled(push(gateway, PushRequest("alert", to: token)), as: "failed")
    #expect(record["cause"].string == "unregistered")

    let gone = try await gateway.send(PushRequest("alert", to: token))
    #expect(gone.status == 410)
    #expect(gone.text == #"{"reason":"Unregistered","timestamp":\#(since)}"#)

    try await gateway.register(token, RegistrationBody.app)
    try await gateway.settled(push(gateway, PushRequest("alert", to: token)), as: "accepted")
    #expect(try await gateway.terminate() == 0)
  }

  @Test func aTokenThatTheUpstreamCallsExpiredIsAnsweredSo() async throws {
    let since = (Int(Date().timeIntervalSince1970) + 60) * 1000
    let gateway = try await Deployment.behind([#"410:{"reason":"ExpiredToken","timestamp":\#(since)}"#, "200"])
    let token = newToken()
    try await gateway.register(token, RegistrationBody.app)
    let record = try await gateway.settled(push(gateway, PushRequest("alert", to: token)), as: "failed")
    #expect(record["reason"].string == "ExpiredToken" && record["upstreamStatus"].int == 410)
    let gone = try await gateway.send(PushRequest("alert", to: token))
    #expect(gone.status == 410)
    #expect(gone.text == #"{"reason":"ExpiredToken","timestamp":\#(since)}"#)
    #expect(try await gateway.terminate() == 0)
  }

  @Test func badDeviceTokenFailsThePushAndMarksTheTokenSuspect() async throws {
    let gateway = try await Deployment.behind(["400:{\"reason\":\"BadDeviceToken\"}", "200"])
    let token = newToken()
    try await gateway.register(token, RegistrationBody.app)
    let record = try await gateway.settled(push(gateway, PushRequest("alert", to: token)), as: "failed")
    #expect(record["cause"].string == "upstreamSuspectsToken")
    #expect(record["certainty"].string == "likely")
    let registration = try await gateway.control("GET", "/v1/registrations/\(token)").json
    #expect("\(registration)".contains("suspect"), "\(registration)")
    try await gateway.settled(push(gateway, PushRequest("alert", to: token)), as: "accepted")
    #expect(try await gateway.terminate() == 0)
  }

  @Test func aRefusedKeyPausesTheUpstreamAndFailsNoPush() async throws {
    let gateway = try await Deployment.behind(["403:{\"reason\":\"InvalidProviderToken\"}"])
    let token = newToken()
    try await gateway.register(token, RegistrationBody.app)
    let id = try await push(gateway, PushRequest("alert", to: token))
    try await eventually("the upstream was asked") { gateway.upstream?.requests.isEmpty == false }
    let record = try await gateway.settled(id, as: "waiting")
    try await eventually("the cause is on record: \(record)") { try await gateway.record(id)["cause"].string == "upstreamPaused" }
    #expect(try await gateway.terminate() == 0)
  }

  @Test func aSlowUpstreamKeepsTheOrderOfAToken() async throws {
    let gateway = try await Deployment.behind(["hang"])
    let (token, other) = (newToken(), newToken())
    try await gateway.register(token, RegistrationBody.app)
    try await gateway.register(other, RegistrationBody.app)
    let first = try await push(gateway, PushRequest("alert", to: token))
    let second = try await push(gateway, PushRequest("alert", to: token))
    let third = try await push(gateway, PushRequest("alert", to: other))
    try await gateway.settled(first, as: "forwarding")
    try await gateway.settled(third, as: "forwarding")
    let waiting = try await gateway.record(second)
    #expect(waiting["disposition"].string == "waiting")
    #expect(waiting["cause"].string == "inFlight")
    try await eventually("two reached the upstream") { gateway.upstream?.requests.count == 2 }
    #expect(try await gateway.terminate() == 0)
  }

  @Test func aPeerThatAllowsOneStreamGetsOneAtATime() async throws {
    let gateway = try await Deployment.behind(["200"], streams: 1)
    let pushes = (0..<50).map { _ in (token: newToken(), id: newID()) }
    try await gateway.registerAll(pushes.map(\.token))
    #expect(try await gateway.sendAll(pushes).allSatisfy { $0.status == 200 })
    let list = try await gateway.control("GET", "/v1/pushes?disposition=accepted&wait=20s&count=50&limit=100", as: "read").json
    #expect(list["matched"].int == 50, "\(list["matched"])")
    try await gateway.upstream?.hasSeen(50)
    #expect(try await gateway.terminate() == 0)
  }

  @Test func aLaneHoldsSixteenPushes() async throws {
    let gateway = try await Deployment.behind([])
    let token = newToken()
    try await gateway.register(token, RegistrationBody.app)
    var answers: [Answer] = []
    for _ in 0..<18 { answers.append(try await gateway.send(PushRequest("alert", to: token))) }
    #expect(answers.prefix(16).allSatisfy { $0.status == 200 })
    #expect(answers.last?.status == 429)
    #expect(answers.last?.text == #"{"reason":"TooManyRequests"}"#)
    #expect(answers.last?["retry-after"] == nil)
    #expect(try await gateway.terminate() == 0)
  }

  @Test func expirationZeroWithoutAnUpstreamExpires() async throws {
    let gateway = try await Deployment.behind([])
    let token = newToken()
    try await gateway.register(token, RegistrationBody.app)
    let id = try await push(gateway, PushRequest("alert", to: token).with("apns-expiration", "0"))
    let record = try await gateway.settled(id, as: "expired")
    #expect(record["cause"].string == "upstreamUnavailable")
    #expect(try await gateway.terminate() == 0)
  }

  @Test func aDateThatPassesExpiresThePush() async throws {
    let gateway = try await Deployment.behind([])
    let token = newToken()
    try await gateway.register(token, RegistrationBody.app)
    let soon = "\(Int(Date().timeIntervalSince1970) + 2)"
    let id = try await push(gateway, PushRequest("alert", to: token).with("apns-expiration", soon))
    let record = try await gateway.settled(id, as: "expired")
    #expect(record["cause"].string == "expirationPassed")
    #expect(try await gateway.terminate() == 0)
  }

  @Test func whatWaitsGoesWhenTheUpstreamComes() async throws {
    let gateway = try await Deployment.behind([])
    #expect(try await gateway.terminate() == 0)
    let state = gateway.state
    let first = try await FakeUpstream.start(["200"], state: state)
    let port = first.port
    first.process.signal(SIGKILL)
    _ = try await first.process.waitForExit()
    let again = try await Deployment.start(
      ["gateway"] + GatewayConfiguration(upstream: "https://localhost:\(port)").options(in: state), in: state)
    let token = newToken()
    try await again.register(token, RegistrationBody.app)
    let id = try await push(again, PushRequest("alert", to: token))
    try await gatewayWaits(again, id)

    let upstream = try await FakeUpstream.start(["200"], state: state, port: port)

    try await again.settled(id, as: "accepted", within: .seconds(40))
    try await upstream.hasSeen(1)
    #expect(try await again.terminate() == 0)
  }

  private func gatewayWaits(_ gateway: Deployment, _ id: String) async throws {
    try await eventually("the push waits for its upstream") {
      let record = try await gateway.record(id)
      return record["disposition"].string == "waiting" && record["cause"].string == "upstreamUnavailable"
    }
  }

  @Test func anUpstreamOfAnotherCAIsNotTrusted() async throws {
    let (strangers, state) = (try await Deployment.newState(), try await Deployment.newState())
    let upstream = try await FakeUpstream.start(["200"], state: strangers)
    let gateway = try await Deployment.start(
      ["gateway"] + GatewayConfiguration(upstream: "https://localhost:\(upstream.port)").options(in: state), in: state)
    let token = newToken()
    try await gateway.register(token, RegistrationBody.app)
    try await gatewayWaits(gateway, push(gateway, PushRequest("alert", to: token)))
    #expect(upstream.requests.isEmpty)
    #expect(try await gateway.terminate() == 0)
  }

  @Test func unknownTokensAreAdoptedWhereThatIsAllowed() async throws {
    let gateway = try await Deployment.behind(["200"], app: ["unknownTokens: adopt"])
    let token = newToken()
    try await gateway.settled(push(gateway, .widgets(token)), as: "accepted")
    try await gateway.upstream?.hasSeen(1)
    let registration = try await gateway.control("GET", "/v1/registrations/\(token)").json
    #expect(registration["type"].string == "widgets", "\(registration)")
    #expect(registration["bundleID"].string == "com.example.app")
    #expect(try await gateway.terminate() == 0)
  }

  @Test func inObserveEverythingIsForwardedAndCounted() async throws {
    let gateway = try await Deployment.behind(["200"], app: ["budgetMode: observe"])
    let token = newToken()
    try await gateway.register(token, RegistrationBody.widgets)
    for _ in 0..<5 { try await gateway.settled(push(gateway, .widgets(token)), as: "accepted") }
    try await gateway.upstream?.hasSeen(5)
    let budget = try await gateway.control("GET", "/v1/budgets/\(token)").json["budgets"][0]
    #expect(budget["remaining"].int == 12 - 5 || budget["remaining"].int == 40 - 5, "\(budget)")
    #expect(try await gateway.terminate() == 0)
  }

  @Test func inRejectWhatCannotBePaidIsTooManyRequests() async throws {
    let gateway = try await Deployment.behind(["200"], app: ["budgetMode: reject"])
    let token = newToken()
    try await gateway.register(token, RegistrationBody.widgets)
    try await gateway.settled(push(gateway, .widgets(token)), as: "accepted")
    let answer = try await gateway.send(.widgets(token))
    #expect(answer.status == 429)
    #expect(answer.text == #"{"reason":"TooManyRequests"}"#)
    #expect(try await gateway.terminate() == 0)
  }

  @Test func withAppleValidationThePushPassesWithAWarning() async throws {
    let gateway = try await Deployment.behind(["200"], app: ["validation: apple"])
    let token = newToken()
    try await gateway.register(token, RegistrationBody.widgets)
    let record = try await gateway.settled(push(gateway, .widgets(token).body(#"{"aps":{"content-changed":1}}"#)), as: "accepted")
    #expect("\(record["warnings"])".contains("contentChangedNotTrue"), "\(record)")
    #expect(try await gateway.terminate() == 0)
  }

  @Test func oneDeadUpstreamHoldsUpNoOther() async throws {
    let state = try await Deployment.newState()
    let upstream = try await FakeUpstream.start(["200"], state: state)
    let hanging = try await FakeUpstream.start(["hang"], state: state)
    let file = try state.write(
      "gateway.yaml",
      """
      upstreams:
        alive: {url: "https://localhost:\(upstream.port)"}
        dead: {url: "https://localhost:9"}
        hanging: {url: "https://localhost:\(hanging.port)"}
      apps: [{bundleID: com.example.app, upstream: alive}]
      """)
    let gateway = try await Deployment.start(["gateway", "--config", file], in: state, upstream: upstream)
    func registered(at upstream: String) async throws -> String {
      let token = newToken()
      try await gateway.register(token, RegistrationBody.app.dropLast() + #","upstream":"\#(upstream)"}"#)
      return token
    }
    for name in ["dead", "hanging"] {
      for _ in 0..<20 { _ = try await push(gateway, PushRequest("alert", to: registered(at: name))) }
    }
    for _ in 0..<20 {
      try await gateway.settled(push(gateway, PushRequest("alert", to: registered(at: "alive"))), as: "accepted")
    }
    #expect(upstream.requestCount == 20)
    #expect(try await gateway.terminate() == 0)
    hanging.process.signal(SIGKILL)
  }

  @Test func aReloadWithExpirationZeroIsDroppedWhereThatIsConfigured() async throws {
    let gateway = try await Deployment.behind(["200"], app: ["expirationZero: drop"])
    let token = newToken()
    try await gateway.register(token, RegistrationBody.widgets)
    try await gateway.settled(push(gateway, .widgets(token)), as: "accepted")
    let record = try await gateway.settled(push(gateway, PushRequest.widgets(token).with("apns-expiration", "0")), as: "ignored", "waiting")
    #expect(record["disposition"].string == "ignored", "\(record)")
    #expect(record["cause"].string == "droppedByPolicy", "\(record)")
    #expect(try await gateway.terminate() == 0)
  }
}
