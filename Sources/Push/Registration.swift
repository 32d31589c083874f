public import Primitives

/// A push token with what is known of it.
public struct Registration: Hashable, Sendable {
  /// One placed widget.
  public struct Widget: Hashable, Sendable {
    /// The placed instance, where the app tells them apart.
    public var id: String?
    /// The widget's `kind` string.
    public var kind: String
    /// The widget family, such as `systemSmall`.
    public var family: String

    /// A widget with these values.
    public init(id: String? = nil, kind: String, family: String) {
      self.id = id
      self.kind = kind
      self.family = family
    }
  }

  /// One Live Activity.
  public struct Activity: Hashable, Sendable {
    /// The activity's identifier on the device.
    public var id: String
    /// The name of the Swift type of its attributes.
    public var attributesType: String

    /// An activity with these values.
    public init(id: String, attributesType: String) {
      self.id = id
      self.attributesType = attributesType
    }
  }

  /// A budget's parameters where they are not the app's.
  public struct Budget: Hashable, Sendable {
    /// The most credits any window may spend.
    public var allowance: Int64?
    /// How many of them at once.
    public var burst: Int64?
    /// The window's length.
    public var window: TimeSpan?

    /// Parameters; those that are nil stay the app's.
    public init(allowance: Int64? = nil, burst: Int64? = nil, window: TimeSpan? = nil) {
      self.allowance = allowance
      self.burst = burst
      self.window = window
    }

    /// The app's parameters with these; an app's burst is lowered to the allowance.
    public func applied(to app: BudgetParameters) -> BudgetParameters {
      var budget = app
      budget.allowance = allowance ?? app.allowance
      budget.burst = min(burst ?? app.burst, budget.allowance)
      budget.window = window ?? app.window
      return budget
    }
  }

  /// The token.
  public var token: DeviceToken
  /// What it names.
  public var kind: TokenKind
  /// The app's bundle id.
  public var bundleID: String
  /// The APNs environment it belongs to.
  public var environment: PushEnvironment
  /// The upstream's name; nil means the app's upstream for the environment.
  public var upstream: String?
  /// The device's name, where known.
  public var device: String?
  /// The user's name, where known.
  public var user: String?
  /// The platform, the name of a `Platform`.
  public var platform: String?
  /// The placed widgets of a `widgets` token, at most `Limits.widgetsPerRegistration`.
  public var widgets: [Widget] = []
  /// The kind of a `controls` token's control.
  public var controlKind: String?
  /// The activity of a `liveactivity` token.
  public var activity: Activity?
  /// Whether the app has frequent updates enabled.
  public var frequentUpdates = false
  /// Whether the device ignores reload budgets (WidgetKit Developer Mode).
  public var developerMode = false
  /// Replaces the app's minimum interval.
  public var minimumInterval: TimeSpan?
  /// Replaces the app's coalescing time.
  public var coalesce: TimeSpan?
  /// Replaces parameters of the app's budget.
  public var budget: Budget?
  /// When nothing is reloaded.
  public var quietHours: QuietHours?

  /// Whether reloads cost nothing there: pushes and reloads were observed to be free on macOS.
  public var isUnmetered: Bool { platform == Platform.macOS.rawValue && (kind == .widgets || kind == .controls) }

  /// A registration with the required values.
  public init(token: DeviceToken, kind: TokenKind, bundleID: String, environment: PushEnvironment) {
    self.token = token
    self.kind = kind
    self.bundleID = bundleID
    self.environment = environment
  }
}
