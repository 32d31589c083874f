import Primitives
public import Push

/// Which pushes a fault is for; a criterion that is nil matches all.
public struct FaultMatch: Hashable, Sendable {
  /// The push token.
  public var token: DeviceToken?
  /// The app.
  public var bundleID: String?
  /// The push type.
  public var type: PushType?

  /// A match by these criteria.
  public init(token: DeviceToken? = nil, bundleID: String? = nil, type: PushType? = nil) {
    self.token = token
    self.bundleID = bundleID
    self.type = type
  }

  /// Whether a push is one of them; a broadcast has no token.
  public func matches(_ token: DeviceToken?, bundleID: RawSpan, _ type: PushType) -> Bool {
    if let wanted = self.type, wanted != type { return false }
    if let wanted = self.token, wanted != token { return false }
    if let wanted = self.bundleID, wanted != bundleID.string { return false }
    return true
  }
}
