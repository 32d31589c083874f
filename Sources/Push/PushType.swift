/// The value of `apns-push-type`: what kind of notification a push is.
///
/// Source: Apple, "Sending notification requests to APNs".
public enum PushType: UInt8, CaseIterable, Sendable {
  case alert, background, complication, controls, fileprovider, liveactivity, location, mdm, pushtotalk, voip, widgets

  /// The exact wire text; `/3/device` compares it in lower case only.
  public var text: StaticString {
    switch self {
    case .alert: "alert"
    case .background: "background"
    case .complication: "complication"
    case .controls: "controls"
    case .fileprovider: "fileprovider"
    case .liveactivity: "liveactivity"
    case .location: "location"
    case .mdm: "mdm"
    case .pushtotalk: "pushtotalk"
    case .voip: "voip"
    case .widgets: "widgets"
    }
  }

  /// What the topic has after the bundle id; empty for types whose topic is the bundle id itself (or, for `mdm`, a certificate's UID).
  public var topicSuffix: StaticString {
    switch self {
    case .alert, .background, .mdm: ""
    case .complication: ".complication"
    case .controls: ".push-type.controls"
    case .fileprovider: ".pushkit.fileprovider"
    case .liveactivity: ".push-type.liveactivity"
    case .location: ".location-query"
    case .pushtotalk: ".voip-ptt"
    case .voip: ".voip"
    case .widgets: ".push-type.widgets"
    }
  }

  /// The most bytes a payload of this type may have on `/3/device` (Apple, "Generating a remote notification").
  public var payloadBytesMax: Int { self == .voip ? 5120 : 4096 }
}

extension PushType: CustomStringConvertible {
  /// The wire text.
  public var description: String { "\(text)" }

  /// The type whose wire text is `text`, or nil.
  public init?(_ text: String) {
    guard let match = PushType.allCases.first(where: { $0.description == text }) else { return nil }
    self = match
  }
}
