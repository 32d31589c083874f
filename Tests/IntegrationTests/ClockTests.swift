import Foundation
import Testing

@Suite("The product's clock", .processes) struct ClockTests {
  private func advance(_ deployment: Deployment, _ body: String) async throws -> Document {
    let answer = try await deployment.control("POST", "/v1/clock/advance", body)
    guard answer.status == 200 else { throw HarnessError("advance answered \(answer)") }
    return try answer.json
  }

  private func update(_ token: String, _ timestamp: Int = Int(Date().timeIntervalSince1970)) -> PushRequest {
    PushRequest("liveactivity", to: token, body: #"{"aps":{"timestamp":\#(timestamp),"event":"update","content-state":{"stops":2}}}"#)
      .with("apns-priority", "5")
  }

  /// A push waits for its interval, the clock goes to it, and the push has arrived when that is answered.
  @Test func aWaitingPushGoesWhenTheClockComesToIt() async throws {
    let dev = try await Deployment.start(["dev"])
    _ = try await dev.control("PUT", "/v1/clock", #"{"frozen":true}"#)
    let token = newToken()
    try await dev.register(token, RegistrationBody.widgets)
    try await dev.settled(try #require(try await dev.send(.widgets(token))["apns-id"]), as: "applied")
    let waiting = try #require(try await dev.send(.widgets(token))["apns-id"])
    let shown = try await dev.control("GET", "/v1/clock", as: "read").json
    #expect(shown["next"]["push"].string == waiting && shown["next"]["what"].string == "pushDue", "\(shown)")

    let early = try await advance(dev, #"{"by":"299s"}"#)
    #expect(early["complete"].bool == true && early["steps"].int == 0, "\(early)")
    #expect(try await dev.record(waiting)["disposition"].string == "waiting")
    let due = try await advance(dev, #"{"to":"next"}"#)
    #expect(due["steps"].int == 1 && due["now"].string == shown["next"]["at"].string, "\(due)")
    let record = try await dev.record(waiting)
    #expect(record["disposition"].string == "applied", "\(record)")
    // The log shows the product's times.
    #expect(record["steps"].array.last?["at"].string?.prefix(19) == shown["next"]["at"].string?.prefix(19), "\(record)")
  }

  /// The time that a forecast tells is one at which the push goes, however finely the clock stands.
  @Test func thatTimeIsTheOneThatIsForecast() async throws {
    let dev = try await Deployment.start(["dev"])
    let token = newToken()
    try await dev.register(token, RegistrationBody.widgets)
    try await dev.settled(try #require(try await dev.send(.widgets(token))["apns-id"]), as: "applied")
    _ = try await dev.control("PUT", "/v1/clock", #"{"frozen":true}"#)
    let form = #"{"token":"\#(token)","topic":"com.example.app.push-type.widgets","payload":{"aps":{"content-changed":true}}}"#
    let forecast = try await dev.control("POST", "/v1/what-if", form, as: "read").json
    let due = try #require(forecast["due"].string, "\(forecast)")
    let waiting = try #require(try await dev.send(.widgets(token))["apns-id"])
    #expect(try await dev.record(waiting)["disposition"].string == "waiting")
    let moved = try await dev.control("PUT", "/v1/clock", #"{"now":"\#(due)"}"#)
    #expect(moved.status == 200, "\(moved)")
    #expect(try await dev.record(waiting)["disposition"].string == "applied")
  }

  /// Twenty widgets spend their bursts, and a day later all that waited has gone, with nobody having waited for a day.
  @Test func aDayPassesAtOnce() async throws {
    let dev = try await Deployment.start(["dev"])
    let tokens = (0..<10).map { _ in newToken() }
    for token in tokens { try await dev.register(token, RegistrationBody.widgets) }
    let answers = try await dev.sendAll((tokens + tokens).map { ($0, newID()) })
    #expect(answers.allSatisfy { $0.status == 200 })
    let day = try await advance(dev, #"{"by":"1d"}"#)
    #expect(day["complete"].bool == true && day["advancedSeconds"].int == 86_400, "\(day)")
    let applied = try await dev.control("GET", "/v1/pushes?disposition=applied&limit=1000", as: "read").json
    #expect(applied["pushes"].array.count == 20, "\(applied["pushes"].array.count)")
  }

  /// The device's own rules go by the same clock: an activity ends after eight hours and is gone four hours later.
  @Test func anActivityEndsByItself() async throws {
    let dev = try await Deployment.start(["dev"])
    let token = newToken(80)
    try await dev.register(token, RegistrationBody.activity)
    try await dev.settled(try #require(try await dev.send(update(token))["apns-id"]), as: "applied")
    let next = try await dev.control("GET", "/v1/clock", as: "read").json["next"]
    #expect(next["what"].string == "activityEnded", "\(next)")
    #expect(try await advance(dev, #"{"by":"8h"}"#)["next"]["what"].string == "activityDismissed")
    let late = try #require(try await dev.send(update(token))["apns-id"])
    let record = try await dev.settled(late, as: "ignored")
    #expect(record["cause"].string == "activityEnded", "\(record)")
    // The device's own API shows the same clock, and moves it for both.
    let device = try await dev.control("POST", "/v1/clock/advance", #"{"to":"next"}"#, face: "device").json
    #expect(device["steps"].int == 1, "\(device)")
    let events = try await dev.control("GET", "/v1/events?event=activityDismissed", face: "device").json
    #expect(events["events"].array.count == 1, "\(events)")
    #expect(try await dev.control("GET", "/v1/clock", as: "read").json["next"].isMissing)
  }

  /// A sender's dates are by the sender's clock, the machine's, unless the configuration says otherwise.
  @Test func aSendersDatesAreShifted() async throws {
    let dev = try await Deployment.start(["dev"])
    let token = newToken()
    try await dev.register(token, RegistrationBody.widgets)
    _ = try await advance(dev, #"{"by":"2h"}"#)
    // The provider token is two hours old by the product's clock alone.
    try await dev.settled(try #require(try await dev.send(.widgets(token))["apns-id"]), as: "applied")
    let soon = Int(Date().timeIntervalSince1970) + 200
    let waiting = try #require(try await dev.send(PushRequest.widgets(token).with("apns-expiration", "\(soon)"))["apns-id"])
    #expect(try await dev.record(waiting)["disposition"].string == "waiting")
    let next = try await dev.control("GET", "/v1/clock", as: "read").json["next"]
    #expect(next["what"].string == "pushExpires", "\(next)")
    _ = try await advance(dev, #"{"to":"next"}"#)
    #expect(try await dev.record(waiting)["disposition"].string == "expired")
  }

  /// Where provider tokens age by the product's clock, one that was used before is expired an hour later, and a new one is good.
  @Test func providerTokensMayAgeByIt() async throws {
    let dev = try await Deployment.start(["dev", "--clock-token-age", "virtual"])
    let token = newToken()
    try await dev.register(token, RegistrationBody.widgets)
    // Signed a little earlier than the next one.
    let team = try #require(try dev.credentials()["teamID"].string)
    let signed = try await ProviderToken.make(dev, claims: #"{"iss":"\#(team)","iat":\#(Int(Date().timeIntervalSince1970) - 60)}"#)
    let push = PushRequest.widgets(token).with("authorization", "bearer \(signed)")
    #expect(try await dev.send(push).status == 200)
    _ = try await advance(dev, #"{"by":"61m"}"#)
    let expired = try await dev.send(push)
    #expect(expired.status == 403 && expired.text.contains("ExpiredProviderToken"), "\(expired)")
    let anew = try await ProviderToken.make(dev)
    #expect(try await dev.send(PushRequest.widgets(token).with("authorization", "bearer \(anew)")).status == 200)
  }

  /// With an upstream that is down, moving the clock waits ten seconds for what is due, and says what is left.
  @Test func whatIsLeftIsTold() async throws {
    let state = try Folder()
    let gateway = try await Deployment.start(
      ["gateway", "--clock-permitted", "true", "--device-url", "https://127.0.0.1:1"], in: state)
    let token = newToken()
    try await gateway.register(token, RegistrationBody.widgets)
    let id = try #require(try await gateway.send(.widgets(token))["apns-id"])
    let report = try await advance(gateway, #"{"by":"1m"}"#)
    #expect(report["complete"].bool == false, "\(report)")
    #expect(report["outstanding"].array.contains { $0["push"].string == id }, "\(report)")
    #expect(report["outstanding"].array.contains { $0["message"].string?.contains("cannot be reached") == true }, "\(report)")
    #expect(report["advancedSeconds"].int == 60)
    let command = try await run([
      Deployment.executable, "clock", "freeze", "--state-dir", state.path,
    ])
    #expect(command.status == 1 && command.text.contains("Not done yet"), "\(command.text)")
  }

  @Test func whereItIsNotPermittedNothingMoves() async throws {
    let gateway = try await Deployment.start(["gateway"])
    #expect(try await gateway.control("GET", "/v1/clock", as: "read").json["permitted"].bool == false)
    let answer = try await gateway.control("POST", "/v1/clock/advance", #"{"by":"1m"}"#)
    #expect(answer.status == 403 && answer.text.contains("clock.permitted"), "\(answer)")
    let command = try await run([Deployment.executable, "clock", "freeze", "--state-dir", gateway.state.path])
    #expect(command.status == 1 && command.standardError.contains("clock.permitted"), "\(command.standardError)")
  }

  /// Two processes: the gateway leads, and the device is where the gateway is when that is answered, also after either is killed.
  @Test func twoProcessesHaveOneTime() async throws {
    let state = try Folder()
    let permitted = ["WIDGETPUSH_CLOCK_PERMITTED": "true"]
    var device = try await Deployment.start(["device"], in: state, environment: permitted)
    let port = try device.port("device")
    var gateway = try await Deployment.start(["gateway"], in: state, environment: permitted)
    let activity = newToken(80)
    try await gateway.register(activity, RegistrationBody.activity)
    try await gateway.settled(try #require(try await gateway.send(update(activity))["apns-id"]), as: "applied")

    func times() async throws -> (gateway: String, device: String) {
      (
        try await gateway.control("GET", "/v1/clock", as: "read").json["now"].string ?? "",
        try await device.control("GET", "/v1/clock", as: "read", face: "device").json["now"].string ?? "-"
      )
    }
    _ = try await gateway.control("PUT", "/v1/clock", #"{"frozen":true}"#)
    #expect(try await times().gateway == times().device)
    let report = try await advance(gateway, #"{"by":"8h"}"#)
    #expect(report["complete"].bool == true && report["steps"].int == 1, "\(report)")
    #expect(try await times().gateway == times().device)
    let ended = try await device.control("GET", "/v1/events?event=activityEnded", as: "read", face: "device").json
    #expect(ended["events"].array.count == 1, "\(ended)")

    // Either is killed and finds the time again.
    let before = try await times().gateway
    try await gateway.crash()
    gateway = try await Deployment.start(["gateway"], in: state, environment: permitted)
    #expect(try await times().gateway == before)
    try await device.crash()
    device = try await Deployment.start(["device"], in: state, ports: ["--device-port", "\(port)"], environment: permitted)
    #expect(try await times().device == before)
    #expect(try await advance(gateway, #"{"by":"1h"}"#)["complete"].bool == true)
    #expect(try await times().gateway == times().device)
  }

  /// A store that was kept by a clock ahead of the present one is no obstacle: nothing is lost, and budgets give no credit meanwhile.
  @Test func aRestartWithoutTheClock() async throws {
    let state = try Folder()
    let dev = try await Deployment.start(["dev"], in: state)
    let token = newToken()
    try await dev.register(token, RegistrationBody.widgets)
    _ = try await advance(dev, #"{"by":"1d"}"#)
    try await dev.settled(try #require(try await dev.send(.widgets(token))["apns-id"]), as: "applied")
    let waiting = try #require(try await dev.send(.widgets(token))["apns-id"])
    #expect(try await dev.terminate() == 0)
    #expect(!dev.process.errors.text.contains("the clock was moved"))
    let again = try await Deployment.start(["dev"], in: state)
    #expect(again.process.errors.text.contains("the clock was moved when the store was last used, and goes on at "))
    #expect(try await again.terminate() == 0)

    let gateway = try await Deployment.start(["gateway"], in: state)
    let complaint = "the clock was moved when the store was last used, and clock.permitted is false now"
    #expect(gateway.process.errors.text.contains(complaint), "\(gateway.process.errors.text)")
    #expect(try await gateway.record(waiting)["disposition"].string == "waiting")
    let merged = try #require(try await gateway.send(.widgets(token))["apns-id"])
    #expect(try await gateway.record(merged)["disposition"].string == "merged")
    let budget = try await gateway.control("GET", "/v1/budgets/\(token)", as: "read").json["budgets"][0]
    #expect(budget["remaining"].int == 11, "\(budget)")
  }

  @Test func theCommand() async throws {
    let dev = try await Deployment.start(["dev"])
    func clock(_ arguments: String...) async throws -> CommandResult {
      try await run([Deployment.executable, "clock"] + arguments + ["--state-dir", dev.state.path])
    }
    #expect(try await clock().text.contains("the machine's time\nNothing waits for it."))
    #expect(try await clock("freeze").text.contains("stopped"))
    let json = try Document(try await clock("advance", "90m", "--json").standardOutput)
    #expect(json["advancedSeconds"].int == 5400 && json["frozen"].bool == true, "\(json)")
    let back = try await clock("set", "2020-01-01T00:00:00Z")
    #expect(back.status == 1 && back.standardError.contains("does not go back"), "\(back.standardError)")
    #expect(try await clock("set", "2030-01-01T00:00:00Z").text.hasPrefix("2030-01-01T00:00:00Z, stopped; the machine's is "))
    #expect(try await clock("run").status == 0)
    #expect(try await clock("show").text.contains("2030-01-01T00:00:0"))
    let unknown = try await clock("advanse")
    #expect(unknown.status == 2 && unknown.standardError.contains("did you mean advance?"), "\(unknown.standardError)")
  }
}
