import Primitives
import Push
import Rules
import Testing

/// What a client certificate in place of a provider token decides (apns.md sections 2.1, 3, 4.4 and 8.3).
@Suite("Senders with a certificate") struct SenderCertificateTests {
  private static let later = now + .seconds(86_400)

  private static func certificate(_ topics: [String], _ environment: PushEnvironment? = nil) -> SenderCertificate {
    SenderCertificate(topics: topics, environment: environment, notAfter: later)
  }

  private static let universal = certificate(["com.example.app", "com.example.app.voip", "com.example.app.complication"])
  private static let single = certificate(["com.example.app"])

  private func judge(
    _ request: TestRequest, _ certificate: SenderCertificate, any: Bool = false, updates: ProviderTokenPolicy.Updates = .off
  ) -> Verdict {
    var rules = TestRules(TestRules.apps(any: any), tokenUpdates: updates)
    var connection = ConnectionCredentials(source: 0, certificate: certificate)
    return rules.evaluate(request, on: &connection)
  }

  /// Whatever stands in `authorization` is ignored.
  @Test(arguments: [nil, "", "bearer nonsense", "bearer " + TestToken(issuedAt: "1").text])
  func noProviderTokenIsNeededNorRead(authorization: String?) {
    let request = TestRequest.of(.alert).with { $0.authorization = authorization }
    for certificate in [Self.single, Self.universal] {
      let push = judge(request, certificate, updates: .enforce).push
      #expect(push != nil && push?.provider == nil && push?.hasDefaultTopic == false)
    }
  }

  @Test func headersThatStandTwiceAreRefusedAllTheSame() {
    let request = TestRequest.of(.alert).with { $0.duplicate = "authorization" }
    #expect(judge(request, Self.single).refusal?.reason == .duplicateHeaders)
  }

  @Test(arguments: [nil, ""]) func oneTopicIsTheDefault(topic: String?) {
    for type in [PushType.alert, .background] {
      let push = judge(TestRequest.of(type).with { $0.topic = topic }, Self.single).push
      #expect(push?.hasDefaultTopic == true && push?.type == type)
      #expect(push?.topic == ByteRange(offset: 0, count: 15) && push?.bundle == ByteRange(offset: 0, count: 15))
    }
    let voip = Self.certificate(["com.example.app.voip"])
    #expect(voip.defaultTopic == Array("com.example.app.voip".utf8))
    let push = judge(TestRequest.of(.voip).with { $0.topic = topic }, voip).push
    #expect(push?.hasDefaultTopic == true && push?.type == .voip)
    #expect(push?.topic == ByteRange(offset: 0, count: 20) && push?.bundle == ByteRange(offset: 0, count: 15))
    let untyped = judge(TestRequest.of(.voip).with { ($0.topic, $0.pushType) = (topic, nil) }, voip).push
    #expect(untyped?.type == .voip)
  }

  @Test(arguments: [nil, ""]) func severalTopicsHaveNoDefault(topic: String?) {
    #expect(Self.universal.defaultTopic == nil)
    let refusal = judge(TestRequest.of(.alert).with { $0.topic = topic }, Self.universal).refusal
    #expect(refusal?.reason == .missingTopic)
    #expect(refusal?.detail.contains("com.example.app, com.example.app.voip, com.example.app.complication") == true)
  }

  /// An alert with a VoIP certificate, as since 2019 (apns.md section 3).
  @Test func theDefaultTopicHasToFitThePushType() {
    let refusal = judge(TestRequest.of(.alert).with { $0.topic = nil }, Self.certificate(["com.example.app.voip"])).refusal
    #expect(refusal?.reason == .invalidPushType)
  }

  /// Every push type with every certificate: what is named goes through, but for what needs a provider token.
  @Test(arguments: PushType.allCases) func onlyNamedTopicsAreAllowed(type: PushType) {
    let request = TestRequest.of(type)
    let topic = request.topic ?? ""
    let needsToken = type == .location || type == .liveactivity
    let named = judge(request, Self.certificate(["com.example.other", topic]), any: true)
    let refusal = judge(request, Self.certificate(["com.example.other", topic + "x"]), any: true).refusal
    #expect(refusal?.reason == .topicDisallowed && refusal?.field == "apns-topic")
    if needsToken {
      #expect(named.refusal?.reason == .topicDisallowed && named.refusal?.detail.contains("provider token") == true)
    } else {
      #expect(named.push?.type == type)
    }
  }

