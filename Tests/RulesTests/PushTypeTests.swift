import Primitives
import Push
import Rules
import Testing

@Suite("Push types") struct PushTypeTests {
  private static let any = TestRules.apps(any: true)

  @Test(arguments: PushType.allCases) func everyTypeIsServedOnItsTopic(type: PushType) throws {
    let push = try #require(judge(TestRequest.of(type), Self.any).push)
    #expect(push.type == type)
    #expect(Int(push.bundle.count) == (type == .mdm ? "com.apple.mgmt.External.1" : "com.example.app").utf8.count)
    #expect(push.warnings == [])
  }

  @Test(arguments: PushType.allCases) func aMissingTypeIsToldFromTheTopic(type: PushType) throws {
    let request = TestRequest.of(type).with { $0.pushType = nil }
    let push = try #require(judge(request, TestRules.apps(.apple, any: true)).push)
    #expect(push.type == (type == .background ? .alert : type))
    #expect(push.warnings.contains(.pushTypeMissing))
  }

  /// Every type on every topic: only its own, and `background` where `alert` may stand, are taken.
  @Test(arguments: PushType.allCases, PushType.allCases) func everyOtherTopicIsRefused(type: PushType, topicOf other: PushType) {
    let verdict = judge(TestRequest.of(type).with { $0.topic = TestRequest.of(other).topic }, Self.any)
    let bare: Set<PushType> = [.alert, .background]
    if type == other || bare.isSuperset(of: [type, other]) {
      #expect(verdict.push?.type == type)
    } else {
      #expect(verdict.refusal?.reason == .invalidPushType)
      #expect(verdict.refusal?.field == "apns-push-type")
    }
  }

  @Test(arguments: PushType.allCases) func everyTypeHasItsLimit(type: PushType) {
    let limit = type == .voip ? 5120 : 4096
    for (count, reason) in [(limit, nil), (limit + 1, Reason.payloadTooLarge)] as [(Int, Reason?)] {
      let payload = TestRequest.payload(of: type)
      let body = payload + String(repeating: " ", count: count - payload.utf8.count)
      #expect(judge(TestRequest.of(type).with { $0.body = Array(body.utf8) }, Self.any).refusal?.reason == reason)
    }
  }

  @Test(arguments: ["pass.com.example.card", "web.com.example", "pass.com.example.voip"], ["{}", #"{"aps":{}}"#])
  func passesAndWebsitesTakeAnEmptyPayload(topic: String, body: String) throws {
    for type in ["alert", "background", nil] {
      let request = TestRequest().with { ($0.topic, $0.pushType, $0.body) = (topic, type, Array(body.utf8)) }
      let push = try #require(judge(request, Self.any).push)
      #expect(push.type.description == type ?? "alert")
      #expect(Int(push.bundle.count) == topic.utf8.count)
      #expect(push.warnings == (type == nil ? PushWarnings(.pushTypeMissing) : []))
    }
    #expect(judge(TestRequest().with { ($0.topic, $0.pushType) = (topic, "voip") }, Self.any).refusal?.reason == .invalidPushType)
  }

  /// The bundle id of an app may begin as a pass type id does.
  @Test func anAppThatIsCalledLikeAPassHasWidgets() throws {
    let push = try #require(judge(TestRequest().with { $0.topic = "pass.example.app.push-type.widgets" }, Self.any).push)
    #expect(push.type == .widgets)
    #expect(push.bundle.count == 16)
  }

  @Test func whatIsRememberedOfATopicHoldsForThePayloadToo() {
    var rules = TestRules(Self.any)
    let pass = TestRequest().with { ($0.topic, $0.pushType, $0.body) = ("pass.com.example.card", "alert", Array("{}".utf8)) }
    for _ in 0..<3 { #expect(rules.evaluate(pass).push != nil) }
    #expect(rules.evaluate(pass.with { $0.topic = "com.example.app" }).refusal?.reason == .badPayload)
    #expect(rules.evaluate(pass).push != nil)
  }
}
