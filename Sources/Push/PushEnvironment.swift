/// The APNs environment that a push token belongs to; Xcode builds use development, TestFlight and the App Store production.
public enum PushEnvironment: UInt8, CaseIterable, Sendable {
  case development, production

  /// The lower-case name used in JSON and configuration.
  public var name: String { self == .development ? "development" : "production" }

  /// The environment of that name, or nil.
  public init?(name: String) {
    switch name {
    case "development": self = .development
    case "production": self = .production
    default: return nil
    }
  }
}
