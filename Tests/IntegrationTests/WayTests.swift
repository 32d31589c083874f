import Foundation
import Testing

/// The whole way: register, push with curl, the device acts, the gateway explains.
@Suite("The whole way of a push", .processes) struct WayTests {
  @Test(arguments: [("widgets", RegistrationBody.widgets), ("controls", RegistrationBody.controls), ("alert", RegistrationBody.app)])
  func theDeviceDoesWhatThePushAsks(type: String, registration: String) async throws {
    let dev = try await SharedDev.deployment()
    let token = newToken()
    try await dev.register(token, registration)
    let id = newID()

    let answer = try await dev.send(PushRequest(type, to: token).with("apns-id", id))

    #expect(answer.status == 200)
    #expect(answer.fields.map(\.name) == ["apns-id", "apns-unique-id"])
    #expect(answer["apns-id"] == id)
    #expect(answer.body.isEmpty)
    let record = try await dev.settled(id, as: "applied")
    #expect(record["token"].string == token)
    #expect(record["type"].string == type)
    #expect(record["bundleID"].string == "com.example.app")
    #expect(record["cause"].string == (type == "alert" ? "alertShown" : "reloaded"))
    #expect(record["certainty"].string == "known")
    #expect(record["remedy"].string?.isEmpty == false)
    let steps = record["steps"].array
    #expect(steps.last?["disposition"].string == "applied")
    #expect(steps.allSatisfy { $0["at"].string != nil || $0["at"].double != nil })
  }

  /// What the device tells of it goes back in a header field, which must not end with a space (RFC 9113 section 8.2.1).
  @Test(arguments: [#""Hello ""#, #""""#, #"" ""#, #"{"title":"","body":""}"#, #"{"body":"b "}"#]) func anAlertOfAnyTextIsShownOnce(
    alert: String
  ) async throws {
    let dev = try await SharedDev.deployment()
    let token = newToken()
    try await dev.register(token, RegistrationBody.app)
    let id = try #require(try await dev.send(PushRequest("alert", to: token, body: #"{"aps":{"alert":\#(alert)}}"#))["apns-id"])
    let record = try await dev.settled(id, as: "applied", "ignored", "waiting", "failed")
    #expect(
      record["cause"].string == "alertShown" && record["steps"].array.count { $0["disposition"].string == "forwarding" } <= 1, "\(record)")
  }

