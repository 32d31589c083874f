/// What a push token names on its device; the `type` of a registration.
public enum TokenKind: UInt8, CaseIterable, Sendable {
  /// All push-enabled widgets of one widget extension on one device.
  case widgets
  /// One placed control.
  case controls
  /// One Live Activity that runs.
  case liveactivity
  /// The stream that starts Live Activities.
  case pushToStart
  /// The app itself: alert, background and the rest.
  case app

  /// The name used in JSON.
  public var name: String { "\(self)" }

  /// The kind of that name, or nil.
  public init?(name: String) {
    guard let match = TokenKind.allCases.first(where: { $0.name == name }) else { return nil }
    self = match
  }

  /// Whether a push of `type` may be sent to a token of this kind; otherwise APNs answers `DeviceTokenNotForTopic`.
  public func takes(_ type: PushType) -> Bool {
    switch self {
    case .widgets: type == .widgets
    case .controls: type == .controls
    case .liveactivity, .pushToStart: type == .liveactivity
    case .app:
      switch type {
      case .widgets, .controls, .liveactivity: false
      case .alert, .background, .complication, .fileprovider, .location, .mdm, .pushtotalk, .voip: true
      }
    }
  }
}
