/// Which clock something goes by.
public enum TimeScale: String, CaseIterable, Hashable, Sendable {
  /// The machine's.
  case real
  /// The product's, which may have been moved.
  case virtual
}

/// What may be done to the product's clock, and what goes by it.
public struct ClockSettings: Hashable, Sendable {
  /// Whether it may be stopped and moved.
  public var permitted = false
  /// What provider tokens age by.
  public var tokenAge = TimeScale.real
  /// The clock of those who send: what the dates mean that they write (`iat`, `apns-expiration`, those of `aps`).
  public var providerTimes = TimeScale.real

  /// A clock that nobody moves.
  public init() {}

  /// A clock with these settings.
  public init(permitted: Bool, tokenAge: TimeScale = .real, providerTimes: TimeScale = .real) {
    self.permitted = permitted
    self.tokenAge = tokenAge
    self.providerTimes = providerTimes
  }
}
