public import Primitives
public import Push

/// Whose channels: those of one app in one environment.
public struct ChannelOwner: Hashable, Sendable {
  /// The app.
  public var bundleID: String
  /// The environment.
  public var environment: PushEnvironment

  /// The owner with these values.
  public init(bundleID: String, environment: PushEnvironment) {
    self.bundleID = bundleID
    self.environment = environment
  }
}

/// A channel as the store keeps it.
public struct Channel: Hashable, Sendable {
  /// Its id.
  public var id: ChannelID
  /// Whose it is.
  public var owner: ChannelOwner
  /// What becomes of its messages.
  public var policy: MessageStoragePolicy
  /// Its place in the order of creation, and, once it is deleted, of deletion.
  public var number: UInt64
  /// Whether it has been deleted, and is remembered only so that its followers' backends are told so.
  public var isDeleted = false
}

/// What the provider API asks of channels.
public enum ChannelOperation: Sendable {
  /// Make one, whose id was never used before.
  case create(ChannelID, MessageStoragePolicy)
  /// Tell its policy.
  case read(ChannelID)
  /// Remove it for good.
  case delete(ChannelID)
  /// Tell all ids, in the order of creation.
  case list
  /// Send a message to its followers.
  case send(BroadcastSubmission)
}

/// A broadcast that has passed the rules.
public struct BroadcastSubmission: Sendable {
  /// The sender's `apns-request-id`, or one made for it.
  public var id: PushID
  /// The channel.
  public var channel: ChannelID
  /// The expiration.
  public var expiration: Expiration
  /// The priority; nil when none was sent.
  public var priority: Priority?
  /// The warnings of the rules.
  public var warnings: PushWarnings
  /// What those of them are about that are of a key, a header or a date.
  public var warningDetails: [WarningDetail] = []
  /// When the request was complete.
  public var received: Instant
  /// The payload.
  public var payload: [UInt8]

  /// A submission with these values.
  public init(
    id: PushID, channel: ChannelID, expiration: Expiration, priority: Priority? = nil, warnings: PushWarnings = [], received: Instant,
    payload: [UInt8]
  ) {
    self.id = id
    self.channel = channel
    self.expiration = expiration
    self.priority = priority
    self.warnings = warnings
    self.received = received
    self.payload = payload
  }
}

/// What became of a channel operation; what it changed is durable by then.
public enum ChannelAnswer: Hashable, Sendable {
  /// The channel is there, is deleted, or the broadcast is taken.
  case done
  /// The channel's policy.
  case policy(MessageStoragePolicy)
  /// The ids of all channels.
  case channels([ChannelID])
  /// An error: `badChannelID` for an id that never was one, `channelNotRegistered` for one that was deleted, and what else may be.
  case refused(Reason)
}

/// The most recent message of a channel that stores one.
public struct StoredMessage: Hashable, Sendable {
  /// The id of the broadcast that brought it.
  public var id: PushID
  /// Until when it is kept.
  public var until: Instant
  /// The payload.
  public var payload: [UInt8]
}
