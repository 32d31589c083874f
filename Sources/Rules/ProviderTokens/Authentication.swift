public import Primitives
public import Push

extension RequestRules {
  /// Who sends the request: the owner of the connection's certificate, whatever the request says, else the provider that its token
  /// stands for.
  ///
  /// In order: missing, new tokens too often, unreadable or wrongly signed, too old or too new, of the other environment, of
  /// another team than the key's, not for this connection (apns.md sections 4 and 5.3).
  func authenticate(
    _ authorization: ByteRange?, _ headers: RawSpan, _ environment: PushEnvironment?, _ time: RequestTime,
    _ tokens: inout ProviderTokenVerdicts,
    _ connection: inout ConnectionCredentials
  ) throws(Violation) -> Sender {
    if let certificate = connection.certificate { return .certificate(certificate) }
    if let authorization, let known = tokens.latest(headers[authorization]), connection.knows(known.identity) {
      try check(known.provider, issuedAt: known.issuedAt, environment, time, &connection)
      return .provider(known.provider)
    }
    guard let authorization, !ProviderToken.isMissing(headers[authorization]) else {
      throw Violation(.missingProviderToken, "authorization", "authorization must be the word bearer, a space and the provider token")
    }
    return .provider(try authenticate(anew: headers[authorization], environment, time, &tokens, &connection))
  }

  /// The same for a token that is not the last one on its connection or in this thread.
  private func authenticate(
    anew authorization: RawSpan, _ environment: PushEnvironment?, _ time: RequestTime, _ tokens: inout ProviderTokenVerdicts,
    _ connection: inout ConnectionCredentials
  ) throws(Violation) -> Int {
    let identity = tokens.identity(of: authorization)
    let isNew = !connection.knows(identity)
    if isNew {
      try connection.checkFailures()
      try connection.count(identity, tokenPolicy, time.windows)
    }
    let refusals = tokens.refusals
    switch tokens.finding(authorization, identity, providers, shiftSeconds: time.tokenShiftSeconds) {
    case .invalid(let detail):
      if tokens.refusals != refusals { connection.countFailure() }
      throw Violation(.invalidProviderToken, "authorization", detail)
    case .verified(let provider, let issuedAt, let team):
      if isNew { try connection.count(identity, of: providers.identity(of: provider), in: tokens.updates, tokenPolicy, time.windows) }
      try check(provider, issuedAt: issuedAt, environment, time, &connection)
      guard case .other(let teamID) = team else {
        if isNew { try connection.accept(identity, of: providers[provider]) }
        return provider
      }
      let (keyID, own) = (providers[provider].keyID, providers[provider].teamID)
      throw Violation(
        .invalidProviderToken, "authorization",
        "the provider token's iss must be \"\(own)\", the team of the key \(keyID), not \(teamID == keyID ? "the key's own id" : "\"\(teamID)\"")"
      )
    }
  }

  /// What has to be asked of each request anew, however well its token is known.
  private func check(
    _ provider: Int, issuedAt: Int64, _ environment: PushEnvironment?, _ time: RequestTime, _ connection: inout ConnectionCredentials
  ) throws(Violation) {
    do throws(Violation) {
      try checkAge(issuedAt, time.tokens)
    } catch {
      if error.reason == .expiredProviderToken { connection.expired(tokenPolicy) }
      throw error
    }
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

// MARK: Ahead of the request

extension RequestRules {
  /// Whether the provider token of a request that may not be whole yet is good, here and now and on its connection.
  ///
  /// What makes Apple's servers allow a connection more than one stream (apns.md section 1.3). The parameters are those of `evaluate`,
  /// which judges the request later and comes to the same.
  public func trusts(
    _ authorization: ByteRange?, headers: RawSpan, environment: PushEnvironment?, time: RequestTime, memory: inout RequestMemory,
    connection: inout ConnectionCredentials
  ) -> Bool {
    (try? authenticate(authorization, headers, environment, time, &memory.tokens, &connection)) != nil
  }
}
