public import Primitives
public import Push

/// What became of one of many registrations.
public enum BulkRegistration: Hashable, Sendable {
  /// The token is new.
  case created
  /// The token was registered before.
  case replaced
  /// The token is registered already, and may not be replaced.
  case foreign
  /// No more fit.
  case full
  /// The app has its share.
  case shareUsedUp(ShareRefusal)
}

/// A change to the registrations as they are kept for listing; the engine saves it with the commit that decided it.
public enum RegistrationChange: Sendable {
  /// Registered, or registered again.
  case put(Registration, registered: Instant)
  /// Removed.
  case remove(DeviceToken)
}
