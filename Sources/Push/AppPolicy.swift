public import Primitives

/// How one budget refills: a bucket of `burst` credits that never grants more than `allowance` in any window of its length.
public struct BudgetParameters: Hashable, Sendable {
  /// The most credits any window may spend, at least 1.
  public var allowance: Int64
  /// How many of them may be spent at once, 1 to `allowance`.
  public var burst: Int64
  /// The window's length.
  public var window: TimeSpan
  /// The least time between two charges.
  public var minimumInterval: TimeSpan

  /// Parameters with these values.
  public init(allowance: Int64, burst: Int64, window: TimeSpan, minimumInterval: TimeSpan) {
    self.allowance = allowance
    self.burst = burst
    self.window = window
    self.minimumInterval = minimumInterval
  }

  /// An estimate for a placed widget: 40 a day, 12 at once, 300 s apart. Apple publishes 40 to 70 reloads a day for a
  /// frequently seen widget.
  public static let widgets = BudgetParameters(allowance: 40, burst: 12, window: .seconds(86_400), minimumInterval: .seconds(300))

  /// An estimate for a control: 40 a day, 12 at once, 10 s apart. Apple publishes no number.
  public static let controls = BudgetParameters(allowance: 40, burst: 12, window: .seconds(86_400), minimumInterval: .seconds(10))
}

/// What an app's pushes are held to; one value per bundle id, with a default for apps that are not configured.
public struct AppPolicy: Hashable, Sendable {
  /// Whether payloads that a device would silently ignore are refused.
  public enum Validation: String, CaseIterable, Sendable {
    /// Refuse with `BadPayload`, naming the field.
    case strict
    /// Accept whatever Apple accepts and record the warning.
    case apple
  }

  /// What happens to a push that its budgets cannot pay for.
  public enum BudgetMode: String, CaseIterable, Sendable {
    /// It waits in the token's lane; later reload signals merge into it.
    case enforce
    /// 429 `TooManyRequests`.
    case reject
    /// It goes at once; the budget is counted down to minus its allowance and a warning is recorded.
    case observe
  }

  /// What happens to a push for a token that nobody registered.
  public enum UnknownTokens: String, CaseIterable, Sendable {
    /// 400 `BadDeviceToken`.
    case refuse
    /// The first authenticated push registers it, with type and bundle from its topic.
    case adopt
  }

  /// What a reload signal with `apns-expiration: 0` does when its budget cannot pay at once.
  public enum ExpirationZero: String, CaseIterable, Sendable {
    /// It waits for the budget, then is tried once.
    case wait
    /// It is dropped, with the reason on record.
    case drop
  }

  /// The payload rules.
  public var validation: Validation = .strict
  /// What an unpaid push does.
  public var budgetMode: BudgetMode = .enforce
  /// What an unregistered token does.
  public var unknownTokens: UnknownTokens = .refuse
  /// What expiration 0 means for a reload signal.
  public var expirationZero: ExpirationZero = .wait
  /// The budget of each placed widget.
  public var widgets: BudgetParameters = .widgets
  /// The budget of each control.
  public var controls: BudgetParameters = .controls
  /// How long the first reload signal is held so that others can merge into it.
  public var coalesce: TimeSpan = .zero

  /// Whether the app may have broadcast channels: the capability of its app id.
  public var broadcast = true

  /// The defaults for an app whose pushes go to a mock device.
  public init() {}
}
