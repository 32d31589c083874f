public import JSON
public import Push

/// What the apps on the devices ask for: their push handlers tell the gateway about tokens.
public enum DeviceEffect: Sendable, Equatable {
  /// A token is new, or what it stands for has changed.
  case register(Registration)
  /// A token stands where another stood: it goes on with what the gateway keeps of the old one, such as its budgets.
  case replace(DeviceToken, by: Registration)
  /// A token stands for nothing any more.
  case unregister(DeviceToken)

  /// An activity has begun to follow a channel: the gateway knows whether there is one, and may have its most recent message. The token is
  /// the activity's, and a name; the environment is the app's, nil where a push that the gateway let through has started the activity.
  case fetchMessage(DeviceToken, bundleID: String, ChannelID, PushEnvironment?)

  /// An app has brought along what its activities decode from. The token is none, and a name.
  case teach(DeviceToken, bundleID: String, ActivitySchemas)

  /// What a token is registered as by it; nil when it registers none.
  public var registration: Registration? {
    switch self {
    case .register(let registration), .replace(_, let registration): registration
    case .unregister, .fetchMessage, .teach: nil
    }
  }

  /// The token concerned; of two, the new one.
  public var token: DeviceToken {
    switch self {
    case .register(let registration), .replace(_, let registration): registration.token
    case .unregister(let token), .fetchMessage(let token, _, _, _), .teach(let token, _, _): token
    }
  }
}
