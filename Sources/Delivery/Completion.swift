public import Primitives
public import Push

/// What an attempt's outcome means for the push that was in flight.
public enum Completion: Hashable, Sendable {
  /// Nothing more happens to it.
  case final(Disposition, Cause)
  /// It goes back to the head of its lane for another attempt.
  case again(Cause)
}

extension UpstreamOutcome {
  /// What the outcome means for a push with that expiration that came at `received`.
  ///
  /// `apns-expiration: 0` permits one attempt (Apple, "Sending notification requests to APNs"), and so does a date that had passed; where
  /// nothing was attempted, the push may go back to wait, and its deadline ends that.
  public func completion(expiration: Expiration, received: Instant) -> Completion {
    switch self {
    case .accepted, .pending: .final(.accepted, .none)
    case .finished(let disposition, let cause): .final(disposition, cause)
    case .retry(let cause): expiration.isUnstored(received: received) ? .final(.expired, cause) : .again(cause)
    case .notAttempted(let cause): .again(cause)
    case .unregistered, .expired: .final(.failed, .unregistered)
    case .suspect: .final(.failed, .upstreamSuspectsToken)
    case .refused: .final(.failed, .upstreamRefused)
    }
  }

  /// Whether a request was written to an upstream.
  public var isAttempt: Bool {
    if case .notAttempted = self { return false }
    return true
  }
}
