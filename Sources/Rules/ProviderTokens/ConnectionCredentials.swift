import Primitives
import Push

/// What one connection's provider tokens have been so far, and what follows from it for the next (apns.md sections 4.2, 4.3); or the
/// certificate in whose place none is needed.
///
/// A value of the connection, which `RequestRules` reads and changes with each request. Judging the same request twice gives the
/// same verdict and changes nothing more, so that a request may be judged ahead when its header list is whole.
///
/// How keys belong together, in our reading of the rows of section 4.3, of which only the second was observed:
///
/// - The first key whose token was verified is the connection's own.
/// - A key of another team is answered `InvalidProviderToken` ("Second team on one connection").
/// - A key of the same team is related to it if both are for the same apps, or both for all, and they are not limited to different
///   environments; any other is answered `UnrelatedKeyIdInToken` ("Key unrelated to the first key", "First push with team key,
///   then topic key or other-env team key").
/// - Whether a key is for the environment of the server name is asked before (`BadEnvironmentKeyInToken`).
public struct ConnectionCredentials: Sendable {
  /// Where the connection comes from: a hash of its IP address.
  let source: UInt64
  /// The certificate that the client has shown, which stands for every provider token.
  public let certificate: SenderCertificate?
  /// The identity of the token that was last accepted; 0 for none.
  private var token: UInt64 = 0
  private var first: ProviderDirectory.Provider?
  private var window = TokenUpdateWindow()
  /// Until when no token is of use, since a new one came too often.
  private var barredUntil = Instant.distantPast
  /// Whether an expired token has made the connection useless.
  private(set) var isWedged = false
  private var warned: Instant?
  private var hasWarning = false
  /// Tokens since the last good one that were looked at and found invalid.
  private var failures = 0

  /// A new connection from `source`, a hash of its IP address, whose client has shown `certificate`.
  public init(source: UInt64, certificate: SenderCertificate? = nil) {
    self.source = source
    self.certificate = certificate
  }

  /// Whether new tokens have come too often since this was last asked; at most once in 20 minutes.
  public mutating func takeWarning() -> Bool {
    guard hasWarning else { return false }
    hasWarning = false
    return true
  }

  /// Whether `token` is the one that was last accepted.
  @inline(__always) func knows(_ token: UInt64) -> Bool { token == self.token }

  /// Whether the connection has brought as many invalid tokens as it may: nothing that it brings is looked at any more, and it is to be
  /// closed.
  public var isExhausted: Bool { failures >= Limits.invalidProviderTokens }

  /// Throws where no further token is looked at.
  func checkFailures() throws(Violation) {
    guard isExhausted else { return }
    throw Violation(
      .invalidProviderToken, "authorization",
      "this connection has brought \(Limits.invalidProviderTokens) provider tokens that are none, and no other is looked at")
  }

  /// A token was looked at, which costs time, and is none.
  mutating func countFailure() { failures += 1 }

  /// Counts a token that is not the one last accepted; throws when it comes too often.
  mutating func count(_ token: UInt64, _ policy: ProviderTokenPolicy, _ now: Instant) throws(Violation) {
    guard policy.updates != .off else { return }
    guard now >= barredUntil else { throw tooOften("this connection") }
    try judge(window.note(token, now, keeps: policy.updates == .warn), policy, "this connection", now)
  }

  /// Counts a token that was verified, with those of its key on other connections from the same address.
  ///
  /// - Parameter provider: What tells its key from others.
  mutating func count(
    _ token: UInt64, of provider: UInt64, in updates: (any ProviderTokenUpdates)?, _ policy: ProviderTokenPolicy, _ now: Instant
  ) throws(Violation) {
    guard let updates, policy.updates != .off else { return }
    let isInTime = updates.note(token, source: source, provider: provider, now: now, keeps: policy.updates == .warn)
    try judge(isInTime, policy, "the connections from this address", now)
  }

  private mutating func judge(_ isInTime: Bool, _ policy: ProviderTokenPolicy, _ place: String, _ now: Instant) throws(Violation) {
    guard !isInTime else { return }
    guard policy.updates == .warn else {
      // As observed of Apple's servers: the connection's other tokens are refused, too, until the time has passed.
      barredUntil = now + .seconds(Limits.providerTokenUpdateSeconds)
      token = 0
      throw tooOften(place)
    }
    if let warned, now - warned < .seconds(Limits.providerTokenUpdateSeconds) { return }
    warned = now
    hasWarning = true
  }

  private func tooOften(_ place: String) -> Violation {
    Violation(
      .tooManyProviderTokenUpdates, "authorization",
      "\(place) must bring a new provider token at most once in \(Limits.providerTokenUpdateSeconds / 60) minutes, after the first \(Limits.providerTokensFree)"
    )
  }

  /// An expired token has come.
  mutating func expired(_ policy: ProviderTokenPolicy) {
    guard policy.wedgesAfterExpired else { return }
    isWedged = true
    token = 0
  }

  /// A token of `provider` was verified and is in time: accepts it, or throws for what keeps it off this connection.
  mutating func accept(_ token: UInt64, of provider: ProviderDirectory.Provider) throws(Violation) {
    guard !isWedged else {
      throw Violation(
        .expiredProviderToken, "authorization",
        "this connection has brought an expired provider token, after which Apple's servers take no other; open a new connection")
    }
    let first = self.first ?? provider
    guard first.teamID == provider.teamID else {
      throw Violation(
        .invalidProviderToken, "authorization",
        "this connection must keep to the team \(first.teamID) of its first provider token, not \(provider.teamID); open another one for that"
      )
    }
    guard first.isRelated(to: provider) else {
      throw Violation(
        .unrelatedKeyIDInToken, "authorization",
        "the key \(provider.keyID) must be for the same apps and environments as \(first.keyID), the first one of this connection")
    }
    self.first = first
    self.token = token
    failures = 0
  }
}

extension ProviderDirectory.Provider {
  /// Whether a connection that began with this key, one of the same team, may go on with `other`.
  fileprivate func isRelated(to other: ProviderDirectory.Provider) -> Bool {
    if keyID == other.keyID { return true }
    if let environment, let others = other.environment, environment != others { return false }
    return bundleIDs.map { Set($0) } == other.bundleIDs.map { Set($0) }
  }
}
