// Broadcasts and their channels.
extension Limits {
  /// Bytes of a broadcast's payload (Apple, "Sending broadcast push notification requests to APNs").
  public static let broadcastBytes = 5120
  /// Channels of one app in one environment (Apple, "Sending channel management requests to APNs").
  public static let channelsPerApp = 10_000
  /// Channels of all apps together, about 250 bytes each.
  public static let channels = 200_000
  /// Deleted channels that are remembered as such; the oldest are forgotten first, and are then answered as ids that never were.
  public static let deletedChannels = 100_000
  /// Broadcasts that have not reached every upstream yet, with their payloads; more are answered 429.
  public static let broadcastsPending = 1000
  /// Broadcasts whose lives are remembered, about 500 bytes each; the oldest go first.
  public static let broadcastLog = 10_000
  /// Longest time that a channel's most recent message is kept, in seconds: 8 hours, the life of an activity.
  public static let channelMessageSeconds: Int64 = 8 * 3600
}
