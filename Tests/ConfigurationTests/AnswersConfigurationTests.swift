import Configuration
import Push
import Testing

@Suite("provider.answers") struct AnswersConfigurationTests {
  private static func load(_ key: String, _ value: String) throws -> ProviderAnswers {
    try GatewayConfiguration.load(sources("provider: {answers: {\(key): \(value)}}")).answers
  }

  /// Every value of a key that is one of several words, through the file, the variable and the flag.
  private func check<Choice: RawRepresentable & CaseIterable & Equatable & Sendable>(
    _ key: String, _ path: KeyPath<ProviderAnswers, Choice>
  ) throws where Choice.RawValue == String {
    let words = Choice.allCases.map(\.rawValue)
    for choice in Choice.allCases { #expect(try Self.load(key, choice.rawValue)[keyPath: path] == choice) }
    let known = try #require(GatewayConfiguration.keys.first { $0.path == "provider.answers.\(key)" })
    for word in words {
      #expect(known.summary.contains(word), "\(known.summary)")
      let byFlag = try GatewayConfiguration.load(sources(flags: [known.path: word]))
      let byVariable = try GatewayConfiguration.load(sources(environment: [known.variable: word]))
      #expect(byFlag.answers[keyPath: path].rawValue == word && byVariable.answers[keyPath: path].rawValue == word)
    }
    let error = #expect(throws: ConfigurationError.self) { try Self.load(key, "perhaps") }
    for word in words { #expect(error?.message.contains("\"\(word)\"") == true, "\(error?.message ?? "")") }
    #expect(error?.message.hasPrefix("provider.answers.\(key) must be") == true, "\(error?.message ?? "")")
  }

  @Test func everyChoiceIsTaken() throws {
    try check("malformedBody", \.malformedBody)
    try check("backgroundAtTen", \.backgroundAtTen)
    try check("pastExpiration", \.pastExpiration)
    try check("checkOrder", \.checkOrder)
    try check("refusedMessageId", \.refusedMessageID)
    try check("messageIdCase", \.messageIDCase)
    try check("foreignTopic", \.foreignTopic)
    try check("unfinishedRequest", \.unfinishedRequest)
    try check("unknownChannelRead", \.unknownChannelRead)
    try check("createdChannelBody", \.createdChannelBody)
    try check("headerOverflow", \.headerOverflow)
    try check("spacedField", \.spacedField)
    try check("minimumTls", \.minimumTLS)
  }

  @Test func numbersHaveBounds() throws {
    #expect(try Self.load("tooManyRequestsAfter", "250").tooManyRequestsAfter == 250)
    #expect(try Self.load("closeAfterErrors", "3").closeAfterErrors == 3)
    #expect(try Self.load("issuedAheadSeconds", "0").issuedAheadSeconds == 0)
    #expect(try !Self.load("raiseAfterRefusedPush", "false").raiseAfterRefusedPush)
    #expect(try !Self.load("wedgeAfterExpired", "false").wedgeAfterExpired)
    for (key, value, range) in [
      ("tooManyRequestsAfter", "0", "from 1 to 250"), ("tooManyRequestsAfter", "251", "from 1 to 250"),
      ("closeAfterErrors", "-1", "from 0 to 1000000"), ("issuedAheadSeconds", "86401", "from 0 to 86400"),
      ("raiseAfterRefusedPush", "yes", "true or false"),
    ] {
      let error = #expect(throws: ConfigurationError.self) { try Self.load(key, value) }
      #expect(error?.message.contains(range) == true, "\(error?.message ?? "")")
    }
  }

  @Test func anUnknownSwitchIsToldTheNearest() {
    let error = #expect(throws: ConfigurationError.self) { try Self.load("headerOverflows", "reset") }
    #expect(error?.message.contains("headerOverflow\"") == true, "\(error?.message ?? "")")
  }
}
