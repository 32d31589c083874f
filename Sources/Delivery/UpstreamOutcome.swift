public import Primitives
public import Push

/// What an upstream's answer, or its silence, means for the push that was sent to it.
public enum UpstreamOutcome: Hashable, Sendable {
  /// 200, and the upstream tells no more.
  case accepted
  /// 200 from a mock device that will report the outcome later.
  case pending
  /// 200 from a mock device that says at once what it did: `applied` or `ignored`, and why.
  case finished(Disposition, Cause)
  /// The attempt failed in a way that may pass; it counts as an attempt.
  case retry(Cause)
  /// Nothing was written to an open connection; it does not count as an attempt.
  case notAttempted(Cause)
  /// 410: the token has been dead for this topic since the instant.
  case unregistered(Instant)
  /// 410 `ExpiredToken`: the token's time has been over since the instant.
  case expired(Instant)
  /// 400 `BadDeviceToken`: the push fails, the registration is suspect; a wrong environment is the likely cause.
  case suspect
  /// Refused for good with this status; the reason is nil when it is none that Apple lists.
  case refused(status: Int, Reason?)
}
