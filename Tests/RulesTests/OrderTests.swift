import Push
import Rules
import Testing

/// Each rule with words of its detail and a change that breaks it, in the order of apns.md section 5.3.
private let breaks: [(rule: String, detail: String, change: @Sendable (inout Broken) -> Void)] = [
  ("method", "the method must be", { $0.request.method = "GET" }),
  ("path", "the path must be /3/device/ followed", { $0.prefix = "/2/device/" }),
  ("duplicates", "must be sent once", { $0.request.duplicate = "authorization" }),
  ("token missing", "must be the word bearer", { $0.authorization = .missing }),
  ("token unreadable", "three parts", { $0.authorization = .unreadable }),
  ("key unknown", "kid", { $0.token.keyID = "NOSUCHKEY1" }),
  ("signature", "signature must", { $0.token.signature = "forged" }),
  ("token age", "an hour old", { $0.token.issuedAt = "\(now.unixSeconds - 7200)" }),
  (
    "key environment", "not for the environment",
    {
      if $0.token.keyID != "NOSUCHKEY1" { $0.token.keyID = "DEVKEY0001" }
      $0.request.environment = .production
    }
  ),
  ("team", "iss must be", { $0.token.teamID = "TEAM999999" }),
  ("apns-id", "apns-id must", { $0.request.id = "4711" }),
  ("apns-expiration", "apns-expiration must", { $0.request.expiration = "soon" }),
  ("apns-priority", "apns-priority must", { $0.request.priority = "7" }),
  ("apns-collapse-id", "apns-collapse-id must", { $0.request.collapseID = String(repeating: "x", count: 65) }),
  ("apns-push-type", "must be one of", { $0.request.pushType = "widget" }),
  ("topic missing", "bundle id followed by", { $0.topicIsMissing = true }),
  ("topic bad", "printable ASCII", { $0.suffix += " " }),
  ("topic disallowed", "not configured here", { $0.bundle = "com.example.stranger" }),
  ("topic and type", "with apns-push-type", { $0.suffix = $0.suffix.hasSuffix(" ") ? ".push-type.controls " : ".push-type.controls" }),
  ("device token missing", "must end with the push token", { $0.deviceToken = "" }),
  ("device token bad", "must be hexadecimal", { $0.deviceToken = "xyz" }),
  ("payload empty", "must be a JSON object", { $0.request.body = [] }),
  ("payload too large", "at most 4096 bytes", { $0.request.bodyBytesTotal = 5000 }),
  ("payload bad", "aps is missing", { $0.request.body = Array("{}".utf8) }),
]

/// The rules in the order in which each switch has them checked: header syntax, topic and push token change places.
private func order(_ value: ProviderAnswers.CheckOrder) -> [Int] {
  let (before, headers, topic, token, payload) = (0..<10, 10..<15, 15..<19, 19..<21, 21..<breaks.count)
  let middle =
    switch value {
    case .headersFirst: [headers, topic, token]
    case .topicFirst: [topic, headers, token]
    case .tokenFirst: [token, headers, topic]
    }
  return ([before] + middle + [payload]).flatMap { Array($0) }
}

/// Whether the two look at the same part, so that one makes the other impossible to judge: a topic cannot contradict a type that is none.
private func exclude(_ a: Int, _ b: Int) -> Bool { Set([breaks[a].rule, breaks[b].rule]) == ["apns-push-type", "topic and type"] }

/// A request in parts, so that most rules can be broken independently of each other.
private struct Broken {
  enum Authorization { case present, missing, unreadable }

  var request = TestRequest()
  var prefix = "/3/device/"
  var deviceToken = String(repeating: "a1", count: 32)
  var authorization = Authorization.present
  var token = TestToken()
  var bundle = "com.example.app"
  var suffix = ".push-type.widgets"
  var topicIsMissing = false

  var whole: TestRequest {
    var request = request
    request.path = prefix + deviceToken
    request.topic = topicIsMissing ? nil : bundle + suffix
    request.authorization =
      switch authorization {
      case .present: "bearer " + token.text
      case .missing: nil
      case .unreadable: "bearer nonsense"
      }
    if request.body.isEmpty { request.bodyBytesTotal = 0 }
    return request
  }
}

@Suite("Order of checks") struct OrderTests {
  private func refusal(_ changes: [Int], _ checkOrder: ProviderAnswers.CheckOrder = .headersFirst) throws -> Refusal {
    var broken = Broken()
    for index in changes { breaks[index].change(&broken) }
    var answers = ProviderAnswers()
    answers.checkOrder = checkOrder
    return try #require(judge(broken.whole, answers: answers).refusal)
  }

  /// All pairs, in every order that can be configured.
  @Test(arguments: breaks.indices, ProviderAnswers.CheckOrder.allCases)
  func theFirstBrokenRuleAnswers(place: Int, checkOrder: ProviderAnswers.CheckOrder) throws {
    let order = order(checkOrder)
    let first = order[place]
    for later in order[(place + 1)...] where checkOrder == .headersFirst || !exclude(first, later) {
      // The change of the first comes last, since two rules may look at the same part and then only one can be broken.
      let both = try refusal([later, first], checkOrder)
      #expect(both.detail.contains(breaks[first].detail), "\(breaks[first].rule) before \(breaks[later].rule)")
    }
  }

  @Test(arguments: breaks.indices) func everythingAfterAlsoBroken(first: Int) throws {
    let all = try refusal(Array((first..<breaks.count).reversed()))
    #expect(all.detail.contains(breaks[first].detail), "\(breaks[first].rule)")
  }

  @Test func eachRuleIsBrokenByItsOwnChange() throws {
    let expected: [Reason] = [
      .methodNotAllowed, .badPath, .duplicateHeaders, .missingProviderToken, .invalidProviderToken, .invalidProviderToken,
      .invalidProviderToken, .expiredProviderToken, .badEnvironmentKeyInToken, .invalidProviderToken, .badMessageID, .badExpirationDate,
      .badPriority, .badCollapseID, .invalidPushType, .missingTopic, .badTopic, .topicDisallowed, .invalidPushType, .missingDeviceToken,
      .badDeviceToken, .payloadEmpty, .payloadTooLarge, .badPayload,
    ]
    #expect(try breaks.indices.map { try refusal([$0]).reason } == expected)
    for index in breaks.indices {
      let detail = try refusal([index]).detail
      #expect(breaks.map { detail.contains($0.detail) } == breaks.indices.map { $0 == index }, "\(detail)")
    }
  }
}
