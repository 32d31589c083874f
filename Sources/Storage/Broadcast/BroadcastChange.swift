import Primitives
public import Push

/// What one commit changes about channels and broadcasts; an engine applies the changes in their order.
public enum BroadcastChange: Sendable {
  /// A channel is new, or has been deleted, and has no message any more.
  case putChannel(Channel)
  /// A deleted channel is not remembered any more.
  case forgetChannel(ChannelID)
  /// A channel's most recent message.
  case putMessage(ChannelID, StoredMessage)
  /// A broadcast as `BroadcastCoding` writes it, with its payload for as long as it must still be sent.
  case putBroadcast(number: UInt64, record: [UInt8], payload: [UInt8])
  /// A broadcast is not remembered any more.
  case forgetBroadcast(number: UInt64)
}
