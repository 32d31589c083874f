public import Primitives
public import Push

/// Names one push in flight between the store and a loop; it goes out with the push and comes back with its outcome.
public struct PushTicket: Hashable, Sendable {
  /// The push's number in the log, never given twice.
  public var sequence: UInt64
  /// Where the store keeps it.
  public var slot: UInt32

  /// A ticket of the two halves.
  public init(sequence: UInt64, slot: UInt32) {
    self.sequence = sequence
    self.slot = slot
  }
}

/// A push to send to its upstream now. Its ranges lie in bytes that whoever hands it on holds.
public struct ForwardedPush: Sendable {
  /// What the outcome must be reported with, exactly once.
  public var ticket: PushTicket
  /// The push's id.
  public var id: PushID
  /// Where it is to go.
  public var token: DeviceToken
  /// Where to send it, as the store's resolver numbered it; a number that no upstream has stands for one that is not configured.
  public var upstream: UInt16
  /// The number of the gateway's own key that signs for its topic; `PushSigners.none` where none may.
  public var signer: Int
  /// The push type.
  public var type: PushType
  /// The priority.
  public var priority: Priority
  /// Whether the request had an `apns-priority`; when not, none is sent on.
  public var prioritySent: Bool
  /// The expiration, the latest of those that merged.
  public var expiration: Expiration
  /// Which attempt this is, from 1.
  public var attempt: Int
  /// The index in `admits` of the request that brought it in this very batch; nil when it had waited.
  public var admit: Int?
  /// The topic.
  public var topic: ByteRange
  /// The collapse id; empty when there is none.
  public var collapseID: ByteRange
  /// The payload.
  public var payload: ByteRange

  /// A push with these values.
  public init(
    ticket: PushTicket, id: PushID, token: DeviceToken, upstream: UInt16, signer: Int, type: PushType, priority: Priority,
    prioritySent: Bool, expiration: Expiration, attempt: Int, admit: Int? = nil, topic: ByteRange, collapseID: ByteRange,
    payload: ByteRange
  ) {
    self.ticket = ticket
    self.id = id
    self.token = token
    self.upstream = upstream
    self.signer = signer
    self.type = type
    self.priority = priority
    self.prioritySent = prioritySent
    self.expiration = expiration
    self.attempt = attempt
    self.admit = admit
    self.topic = topic
    self.collapseID = collapseID
    self.payload = payload
  }
}

extension ForwardedPush {
  /// In place of an upstream's number, for pushes of an app that the gateway is not configured for.
  public static let upstreamOfNoApp = UInt16.max
}
