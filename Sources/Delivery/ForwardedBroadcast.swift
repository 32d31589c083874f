public import Push

/// Names one broadcast on its way to one upstream, between the store and a loop.
public struct BroadcastTicket: Hashable, Sendable {
  /// The broadcast's number, never given twice.
  public var sequence: UInt64
  /// Which of its upstreams.
  public var upstream: UInt16

  /// A ticket of the two halves.
  public init(sequence: UInt64, upstream: UInt16) {
    self.sequence = sequence
    self.upstream = upstream
  }
}

/// A broadcast to send to one upstream now, which fans it out. Few a second at most, so it owns its bytes.
public struct ForwardedBroadcast: Sendable {
  /// What the outcome must be reported with, exactly once.
  public var ticket: BroadcastTicket
  /// The sender's `apns-request-id`, or the one made for it.
  public var id: PushID
  /// The app.
  public var bundleID: String
  /// The number of the gateway's own key that signs for the app's broadcasts; `PushSigners.none` where none may.
  public var signer: Int
  /// The channel.
  public var channel: ChannelID
  /// The expiration.
  public var expiration: Expiration
  /// The priority; nil when none was sent.
  public var priority: Priority?
  /// The payload.
  public var payload: [UInt8]

  /// A broadcast with these values.
  public init(
    ticket: BroadcastTicket, id: PushID, bundleID: String, signer: Int, channel: ChannelID, expiration: Expiration, priority: Priority?,
    payload: [UInt8]
  ) {
    self.ticket = ticket
    self.id = id
    self.bundleID = bundleID
    self.signer = signer
    self.channel = channel
    self.expiration = expiration
    self.priority = priority
    self.payload = payload
  }
}
