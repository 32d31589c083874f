/// Which of an app's budgets pays for a push. A token has one of them, or none.
///
/// The raw value is the name under `budgets` in an app's settings.
public enum BudgetKind: String, CaseIterable, Sendable {
  /// Each placed widget of a registration.
  case widgets
  /// The control.
  case controls
  /// Updates and ends of a Live Activity with priority 10.
  case liveactivity
  /// The same where the app has `NSSupportsLiveActivitiesFrequentUpdates`.
  case liveactivityFrequent
  /// Starts of Live Activities.
  case pushToStart
  /// Background pushes of an app.
  case background

  /// What a push does that its budget cannot pay for.
  public enum Unpaid: Sendable {
    /// It waits; a newer one stands for it, or it for a newer one.
    case waits
    /// It goes at once with priority 5, which costs nothing (Apple, "Starting and updating Live Activities with ActivityKit push
    /// notifications").
    case goesAtFive
    /// It is charged all the same and starts nothing, as on a device.
    case isIgnored
  }

  /// Its place in `allCases`.
  @inlinable public var ordinal: Int {
    switch self {
    case .widgets: 0
    case .controls: 1
    case .liveactivity: 2
    case .liveactivityFrequent: 3
    case .pushToStart: 4
    case .background: 5
    }
  }

  /// What happens where the app's mode is `enforce`.
  public var unpaid: Unpaid {
    switch self {
    case .widgets, .controls, .background: .waits
    case .liveactivity, .liveactivityFrequent: .goesAtFive
    case .pushToStart: .isIgnored
    }
  }

  /// The budget of a token; nil when it has none.
  public init?(of kind: TokenKind, frequentUpdates: Bool) {
    switch kind {
    case .widgets: self = .widgets
    case .controls: self = .controls
    case .liveactivity: self = frequentUpdates ? .liveactivityFrequent : .liveactivity
    case .pushToStart: self = .pushToStart
    case .app: self = .background
    case .complication, .fileprovider, .location, .mdm, .pushtotalk, .voip: return nil
    }
  }

  /// Whether this budget, its token's, pays for such a push.
  @inlinable public func pays(for type: PushType, _ priority: Priority, _ traits: PushTraits) -> Bool {
    switch self {
    case .widgets, .controls: traits.lane == .reload
    case .liveactivity, .liveactivityFrequent: type == .liveactivity && priority == .immediate
    case .pushToStart: traits.activity == .start
    case .background: traits.lane == .background
    }
  }
}
