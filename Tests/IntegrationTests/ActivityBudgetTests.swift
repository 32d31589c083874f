import Foundation
import Testing

@Suite("Budgets of activities, starts and background pushes", .processes) struct ActivityBudgetTests {
  private static func update(_ token: String, _ timestamp: Int, _ state: Int) -> PushRequest {
    PushRequest(
      "liveactivity", to: token, body: #"{"aps":{"timestamp":\#(timestamp),"event":"update","content-state":{"eta":\#(state)}}}"#)
  }

  @Test func updatesBeyondTheBudgetGoAtPriorityFive() async throws {
    let dev = try await SharedDev.deployment()
    let token = newToken()
    try await dev.register(token, RegistrationBody.activity)
    let now = Int(Date().timeIntervalSince1970)
    var causes: [String?] = []
    for state in 0..<7 {
      let answer = try await dev.send(Self.update(token, now + state, state))
      #expect(answer.status == 200)
      let record = try await dev.settled(try #require(answer["apns-id"]), as: "applied")
      causes.append(record["steps"].array.first { $0["disposition"].string == "forwarding" }?["cause"].string)
    }
    #expect(causes == [nil, nil, nil, nil, nil, "priorityLowered", "priorityLowered"])
    let free = try await dev.send(Self.update(token, now + 7, 7).with("apns-priority", "5"))
    try await dev.settled(try #require(free["apns-id"]), as: "applied")
    let report = try await dev.control("GET", "/v1/budgets/\(token)", as: "read").json["budgets"][0]
    #expect(report["budget"].string == "liveactivity" && report["remaining"].int == 0 && report["allowance"].int == 15, "\(report)")
  }

  @Test func startsBeyondTheBudgetAreIgnoredAndCharged() async throws {
    let dev = try await SharedDev.deployment()
    let token = newToken()
    try await dev.register(token, RegistrationBody.pushToStart)
    #expect(try await dev.control("PUT", "/v1/budgets/\(token)", #"{"remaining":0}"#).status == 200)
    let body =
      #"{"aps":{"timestamp":\#(Int(Date().timeIntervalSince1970)),"event":"start","attributes-type":"Ride","attributes":{},"content-state":{"eta":5},"alert":{"title":"Ride","body":"On its way"}}}"#
    for remaining in [-1, -2] {
      let answer = try await dev.send(PushRequest("liveactivity", to: token, body: body))
      #expect(answer.status == 200)
      let record = try await dev.settled(try #require(answer["apns-id"]), as: "ignored")
      #expect(record["cause"].string == "startBudgetSpent", "\(record)")
      #expect(record["certainty"].string == "likely" && record["remedy"].string?.isEmpty == false, "\(record)")
      let report = try await dev.control("GET", "/v1/budgets/\(token)", as: "read").json["budgets"][0]
      #expect(report["remaining"].int == remaining, "\(report)")
    }
  }

  @Test func theNewestBackgroundPushWaitsAndAlertsPassIt() async throws {
    let dev = try await SharedDev.deployment()
    let token = newToken()
    try await dev.register(token, RegistrationBody.app)
    #expect(try await dev.control("PUT", "/v1/budgets/\(token)", #"{"remaining":0}"#).status == 200)
    let wake = PushRequest("background", to: token, body: #"{"aps":{"content-available":1}}"#).with("apns-priority", "5")
    let first = try await dev.send(wake)
    let second = try await dev.send(wake)
    let alert = try await dev.send(PushRequest("alert", to: token))
    try await dev.settled(try #require(alert["apns-id"]), as: "applied")
    let older = try await dev.record(try #require(first["apns-id"]))
    #expect(older["disposition"].string == "merged" && older["cause"].string == "supersededByNewer", "\(older)")
    #expect(older["mergedInto"].string?.lowercased() == second["apns-id"]?.lowercased())
    let newest = try await dev.record(try #require(second["apns-id"]))
    #expect(newest["disposition"].string == "waiting" && newest["cause"].string == "waitingForBudget", "\(newest)")
    #expect(try await dev.control("DELETE", "/v1/budgets/\(token)").status == 204)
    try await dev.settled(try #require(second["apns-id"]), as: "applied")
  }

  @Test func aRegistrationMayAskForLessThanItsAppAndForQuietHours() async throws {
    let dev = try await SharedDev.deployment()
    let token = newToken()
    let body = RegistrationBody.widgets.dropLast()
    try await dev.register(token, body + #","budget":{"allowance":2,"burst":1}}"#, as: "register")
    let report = try await dev.control("GET", "/v1/budgets/\(token)", as: "read").json["budgets"][0]
    #expect(report["allowance"].int == 2 && report["burst"].int == 1, "\(report)")
    let more = try await dev.control("PUT", "/v1/registrations/\(token)", body + #","budget":{"allowance":50}}"#, as: "register")
    #expect(more.status == 403 && more.text.contains("admin"), "\(more)")
    // Quiet all day but for the minute before now.
    let minute = Int(Date().timeIntervalSince1970) / 60 % 1440
    func clock(_ minute: Int) -> String { String(format: "%02d:%02d", (minute + 1440) % 1440 / 60, (minute + 1440) % 1440 % 60) }
    let quiet = #","quietHours":{"from":"\#(clock(minute - 1))","to":"\#(clock(minute - 2))"}}"#
    try await dev.register(token, body + quiet)
    let answer = try await dev.send(.widgets(token))
    let record = try await dev.record(try #require(answer["apns-id"]))
    #expect(record["disposition"].string == "waiting" && record["cause"].string == "quietHours", "\(record)")
    let wrong = try await dev.control("PUT", "/v1/registrations/\(token)", body + #","quietHours":{"from":"25:00","to":"07:00"}}"#)
    #expect(wrong.status == 400 && wrong.text.contains("22:30"), "\(wrong)")
  }

  @Test func aRotatedTokenGoesOnWithItsBudget() async throws {
    let dev = try await SharedDev.deployment()
    let (old, new) = (newToken(), newToken())
    try await dev.register(old, RegistrationBody.controls)
    #expect(try await dev.control("PUT", "/v1/budgets/\(old)", #"{"remaining":3}"#).status == 200)
    try await dev.register(new, RegistrationBody.controls.dropLast() + #","replaces":"\#(old)"}"#)
    let report = try await dev.control("GET", "/v1/budgets/\(new)", as: "read").json["budgets"][0]
    #expect(report["remaining"].int == 3, "\(report)")
    #expect(try await dev.control("GET", "/v1/registrations/\(old)", as: "read").status == 404)
    let other = try await dev.control(
      "PUT", "/v1/registrations/\(newToken())", RegistrationBody.widgets.dropLast() + #","replaces":"\#(new)"}"#)
    #expect(other.status == 409, "\(other)")
  }
}
