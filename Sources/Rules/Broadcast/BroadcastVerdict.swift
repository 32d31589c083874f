public import Primitives
public import Push

/// What the rules say of a request about broadcasts or channels.
public enum BroadcastVerdict: Sendable {
  /// It is answered with an error; of the refusal's `id`, the `apns-request-id` to echo.
  indirect case refused(Refusal)
  /// It may be carried out.
  case accepted(BroadcastRequest)
}

/// A request about broadcasts or channels that has passed every rule; ranges count from the start of the request's header bytes.
public struct BroadcastRequest: Sendable {
  /// What is asked for.
  public enum Action: Hashable, Sendable {
    /// Send the body to a channel's followers.
    case send(BroadcastPush)
    /// Make a channel.
    case create(MessageStoragePolicy)
    /// Tell what a channel is.
    case read(ChannelID)
    /// Remove a channel for good.
    case delete(ChannelID)
    /// Tell the ids of all channels.
    case list
  }

  /// The sender's `apns-request-id`; nil when the gateway makes one.
  public var id: PushID?
  /// The app's bundle id, in the path.
  public var bundle: ByteRange
  /// The index of the app in the `AppDirectory`.
  public var app: Int
  /// The index of the sender's key in the `ProviderDirectory`; nil where a certificate stands for it.
  public var provider: Int?
  /// The environment: that of the server name, else the key's own, else development.
  public var environment: PushEnvironment
  /// What is asked for.
  public var action: Action
}

/// What the headers and the payload of a broadcast say.
public struct BroadcastPush: Hashable, Sendable {
  /// Whom it is for.
  public var channel: ChannelID
  /// How long it may be stored; a broadcast always says so.
  public var expiration: Expiration
  /// The priority, `immediate` when none was sent.
  public var priority: Priority
  /// Whether `apns-priority` was sent.
  public var prioritySent: Bool
  /// What its sender should know.
  public var warnings: PushWarnings

  /// A broadcast with these values.
  public init(
    channel: ChannelID, expiration: Expiration, priority: Priority = .immediate, prioritySent: Bool = false, warnings: PushWarnings = []
  ) {
    self.channel = channel
    self.expiration = expiration
    self.priority = priority
    self.prioritySent = prioritySent
    self.warnings = warnings
  }
}
