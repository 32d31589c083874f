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
  /// The app itself, a Wallet pass or a website: alert and background pushes.
  case app
  // What an app asks for besides, each with a token of its own that takes the push type of its name.
  case complication, fileprovider, location, mdm, pushtotalk, voip

  /// The name used in JSON.
  public var name: String { "\(self)" }

  /// The name with its article, as a sentence has it.
  public var article: String { self == .app ? "an app" : "a \(name)" }

  /// The kind of that name, or nil.
  public init?(name: String) {
    guard let match = TokenKind.allCases.first(where: { $0.name == name }) else { return nil }
    self = match
  }

  /// The kind of token that a push of `type` goes to; for a Live Activity that of its updates, and not of its start.
  public init(taking type: PushType) {
    self =
      switch type {
      case .alert, .background: .app
      case .complication: .complication
      case .controls: .controls
      case .fileprovider: .fileprovider
      case .liveactivity: .liveactivity
      case .location: .location
      case .mdm: .mdm
      case .pushtotalk: .pushtotalk
      case .voip: .voip
      case .widgets: .widgets
      }
  }

  /// The push type that goes to tokens of this kind first of all.
  public var pushType: PushType {
    switch self {
    case .widgets: .widgets
    case .controls: .controls
    case .liveactivity, .pushToStart: .liveactivity
    case .app: .alert
    case .complication: .complication
    case .fileprovider: .fileprovider
    case .location: .location
    case .mdm: .mdm
    case .pushtotalk: .pushtotalk
    case .voip: .voip
    }
  }

  /// Whether a push of `type` may be sent to a token of this kind; otherwise APNs answers `DeviceTokenNotForTopic`.
  public func takes(_ type: PushType) -> Bool { type == pushType || self == .app && type == .background }
}
