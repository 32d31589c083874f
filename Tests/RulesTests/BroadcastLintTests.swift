import Push
import Rules
import Testing

/// Requests about broadcasts and channels, as a script has them: the rules of the gateway, asked one by one.
@Suite("Lint of broadcasts") struct BroadcastLintTests {
  private static let channel = "aMs2y8fFEe8AAPIAM4gHog=="
  private static let message = #"{"aps":{"timestamp":\#(now.unixSeconds),"event":"update","content-state":{"score":1}}}"#

  private static func request(
    _ method: String, _ path: String?, _ body: String?, _ headers: [(String, String?)]
  ) -> LintedRequest {
    var request = LintedRequest()
    (request.method, request.path) = (method, path)
    request.service = LintedRequest.Service(path: path ?? "/4/broadcasts/apps/")
    request.headers = ([("authorization", nil)] + headers).filter { $0.1 != "-" }.map { .init($0.0, $0.1) }
    request.body = body.map { Array($0.utf8) }
    return request
  }

  private static func broadcast(
    _ changes: [(String, String?)] = [], path: String? = "/4/broadcasts/apps/com.example.app", _ body: String = message
  )
    -> LintedRequest
  {
    let standard: [(String, String?)] = [
      ("apns-channel-id", channel), ("apns-push-type", "liveactivity"), ("apns-expiration", "0"), ("apns-priority", "5"),
    ]
    return request("POST", path, body, standard.filter { name, _ in !changes.contains { $0.0 == name } } + changes)
  }

  private static func channels(_ method: String, _ body: String?, _ headers: [(String, String?)] = []) -> LintedRequest {
    request(method, "/1/apps/com.example.app/channels", body, headers)
  }

  private static func rules(_ request: LintedRequest) -> [String] { PushLint.findings(request, now: now).map(\.rule) }

  @Test func whatIsRightHasNoFindings() {
    let creation = #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#
    for request in [
      Self.broadcast(), Self.broadcast([("apns-push-type", "Liveactivity"), ("apns-request-id", "eabeae54-14a8-11e5-b60b-1697f925ec7b")]),
      Self.broadcast(path: nil), Self.channels("POST", creation), Self.channels("GET", nil, [("apns-channel-id", Self.channel)]),
      Self.channels("DELETE", nil, [("apns-channel-id", nil)]), Self.request("GET", "/1/apps/com.example.app/all-channels", nil, []),
    ] {
      #expect(PushLint.findings(request, now: now) == [], "\(request.path ?? "")")
    }
  }

  static let failures: [(request: LintedRequest, rule: String, field: String)] = [
    (broadcast([("apns-channel-id", "-")]), "MissingChannelId", "apns-channel-id"),
    (broadcast([("apns-channel-id", "no")]), "BadChannelId", "apns-channel-id"),
    (broadcast([("apns-push-type", "-")]), "MissingPushType", "apns-push-type"),
    (broadcast([("apns-push-type", "alert")]), "InvalidPushType", "apns-push-type"),
    (broadcast([("apns-expiration", "-")]), "BadExpirationDate", "apns-expiration"),
    (broadcast([("apns-expiration", "1.5")]), "BadExpirationDate", "apns-expiration"),
    (broadcast([("apns-expiration", "3600")]), "expirationRelative", "apns-expiration"),
    (broadcast([("apns-priority", "7")]), "BadPriority", "apns-priority"),
    (broadcast([("apns-priority", "-")]), "priorityMissing", "apns-priority"),
    (broadcast([("apns-request-id", "1")]), "BadMessageId", "apns-request-id"),
    (broadcast([("authorization", "x.y")]), "DuplicateHeaders", "authorization"),
    (broadcast(path: "/4/broadcasts/apps/com.example.app.push-type.liveactivity"), "TopicDisallowed", ":path"),
    (broadcast(path: "/v1/4/broadcasts/apps/com.example.app"), "BadPath", ":path"),
    (broadcast([], #"{"aps":{"event":"start","timestamp":\#(now.unixSeconds)}}"#), "eventUnknown", "aps.event"),
    (broadcast([], ""), "PayloadEmpty", "body"),
    (broadcast([], "{"), "notJSON", "body"),
    (
      broadcast([], #"{"aps":{"timestamp":\#(now.unixSeconds),"event":"update","contentState":{}}}"#), "contentStateMissing",
      "aps.content-state"
    ),
    (
      broadcast([], #"{"aps":{"timestamp":\#(now.unixSeconds),"event":"update","content-state":{},"alert":{"title":"t"}}}"#),
      "alertInUpdate", "aps.alert"
    ),
    (channels("POST", #"{"message-storage-policy":2,"push-type":"LiveActivity"}"#), "BadRequestParams", "message-storage-policy"),
    (channels("POST", ""), "PayloadEmpty", "body"),
    (channels("GET", nil), "MissingChannelId", "apns-channel-id"),
    (channels("PUT", nil), "MethodNotAllowed", ":method"),
    (request("GET", "/1/apps/com.example.app/channels/\(channel)", nil, []), "BadPath", ":path"),
    (request("POST", "/1/apps/com.example.app/all-channels", nil, []), "MethodNotAllowed", ":method"),
  ]

  @Test(arguments: failures.indices) func whatWentWrongIsTold(index: Int) {
    let (request, rule, field) = Self.failures[index]
    let findings = PushLint.findings(request, now: now)
    #expect(findings.contains { $0.rule == rule && $0.field == field }, "\(findings)")
    for finding in findings {
      #expect(PushLint.ruleNames.contains(finding.rule) || Reason.allCases.contains { "\($0.text)" == finding.rule }, "\(finding.rule)")
    }
  }

  /// Apple manages channels at hosts of their own, and sends nothing there.
  @Test(arguments: [
    ("/1/apps/a/all-channels", "api.push.apple.com", "api-manage-broadcast.push.apple.com:2196"),
    ("/1/apps/a/channels", "api.sandbox.push.apple.com", "api-manage-broadcast.sandbox.push.apple.com:2195"),
    ("/4/broadcasts/apps/a", "api-manage-broadcast.push.apple.com", "api.push.apple.com"),
    ("/3/device/aa", "api-manage-broadcast.sandbox.push.apple.com", "api.sandbox.push.apple.com"),
    ("/1/apps/a/all-channels", "api-manage-broadcast.push.apple.com", nil), ("/4/broadcasts/apps/a", "api.push.apple.com", nil),
    ("/1/apps/a/all-channels", "localhost", nil), ("/3/device/aa", "api.push.apple.com", nil),
  ]) func theHostIsTheOneThatServesIt(path: String, host: String, right: String?) {
    var request = Self.request("GET", path, nil, [])
    (request.scheme, request.host) = ("https", host)
    let finding = PushLint.findings(request, now: now).first { $0.rule == "otherHost" }
    #expect(finding?.message.hasSuffix("; send to https://\(right ?? "")") == (right == nil ? nil : true), "\(String(describing: finding))")
  }

  /// What only a shell knows is not judged, nor what may be among headers that it knows.
  @Test func whatIsUnknownIsNotJudged() {
    var request = Self.broadcast([("apns-channel-id", nil), ("apns-expiration", nil), ("apns-priority", nil), ("apns-push-type", nil)])
    #expect(Self.rules(request) == [])
    request.headers = []
    request.mayHaveMore = true
    (request.path, request.method, request.body) = (nil, nil, nil)
    #expect(Self.rules(request) == [])
    var creation = Self.channels("POST", #"{"message-storage-policy":,"push-type":"LiveActivity"}"#)
    creation.bodyGaps = [26]
    #expect(Self.rules(creation) == [])
  }
}
