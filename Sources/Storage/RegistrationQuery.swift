public import Primitives
public import Push

/// Which registrations to list; a criterion that is nil matches all.
public struct RegistrationQuery: Hashable, Sendable {
  /// The app.
  public var bundleID: String?
  /// The user's name.
  public var user: String?
  /// The device's name.
  public var device: String?
  /// What the token names.
  public var kind: TokenKind?
  /// The apps that the caller may see; nil means all.
  public var visibleBundleIDs: Set<String>?
  /// Only tokens after this one, in byte order.
  public var after: DeviceToken?
  /// The most rows, up to `Limits.pageRows`.
  public var limit: Int

  /// A query with these criteria.
  public init(
    bundleID: String? = nil, user: String? = nil, device: String? = nil, kind: TokenKind? = nil,
    visibleBundleIDs: Set<String>? = nil, after: DeviceToken? = nil, limit: Int = 100
  ) {
    self.bundleID = bundleID
    self.user = user
    self.device = device
    self.kind = kind
    self.visibleBundleIDs = visibleBundleIDs
    self.after = after
    self.limit = limit
  }
}

/// A registration with what has become of it.
public struct RegistrationRecord: Hashable, Sendable {
  /// What was registered.
  public var registration: Registration
  /// When it was registered, or registered again.
  public var registered: Instant
  /// Since when the token has been dead; nil while it lives.
  public var retiredSince: Instant?
  /// Whether an upstream called the token bad, for which a wrong environment is the likely cause.
  public var isSuspect: Bool
  /// Pushes that wait in its lane.
  public var waiting: Int
  /// Whether a push is in flight.
  public var isInFlight: Bool
}
