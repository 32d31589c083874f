import Push
import Testing

@testable import Gateway

@Suite("Answers about channels") struct BroadcastAnswerTests {
  @Test(arguments: ProviderAnswers.UnknownChannelRead.allCases) func readingAnUnknownChannel(value: ProviderAnswers.UnknownChannelRead) {
    var answers = ProviderAnswers()
    answers.unknownChannelRead = value
    let rules = BroadcastAnswerRules(answers)
    for reason in [Reason.badChannelID, .channelNotRegistered] {
      #expect(rules.reason(reason, .read) == (value == .badPath ? .badPath : reason))
      #expect(rules.reason(reason, .delete) == .badPath)
      #expect(rules.reason(reason, .send([])) == reason)
    }
    #expect(rules.reason(.serviceUnavailable, .read) == .serviceUnavailable)
  }

  @Test(arguments: ProviderAnswers.CreatedChannelBody.allCases) func theBodyOfANewChannel(value: ProviderAnswers.CreatedChannelBody) {
    var answers = ProviderAnswers()
    answers.createdChannelBody = value
    let rules = BroadcastAnswerRules(answers)
    #expect(rules.hasBody(userAgent: "APNS/swift-nio") == (value != .never))
    #expect(rules.hasBody(userAgent: "curl/8") == (value == .always))
  }
}
