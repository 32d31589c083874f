import Push

extension GatewayConfiguration {
  /// The switches for what is not known of Apple's servers.
  static let answerKeys: [ConfigurationKey] = [
    ConfigurationKey("provider.answers.malformedBody", "WORD", "body that is no JSON, validation apple: accept or payloadEmpty (accept)"),
    ConfigurationKey("provider.answers.backgroundAtTen", "WORD", "background push of priority 10: accept or refuse (accept)"),
    ConfigurationKey("provider.answers.pastExpiration", "WORD", "apns-expiration that has passed: attempt (once) or expire (attempt)"),
    ConfigurationKey("provider.answers.checkOrder", "WORD", "headersFirst, topicFirst or tokenFirst (headersFirst)"),
    ConfigurationKey("provider.answers.refusedMessageId", "WORD", "apns-id with BadMessageId: generate, echo or omit (generate)"),
    ConfigurationKey("provider.answers.messageIdCase", "WORD", "letters of an apns-id: any or lower (any)"),
    ConfigurationKey("provider.answers.foreignTopic", "WORD", "topic of another key: topicDisallowed or forbidden (topicDisallowed)"),
    ConfigurationKey("provider.answers.unfinishedRequest", "WORD", "body that does not end: idleTimeout or reset (idleTimeout)"),
    ConfigurationKey(
      "provider.answers.tooManyRequestsAfter", "N", "pushes that wait for one token before 429 (\(Limits.lanePushes))"),
    ConfigurationKey("provider.answers.closeAfterErrors", "N", "errors before a connection is closed, 0 for never (0)"),
    ConfigurationKey(
      "provider.answers.issuedAheadSeconds", "N", "how far ahead an iat may lie (\(Limits.providerTokenAgeSeconds))"),
    ConfigurationKey(
      "provider.answers.unknownChannelRead", "WORD", "reading an unknown channel: badPath or likeSending (badPath)"),
    ConfigurationKey("provider.answers.createdChannelBody", "WORD", "JSON with a new channel: auto, always or never (auto)"),
    ConfigurationKey("provider.answers.raiseAfterRefusedPush", "BOOL", "good token, refused push: 1000 streams all the same (true)"),
    ConfigurationKey("provider.answers.headerOverflow", "WORD", "header list too large: answer431 or reset (answer431)"),
    ConfigurationKey("provider.answers.spacedField", "WORD", "space around an APNs field's value: trim or reset (trim)"),
    ConfigurationKey("provider.answers.wedgeAfterExpired", "BOOL", "an expired provider token makes its connection useless (true)"),
    ConfigurationKey("provider.answers.minimumTls", "VERSION", "oldest TLS of the provider API: 1.2 or 1.3 (1.2)"),
  ]
}

extension ConfigurationReader {
  /// The section with the switches for what is not known of Apple's servers.
  mutating func answers(_ key: String) throws(ConfigurationError) -> ProviderAnswers {
    var reader = try section(key)
    var answers = ProviderAnswers()
    try reader.set(&answers.malformedBody, "malformedBody")
    try reader.set(&answers.backgroundAtTen, "backgroundAtTen")
    try reader.set(&answers.pastExpiration, "pastExpiration")
    try reader.set(&answers.checkOrder, "checkOrder")
    try reader.set(&answers.refusedMessageID, "refusedMessageId")
    try reader.set(&answers.messageIDCase, "messageIdCase")
    try reader.set(&answers.foreignTopic, "foreignTopic")
    try reader.set(&answers.unfinishedRequest, "unfinishedRequest")
    let waiting = try reader.integer("tooManyRequestsAfter", in: 1...Int64(Limits.lanePushesMax))
    answers.tooManyRequestsAfter = waiting.map { Int($0) } ?? answers.tooManyRequestsAfter
    let errors = try reader.integer("closeAfterErrors", in: 0...Int64(Limits.closeAfterErrorsMax))
    answers.closeAfterErrors = errors.map { Int($0) } ?? answers.closeAfterErrors
    answers.issuedAheadSeconds =
      try reader.integer("issuedAheadSeconds", in: 0...Limits.issuedAheadSecondsMax) ?? answers.issuedAheadSeconds
    try reader.set(&answers.unknownChannelRead, "unknownChannelRead")
    try reader.set(&answers.createdChannelBody, "createdChannelBody")
    answers.raiseAfterRefusedPush = try reader.bool("raiseAfterRefusedPush") ?? answers.raiseAfterRefusedPush
    answers.wedgeAfterExpired = try reader.bool("wedgeAfterExpired") ?? answers.wedgeAfterExpired
    try reader.set(&answers.headerOverflow, "headerOverflow")
    try reader.set(&answers.spacedField, "spacedField")
    try reader.set(&answers.minimumTLS, "minimumTls")
    try reader.finish()
    return answers
  }

  private mutating func set<Choice: RawRepresentable & CaseIterable>(
    _ value: inout Choice, _ key: String
  ) throws(ConfigurationError) where Choice.RawValue == String {
    value = try choice(key, Choice.self) ?? value
  }
}
