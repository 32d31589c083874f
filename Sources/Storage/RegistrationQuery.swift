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
  /// Bytes of the rows, some more or less: with the row that goes beyond, the page ends.
  public var bytes = Int.max

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

extension RegistrationQuery {
  /// Whether these rows are as many bytes as a page has.
  public func isFilled(by rows: some Sequence<Registration>) -> Bool {
    guard bytes < .max else { return false }
    var room = bytes
    for row in rows {
      room -= row.bytesOfNames
      if room < 0 { return true }
    }
    return false
  }
}

extension Registration {
  /// Bytes of all its names, with what a record has besides.
  var bytesOfNames: Int {
    let names = [bundleID, upstream, device, user, platform, controlKind, activity?.id, activity?.attributesType]
    let own = names.reduce(256 + 2 * token.bytes.count) { $0 + ($1?.utf8.count ?? 0) }
    return widgets.reduce(own) { $0 + 48 + ($1.id?.utf8.count ?? 0) + $1.kind.utf8.count + $1.family.utf8.count }
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
