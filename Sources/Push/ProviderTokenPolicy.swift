/// What is done about what connections do with their provider tokens, of which more is observed than documented.
public struct ProviderTokenPolicy: Hashable, Sendable {
  /// What happens to new provider tokens that come too often.
  public var updates: Updates
  /// Whether a connection that has brought an expired token is answered `ExpiredProviderToken` from then on, whatever it brings
  /// (apns.md section 4.2; `ProviderAnswers.wedgeAfterExpired`).
  public var wedgesAfterExpired: Bool

  /// What happens to new provider tokens that come too often.
  public enum Updates: String, CaseIterable, Sendable {
    /// They are answered 429 `TooManyProviderTokenUpdates`, their signature unseen.
    case enforce
    /// They are taken, and whoever watches is told.
    case warn
    /// They are taken.
    case off
  }

  /// A policy with these values.
  public init(updates: Updates, wedgesAfterExpired: Bool) {
    self.updates = updates
    self.wedgesAfterExpired = wedgesAfterExpired
  }
}
