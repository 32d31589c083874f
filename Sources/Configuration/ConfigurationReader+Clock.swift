import Push

extension ConfigurationKey {
  /// The keys about the clock that a gateway and a mock device have in common.
  static let sharedClockKeys = [
    ConfigurationKey("clock.permitted", "BOOL", "true lets admins stop and move the product's clock (false)"),
    ConfigurationKey("clock.providerTimes", "SCALE", "clock of those who send: real or virtual (real)"),
  ]

  /// The gateway's.
  static let clockKeys =
    sharedClockKeys + [ConfigurationKey("clock.tokenAge", "SCALE", "clock that provider tokens age by: real or virtual (real)")]
}

extension ConfigurationReader {
  /// The section about the clock.
  ///
  /// - Parameter judgesTokens: Whether there is a key for the age of provider tokens.
  mutating func clock(_ key: String, judgesTokens: Bool) throws(ConfigurationError) -> ClockSettings {
    var reader = try section(key)
    var settings = ClockSettings()
    settings.permitted = try reader.bool("permitted") ?? settings.permitted
    settings.providerTimes = try reader.choice("providerTimes", TimeScale.self) ?? settings.providerTimes
    if judgesTokens { settings.tokenAge = try reader.choice("tokenAge", TimeScale.self) ?? settings.tokenAge }
    try reader.finish()
    return settings
  }

  /// Refuses a clock that may be moved in front of Apple's servers, which go by their own.
  func check(_ clock: ClockSettings, _ upstreams: [UpstreamSettings]) throws(ConfigurationError) {
    guard clock.permitted, let apple = upstreams.first(where: \.isApple) else { return }
    throw error("clock", "must not permit anybody to move it while the upstream \(apple.name) is Apple's, which goes by its own")
  }
}
