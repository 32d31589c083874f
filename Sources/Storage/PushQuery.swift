public import Primitives
public import Push

/// Which pushes to list; a criterion that is nil matches all.
public struct PushQuery: Hashable, Sendable {
  /// One push by its id: the newest of those that the caller may see, whatever the other criteria. A wait for it ends once nothing
  /// more happens to it.
  public var id: PushID?
  /// The token.
  public var token: DeviceToken?
  /// The app.
  public var bundleID: String?
  /// The push type.
  public var type: PushType?
  /// What became of it.
  public var disposition: Disposition?
  /// Why it became that, or why one of its steps came.
  public var cause: Cause?
  /// The reload that it was made for.
  public var reload: PushID?
  /// The apps that the caller may see; nil means all.
  public var visibleBundleIDs: Set<String>?
  /// Only pushes that are older than this place.
  public var after: PushCursor?
  /// The most rows, up to `Limits.pageRows`.
  public var limit: Int

  /// A query with these criteria.
  public init(
    id: PushID? = nil, token: DeviceToken? = nil, bundleID: String? = nil, type: PushType? = nil, disposition: Disposition? = nil,
    cause: Cause? = nil, reload: PushID? = nil, visibleBundleIDs: Set<String>? = nil, after: PushCursor? = nil, limit: Int = 100
  ) {
    self.id = id
    self.token = token
    self.bundleID = bundleID
    self.type = type
    self.disposition = disposition
    self.cause = cause
    self.reload = reload
    self.visibleBundleIDs = visibleBundleIDs
    self.after = after
    self.limit = limit
  }
}

/// How long a list call waits for enough matches.
public struct PushWait: Hashable, Sendable {
  /// How many matches end the wait.
  public var count: Int
  /// When it ends in any case, by the steady clock.
  public var until: Instant

  /// A wait with these bounds.
  public init(count: Int, until: Instant) {
    self.count = count
    self.until = until
  }
}

/// A push that misses exactly one criterion of a query.
public struct NearMiss: Hashable, Sendable {
  /// The push.
  public var push: PushRecord
  /// The criterion: `token`, `topic`, `type`, `disposition`, `cause` or `reload`.
  public var differs: String
}

/// One page of a list of pushes, newest first.
public struct PushPage: Hashable, Sendable {
  /// The rows.
  public var pushes: [PushRecord]
  /// Where the next page begins; nil when this is the last.
  public var next: PushCursor?
  /// Whether as many matched as were waited for; true without a wait.
  public var complete: Bool
  /// How many matched.
  public var matched: Int
  /// When too few matched: the latest pushes that nearly did.
  public var nearMisses: [NearMiss]
}
