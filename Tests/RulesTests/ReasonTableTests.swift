import Primitives
import Push
import Rules
import Testing

@Suite("Reasons") struct ReasonTableTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var reason: Reason
    var field: String
    /// Part of the detail.
    var detail: String
    var any = false
    var change: @Sendable (inout TestRequest) -> Void

    var testDescription: String { "\(reason): \(detail)" }
  }

  private static func token(_ change: (inout TestToken) -> Void) -> String {
    var token = TestToken()
    change(&token)
    return "bearer " + token.text
  }

  private static func encoded(_ parts: String...) -> String {
    "bearer " + parts.map { Base64.encode($0.utf8, .urlSafe) }.joined(separator: ".")
  }

  static let request: [Case] = [
    Case(reason: .methodNotAllowed, field: ":method", detail: "must be POST, not \"GET\"") { $0.method = "GET" },
    Case(reason: .methodNotAllowed, field: ":method", detail: "not \"post\"") { $0.method = "post" },
    Case(reason: .methodNotAllowed, field: ":method", detail: "not absent") { $0.method = nil },
    Case(reason: .badPath, field: ":path", detail: "followed by the push token in hexadecimal, not \"/\"") { $0.path = "/" },
    Case(reason: .badPath, field: ":path", detail: "must be /3/device/") { $0.path = nil },
    Case(reason: .badPath, field: ":path", detail: "not \"/3/device\"") { $0.path = "/3/device" },
    Case(reason: .badPath, field: ":path", detail: "not \"/3/devices/a1\"") { $0.path = "/3/devices/a1" },
    Case(reason: .badPath, field: ":path", detail: "not \"/3/device/a1/b2\"") { $0.path = "/3/device/a1/b2" },
    Case(reason: .badPath, field: ":path", detail: "in hexadecimal, not \"/4/device/a1\"") { $0.path = "/4/device/a1" },
    Case(reason: .duplicateHeaders, field: "apns-topic", detail: "apns-topic must be sent once") { $0.duplicate = "apns-topic" },

    Case(reason: .missingDeviceToken, field: ":path", detail: "must end with the push token") { $0.path = "/3/device/" },
    Case(reason: .missingDeviceToken, field: ":path", detail: "must end with the push token") { $0.path = "/3/device/?a1" },
    Case(reason: .badDeviceToken, field: ":path", detail: "character 2 of \"az\"") { $0.path = "/3/device/az" },
    Case(reason: .badDeviceToken, field: ":path", detail: "two hexadecimal digits for each byte, not 3 digits") {
      $0.path = "/3/device/a1b"
    },
    Case(reason: .badDeviceToken, field: ":path", detail: "at most 100 bytes") {
      $0.path = "/3/device/" + String(repeating: "a", count: 202)
    },
    Case(reason: .badDeviceToken, field: ":path", detail: "at most 100 bytes") {
      $0.path = "/3/device/" + String(repeating: "%61", count: 300)
    },
    Case(reason: .badDeviceToken, field: ":path", detail: "without the brackets and spaces") { $0.path = "/3/device/%3Ca1b2%20c3d4%3E" },
    Case(
      reason: .badDeviceToken, field: ":path",
      detail: "of a printed Data value: 740f4707bebcf74f9b7c25d48e3358945f6aa01da5ddb387462c7eaf61bb78ad"
    ) {
      $0.path = "/3/device/<740f4707 bebcf74f 9b7c25d4 8e335894 5f6aa01d a5ddb387 462c7eaf 61bb78ad>"
    },
    Case(reason: .badDeviceToken, field: ":path", detail: "cannot be repaired, its middle is cut: print the token whole with token.map {") {
      $0.path = "/3/device/%7Blength%20=%2032,%20bytes%20=%200x740f4707%20bebcf74f%209b7c25d4%208e335894%20...%20462c7eaf%2061bb78ad%20%7D"
    },
    Case(reason: .badDeviceToken, field: ":path", detail: "another push service") { $0.path = "/3/device/ea:APA91bH" },

    Case(reason: .badMessageID, field: "apns-id", detail: "must be a UUID such as") { $0.id = "4711" },
    Case(reason: .badExpirationDate, field: "apns-expiration", detail: "not \"1518182259.475\"") { $0.expiration = "1518182259.475" },
    Case(reason: .badExpirationDate, field: "apns-expiration", detail: "not \"-1\"") { $0.expiration = "-1" },
    Case(reason: .badExpirationDate, field: "apns-expiration", detail: "not \"\"") { $0.expiration = "" },
    Case(reason: .badExpirationDate, field: "apns-expiration", detail: "whole number of Unix seconds") {
      $0.expiration = "9999999999999999999"
    },
    Case(reason: .badPriority, field: "apns-priority", detail: "must be 10, 5 or 1, not \"high\"") { $0.priority = "high" },
    Case(reason: .badPriority, field: "apns-priority", detail: "not \"05\"") { $0.priority = "05" },
    Case(reason: .badCollapseID, field: "apns-collapse-id", detail: "at most 64 bytes, not 65") {
      $0.collapseID = String(repeating: "x", count: 65)
    },
    Case(reason: .badCollapseID, field: "apns-collapse-id", detail: "not 66") { $0.collapseID = String(repeating: "é", count: 33) },
    Case(reason: .invalidPushType, field: "apns-push-type", detail: "did you mean widgets?") { $0.pushType = "Widgets" },
    Case(reason: .invalidPushType, field: "apns-push-type", detail: "did you mean liveactivity?") { $0.pushType = "live-activity" },
    Case(reason: .invalidPushType, field: "apns-push-type", detail: "must be one of alert, background") { $0.pushType = "" },
    Case(
      reason: .invalidPushType, field: "apns-push-type", detail: "must be \"com.example.app.push-type.widgets\", not \"com.example.app\""
    ) {
      $0.topic = "com.example.app"
    },
    Case(reason: .invalidPushType, field: "apns-push-type", detail: "must be \"com.example.app.push-type.widgets\"") {
      $0.topic = "com.example.app.push-type.controls"
    },
    Case(reason: .invalidPushType, field: "apns-push-type", detail: "must be \"com.example.app\", not") { $0.pushType = "alert" },

    Case(reason: .invalidPushType, field: "apns-push-type", detail: "must be the UID of the MDM push certificate, com.apple.mgmt.…, not") {
      ($0.topic, $0.pushType) = ("com.example.app", "mdm")
    },
    Case(reason: .invalidPushType, field: "apns-push-type", detail: "must be mdm, not alert", any: true) {
      ($0.topic, $0.pushType) = ("com.apple.mgmt.External.1", "alert")
    },

    Case(reason: .missingTopic, field: "apns-topic", detail: "bundle id followed by") { $0.topic = nil },
    Case(reason: .missingTopic, field: "apns-topic", detail: "bundle id followed by") { $0.topic = "" },
    Case(reason: .badTopic, field: "apns-topic", detail: "character 12 of \"com.example app\"") { $0.topic = "com.example app" },
    Case(reason: .badTopic, field: "apns-topic", detail: "printable ASCII") { $0.topic = "com.exämple.app" },
    Case(reason: .badTopic, field: "apns-topic", detail: "at most 255 bytes, not 256") { $0.topic = String(repeating: "a", count: 256) },
    Case(reason: .topicDisallowed, field: "apns-topic", detail: "did you mean \"com.example.app\"?") {
      $0.topic = "com.exmple.app.push-type.widgets"
    },
    Case(reason: .topicDisallowed, field: "apns-topic", detail: "configured are com.example.app, com.example.other") { $0.topic = "x" },
    Case(reason: .topicDisallowed, field: "apns-topic", detail: "\"<com.example.app>\"") { $0.topic = "<com.example.app>" },
    Case(reason: .topicDisallowed, field: "apns-topic", detail: "\"<com.example.app>\"", any: true) { $0.topic = "<com.example.app>" },
    Case(reason: .topicDisallowed, field: "apns-topic", detail: "suffix twice; give a library", any: true) {
      $0.topic = "com.example.app.push-type.widgets.push-type.widgets"
    },
    Case(reason: .topicDisallowed, field: "apns-topic", detail: "set it to \"com.example.app.push-type.widgets\", not", any: true) {
      $0.topic = "com.example.app.push-type.widget"
    },
    Case(reason: .topicDisallowed, field: "apns-topic", detail: "set it to \"com.example.app.push-type.liveactivity\", not") {
      ($0.topic, $0.pushType) = ("com.example.apppush-type.liveactivity.x", nil)
    },
    Case(reason: .topicDisallowed, field: "apns-topic", detail: "set it to \"com.example.app.push-type.widgets\", not") {
      $0.topic = "com.example.app.widgets"
    },
    Case(reason: .topicDisallowed, field: "apns-topic", detail: "set it to \"com.example.app.voip-ptt\", not") {
      ($0.topic, $0.pushType) = ("com.example.app.pushtotalk", nil)
    },
    Case(reason: .topicDisallowed, field: "apns-topic", detail: "\"com.example.app.push-type.\" followed by one of ") {
      ($0.topic, $0.pushType) = ("com.example.app.push-type.somethingelse", nil)
    },
    Case(reason: .topicDisallowed, field: "apns-topic", detail: "add it to the key's bundle ids") {
      $0.authorization = token { $0.keyID = "ONEAPP0001" }
    },
    Case(reason: .topicDisallowed, field: "apns-topic", detail: "add it to the key's bundle ids", any: true) {
      $0.authorization = token { $0.keyID = "ONEAPP0001" }
      $0.topic = "com.example.stranger.push-type.widgets"
    },
    Case(
      reason: .topicDisallowed, field: "apns-topic",
      detail: "not configured here for the team TEAM012345"
    ) {
      $0.topic = "com.example.team.push-type.widgets"
    },

    Case(reason: .payloadEmpty, field: "body", detail: "must be a JSON object") { $0.body = [] },
    Case(reason: .payloadTooLarge, field: "body", detail: "at most 4096 bytes, not 4097") { $0.bodyBytesTotal = 4097 },
    Case(reason: .payloadTooLarge, field: "body", detail: "at most 5120 bytes, not 5121") {
      ($0.topic, $0.pushType, $0.bodyBytesTotal) = ("com.example.app.voip", "voip", 5121)
    },
    Case(reason: .badPayload, field: "aps.content-changed", detail: "aps.content-changed must be the JSON value true") {
      $0.body = Array(#"{"aps":{"content-changed":1}}"#.utf8)
    },
  ]

  static let authentication: [Case] = [
    Case(reason: .missingProviderToken, field: "authorization", detail: "the word bearer") { $0.authorization = nil },
    Case(reason: .missingProviderToken, field: "authorization", detail: "the word bearer") { $0.authorization = "" },
    Case(reason: .missingProviderToken, field: "authorization", detail: "the word bearer") { $0.authorization = "  " },
    Case(reason: .missingProviderToken, field: "authorization", detail: "the word bearer") { $0.authorization = "Bearer" },
    Case(reason: .missingProviderToken, field: "authorization", detail: "the word bearer") { $0.authorization = "bearer   " },
    Case(reason: .invalidProviderToken, field: "authorization", detail: "must follow the word bearer") {
      $0.authorization = TestToken().text
    },
    Case(reason: .invalidProviderToken, field: "authorization", detail: "must follow the word bearer") {
      $0.authorization = "Basic " + TestToken().text
    },
    Case(reason: .invalidProviderToken, field: "authorization", detail: "at most 2048 bytes") {
      $0.authorization = "bearer " + String(repeating: "x", count: 2048)
    },
    Case(reason: .invalidProviderToken, field: "authorization", detail: "three parts separated by dots, not 1") {
      $0.authorization = "bearer abc"
    },
    Case(reason: .invalidProviderToken, field: "authorization", detail: "not 4") { $0.authorization = "bearer a.b.c.d" },
    Case(reason: .invalidProviderToken, field: "authorization", detail: "header in base64url") { $0.authorization = "bearer a!.e30.eA" },
    Case(reason: .invalidProviderToken, field: "authorization", detail: "JSON as its header: line 1, column 2") {
      $0.authorization = encoded("{a}", "{}", "x")
    },
    Case(reason: .invalidProviderToken, field: "authorization", detail: "JSON object as its header, not an array") {
      $0.authorization = encoded("[]", "{}", "x")
    },
    Case(reason: .invalidProviderToken, field: "authorization", detail: "JSON as its claims") {
      $0.authorization = encoded(#"{"alg":"ES256","kid":"ABCDE12345"}"#, "{", "x")
    },
    Case(reason: .invalidProviderToken, field: "authorization", detail: "\"alg\":\"ES256\"") {
      $0.authorization = token { $0.algorithm = nil }
    },
    Case(reason: .invalidProviderToken, field: "authorization", detail: "ES256, not \"none\"") {
      $0.authorization = token { $0.algorithm = "none" }
    },
    Case(reason: .invalidProviderToken, field: "authorization", detail: "ES256, not \"HS256\"") {
      $0.authorization = token { $0.algorithm = "HS256" }
    },
    Case(
      reason: .invalidProviderToken, field: "authorization",
      detail: "the provider token's key id is your team id: they are swapped; kid must be \"ABCDE12345\" and iss \"TEAM012345\""
    ) {
      $0.authorization = token { ($0.keyID, $0.teamID) = ("TEAM012345", "ABCDE12345") }
    },
    Case(
      reason: .invalidProviderToken, field: "authorization",
      detail: "kid \"TEAM012345\" is your team id, which belongs into iss; kid must be the id of the key"
    ) {
      $0.authorization = token { $0.keyID = "TEAM012345" }
    },
    Case(
      reason: .invalidProviderToken, field: "authorization",
      detail: "iss must be \"TEAM012345\", the team of the key ABCDE12345, not the key's own id"
    ) {
      $0.authorization = token { $0.teamID = "ABCDE12345" }
    },
    Case(reason: .invalidProviderToken, field: "authorization", detail: "string kid") { $0.authorization = token { $0.keyID = nil } },
    Case(reason: .invalidProviderToken, field: "authorization", detail: "did you mean \"ABCDE12345\"?") {
      $0.authorization = token { $0.keyID = "ABCDE12346" }
    },
    Case(reason: .invalidProviderToken, field: "authorization", detail: "string iss") { $0.authorization = token { $0.teamID = nil } },
    Case(reason: .invalidProviderToken, field: "authorization", detail: "iss must be \"TEAM012345\", the team of the key ABCDE12345") {
      $0.authorization = token { $0.teamID = "TEAM999999" }
    },
    Case(reason: .invalidProviderToken, field: "authorization", detail: "as iat in its claims") {
      $0.authorization = token { $0.issuedAt = nil }
    },
    Case(reason: .invalidProviderToken, field: "authorization", detail: "as iat in its claims") {
      $0.authorization = token { $0.issuedAt = "\"yesterday\"" }
    },
    Case(reason: .invalidProviderToken, field: "authorization", detail: "not in milliseconds (1796000000000)") {
      $0.authorization = token { $0.issuedAt = "1796000000000" }
    },
    Case(reason: .invalidProviderToken, field: "authorization", detail: "lies 3601 seconds ahead") {
      $0.authorization = token { $0.issuedAt = "\(now.unixSeconds + 3601)" }
    },
    Case(reason: .invalidProviderToken, field: "authorization", detail: "signature in base64url") {
      $0.authorization = token { $0.signature = "" }
    },
    Case(reason: .invalidProviderToken, field: "authorization", detail: "private key of \"ABCDE12345\"") {
      $0.authorization = token { $0.signature = "forged" }
    },
    Case(reason: .expiredProviderToken, field: "authorization", detail: "is 3601 seconds old") {
      $0.authorization = token { $0.issuedAt = "\(now.unixSeconds - 3601)" }
    },
    Case(reason: .badEnvironmentKeyInToken, field: "authorization", detail: "not for the environment production") {
      $0.authorization = token { $0.keyID = "DEVKEY0001" }
      $0.environment = .production
    },
  ]

  @Test(arguments: request + authentication) func refuses(_ item: Case) throws {
    let refusal = try #require(judge(TestRequest().with(item.change), TestRules.apps(any: item.any)).refusal)
    #expect(refusal.reason == item.reason)
    #expect(refusal.field == item.field)
    #expect(refusal.detail.contains(item.detail), "\(refusal.detail)")
    #expect(!refusal.detail.hasSuffix("."))
  }

  /// The reasons of `/3/device` that follow from the request alone; the others need a registration, a connection or a fault.
  @Test func everyReasonOfTheRequestIsInTheTable() {
    let fromElsewhere: Set<Reason> = [
      // What a token's registration decides.
      .deviceTokenNotForTopic, .expiredToken, .unregistered, .tooManyRequests,
      // What the state of the server or the connection decides.
      .idleTimeout, .internalServerError, .serviceUnavailable, .shutdown,
      // Broadcasts and channels, whose table is that of `BroadcastTests`.
      .missingChannelID, .badChannelID, .channelNotRegistered, .missingPushType, .badRequestParams, .badRequestPayload,
      .cannotCreateChannelConfig, .broadcastFeatureNotEnabled, .topicMismatch,
      // Client certificates, related keys and the rate of new tokens are not part of this release.
      .badCertificate, .badCertificateEnvironment, .unrelatedKeyIDInToken, .tooManyProviderTokenUpdates,
    ]
    // `Forbidden` is answered only where it is configured (AnswersTests).
    let covered = Set((Self.request + Self.authentication).map(\.reason) + [.forbidden])
    #expect(covered == Set(Reason.allCases).subtracting(fromElsewhere))
  }

  @Test func theUntouchedRequestIsAPush() throws {
    let push = try #require(judge(TestRequest()).push)
    #expect(push.type == .widgets)
    #expect(push.token.hex == String(repeating: "a1", count: 32))
    #expect(push.warnings == [])
    #expect(push.traits == .reload)
    #expect(push.id == nil)
    #expect(push.expiration == .absent)
  }
}