  @Test func aLiveActivityStartsUpdatesAndEnds() async throws {
    let dev = try await SharedDev.deployment()
    let (starter, activity) = (newToken(), newToken())
    try await dev.register(starter, RegistrationBody.pushToStart)
    try await dev.register(activity, RegistrationBody.activity)
    let now = Int(Date().timeIntervalSince1970)

    let start =
      #"{"aps":{"timestamp":\#(now),"event":"start","attributes-type":"Ride","attributes":{},"content-state":{"eta":5},"alert":{"title":"Ride","body":"On its way"}}}"#
    let pushes: [(token: String, body: String, cause: String)] = [
      (starter, start, "started"),
      (activity, #"{"aps":{"timestamp":\#(now + 1),"event":"update","content-state":{"eta":4}}}"#, "updated"),
      (activity, #"{"aps":{"timestamp":\#(now + 2),"event":"end","content-state":{"eta":0}}}"#, "ended"),
    ]
    for push in pushes {
      let id = newID()
      let answer = try await dev.send(
        PushRequest("liveactivity", to: push.token, body: push.body).with("apns-id", id).with("apns-priority", "10"))
      #expect(answer.status == 200, "\(answer)")
      let record = try await dev.settled(id, as: "applied", "ignored", "failed")
      #expect(record["disposition"].string == "applied", "\(record)")
      #expect(record["cause"].string == push.cause, "\(record)")
    }
  }

  @Test func whatTheDeviceIgnoresHasACauseAndARemedy() async throws {
    let dev = try await SharedDev.deployment()
    let activity = newToken()
    try await dev.register(activity, RegistrationBody.activity)
    let now = Int(Date().timeIntervalSince1970)
    let newer = try await dev.send(
      PushRequest("liveactivity", to: activity, body: #"{"aps":{"timestamp":\#(now),"event":"update","content-state":{"eta":4}}}"#))
    try await dev.settled(try #require(newer["apns-id"]), as: "applied")

    let older = try await dev.send(
      PushRequest("liveactivity", to: activity, body: #"{"aps":{"timestamp":\#(now - 60),"event":"update","content-state":{"eta":9}}}"#))

    #expect(older.status == 200)
    let record = try await dev.settled(try #require(older["apns-id"]), as: "ignored", "applied")
    #expect(record["disposition"].string == "ignored")
    #expect(record["cause"].string == "staleTimestamp")
    #expect(record["remedy"].string?.contains("Unix time") == true)
  }

  @Test(arguments: ["6fa459ea-EE8A-3ca4-894E-db77e160355e", "123E4567-E89B-12D3-A456-426614174000"])
  func anIDComesBackByteForByte(id: String) async throws {
    let dev = try await SharedDev.deployment()
    let token = newToken()
    try await dev.register(token, RegistrationBody.widgets)

    let accepted = try await dev.send(.widgets(token).with("apns-id", id))
    #expect(accepted.status == 200)
    #expect(accepted["apns-id"] == id)

    let refused = try await dev.send(.widgets(token).with("apns-id", id).with("apns-priority", "7"))
    #expect(refused.status == 400)
    #expect(refused["apns-id"] == id)
  }

  @Test func anIDIsMadeInUpperCaseAndFindsThePushInEitherCase() async throws {
    let dev = try await SharedDev.deployment()
    let token = newToken()
    try await dev.register(token, RegistrationBody.widgets)

    let answer = try await dev.send(.widgets(token))

    let id = try #require(answer["apns-id"])
    #expect(id.wholeMatch(of: /[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}/) != nil)
    #expect(try await dev.record(id)["token"].string == token)
    #expect(try await dev.record(id.lowercased())["token"].string == token)
  }

  @Test func theTokenMayBeWrittenInUpperCase() async throws {
    let dev = try await SharedDev.deployment()
    let token = newToken()
    try await dev.register(token, RegistrationBody.widgets)
    let answer = try await dev.send(.widgets(token.uppercased()))
    #expect(answer.status == 200)
    #expect(try await dev.record(try #require(answer["apns-id"]))["token"].string == token)
  }

  @Test func aTokenOfEightyBytesIsAToken() async throws {
    let dev = try await SharedDev.deployment()
    let token = newToken(80)
    try await dev.register(token, RegistrationBody.activity)
    let body = #"{"aps":{"timestamp":\#(Int(Date().timeIntervalSince1970)),"event":"update","content-state":{}}}"#
    #expect(try await dev.send(PushRequest("liveactivity", to: token, body: body)).status == 200)
  }

  @Test func withoutAPushTypeThePushIsAccepted() async throws {
    let dev = try await SharedDev.deployment()
    let token = newToken()
    try await dev.register(token, RegistrationBody.app)
    #expect(try await dev.send(PushRequest("alert", to: token).with("apns-push-type", nil)).status == 200)
  }

  @Test func theListWaitsForAsManyAsAreAsked() async throws {
    let dev = try await SharedDev.deployment()
    let token = newToken()
    try await dev.register(token, RegistrationBody.widgets)
    async let waiting = dev.control("GET", "/v1/pushes?token=\(token)&wait=15s&count=2", as: "read")
    _ = try await dev.send(.widgets(token))
    _ = try await dev.send(.widgets(token))

    let answer = try await waiting

    #expect(answer.status == 200)
    #expect(try answer.json["complete"].bool == true, "\(answer)")
    #expect(try answer.json["matched"].int == 2, "\(answer)")
  }

  @Test func aListThatWaitsInVainSaysWhatCameClose() async throws {
    let dev = try await SharedDev.deployment()
    let token = newToken()
    try await dev.register(token, RegistrationBody.widgets)
    let answer = try await dev.send(.widgets(token))

    let list = try await dev.control("GET", "/v1/pushes?token=\(token)&type=alert&wait=1s&count=1", as: "read").json

    #expect(list["complete"].bool == false, "\(list)")
    #expect(list["matched"].int == 0)
    let miss = list["nearMisses"].array.first { $0["push"]["id"].string?.lowercased() == answer["apns-id"]?.lowercased() }
    #expect(miss?["differs"].string == "type", "\(list)")
  }

  @Test func explainHeadersComeOnlyWhenAsked() async throws {
    let dev = try await SharedDev.deployment()
    let token = newToken()
    try await dev.register(token, RegistrationBody.widgets(minimumInterval: 600))
    _ = try await dev.send(.widgets(token))

    let answer = try await dev.send(.widgets(token).with("widgetpush-explain", "1"))

    #expect(answer.status == 200)
    #expect(["waiting", "merged"].contains(answer["widgetpush-disposition"] ?? ""), "\(answer)")
    #expect(answer["widgetpush-detail"]?.isEmpty == false, "\(answer)")
  }
}
