import Foundation
import Testing

/// Faults on the gateway, as a backend sees them, and on the mock device, as the gateway does.
@Suite("Faults", .processes) struct FaultTests {
  private static let payload = #"{"aps":{"content-changed":true}}"#

  /// A registered token of `dev`, and a fault that strikes its pushes alone.
  private func target(_ dev: Deployment, _ then: String, more: String = "", face: String = "control") async throws -> (
    token: String, fault: Int
  ) {
    let token = newToken()
    try await dev.register(token, RegistrationBody.app)
    return (token, try await set(dev, token, then, more: more, face: face))
  }

  private func set(_ dev: Deployment, _ token: String, _ then: String, more: String = "", face: String = "control") async throws -> Int {
    let body = #"{"match":{"token":"\#(token)"},"then":\#(then)\#(more.isEmpty ? "" : ",\(more)")}"#
    let answer = try await dev.control("POST", "/v1/faults", body, face: face)
    guard answer.status == 201, let id = try answer.json["id"].int else { throw HarnessError("no fault: \(answer)") }
    return id
  }

  /// What a client sees that sends two pushes to the token, one after the other, on one connection.
  private func talk(_ dev: Deployment, _ token: String) async throws -> Conversation {
    let fields = try await dev.fields(to: token, topic: "com.example.app", type: "alert")
    let alert = #"{"aps":{"alert":"Hello"}}"#
    return try await dev.converse([
      .preface(), .headers(fields, stream: 1), .data(alert, stream: 1), .receive(ends: 1, seconds: 3), .headers(fields, stream: 3),
      .data(alert, stream: 3), .receive(ends: 1, seconds: 3),
    ])
  }

  /// The push of the log that a fault has struck, by its token.
  private func record(_ dev: Deployment, _ token: String) async throws -> Document {
    let list = try await dev.control("GET", "/v1/pushes?token=\(token)&wait=10s&count=1", as: "read").json
    return list["pushes"][0]
  }

  private func applied(_ dev: Deployment, _ fault: Int, face: String = "control") async throws -> Int? {
    try await dev.control("GET", "/v1/faults/\(fault)", face: face).json["applied"].int
  }

