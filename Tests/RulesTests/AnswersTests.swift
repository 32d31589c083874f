import Primitives
import Push
import Rules
import Testing

/// Each switch of `provider.answers` that the rules look at, at each of its values.
@Suite("Switches for what is not known") struct AnswersTests {
  private func reason(
    _ request: TestRequest, _ apps: AppDirectory = TestRules.apps(.apple), _ change: (inout ProviderAnswers) -> Void
  ) -> Reason? {
    var answers = ProviderAnswers()
    change(&answers)
    return judge(request, apps, answers: answers).refusal?.reason
  }

  @Test(arguments: ProviderAnswers.MalformedBody.allCases) func aBodyThatIsNoJSON(value: ProviderAnswers.MalformedBody) {
    for body in ["hello", "{\"aps\":", "\u{1F}"] {
      let request = TestRequest().with { $0.body = Array(body.utf8) }
      #expect(reason(request) { $0.malformedBody = value } == (value == .accept ? nil : .payloadEmpty))
      #expect(reason(request, TestRules.apps(.strict)) { $0.malformedBody = value } == .badPayload)
    }
    for body in ["{}", "[]", "1"] {
      #expect(reason(TestRequest().with { $0.body = Array(body.utf8) }) { $0.malformedBody = value } == nil)
    }
  }

  @Test(arguments: ProviderAnswers.BackgroundAtTen.allCases) func aBackgroundPushOfPriorityTen(value: ProviderAnswers.BackgroundAtTen) {
    for (priority, isTen) in [("10", true), ("5", false), ("1", false), (nil, false)] {
      let request = TestRequest.of(.background).with { $0.priority = priority }
      #expect(reason(request) { $0.backgroundAtTen = value } == (value == .refuse && isTen ? .badPriority : nil))
    }
    #expect(reason(TestRequest.of(.alert).with { $0.priority = "10" }) { $0.backgroundAtTen = value } == nil)
  }

  /// Apple documents 10 for a background push as an error, and 10 alone: an absent priority is none.
  @Test func strictRefusesABackgroundPushAtTen() throws {
    let request = TestRequest.of(.background).with { $0.priority = "10" }
    let refusal = try #require(judge(request).refusal)
    #expect(refusal.reason == .badPriority && refusal.field == "apns-priority")
    #expect(refusal.detail == "apns-priority must be 5 with apns-push-type background, not 10")
    for validation in AppPolicy.Validation.allCases {
      let absent = try #require(judge(request.with { $0.priority = nil }, TestRules.apps(validation)).push)
      #expect(absent.warnings == PushWarnings(.priorityMissing) && absent.priority == .immediate)
      #expect(judge(request.with { $0.priority = "1" }, TestRules.apps(validation)).push != nil)
    }
    let noted = try #require(judge(request, TestRules.apps(.apple)).push)
    #expect(noted.warnings == PushWarnings(.backgroundAtTen))
  }

  @Test(arguments: ProviderAnswers.MessageIDCase.allCases) func theLettersOfAnID(value: ProviderAnswers.MessageIDCase) {
    for (id, isLower) in [
      ("eabeae54-14a8-11e5-b60b-1697f925ec7b", true), ("EABEAE54-14A8-11E5-B60B-1697F925EC7B", false),
      ("eabeae54-14a8-11e5-b60b-1697f925ec7B", false), ("00000000-1111-2222-3333-444444444444", true),
    ] {
      let request = TestRequest().with { $0.id = id }
      #expect(reason(request) { $0.messageIDCase = value } == (value == .any || isLower ? nil : .badMessageID))
    }
  }

  @Test(arguments: ProviderAnswers.ForeignTopic.allCases) func aTopicOfAnotherKey(value: ProviderAnswers.ForeignTopic) {
    var token = TestToken()
    token.keyID = "ONEAPP0001"
    let expected: Reason = value == .forbidden ? .forbidden : .topicDisallowed
    #expect(reason(TestRequest().with { $0.authorization = "bearer " + token.text }) { $0.foreignTopic = value } == expected)
    #expect(reason(TestRequest().with { $0.topic = "com.example.team.push-type.widgets" }) { $0.foreignTopic = value } == expected)
    #expect(
      reason(TestRequest().with { $0.topic = "com.example.stranger" }) { $0.foreignTopic = value } == expected,
      "whether there is one or not")
  }

  @Test(arguments: [0, 60, 3600, 86_400]) func howFarAheadATokenMayBe(seconds: Int64) {
    for (ahead, expected) in [(seconds, nil), (seconds + 1, Reason.invalidProviderToken)] {
      var token = TestToken()
      token.issuedAt = "\(now.unixSeconds + ahead)"
      #expect(reason(TestRequest().with { $0.authorization = "bearer " + token.text }) { $0.issuedAheadSeconds = seconds } == expected)
    }
    var old = TestToken()
    old.issuedAt = "\(now.unixSeconds - 3600)"
    #expect(reason(TestRequest().with { $0.authorization = "bearer " + old.text }) { $0.issuedAheadSeconds = seconds } == nil)
  }
}
