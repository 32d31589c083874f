import Primitives
import Push
import Rules
import Seeds
import Testing

/// A request about broadcasts under construction; untouched, it is one that every rule lets pass.
struct CastRequest: Sendable {
  static let channel = ChannelID(high: 0x68cb_36cb_c7c5_11ef, low: 0x0000_f200_3388_07a2)

  var method = "POST"
  var path = "/4/broadcasts/apps/com.example.app"
  var authorization: String? = "bearer " + TestToken().text
  var requestID: String?
  var id: String?
  var pushType: String? = "liveactivity"
  var priority: String? = "10"
  var expiration: String? = "0"
  var channelID: String? = channel.description
  var topic: String?
  var duplicate: StaticString?
  var body = #"{"aps":{"event":"update","timestamp":\#(now.unixSeconds),"content-state":{"score":1}}}"#
  var bodyBytesTotal: Int?
  var environment: PushEnvironment?

  static func manage(_ method: String, channel: ChannelID? = channel) -> CastRequest {
    var request = CastRequest(method: method, path: "/1/apps/com.example.app/channels")
    (request.pushType, request.priority, request.expiration) = (nil, nil, nil)
    request.channelID = channel?.description
    request.body = ""
    return request
  }

  static func create(_ body: String) -> CastRequest {
    var request = manage("POST", channel: nil)
    request.body = body
    return request
  }

  func with(_ change: (inout CastRequest) -> Void) -> CastRequest {
    var copy = self
    change(&copy)
    return copy
  }

  func judged(_ apps: AppDirectory = TestRules.apps()) -> BroadcastVerdict {
    let rules = RequestRules(apps: apps, providers: TestRules.providers)
    var memory = TestRules.memory(FakeVerifier())
    var headers = Array("unrelated".utf8)
    func add(_ value: String?) -> ByteRange? {
      guard let value else { return nil }
      defer { headers += Array(value.utf8) }
      return ByteRange(offset: headers.count, count: value.utf8.count)
    }
    var fields = RequestFields()
    fields.method = add(method)
    fields.path = add(path)
    fields.authorization = add(authorization)
    fields.requestID = add(requestID)
    fields.apnsID = add(id)
    fields.pushType = add(pushType)
    fields.priority = add(priority)
    fields.expiration = add(expiration)
    fields.channelID = add(channelID)
    fields.topic = add(topic)
    fields.duplicate = duplicate
    let bytes = Array(body.utf8)
    var connection = ConnectionCredentials(source: 0)
    return rules.evaluateBroadcast(
      fields, headers: headers.span.bytes, body: bytes.span.bytes, bodyBytesTotal: bodyBytesTotal ?? bytes.count,
      environment: environment, time: RequestTime(now), memory: &memory, connection: &connection)
  }
}

extension BroadcastVerdict {
  var refusal: Refusal? {
    if case .refused(let refusal) = self { refusal } else { nil }
  }

  fileprivate var request: BroadcastRequest? {
    if case .accepted(let request) = self { request } else { nil }
  }
}

private struct Row: Sendable, CustomTestStringConvertible {
  var testDescription: String
  var reason: Reason
  var request: CastRequest

  init(_ reason: Reason, _ name: String, _ request: CastRequest) {
    (self.reason, testDescription, self.request) = (reason, "\(reason): \(name)", request)
  }

  init(_ reason: Reason, _ name: String, _ change: (inout CastRequest) -> Void) { self.init(reason, name, CastRequest().with(change)) }
}

private let good = #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#