  @Test(arguments: [
    (#"{"status":503}"#, 503, #"{"reason":"ServiceUnavailable"}"#),
    (#"{"reason":"TooManyRequests"}"#, 429, #"{"reason":"TooManyRequests"}"#),
    (#"{"reason":"Unregistered","timestamp":1700000000123}"#, 410, #"{"reason":"Unregistered","timestamp":1700000000123}"#),
    (#"{"reason":"InvalidProviderToken"}"#, 403, #"{"reason":"InvalidProviderToken"}"#),
  ])
  func theGatewayAnswersAsItIsTold(then: String, status: Int, body: String) async throws {
    let dev = try await SharedDev.deployment()
    let (token, fault) = try await target(dev, then, more: #""times":2"#)
    for _ in 0..<2 {
      let answer = try await dev.send(PushRequest("alert", to: token))
      #expect(answer.status == status && answer.text == body, "\(answer)")
      let record = try await dev.record(try #require(answer["apns-id"]))
      #expect(record["disposition"].string == "refused" && record["cause"].string == "fault", "\(record)")
      #expect(record["detail"].string?.hasPrefix("fault \(fault): answered \(status)") == true, "\(record)")
    }
    // Its times are up.
    #expect(try await dev.send(PushRequest("alert", to: token)).status == 200)
    #expect(try await applied(dev, fault) == 2)
  }

  /// Broadcasts, and requests about channels, of one app, which no other test has.
  @Test func broadcastsAreStruckToo() async throws {
    let app = "com.example.broadcast-\(newID().prefix(8))"
    let dev = try await Deployment.start(["dev", "--app", app])
    func fault(_ then: String, more: String = "", face: String = "control") async throws -> Int {
      let body = #"{"match":{"bundleID":"\#(app)","type":"liveactivity"},"then":\#(then)\#(more)}"#
      let answer = try await dev.control("POST", "/v1/faults", body, face: face)
      guard answer.status == 201, let id = try answer.json["id"].int else { throw HarnessError("no fault: \(answer)") }
      return id
    }
    func counts(_ id: Int, face: String = "control") async throws -> [Int?] {
      let fault = try await dev.control("GET", "/v1/faults/\(id)", face: face).json
      return [fault["matched"].int, fault["applied"].int]
    }
    func create() async throws -> Answer { try await dev.send(.createChannel(policy: 1).at("/1/apps/\(app)/channels")) }
    func broadcast(_ channel: String) async throws -> Answer {
      try await dev.send(.broadcast(to: channel, eta: 4).at("/4/broadcasts/apps/\(app)"))
    }
    // Another app's, and those of a token, leave it alone.
    for match in [#"{"bundleID":"com.example.app"}"#, #"{"token":"\#(newToken())"}"#, #"{"type":"alert"}"#] {
      #expect(try await dev.control("POST", "/v1/faults", #"{"match":\#(match),"then":{"close":true}}"#).status == 201)
    }
    let channel = try #require(try await create()["apns-channel-id"])

    let status = try await fault(#"{"status":503}"#, more: #","times":2"#)
    #expect(try await create().status == 503)
    let refused = try await broadcast(channel)
    #expect(refused.status == 503 && refused.text == #"{"reason":"ServiceUnavailable"}"#, "\(refused)")
    let record = try await dev.record(try #require(refused["apns-request-id"]))
    #expect(record["cause"].string == "fault" && record["bundleID"].string == app, "\(record)")
    #expect(record["detail"].string?.hasPrefix("fault \(status): answered 503") == true, "\(record)")
    #expect(try await counts(status) == [2, 2])

    let delay = try await fault(#"{"delayMilliseconds":400}"#, more: #","times":1"#)
    let start = ContinuousClock.now
    let late = try await broadcast(channel)
    #expect(late.status == 200 && ContinuousClock.now - start >= .milliseconds(400))
    let told = try await dev.control("GET", "/v1/pushes/\(try #require(late["apns-request-id"]))?wait=10s", as: "read").json
    #expect("\(told["warnings"])".contains("struckByFault"), "\(told)")
    #expect(try await counts(delay) == [1, 1])

    let reset = try await fault(#"{"reset":"INTERNAL_ERROR"}"#, more: #","times":1"#)
    await #expect(throws: (any Error).self, "curl tells of the stream's end") { try await broadcast(channel) }
    #expect(try await counts(reset) == [1, 1])
    let ended = try await dev.control("GET", "/v1/pushes?bundleID=\(app)&limit=1", as: "read").json["pushes"][0]
    #expect(ended["cause"].string == "fault" && ended["status"].isMissing && ended["token"].isMissing, "\(ended)")

    // On the device, which then answers the gateway that way: the gateway tries again what may work later, and tells of the fault.
    let upstream = try await fault(#"{"status":503}"#, more: #","times":1"#, face: "device")
    let again = try #require(
      try await dev.send(
        .broadcast(to: channel, eta: 4).at("/4/broadcasts/apps/\(app)").with(
          "apns-expiration", "\(Int(Date().timeIntervalSince1970) + 3600)"))["apns-request-id"])
    let done = try await dev.control("GET", "/v1/pushes/\(again)?wait=20s", as: "read").json
    #expect(try await counts(upstream, face: "device") == [1, 1])
    #expect(done["steps"].array.filter { $0["cause"].string == "fault" }.map { $0["disposition"].string } == ["waiting"], "\(done)")
    #expect(done["cause"].string != "fault" && done["upstreams"][0]["detail"].string?.contains("fault") != true, "\(done)")
    let lasting = try await fault(#"{"reason":"PayloadTooLarge"}"#, more: #","times":1"#, face: "device")
    let failed = try await dev.control(
      "GET", "/v1/pushes/\(try #require(try await broadcast(channel)["apns-request-id"]))?wait=20s", as: "read"
    ).json
    #expect(failed["disposition"].string == "failed" && failed["cause"].string == "fault", "\(failed)")
    #expect(
      failed["upstreams"][0]["detail"].string == "fault \(lasting): answered 413 PayloadTooLarge (on the mock device)", "\(failed)")
    let events = try await dev.control("GET", "/v1/events?event=pushFaulted", face: "device").json["events"].array
    #expect(events.contains { $0["push"].string?.lowercased() == again.lowercased() }, "\(events)")
    #expect(try await dev.terminate() == 0)
  }

  @Test func aDelayHoldsTheAnswerBack() async throws {
    let dev = try await SharedDev.deployment()
    let (token, _) = try await target(dev, #"{"delayMilliseconds":700}"#)
    let start = ContinuousClock.now
    let answer = try await dev.send(PushRequest("alert", to: token))
    #expect(answer.status == 200 && ContinuousClock.now - start >= .milliseconds(700))
    let record = try await dev.settled(try #require(answer["apns-id"]), as: "applied")
    #expect("\(record["warnings"])".contains("struckByFault"), "\(record)")
  }

  @Test func aDelayMayEndInAnError() async throws {
    let dev = try await SharedDev.deployment()
    let (token, _) = try await target(dev, #"{"delayMilliseconds":{"from":300,"to":400},"status":500}"#)
    let start = ContinuousClock.now
    #expect(try await dev.send(PushRequest("alert", to: token)).status == 500)
    #expect(ContinuousClock.now - start >= .milliseconds(300))
  }

  @Test func aStreamIsReset() async throws {
    let dev = try await SharedDev.deployment()
    let (token, fault) = try await target(dev, #"{"reset":"ENHANCE_YOUR_CALM"}"#, more: #""times":1"#)
    let talk = try await talk(dev, token)
    #expect(talk.frames(of: 1).map(\.type) == ["RST_STREAM"] && talk.frames(of: 1).first?.payload == "0000000b", "\(talk.document)")
    #expect(talk.status(of: 3) == "200", "the connection goes on: \(talk.document)")
    let list = try await dev.control("GET", "/v1/pushes?token=\(token)&disposition=refused&wait=10s&count=1", as: "read").json
    let record = list["pushes"][0]
    #expect(
      record["cause"].string == "fault" && record["detail"].string?.hasPrefix("fault \(fault): the stream was reset") == true, "\(record)")
    #expect(record["status"].int == nil && record["reason"].string == nil, "nothing was answered: \(record)")
  }

  @Test func goawayBeforeAPushLeavesItUndone() async throws {
    let dev = try await SharedDev.deployment()
    let (token, _) = try await target(dev, #"{"goaway":true}"#, more: #""times":1"#)
    let talk = try await talk(dev, token)
    let goaway = try #require(talk.frames.first { $0.type == "GOAWAY" }, "\(talk.document)")
    #expect(goaway.document["last"].int == 0 && goaway.document["error"].int == 0 && goaway.text == #"{"reason":"Shutdown"}"#)
    #expect(talk.status(of: 1) == nil && talk.isClosed)
    #expect(try await record(dev, token)["disposition"].string == "refused")
  }

  @Test func goawayAfterAPushLetsItBeDone() async throws {
    let dev = try await SharedDev.deployment()
    let (token, _) = try await target(dev, #"{"goaway":"after"}"#, more: #""times":1"#)
    let talk = try await talk(dev, token)
    let goaway = try #require(talk.frames.first { $0.type == "GOAWAY" }, "\(talk.document)")
    #expect(goaway.document["last"].int == 1)
    #expect(talk.status(of: 1) == "200" && talk.isClosed, "\(talk.document)")
    #expect("\(try await record(dev, token)["warnings"])".contains("struckByFault"))
  }

  @Test func streamsDropToOneAndStayThere() async throws {
    let dev = try await SharedDev.deployment()
    let (token, _) = try await target(dev, #"{"concurrentStreams":1}"#, more: #""times":1"#)
    let talk = try await talk(dev, token)
    let last = try #require(talk.frames.last { $0.type == "SETTINGS" && !$0.payload.isEmpty })
    #expect(last.payload.contains("000300000001"), "\(talk.document)")
    #expect(talk.status(of: 1) == "200" && talk.status(of: 3) == "200", "\(talk.document)")
  }

  @Test func aConnectionIsClosed() async throws {
    let dev = try await SharedDev.deployment()
    let (token, _) = try await target(dev, #"{"close":true}"#)
    let talk = try await talk(dev, token)
    #expect(talk.frames(of: 1).isEmpty && talk.isClosed, "\(talk.document)")
    #expect(try await record(dev, token)["detail"].string?.hasSuffix("the connection was closed") == true)
  }

  @Test func aStalledPushIsNeverAnswered() async throws {
    let dev = try await SharedDev.deployment()
    let (token, _) = try await target(dev, #"{"stall":true}"#, more: #""times":1"#)
    let talk = try await talk(dev, token)
    #expect(talk.frames(of: 1).isEmpty && !talk.isClosed)
    #expect(talk.status(of: 3) == "200", "others on the connection are answered: \(talk.document)")
  }

  @Test func anOutageIsForEveryoneUntilItIsOver() async throws {
    let dev = try await Deployment.start(["dev"])
    let (token, other) = (newToken(), newToken())
    for token in [token, other] { try await dev.register(token, RegistrationBody.app) }
    _ = try await set(dev, token, #"{"outage":{"milliseconds":1500}}"#, more: #""times":1"#)
    await #expect(throws: HarnessError.self) { try await dev.send(PushRequest("alert", to: token)) }
    await #expect(throws: HarnessError.self) { try await dev.send(PushRequest("alert", to: other)) }
    try await eventually("the outage is over") { (try? await dev.send(PushRequest("alert", to: other)))?.status == 200 }
    #expect(try await dev.terminate() == 0)
  }

  /// The mock device answers the gateway that way, whose record says so.
  @Test func theDeviceAnswersTheGatewayAsItIsTold() async throws {
    let dev = try await SharedDev.deployment()
    let (failing, fault) = try await target(dev, #"{"reason":"PayloadTooLarge"}"#, face: "device")
    let refused = try await dev.send(PushRequest("alert", to: failing))
    let record = try await dev.settled(try #require(refused["apns-id"]), as: "failed")
    #expect(
      record["cause"].string == "fault" && record["upstreamStatus"].int == 413 && record["reason"].string == "PayloadTooLarge", "\(record)")
    #expect(record["detail"].string == "fault \(fault): answered 413 PayloadTooLarge (on the mock device)", "\(record)")

    let (retried, _) = try await target(dev, #"{"status":503}"#, more: #""times":2"#, face: "device")
    let accepted = try await dev.send(PushRequest("alert", to: retried))
    let done = try await dev.settled(try #require(accepted["apns-id"]), as: "applied")
    #expect(done["steps"].array.filter { $0["cause"].string == "fault" }.count == 2, "\(done)")
    let events = try await dev.control("GET", "/v1/events?event=pushFaulted&limit=1000", face: "device").json
    #expect("\(events)".contains(retried), "\(events)")
  }

  @Test(arguments: [
    #"{"reset":true}"#, #"{"reset":"REFUSED_STREAM"}"#, #"{"goaway":"before"}"#, #"{"goaway":"after"}"#, #"{"close":true}"#,
    #"{"delayMilliseconds":300}"#, #"{"concurrentStreams":1}"#, #"{"outage":{"milliseconds":400}}"#,
  ])
  func whateverTheDeviceDoesThePushGetsThrough(then: String) async throws {
    let dev = try await Deployment.start(["dev"])
    let (token, fault) = try await target(dev, then, more: #""times":1"#, face: "device")
    let answer = try await dev.send(PushRequest("alert", to: token))
    try await dev.settled(try #require(answer["apns-id"]), as: "applied", within: .seconds(30))
    #expect(try await applied(dev, fault, face: "device") == 1)
    #expect(try await dev.terminate() == 0)
  }

  /// The upstream was there, and took the push.
  @Test func aResetByTheDeviceIsNotToldAsOneThatCouldNotBeReached() async throws {
    let dev = try await SharedDev.deployment()
    let (token, _) = try await target(dev, #"{"reset":true}"#, more: #""times":1"#, face: "device")
    let id = try #require(try await dev.send(PushRequest("alert", to: token))["apns-id"])
    let steps = try await dev.settled(id, as: "applied", within: .seconds(30))["steps"].array
    let reset = try #require(steps.first { $0["cause"].string == "upstreamUnavailable" }, "\(steps)")
    #expect(reset["happened"].string?.contains("or took the push and gave no answer") == true, "\(reset)")
    #expect(reset["remedy"].string?.contains("widgetpush faults list --device") == true, "\(reset)")
  }

  @Test func aGatewayPermitsNoneUnlessItIsConfigured() async throws {
    let gateway = try await Deployment.behind(["200"])
    let answer = try await gateway.control("POST", "/v1/faults", #"{"then":{"status":503}}"#)
    #expect(answer.status == 403 && answer.text.contains("faults.allowed"), "\(answer)")
    #expect(try await gateway.terminate() == 0)
    let other = try await Deployment.behind(["200"], environment: ["WIDGETPUSH_FAULTS_ALLOWED": "true"])
    #expect(try await other.control("POST", "/v1/faults", #"{"then":{"status":503}}"#).status == 201)
    #expect(try await other.terminate() == 0)
  }

  @Test func theCommandSetsListsAndRemovesThem() async throws {
    let dev = try await Deployment.start(["dev"])
    let token = newToken()
    try await dev.register(token, RegistrationBody.app)
    func faults(_ words: String...) async throws -> CommandResult {
      try await run([Deployment.executable, "faults"] + words + ["--state-dir", dev.state.path])
    }
    let added = try await faults("add", "--status", "429", "--token", String(token.prefix(12)), "--times", "1")
    #expect(added.status == 0 && added.text == "fault 1 is set\n", "\(added)")
    #expect(try await faults("add", "--device", "--delay", "10ms-20ms", "--probability", "0.5", "--seed", "7").text == "fault 1 is set\n")
    #expect(try await dev.send(PushRequest("alert", to: token)).status == 429)
    let list = try await faults("list").text
    #expect(list.contains("TooManyRequests") && list.contains("1 of 1"), "\(list)")
    let json = try Document(try await faults("list", "--device", "--json").standardOutput)
    #expect(json["faults"][0]["seed"].int == 7 && json["faults"][0]["then"]["delayMilliseconds"]["to"].int == 20, "\(json)")
    #expect(try await faults("remove", "1").text == "removed 1 fault\n")
    #expect(try await faults("remove", "1").standardError.contains("there is no fault 1"))
    #expect(try await faults("remove", "all", "--device").text == "removed 1 fault\n")
    #expect(try await faults("list").text == "no faults\n")
    let wrong = try await faults("add", "--times", "2")
    #expect(wrong.status == 2 && wrong.standardError.contains("--status"), "\(wrong)")
    #expect(try await dev.terminate() == 0)
  }
}
