import Foundation
import Testing

/// What a sender learns of pushes that wait, that are late, or that cost too much, as somebody with a terminal meets it.
@Suite("Verdicts", .processes) struct VerdictTests {
  private func start(_ token: String, _ more: String = "") -> PushRequest {
    let time = Int(Date().timeIntervalSince1970)
    let body =
      #"{"aps":{"timestamp":\#(time),"event":"start","attributes-type":"Order","attributes":{},"content-state":{},"alert":{"title":"a","body":"b"}\#(more)}}"#
    return PushRequest("liveactivity", to: token, body: body).with("apns-priority", "10")
  }

  private func update(_ token: String) -> PushRequest {
    let body = #"{"aps":{"timestamp":\#(Int(Date().timeIntervalSince1970)),"event":"update","content-state":{"stops":2}}}"#
    return PushRequest("liveactivity", to: token, body: body).with("apns-priority", "10")
  }

  private func told(_ dev: Deployment, _ words: String...) async throws -> CommandResult {
    try await run([Deployment.executable] + words + ["--state-dir", dev.state.path])
  }

  /// Two starts for one order while the device is away are one activity.
  @Test func oneActivityForOneCollapseID() async throws {
    let dev = try await Deployment.start(["dev"])
    let (starter, app) = (newToken(), newToken())
    try await dev.register(starter, RegistrationBody.pushToStart)
    try await dev.register(app, RegistrationBody.app)
    _ = try await dev.control("PUT", "/v1/clock", #"{"frozen":true}"#)
    // What waits for the next batch waits as it does for a device that is away.
    _ = try await dev.control("PUT", "/v1/apps/com.example.app", #"{"batchSeconds":600}"#)
    func send(_ push: PushRequest, _ collapseID: String) async throws -> String {
      let answer = try await dev.send(push.with("apns-collapse-id", collapseID).with("apns-priority", "5"))
      #expect(answer.status == 200, "\(answer)")
      return try #require(answer["apns-id"])
    }
    let starts = [try await send(start(starter), "order-42"), try await send(start(starter), "order-42")]
    let alerts = [try await send(PushRequest("alert", to: app), "score"), try await send(PushRequest("alert", to: app), "score")]
    _ = try await dev.control("POST", "/v1/clock/advance", #"{"by":"700s"}"#)
    for ids in [starts, alerts] {
      let first = try await dev.settled(ids[0], as: "merged")
      #expect(first["cause"].string == "supersededByNewer" && first["mergedInto"].string == ids[1])
      #expect(first["collapseID"].string == (ids == starts ? "order-42" : "score"))
      #expect(try await dev.settled(ids[1], as: "applied")["steps"].array.count == 3)
    }
    let budget = try await dev.control("GET", "/v1/budgets/\(starter)").json["budgets"].array.first
    #expect(budget?["lastCharge"].string != nil)
    #expect(try await dev.record(starts[1])["steps"].array.contains { $0["budgetBefore"].int == $0["budgetAfter"].int.map { $0 + 1 } })
    let story = try await told(dev, "explain", starts[0])
    #expect(story.text.contains("apns-collapse-id order-42") && story.text.contains("supersededByNewer"), "\(story.text)")
  }

  /// Relative seconds, and a sender whose clock is slow: a device that is online gets the push all the same.
  @Test func anExpirationInThePastIsTriedOnce() async throws {
    let dev = try await Deployment.start(["dev"])
    let app = newToken()
    try await dev.register(app, RegistrationBody.app)
    for date in ["45", "\(Int(Date().timeIntervalSince1970) - 60)"] {
      let answer = try await dev.send(PushRequest("alert", to: app).with("apns-expiration", date))
      let record = try await dev.settled(try #require(answer["apns-id"]), as: "applied", "expired")
      #expect(record["disposition"].string == "applied", "\(record)")
    }
  }

  /// Apple's own sample is base 64 of 13 bytes, and an id that no channel has starts nothing.
  @Test func aStartNamesAChannel() async throws {
    let dev = try await Deployment.start(["dev"])
    let starter = newToken()
    try await dev.register(starter, RegistrationBody.pushToStart)
    let sample = try await dev.send(start(starter, #","input-push-channel":"dHN0LXNyY2gtY2hubA==""#))
    #expect(sample.status == 400 && sample.text.contains("which is base 64 of 13 bytes"), "\(sample)")
    let unknown = try await dev.send(start(starter, #","input-push-channel":"aMs2y8fFEe8AAPIAM4gHog==""#))
    let record = try await dev.settled(try #require(unknown["apns-id"]), as: "ignored", "applied")
    #expect(record["disposition"].string == "ignored" && record["cause"].string == "channelUnknown", "\(record)")
    #expect(record["detail"].string?.contains("has no channel aMs2y8fFEe8AAPIAM4gHog==") == true, "\(record)")
    try await eventually("dev says so") { dev.process.output.text.contains("ignored (channelUnknown)") }
  }

  /// The lesson of the exercise: updates beyond the hour's budget are told where one looks first.
  @Test func updatesBeyondTheBudgetAreTold() async throws {
    let dev = try await Deployment.start(["dev"])
    let activity = newToken()
    try await dev.register(activity, RegistrationBody.activity)
    _ = try await dev.control("PUT", "/v1/clock", #"{"frozen":true}"#)
    var last = ""
    for _ in 1...7 {
      last = try #require(try await dev.send(update(activity))["apns-id"])
      try await dev.settled(last, as: "applied")
    }
    let why = " at priority 5: the 5 of priority 10 that may go at once are spent, of 15 an hour, the next is back at "
    #expect(try await told(dev, "explain", last).text.contains("applied (updated)" + why))
    let expected = try await told(dev, "expect", "--cause", "priorityLowered", "--count", "2", "--token", activity)
    #expect(expected.status == 0 && expected.text.contains(why), "\(expected.text) \(expected.standardError)")
    let more = try await told(dev, "expect", "--cause", "priorityLowered", "--count", "3", "--token", activity, "--timeout", "100ms")
    #expect(more.status == 1 && more.text.contains("2 of 3 came"), "\(more.text)")
    let wrong = try await told(dev, "expect", "--cause", "priorityLowerd")
    #expect(wrong.status != 0 && wrong.standardError.contains("did you mean \"priorityLowered\"?"), "\(wrong.standardError)")
    try await eventually("dev says so") {
      dev.process.output.text.contains("sent at priority 5") || dev.process.errors.text.contains("sent at priority 5")
    }
    let page = try await dev.control("GET", "/v1/pushes?cause=nothing")
    #expect(page.status == 400 && page.text.contains("cause must be"), "\(page.text)")
  }
}
