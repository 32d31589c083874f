public import Primitives

/// The value of `apns-expiration`: how long a push may be stored.
///
/// Source: Apple, "Sending notification requests to APNs".
public enum Expiration: Hashable, Sendable {
  /// No header: stored for up to `Limits.storageSeconds`.
  case absent
  /// `0`: a single attempt, never stored.
  case zero
  /// Stored until then; a date in the past is accepted and has expired.
  case at(Instant)
}
