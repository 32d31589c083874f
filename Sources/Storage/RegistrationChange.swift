public import Primitives
public import Push

/// A change to the registrations as they are kept for listing; the engine saves it with the commit that decided it.
public enum RegistrationChange: Sendable {
  /// Registered, or registered again.
  case put(Registration, registered: Instant)
  /// Removed.
  case remove(DeviceToken)
}
