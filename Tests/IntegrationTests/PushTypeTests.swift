import Foundation
import Testing

/// Every push type, the whole way; and the ids of answers.
@Suite("Push types and ids on the wire", .processes) struct PushTypeTests {
  private static let types: [(type: String, kind: String, payload: String, cause: String)] = [
    ("background", "app", #"{"aps":{"content-available":1}}"#, "appWoken"), ("voip", "voip", #"{"caller":"Ann"}"#, "callReported"),
    ("complication", "complication", "{}", "complicationUpdated"), ("fileprovider", "fileprovider", "{}", "filesSignaled"),
    ("location", "location", "{}", "locationQueried"), ("pushtotalk", "pushtotalk", "{}", "speakerAnnounced"),
  ]

  private static func registration(_ kind: String, _ bundleID: String = "com.example.app", _ environment: String = "development") -> String
  {
    #"{"type":"\#(kind)","bundleID":"\#(bundleID)","environment":"\#(environment)"}"#
  }

  @Test(arguments: types.indices) func theDeviceDoesWhatThePushAsks(index: Int) async throws {
    let (type, kind, payload, cause) = Self.types[index]
    let dev = try await SharedDev.deployment()
    let token = newToken()
    try await dev.register(token, Self.registration(kind))
    let push = PushRequest(type, to: token, body: payload).with("apns-priority", "5").with("apns-id", newID())
    let answer = try await dev.send(push)
    #expect(answer.status == 200, "\(answer)")
    #expect(try await dev.settled(try #require(answer["apns-id"]), as: "applied")["cause"].string == cause)
    // Its topic, and no other token.
    let mismatch = try await dev.send(push.with("apns-topic", "com.example.app.push-type.widgets"))
    #expect(mismatch.text == #"{"reason":"InvalidPushType"}"#)
    let other = newToken()
    try await dev.register(other, Self.registration("widgets"))
    #expect(try await dev.send(push.at("/3/device/\(other)")).text == #"{"reason":"DeviceTokenNotForTopic"}"#)
  }

  @Test func passesAndManagedDevicesAreServedWhereTheirTopicIsListed() async throws {
    let state = try await Deployment.newState()
    let upstream = try await FakeUpstream.start(["200"], state: state)
    let lists = ["pass.com.example.card", "com.apple.mgmt.External.1"]
    let configuration = GatewayConfiguration(
      upstream: "https://localhost:\(upstream.port)", rest: lists.map { "  - {bundleID: \($0), upstream: here}" })
    let gateway = try await Deployment.start(["gateway"] + configuration.options(in: state), in: state, upstream: upstream)
    for (topic, kind, type, payload) in [(lists[0], "app", nil, "{}"), (lists[1], "mdm", "mdm", #"{"mdm":"magic"}"#)] {
      let token = newToken()
      try await gateway.register(token, Self.registration(kind, topic))
      let push = PushRequest("alert", to: token, body: payload).with("apns-topic", topic).with("apns-push-type", type)
      let answer = try await gateway.send(push)
      #expect(answer.status == 200, "\(answer)")
    }
  }

  /// `apns-unique-id` belongs to the development environment, and is lower case; `apns-id` comes back as it was sent.
  @Test(arguments: [("api.sandbox.push.apple.com", "development", true), ("api.push.apple.com", "production", false)])
  func theServerNameDecidesAboutTheUniqueID(name: String, environment: String, has: Bool) async throws {
    let dev = try await SharedDev.deployment()
    let token = newToken()
    try await dev.register(token, Self.registration("app", "com.example.app", environment))
    let id = "6fa459ea-EE8A-3ca4-894E-db77e160355e"
    for (priority, status) in [("10", "200"), ("7", "400")] {
      let fields = try await dev.fields(
        to: token, topic: "com.example.app", type: "alert", extra: [("apns-id", id), ("apns-priority", priority)])
      let talk = try await dev.converse(
        [.preface(), .headers(fields, stream: 1), .data(#"{"aps":{"alert":"Hi"}}"#, stream: 1), .receive(ends: 1)], serverName: name)
      let answer = try #require(talk.frames(of: 1).first?.fields)
      #expect(answer.map(\.name) == [":status", "apns-id"] + (has ? ["apns-unique-id"] : []))
      #expect(answer.prefix(2).map(\.value) == [status, id])
      if has { #expect(answer[2].value.wholeMatch(of: /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/) != nil) }
    }
  }

  @Test(arguments: [("development", true), ("production", false)])
  func whereTheNameSaysNothingTheTokenDecides(environment: String, has: Bool) async throws {
    let dev = try await SharedDev.deployment()
    let token = newToken()
    try await dev.register(token, Self.registration("app", "com.example.app", environment))
    let accepted = try await dev.send(PushRequest("alert", to: token))
    #expect(accepted.status == 200)
    #expect((accepted["apns-unique-id"] != nil) == has)
    let refused = try await dev.send(PushRequest("widgets", to: token))
    #expect(refused.text == #"{"reason":"DeviceTokenNotForTopic"}"#)
    #expect((refused["apns-unique-id"] != nil) == has)
  }

  @Test(arguments: ["generate", "echo", "omit"]) func theIDOfABadMessageIsConfigured(value: String) async throws {
    let gateway = try await Deployment.behind(["200"], environment: ["WIDGETPUSH_PROVIDER_ANSWERS_REFUSED_MESSAGE_ID": value])
    let answer = try await gateway.send(.widgets(newToken()).with("apns-id", "Not-An-Id"))
    #expect(answer.text == #"{"reason":"BadMessageId"}"#)
    switch value {
    case "generate": #expect(answer["apns-id"]?.wholeMatch(of: /[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}/) != nil)
    case "echo": #expect(answer["apns-id"] == "Not-An-Id")
    default: #expect(answer["apns-id"] == nil)
    }
  }

  @Test func howManyPushesMayWaitIsConfigured() async throws {
    let gateway = try await Deployment.behind([], environment: ["WIDGETPUSH_PROVIDER_ANSWERS_TOO_MANY_REQUESTS_AFTER": "2"])
    let token = newToken()
    try await gateway.register(token, Self.registration("app"))
    var statuses: [Int] = []
    for _ in 0..<4 { statuses.append(try await gateway.send(PushRequest("alert", to: token)).status) }
    // One is on its way or waits to be tried again.
    #expect(Set(statuses.prefix(2)) == [200] && statuses.last == 429, "\(statuses)")
  }
}
