import Primitives
import Push

extension RequestRules {
  /// The index of the provider that the request's token stands for.
  ///
  /// In order: missing, unreadable or wrongly signed, too old or too new, of the other environment, of another team than the
  /// key's (apns.md sections 4 and 5.3).
  func authenticate(
    _ authorization: ByteRange?, _ headers: RawSpan, _ environment: PushEnvironment?, _ now: Instant, _ tokens: inout ProviderTokenVerdicts
  ) throws(Violation) -> Int {
    if let authorization, let known = tokens.latest(headers[authorization]) {
      try check(known.provider, issuedAt: known.issuedAt, environment, now)
      return known.provider
    }
    guard let authorization, !ProviderToken.isMissing(headers[authorization]) else {
      throw Violation(.missingProviderToken, "authorization", "authorization must be the word bearer, a space and the provider token")
    }
    switch tokens.finding(headers[authorization], providers) {
    case .invalid(let detail): throw Violation(.invalidProviderToken, "authorization", detail)
    case .verified(let provider, let issuedAt, let team):
      try check(provider, issuedAt: issuedAt, environment, now)
      guard case .other(let teamID) = team else { return provider }
      throw Violation(
        .invalidProviderToken, "authorization",
        "the provider token's iss must be \"\(providers[provider].teamID)\", the team of the key \(providers[provider].keyID), not \"\(teamID)\""
      )
    }
  }

  /// What has to be asked of each request anew, however well its token is known.
  private func check(_ provider: Int, issuedAt: Int64, _ environment: PushEnvironment?, _ now: Instant) throws(Violation) {
    try checkAge(issuedAt, now)
    guard let environment, providers.isForeign(provider, to: environment) else { return }
    throw Violation(
      .badEnvironmentKeyInToken, "authorization",
      "the key \(providers[provider].keyID) is not for the environment \(environment.name), which the server name stands for")
  }

  /// `iat` may lie an hour in the past; how far in the future is not known of Apple, and allows for clocks that differ.
  private func checkAge(_ issuedAt: Int64, _ now: Instant) throws(Violation) {
    let age = now.unixSeconds.saturatingSubtract(issuedAt)
    if age > Limits.providerTokenAgeSeconds {
      throw Violation(
        .expiredProviderToken, "authorization", "the provider token's iat must be at most an hour old, and is \(age) seconds old")
    }
    if age < -answers.issuedAheadSeconds {
      throw Violation(
        .invalidProviderToken, "authorization",
        issuedAt >= UnixTime.leastMilliseconds
          ? "the provider token's iat must be in Unix seconds, not in milliseconds (\(issuedAt))"
          : "the provider token's iat must be the current time, and lies \(-age) seconds ahead of it")
    }
  }
}
