import Foundation
import Testing

/// `answer: upstream`: what the upstream says of a push that goes at once is what its sender is answered.
@Suite("Answers of upstreams passed on", .processes) struct AnswerTests {
  private func gateway(_ answers: [String], timeout: Int = 3000) async throws -> Deployment {
    try await Deployment.behind(answers, app: ["answer: upstream", "answerTimeoutMilliseconds: \(timeout)"])
  }

  private func registered(_ gateway: Deployment) async throws -> String {
    let token = newToken()
    try await gateway.register(token, RegistrationBody.app)
    return token
  }

  @Test(arguments: [
    (#"410:{"reason":"Unregistered","timestamp":TIME}"#, 410, "Unregistered", "unregistered"),
    (#"410:{"reason":"ExpiredToken","timestamp":TIME}"#, 410, "ExpiredToken", "unregistered"),
    (#"400:{"reason":"BadDeviceToken"}"#, 400, "BadDeviceToken", "upstreamSuspectsToken"),
    (#"400:{"reason":"DeviceTokenNotForTopic"}"#, 400, "DeviceTokenNotForTopic", "upstreamRefused"),
    (#"413:{"reason":"PayloadTooLarge"}"#, 413, "PayloadTooLarge", "upstreamRefused"),
    (#"403:{"reason":"Forbidden"}"#, 403, "Forbidden", "upstreamRefused"),
  ])
  func whatEndsAPushIsPassedOn(answer: String, status: Int, reason: String, cause: String) async throws {
    let time = (Int(Date().timeIntervalSince1970) + 60) * 1000
    let gateway = try await gateway([answer.replacingOccurrences(of: "TIME", with: "\(time)")])
    let token = try await registered(gateway)
    let answered = try await gateway.send(PushRequest("alert", to: token))
    #expect(answered.status == status, "\(answered)")
    #expect(answered.text == (status == 410 ? #"{"reason":"\#(reason)","timestamp":\#(time)}"# : #"{"reason":"\#(reason)"}"#))
    let id = try #require(answered["apns-id"])
    let record = try await gateway.settled(id, as: "failed")
    #expect(record["status"].int == status && record["upstreamStatus"].int == status && record["reason"].string == reason, "\(record)")
    #expect(record["cause"].string == cause)

    // It survives a restart, and so does what was answered.
    #expect(try await gateway.terminate() == 0)
    let again = try await Deployment.start(
      ["gateway"] + GatewayConfiguration(upstream: "https://localhost:9").options(in: gateway.state), in: gateway.state)
    #expect(try await again.record(id)["status"].int == status)
    #expect(try await again.terminate() == 0)
  }

  @Test func anAcceptedPushIsAnswered200() async throws {
    let gateway = try await gateway(["200"])
    let answered = try await gateway.send(PushRequest("alert", to: registered(gateway)).with("widgetpush-explain", "1"))
    #expect(answered.status == 200 && answered["widgetpush-disposition"] == "accepted", "\(answered)")
    try await gateway.upstream?.hasSeen(1)
    #expect(try await gateway.terminate() == 0)
  }

  /// What the gateway goes on to try is its own business.
  @Test(arguments: ["503:{\"reason\":\"ServiceUnavailable\"}", "429:{\"reason\":\"TooManyRequests\"}", "reset", "close"])
  func whatIsTriedAgainIsAnswered200AtOnce(answer: String) async throws {
    let gateway = try await gateway([answer, "200"], timeout: 15_000)
    let start = ContinuousClock.now
    let answered = try await gateway.send(PushRequest("alert", to: registered(gateway)))
    #expect(answered.status == 200 && ContinuousClock.now - start < .seconds(15), "the app's own time is not waited for")
    try await gateway.settled(try #require(answered["apns-id"]), as: "accepted", within: .seconds(40))
    #expect(try await gateway.terminate() == 0)
  }

  /// One attempt, and it failed: nobody tries again, so the sender has to know.
  @Test func aSingleAttemptThatFailedIsPassedOn() async throws {
    let gateway = try await gateway(["503:{\"reason\":\"ServiceUnavailable\"}"])
    let answered = try await gateway.send(PushRequest("alert", to: registered(gateway)).with("apns-expiration", "0"))
    #expect(answered.status == 503 && answered.text == #"{"reason":"ServiceUnavailable"}"#, "\(answered)")
    let record = try await gateway.settled(try #require(answered["apns-id"]), as: "expired")
    #expect(record["status"].int == 503 && record["cause"].string == "upstreamFailed", "\(record)")
    #expect(try await gateway.terminate() == 0)
  }

  @Test func aSilentUpstreamIsWaitedForOnlySoLong() async throws {
    let gateway = try await gateway(["hang"], timeout: 4000)
    let token = try await registered(gateway)
    let start = ContinuousClock.now
    #expect(try await gateway.send(PushRequest("alert", to: token)).status == 200)
    #expect(ContinuousClock.now - start >= .milliseconds(4000))
    // The next does not go at once, so there is no answer to wait for.
    let next = ContinuousClock.now
    #expect(try await gateway.send(PushRequest("alert", to: token)).status == 200)
    #expect(ContinuousClock.now - next < .milliseconds(4000))
    #expect(try await gateway.terminate() == 0)
  }

  /// A push that is on disk is answered before a gateway that is told to end closes the connection, however long the app would have it
  /// wait: it is sent again after the restart, and its sender must not send it as well.
  @Test func whoWaitsIsAnsweredBeforeTheEnd() async throws {
    let gateway = try await gateway(["hang"], timeout: 15_000)
    let request = PushRequest("alert", to: try await registered(gateway))
    async let answered = gateway.send(request)
    try await eventually("the push is on its way") { gateway.upstream?.requestCount == 1 }
    #expect(try await gateway.terminate() == 0)
    #expect(try await answered.status == 200)
  }

  @Test func withoutItEveryPushIsAnswered200() async throws {
    let gateway = try await Deployment.behind(["400:{\"reason\":\"BadTopic\"}"])
    let answered = try await gateway.send(PushRequest("alert", to: registered(gateway)))
    #expect(answered.status == 200)
    #expect(try await gateway.settled(try #require(answered["apns-id"]), as: "failed")["status"].int == 200)
    #expect(try await gateway.terminate() == 0)
  }

  @Test func pushesOfPriorityFiveWaitForABatch() async throws {
    let gateway = try await Deployment.behind(["200"], app: ["batchSeconds: 2"])
    let (token, other) = (try await registered(gateway), try await registered(gateway))
    let ids = try await [token, other].asyncMap {
      try #require(try await gateway.send(PushRequest("alert", to: $0).with("apns-priority", "5"))["apns-id"])
    }
    // Priority 10 goes at once, and takes along what waits for its token.
    let urgent = try #require(try await gateway.send(PushRequest("alert", to: token))["apns-id"])
    for id in ids + [urgent] { try await gateway.settled(id, as: "accepted") }
    try await gateway.upstream?.hasSeen(3)
    let seen = gateway.upstream?.requests.compactMap { $0["fields"]["apns-id"].string?.lowercased() } ?? []
    #expect(seen.firstIndex(of: ids[0].lowercased())! < seen.firstIndex(of: urgent.lowercased())!, "the order of a token is kept")
    #expect(try await gateway.terminate() == 0)
  }
}

extension Array {
  fileprivate func asyncMap<Other>(_ body: (Element) async throws -> Other) async throws -> [Other] {
    var result: [Other] = []
    for element in self { result.append(try await body(element)) }
    return result
  }
}
