public import Push

/// What the apps on the devices ask for: their push handlers tell the gateway about tokens.
public enum DeviceEffect: Sendable, Equatable {
  /// A token is new, or what it stands for has changed.
  case register(Registration)
  /// A token stands for nothing any more.
  case unregister(DeviceToken)

  /// An activity has begun to follow a channel: the gateway may have its most recent message. The token is the activity's, and a name.
  case fetchMessage(DeviceToken, bundleID: String, ChannelID)

  /// The token concerned.
  public var token: DeviceToken {
    switch self {
    case .register(let registration): registration.token
    case .unregister(let token), .fetchMessage(let token, _, _): token
    }
  }
}
