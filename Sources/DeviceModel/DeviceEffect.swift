public import Push

/// What the apps on the devices ask for: their push handlers tell the gateway about tokens.
public enum DeviceEffect: Sendable, Equatable {
  /// A token is new, or what it stands for has changed.
  case register(Registration)
  /// A token stands for nothing any more.
  case unregister(DeviceToken)

  /// The token concerned.
  public var token: DeviceToken {
    switch self {
    case .register(let registration): registration.token
    case .unregister(let token): token
    }
  }
}
