public import Push

/// Which broadcasts a list is to have, newest first.
public struct BroadcastQuery: Hashable, Sendable {
  /// The app.
  public var bundleID: String?
  /// The channel.
  public var channel: ChannelID?
  /// What became of it.
  public var disposition: Disposition?
  /// The apps that the caller may see; nil means all.
  public var visibleBundleIDs: Set<String>?
  /// Only broadcasts before that `sequence`.
  public var before: UInt64?
  /// The most rows, up to `Limits.pageRows`.
  public var limit: Int

  /// A query with these criteria.
  public init(
    bundleID: String? = nil, channel: ChannelID? = nil, disposition: Disposition? = nil, visibleBundleIDs: Set<String>? = nil,
    before: UInt64? = nil, limit: Int = 100
  ) {
    self.bundleID = bundleID
    self.channel = channel
    self.disposition = disposition
    self.visibleBundleIDs = visibleBundleIDs
    self.before = before
    self.limit = limit
  }

  func matches(_ record: BroadcastRecord) -> Bool {
    (bundleID == nil || bundleID == record.owner.bundleID) && (channel == nil || channel == record.channel)
      && (disposition == nil || disposition == record.outcome.disposition)
      && (visibleBundleIDs?.contains(record.owner.bundleID) ?? true)
  }
}