  @Test func aTopicOutsideOfTheCertificateIsDisallowed() {
    let refusal = judge(TestRequest.of(.alert, bundle: "com.example.other"), Self.universal).refusal
    #expect(refusal?.reason == .topicDisallowed)
    #expect(refusal?.detail.contains("\"com.example.other\"") == true && refusal?.detail.contains("com.example.app.voip") == true)
    // One that it names, of an app that is not known here.
    let unknown = judge(TestRequest.of(.alert, bundle: "org.example.new"), Self.certificate(["org.example.new"])).refusal
    #expect(unknown?.reason == .topicDisallowed)
  }

  /// What one connection's certificate allows is not remembered for another's, nor for provider tokens, and the other way around.
  @Test func whatIsRememberedIsNoPermission() {
    var rules = TestRules()
    var (good, other) = (
      ConnectionCredentials(source: 0, certificate: Self.single),
      ConnectionCredentials(source: 0, certificate: Self.certificate(["com.example.other", "com.example.app.voip"]))
    )
    var (token, foreign) = (ConnectionCredentials(source: 0), ConnectionCredentials(source: 0))
    let request = TestRequest.of(.alert)
    let onlyOther = request.with { $0.authorization = "bearer " + TestToken(keyID: "ONEAPP0001").text }
    for _ in 0..<2 {
      #expect(rules.evaluate(request, on: &good).push != nil)
      #expect(rules.evaluate(request, on: &other).refusal?.reason == .topicDisallowed)
      #expect(rules.evaluate(request, on: &token).push?.provider == 0)
      #expect(rules.evaluate(onlyOther, on: &foreign).refusal?.reason == .topicDisallowed)
    }
    let defaulted = request.with { $0.topic = nil }
    for _ in 0..<2 {
      #expect(rules.evaluate(defaulted, on: &good).push?.hasDefaultTopic == true)
      #expect(rules.evaluate(request, on: &good).push?.hasDefaultTopic == false)
      #expect(rules.evaluate(defaulted, on: &other).refusal?.reason == .missingTopic)
      #expect(rules.evaluate(defaulted, on: &token).refusal?.reason == .missingTopic)
    }
  }

  @Test(arguments: [
    (PushEnvironment.development, PushEnvironment.development, nil), (.development, .production, Reason.badCertificateEnvironment),
    (.production, .development, .badCertificateEnvironment), (.production, .production, nil), (nil, .development, nil),
    (nil, .production, nil), (.development, nil, nil), (.production, nil, nil), (nil, nil, nil),
  ])
  func theEnvironmentIsThatOfTheServerName(own: PushEnvironment?, asked: PushEnvironment?, reason: Reason?) {
    #expect(Self.certificate(["com.example.app"], own).fault(in: asked, at: now)?.reason == reason)
  }

  @Test func aCertificateThatNamesNothingOrIsOverIsBad() {
    #expect(Self.certificate([]).fault(in: nil, at: now)?.reason == .badCertificate)
    // Whatever else is wrong: nobody knows what it is.
    #expect(Self.certificate([], .production).fault(in: .development, at: now)?.reason == .badCertificate)
    #expect(Self.single.fault(in: nil, at: Self.later) == nil)
    #expect(Self.single.fault(in: nil, at: Self.later + .seconds(1))?.reason == .badCertificate)
  }

  /// Channels and broadcasts take the same certificates (apns.md section 8.1): the path's app must be named.
  @Test(arguments: [
    ("com.example.app", nil), ("com.example.other", Reason.topicMismatch), ("org.example.new", .topicMismatch),
    ("com.example.app.voip", .topicDisallowed),
  ])
  func broadcastsAreForNamedApps(bundle: String, reason: Reason?) {
    for (method, path) in [("GET", "/1/apps/\(bundle)/all-channels"), ("POST", "/4/broadcasts/apps/\(bundle)")] {
      var request = TestRequest.liveActivity("{\(PayloadTests.update)}")
      (request.method, request.path, request.authorization, request.topic) = (method, path, nil, nil)
      (request.expiration, request.channelID) = ("0", "aMs2y8fFEe8AAPIAM4gHog==")
      var rules = TestRules()
      var connection = ConnectionCredentials(
        source: 0, certificate: Self.certificate(["com.example.app", "com.example.app.voip"], .production))
      switch rules.evaluateBroadcast(request, on: &connection) {
      case .accepted(let accepted):
        #expect(reason == nil && accepted.provider == nil && accepted.environment == .production)
      case .refused(let refusal): #expect(refusal.reason == reason, "\(refusal)")
      }
    }
  }
}
