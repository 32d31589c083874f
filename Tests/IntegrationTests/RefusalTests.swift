import Foundation
import Testing

/// One request that is answered with an error, and the error.
private struct Refusal: Sendable, CustomTestStringConvertible {
  let reason: String
  let status: Int
  let why: String
  /// Makes the request from a good one for a registered widgets token.
  let change: @Sendable (PushRequest, Deployment) async throws -> PushRequest

  init(
    _ status: Int, _ reason: String, _ why: String, _ change: @escaping @Sendable (PushRequest, Deployment) async throws -> PushRequest
  ) {
    (self.status, self.reason, self.why, self.change) = (status, reason, why, change)
  }

  var testDescription: String { "\(status) \(reason): \(why)" }
}

private let now = Int(Date().timeIntervalSince1970)

private let refusals: [Refusal] = [
  Refusal(405, "MethodNotAllowed", "GET") { push, _ in push.method("GET").body(nil) },
  Refusal(405, "MethodNotAllowed", "GET with nothing else right") { push, _ in
    push.method("GET").body(nil).at("/3/device/").with("authorization", nil).with("apns-topic", nil)
  },
  Refusal(404, "BadPath", "another path") { push, _ in push.at("/3/devices/\(newToken())") },
  Refusal(404, "BadPath", "the root") { push, _ in push.at("/") },
  Refusal(404, "BadPath", "path before authorization") { push, _ in push.at("/2/device/aa").with("authorization", nil) },
  Refusal(400, "DuplicateHeaders", "two topics") { push, _ in push.adding("apns-topic", "com.example.app") },
  Refusal(400, "DuplicateHeaders", "two ids") { push, _ in push.adding("apns-id", newID()).adding("apns-id", newID()) },
  Refusal(403, "MissingProviderToken", "no authorization") { push, _ in push.with("authorization", nil) },
  Refusal(403, "MissingProviderToken", "authorization before topic, token and payload") { push, _ in
    push.at("/3/device/aaaa").body("{}").with("authorization", nil).with("apns-topic", nil)
  },
  Refusal(403, "InvalidProviderToken", "not a JWT") { push, _ in push.with("authorization", "bearer hello") },
  Refusal(403, "InvalidProviderToken", "another key") { push, dev in
    let folder = try Folder()
    let key = try await ProviderToken.newKey(in: folder, name: "other.p8")
    return push.with("authorization", "bearer \(try await ProviderToken.make(dev, key: key))")
  },
  Refusal(403, "InvalidProviderToken", "an unknown key id") { push, dev in
    push.with("authorization", "bearer \(try await ProviderToken.make(dev, header: #"{"alg":"ES256","kid":"ZZZZZZZZZZ"}"#))")
  },
  Refusal(403, "InvalidProviderToken", "unsigned") { push, dev in
    let kid = try dev.credentials()["keyID"].string ?? ""
    return push.with("authorization", "bearer \(try await ProviderToken.make(dev, header: #"{"alg":"none","kid":"\#(kid)"}"#))")
  },
  Refusal(403, "InvalidProviderToken", "another team") { push, dev in
    push.with("authorization", "bearer \(try await ProviderToken.make(dev, claims: #"{"iss":"ZZZZZZZZZZ","iat":\#(now)}"#))")
  },
  Refusal(403, "InvalidProviderToken", "before the device token") { push, _ in
    push.at("/3/device/zz").with("authorization", "bearer a.b.c")
  },
  Refusal(403, "ExpiredProviderToken", "iat is an hour and more ago") { push, dev in
    let team = try dev.credentials()["teamID"].string ?? ""
    return push.with("authorization", "bearer \(try await ProviderToken.make(dev, claims: #"{"iss":"\#(team)","iat":\#(now - 3700)}"#))")
  },
  Refusal(400, "BadMessageId", "not a UUID") { push, _ in push.with("apns-id", "42") },
  Refusal(400, "BadExpirationDate", "a fraction") { push, _ in push.with("apns-expiration", "1518182259.475") },
  Refusal(400, "BadExpirationDate", "a word") { push, _ in push.with("apns-expiration", "tomorrow") },
  Refusal(400, "BadPriority", "7") { push, _ in push.with("apns-priority", "7") },
  Refusal(400, "BadPriority", "high") { push, _ in push.with("apns-priority", "high") },
  Refusal(400, "BadCollapseId", "65 bytes") { push, _ in push.with("apns-collapse-id", String(repeating: "x", count: 65)) },
  Refusal(400, "InvalidPushType", "an unknown type") { push, _ in push.with("apns-push-type", "widget") },
  Refusal(400, "InvalidPushType", "the topic of another type") { push, _ in
    push.with("apns-topic", "com.example.app.push-type.controls")
  },
  Refusal(400, "MissingTopic", "no topic") { push, _ in push.with("apns-topic", nil) },
  Refusal(400, "BadTopic", "a space in the topic") { push, _ in push.with("apns-topic", "com.example app.push-type.widgets") },
  Refusal(400, "TopicDisallowed", "an app that is not known") { push, _ in push.with("apns-topic", "org.other.push-type.widgets") },
  Refusal(400, "TopicDisallowed", "the suffix twice") { push, _ in
    push.with("apns-topic", "com.example.app.push-type.widgets.push-type.widgets")
  },
  Refusal(400, "MissingDeviceToken", "no token in the path") { push, _ in push.at("/3/device/") },
  Refusal(400, "BadDeviceToken", "not hexadecimal") { push, _ in push.at("/3/device/fcm-like_token") },
  Refusal(400, "BadDeviceToken", "half a byte") { push, _ in push.at("/3/device/abc") },
  Refusal(400, "BadDeviceToken", "never registered") { push, _ in push.at("/3/device/\(newToken())") },
  Refusal(400, "PayloadEmpty", "no body") { push, _ in push.body(nil) },
  Refusal(400, "PayloadEmpty", "no bytes in the body") { push, _ in push.body("") },
  Refusal(413, "PayloadTooLarge", "4097 bytes") { push, _ in
    let text = #"{"aps":{"content-changed":true},"x":""}"#
    return push.body(text.dropLast(2) + String(repeating: "x", count: 4097 - text.utf8.count) + #""}"#)
  },
  Refusal(400, "DeviceTokenNotForTopic", "a widgets token and a controls push") { push, _ in
    push.with("apns-topic", "com.example.app.push-type.controls").with("apns-push-type", "controls")
  },
  Refusal(400, "DeviceTokenNotForTopic", "a widgets token and an alert") { push, _ in
    push.with("apns-topic", "com.example.app").with("apns-push-type", "alert").body(#"{"aps":{"alert":"Hi"}}"#)
  },
]

@Suite("Refusals on the wire", .processes) struct RefusalTests {
  @Test("Refusal", arguments: refusals) fileprivate func reasonStatusAndExactBytes(refusal: Refusal) async throws {
    let dev = try await SharedDev.deployment()
    let token = newToken()
    try await dev.register(token, RegistrationBody.widgets)

    let answer = try await dev.send(refusal.change(.widgets(token), dev))

    #expect(answer.version == "2")
    #expect(answer.status == refusal.status)
    #expect(answer.text == #"{"reason":"\#(refusal.reason)"}"#)
    // Where the server name says nothing, the environment is that of the token, if it is known.
    let knowsToken = refusal.reason == "DeviceTokenNotForTopic"
    #expect(answer.fields.map(\.name) == ["apns-id"] + (knowsToken ? ["apns-unique-id"] : []))
    #expect(answer["apns-id"]?.wholeMatch(of: /[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}/) != nil)
  }

  @Test(
    arguments: [
      (#"{"aps":{"content-changed":1}}"#, "aps.content-changed must be the JSON value true"),
      (#"{"aps":{"content-changed":"true"}}"#, "aps.content-changed must be the JSON value true"),
      ("{}", nil), ("[]", nil), ("hello", nil), (#"{"aps":[]}"#, nil),
    ] as [(String, String?)])
  func whatADeviceWouldDropIsRefusedAndSaysWhy(body: String, detail: String?) async throws {
    let dev = try await SharedDev.deployment()
    let token = newToken()
    try await dev.register(token, RegistrationBody.widgets)

    let answer = try await dev.send(.widgets(token).body(body))

    #expect(answer.status == 400)
    let json = try answer.json
    #expect(json.keys == ["reason", "detail", "origin"])
    #expect(json["reason"].string == "BadPayload")
    #expect(json["origin"].string == "widgetpush")
    #expect(json["detail"].string?.isEmpty == false)
    if let detail { #expect(json["detail"].string == detail) }
  }

  @Test func aRefusedPushIsExplained() async throws {
    let dev = try await SharedDev.deployment()
    let token = newToken()
    try await dev.register(token, RegistrationBody.widgets)
    let id = newID()
    _ = try await dev.send(.widgets(token).with("apns-priority", "7").with("apns-id", id))

    let record = try await dev.record(id)

    #expect(record["disposition"].string == "refused")
    #expect(record["reason"].string == "BadPriority")
    #expect(record["remedy"].string?.contains("10") == true)
  }
}