/// Every reason of apns.md section 8.3 that a request alone decides, with each of its triggers.
private let rows: [Row] = [
  Row(.missingChannelID, "broadcast") { $0.channelID = nil },
  Row(.missingChannelID, "empty") { $0.channelID = "" },
  Row(.missingChannelID, "read", .manage("GET", channel: nil)), Row(.missingChannelID, "delete", .manage("DELETE", channel: nil)),
  Row(.badChannelID, "no base 64") { $0.channelID = "match of the day" },
  Row(.badChannelID, "other alphabet") { $0.channelID = "_Ms2y8fFEe8AAPIAM4gHog==" },
  Row(.badChannelID, "without padding") { $0.channelID = "aMs2y8fFEe8AAPIAM4gHog" },
  Row(.badChannelID, "too long") { $0.channelID = "aMs2y8fFEe8AAPIAM4gHogaMs2y8fFEe8AAPIAM4gHog" },
  Row(.badChannelID, "stray bits") { $0.channelID = "aMs2y8fFEe8AAPIAM4gHoh==" },
  Row(.badChannelID, "read", CastRequest.manage("GET").with { $0.channelID = "?" }),
  Row(.badChannelID, "delete", CastRequest.manage("DELETE").with { $0.channelID = "?" }),
  Row(.badRequestParams, "unknown attribute", .create(#"{"message-storage-policy":1,"push-type":"LiveActivity","name":"x"}"#)),
  Row(.badRequestParams, "policy 2", .create(#"{"message-storage-policy":2,"push-type":"LiveActivity"}"#)),
  Row(.badRequestParams, "policy as text", .create(#"{"message-storage-policy":"1","push-type":"LiveActivity"}"#)),
  Row(.badRequestParams, "no policy", .create(#"{"push-type":"LiveActivity"}"#)),
  Row(.badRequestParams, "no type", .create(#"{"message-storage-policy":1}"#)),
  Row(.badRequestParams, "other type", .create(#"{"message-storage-policy":1,"push-type":"alert"}"#)),
  Row(.badRequestPayload, "no JSON", .create("message-storage-policy=1")), Row(.badRequestPayload, "an array", .create("[]")),
  Row(.badRequestPayload, "a key twice", .create(#"{"message-storage-policy":1,"message-storage-policy":1,"push-type":"LiveActivity"}"#)),
  Row(.payloadEmpty, "creation", .create("")), Row(.payloadEmpty, "broadcast") { $0.body = "" },
  Row(.payloadTooLarge, "broadcast") { $0.bodyBytesTotal = 5121 },
  Row(.payloadTooLarge, "creation", CastRequest.create(good).with { $0.bodyBytesTotal = 5121 }),
  Row(.badMessageID, "apns-request-id") { $0.requestID = "4711" }, Row(.badMessageID, "apns-id") { $0.id = "4711" },
  Row(.badMessageID, "management", CastRequest.manage("GET").with { $0.requestID = "x" }),
  Row(.missingPushType, "absent") { $0.pushType = nil }, Row(.missingPushType, "empty") { $0.pushType = "" },
  Row(.invalidPushType, "alert") { $0.pushType = "alert" }, Row(.invalidPushType, "topic suffix") { $0.pushType = "live-activity" },
  Row(.badExpirationDate, "absent") { $0.expiration = nil }, Row(.badExpirationDate, "text") { $0.expiration = "soon" },
  Row(.badPriority, "7") { $0.priority = "7" },
  Row(.topicDisallowed, "suffix") { $0.path += ".push-type.liveactivity" }, Row(.topicDisallowed, "voip") { $0.path += ".voip" },
  Row(.topicMismatch, "app of another team") { $0.path = "/4/broadcasts/apps/com.example.team" },
  Row(.topicMismatch, "app not known") { $0.path = "/4/broadcasts/apps/com.example.stranger" },
  Row(.topicMismatch, "app not the key's") { $0.authorization = "bearer " + TestToken(keyID: "ONEAPP0001").text },
  Row(.topicMismatch, "management", CastRequest.manage("GET").with { $0.path = "/1/apps/com.example.team/all-channels" }),
  Row(.missingProviderToken, "broadcast") { $0.authorization = nil },
  Row(.missingProviderToken, "channels before the id", CastRequest.manage("GET", channel: nil).with { $0.authorization = nil }),
  Row(.invalidProviderToken, "forged") { $0.authorization = "bearer " + TestToken(signature: "forged").text },
  Row(.expiredProviderToken, "old") { $0.authorization = "bearer " + TestToken(issuedAt: "\(now.unixSeconds - 7200)").text },
  Row(.duplicateHeaders, "channel id") { $0.duplicate = "apns-channel-id" },
  Row(.badPath, "no bundle id") { $0.path = "/4/broadcasts/apps/" }, Row(.badPath, "more after it") { $0.path += "/x" },
  Row(.badPath, "not broadcasts") { $0.path = "/4/apps/com.example.app" },
  Row(.badPath, "neither list nor channels", CastRequest.manage("GET").with { $0.path = "/1/apps/com.example.app/channel" }),
  Row(
    .badPath, "channel id in the path", CastRequest.manage("GET").with { $0.path += "/aMs2y8fFEe8AAPIAM4gHog==" }),
  Row(.methodNotAllowed, "GET before auth") {
    $0.method = "GET"
    $0.authorization = nil
  }, Row(.methodNotAllowed, "PUT", CastRequest.manage("PUT")),
  Row(.methodNotAllowed, "POST to the list", CastRequest.manage("POST").with { $0.path = "/1/apps/com.example.app/all-channels" }),
  Row(.badPayload, "start") {
    $0.body = """
      {"aps":{"event":"start","timestamp":\(now.unixSeconds),"content-state":{},"attributes-type":"A","attributes":{},"alert":{"title":"t"}}}
      """
  }, Row(.badPayload, "no event") { $0.body = #"{"aps":{}}"# },
]

@Suite("Broadcast rules") struct BroadcastTests {
  @Test(arguments: rows) fileprivate func refuses(_ row: Row) {
    #expect(row.request.judged().refusal?.reason == row.reason, "\(row.request.judged())")
  }

  @Test func aBundleIDHasItsLength() {
    let apps = AppDirectory([], anyApp: .init(bundleID: ""))
    for (count, isRight) in [(Limits.bundleIDBytes, true), (Limits.bundleIDBytes + 1, false)] {
      let request = CastRequest().with { $0.path = "/4/broadcasts/apps/" + String(repeating: "a", count: count) }
      #expect((request.judged(apps).request != nil) == isRight)
    }
  }

  /// Requests of each kind with random bytes changed, added and removed: each gets a verdict, and each refusal says why.
  @Test(arguments: seeds(8)) func everyGarbledRequestGetsAVerdict(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let seeds = [
      CastRequest(), .create(good), .manage("GET"), .manage("DELETE"),
      .manage("GET").with { $0.path = "/1/apps/com.example.app/all-channels" },
    ]
    var refusals: Set<Reason> = []
    var accepted = 0
    for round in 0..<800 {
      var request = seeds[round % seeds.count]
      for _ in 0..<random.next() % 3 + 1 {
        switch random.next() % 8 {
        case 0: request.method = random.changed(request.method)
        case 1: request.path = random.changed(request.path)
        case 2: request.requestID = random.changed(request.requestID ?? "eabeae54-14a8-11e5-b60b-1697f925ec7b")
        case 3: request.pushType = random.changed(request.pushType ?? "")
        case 4: request.priority = random.changed(request.priority ?? "5")
        case 5: request.expiration = random.changed(request.expiration ?? "0")
        case 6: request.channelID = random.changed(request.channelID ?? "")
        default: request.body = random.changed(request.body)
        }
      }
      switch request.judged(TestRules.apps(seed % 2 == 0 ? .strict : .apple, any: seed % 4 < 2)) {
      case .accepted: accepted += 1
      case .refused(let refusal):
        refusals.insert(refusal.reason)
        #expect(!refusal.detail.isEmpty && !refusal.field.isEmpty)
      }
    }
    #expect(accepted > 30, "\(accepted)")
    #expect(refusals.count >= 10, "\(refusals)")
  }

  @Test func refusesAnAppWithoutTheCapability() {
    var policy = AppPolicy()
    policy.broadcast = false
    let apps = AppDirectory([.init(bundleID: "com.example.app", policy: policy)])
    for request in [CastRequest(), .create(good), .manage("GET"), .manage("DELETE")] {
      #expect(request.judged(apps).refusal?.reason == .broadcastFeatureNotEnabled)
    }
  }

  @Test(arguments: ["liveactivity", "Liveactivity", "LIVEACTIVITY"]) func takesThePushTypeInAnyCase(_ type: String) {
    #expect(CastRequest().with { $0.pushType = type }.judged().request != nil)
  }

  @Test func readsABroadcast() throws {
    let id = "EABEAE54-14a8-11e5-b60b-1697f925ec7b"
    let request = try #require(
      CastRequest().with {
        $0.requestID = id
        $0.priority = nil
        $0.expiration = "1796003600"
      }.judged().request)
    #expect(request.id?.description == id)
    #expect(request.bundle.count == 15)
    #expect(request.environment == .development)
    guard case .send(let push) = request.action else {
      Issue.record("not a broadcast: \(request)")
      return
    }
    #expect(push.channel == CastRequest.channel)
    #expect(push.expiration == .at(Instant(unixSeconds: 1_796_003_600)))
    #expect(push.priority == .immediate && !push.prioritySent)
  }

  @Test(arguments: [("3600", [PushWarning.expirationRelative]), ("1796003600000", [.expirationInMilliseconds]), ("1796003600", [])])
  func anOddExpirationIsNoted(_ text: String, _ warnings: [PushWarning]) throws {
    let request = try #require(CastRequest().with { $0.expiration = text }.judged().request)
    guard case .send(let push) = request.action else { return #expect(Bool(false), "not a broadcast: \(request)") }
    #expect(push.warnings.all == warnings)
  }

  @Test(arguments: ["com.example.app", "com.example.stranger.push-type.alert", " "]) func theTopicHeaderIsIgnored(_ topic: String) {
    #expect(CastRequest().with { $0.topic = topic }.judged().request != nil)
  }

  @Test func takesAppleSampleWithApnsID() {
    let id = "eabeae54-14a8-11e5-b60b-1697f925ec7b"
    #expect(CastRequest().with { $0.id = id }.judged().request?.id?.description == id)
  }

  @Test(arguments: [(0, "LiveActivity"), (1, "liveactivity"), (1, "LIVEACTIVITY")]) func readsACreation(_ policy: Int, _ type: String) {
    let request = CastRequest.create(#"{"message-storage-policy":\#(policy),"push-type":"\#(type)"}"#)
    #expect(request.judged().request?.action == .create(policy == 0 ? .none : .mostRecent))
  }

  @Test func managementIgnoresThePushHeaders() {
    let request = CastRequest.manage("GET").with {
      $0.priority = "77"
      $0.pushType = "nonsense"
      $0.expiration = "soon"
    }
    #expect(request.judged().request?.action == .read(CastRequest.channel))
    #expect(CastRequest.manage("DELETE").judged().request?.action == .delete(CastRequest.channel))
    let list = CastRequest.manage("GET", channel: nil).with { $0.path = "/1/apps/com.example.app/all-channels?x=1" }
    #expect(list.judged().request?.action == .list)
  }

  @Test func theEnvironmentIsTheServersElseTheKeysElseDevelopment() {
    let providers = [(TestToken(), PushEnvironment.development), (TestToken(keyID: "DEVKEY0001"), .development)]
    for (token, environment) in providers {
      #expect(CastRequest().with { $0.authorization = "bearer " + token.text }.judged().request?.environment == environment)
    }
    #expect(CastRequest().with { $0.environment = .production }.judged().request?.environment == .production)
    let foreign = CastRequest().with {
      $0.authorization = "bearer " + TestToken(keyID: "DEVKEY0001").text
      $0.environment = .production
    }
    #expect(foreign.judged().refusal?.reason == .badEnvironmentKeyInToken)
  }

  @Test func aRefusalEchoesTheRequestID() {
    let id = "eabeae54-14a8-11e5-b60b-1697f925ec7b"
    let refusal = CastRequest().with {
      $0.requestID = id
      $0.authorization = nil
    }.judged().refusal
    #expect(refusal?.id?.description == id)
  }

  /// What else a start lacks is of no interest.
  @Test(arguments: [#"{"aps":{"event":"start"}}"#, #"{"aps":{"event":"start","timestamp":1,"content-state":{},"input-push-token":true}}"#])
  func aStartIsToldAtOnce(body: String) {
    let refusal = CastRequest().with { $0.body = body }.judged().refusal
    #expect(refusal?.field == "aps.event")
    #expect(refusal?.detail == "aps.event must be \"update\" or \"end\" in a broadcast, which starts no activity")
    let missing = CastRequest().with { $0.body = #"{"aps":{"timestamp":1}}"# }.judged().refusal
    #expect(missing?.detail == "aps.event is missing; it must be \"update\" or \"end\"")
  }

  @Test func whatAppleAcceptsPassesWithAWarning() {
    let request = CastRequest().with { $0.body = #"{"aps":{"event":"start"}}"# }
    guard case .send(let push)? = request.judged(TestRules.apps(.apple)).request?.action else {
      Issue.record("refused")
      return
    }
    #expect(push.warnings.all.contains(.eventUnknown))
  }
}

@Suite("Channel ids") struct ChannelIDTests {
  @Test func appleSampleReadsAndWritesBack() {
    let id = ChannelID("aMs2y8fFEe8AAPIAM4gHog==")
    #expect(id == ChannelID(high: 0x68cb_36cb_c7c5_11ef, low: 0x0000_f200_3388_07a2))
    #expect(id?.description == "aMs2y8fFEe8AAPIAM4gHog==")
  }

  @Test func aNewIDLooksLikeATimeBasedUUID() {
    var generator = SystemRandomNumberGenerator()
    var seen: Set<ChannelID> = []
    for _ in 0..<1000 {
      let id = ChannelID(now: now, random: (generator.next(), generator.next()))
      #expect(id.high >> 12 & 0xF == 1)
      #expect(id.description.utf8.count == ChannelID.textCount)
      #expect(ChannelID(id.description) == id)
      seen.insert(id)
    }
    #expect(seen.count == 1000)
    // The ticks since 1582 tell the time again.
    let id = ChannelID(now: now, random: (0, 0))
    let ticks = (id.high & 0xFFF) << 48 | (id.high >> 16 & 0xFFFF) << 32 | id.high >> 32
    #expect((ticks - 0x01B2_1DD2_1381_4000) / 10_000_000 == UInt64(now.unixSeconds))
  }
}
