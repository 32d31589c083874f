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

  /// An estimate for a Live Activity: 15 an hour, 5 at once. Apple says that there is an hourly budget, and no number.
  public static let liveactivity = BudgetParameters(allowance: 15, burst: 5, window: .seconds(3600), minimumInterval: .zero)

  /// An estimate for a Live Activity with frequent updates, after what a device showed: 240 an hour, 60 at once.
  public static let liveactivityFrequent = BudgetParameters(allowance: 240, burst: 60, window: .seconds(3600), minimumInterval: .zero)

  /// Starts of Live Activities, as observed on devices: 10 in a day, 5 at once.
  public static let pushToStart = BudgetParameters(allowance: 10, burst: 5, window: .seconds(86_400), minimumInterval: .zero)

  /// Apple, "Pushing background updates to your App": no more than two or three an hour.
  public static let background = BudgetParameters(allowance: 3, burst: 2, window: .seconds(3600), minimumInterval: .zero)
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
    /// A reload waits, later ones merge into it; a background push waits until a newer one stands for it; an update of a Live Activity
    /// goes at priority 5; a start is ignored.
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

  /// When a push that goes at once is answered.
  public enum Answer: String, CaseIterable, Sendable {
    /// As soon as it is durable, always with 200.
    case durable
    /// When its upstream has answered it, with that status, reason and timestamp; with 200 once that takes too long.
    case upstream
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
  /// The budget of each Live Activity's updates at priority 10.
  public var liveactivity: BudgetParameters = .liveactivity
  /// The same where its registration has frequent updates.
  public var liveactivityFrequent: BudgetParameters = .liveactivityFrequent
  /// The budget of each push-to-start token.
  public var pushToStart: BudgetParameters = .pushToStart
  /// The budget of an app's background pushes, for each of its tokens.
  public var background: BudgetParameters = .background
  /// How long the first reload signal is held so that others can merge into it.
  public var coalesce: TimeSpan = .zero
  /// Pushes of priority 5 and 1 wait for the next instant that is a multiple of this since 1970, and go together; zero lets them go at once.
  public var batch: TimeSpan = .zero
  /// When a push that goes at once is answered.
  public var answer: Answer = .durable
  /// How long its upstream's answer is waited for.
  public var answerTimeout: TimeSpan = .milliseconds(3000)

  /// Whether the app may have broadcast channels: the capability of its app id.
  public var broadcast = true

  /// The defaults for an app whose pushes go to a mock device.
  public init() {}

  /// The parameters of one of the budgets.
  public subscript(budget: BudgetKind) -> BudgetParameters {
    get { self[keyPath: Self.place(of: budget)] }
    set { self[keyPath: Self.place(of: budget)] = newValue }
  }

  private static func place(of budget: BudgetKind) -> WritableKeyPath<AppPolicy, BudgetParameters> {
    switch budget {
    case .widgets: \.widgets
    case .controls: \.controls
    case .liveactivity: \.liveactivity
    case .liveactivityFrequent: \.liveactivityFrequent
    case .pushToStart: \.pushToStart
    case .background: \.background
    }
  }
}
