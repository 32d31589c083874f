public import Primitives
public import Push

/// What a person can set on a device.
public struct DeviceSettings: Hashable, Sendable {
  /// The platform, such as `iOS`.
  public var platform = "iOS"
  /// The APNs environment of its apps: `development` as installed by Xcode.
  public var environment = PushEnvironment.development
  /// Whose device it is, where backends ask for reloads by user.
  public var user: String?
  /// WidgetKit Developer Mode, which lifts reload budgets.
  public var developerMode = false

  /// An iOS device of nobody in particular with apps from Xcode.
  public init() {}
}

/// One device with its apps.
struct Device: Sendable {
  let name: String
  var settings: DeviceSettings
  var apps: [App] = []
  /// Whether it was made for a token that somebody registered, and nobody has set it up since.
  var isAdopted = false
  /// Counts the adopted devices; the first ones go first where there are too many.
  var adoption: UInt64 = 0

  init(name: String, settings: DeviceSettings, apps: [App] = []) {
    self.name = name
    self.settings = settings
    self.apps = apps
  }

  func index(of bundleID: String) -> Int? { apps.firstIndex { $0.bundleID == bundleID } }

  /// Whether any app has a widget or a control of that id.
  func has(itemID: String) -> Bool { apps.contains { $0.has(itemID: itemID) } }

  /// Whether somebody who sees these apps sees the device: unless it has apps, and all of them are others'.
  func isShown(to sees: (String) -> Bool) -> Bool { apps.isEmpty || apps.contains { sees($0.bundleID) } }
}

/// One installed app with what a person has placed of it.
struct App: Sendable {
  let bundleID: String
  var manifest: AppManifest
  /// Whether it is there for registered tokens alone: nobody has installed it.
  var isAdopted = false
  /// The token of the app itself, for alerts; nil for an app that was made for a token of another kind.
  var appToken: DeviceToken?
  /// The token that starts activities.
  var pushToStartToken: DeviceToken?
  /// The token of the widget extension, from the first placed push-enabled widget on.
  var widgetsToken: DeviceToken?
  var widgets: [PlacedWidget] = []
  var controls: [PlacedControl] = []
  /// Running and ended activities, oldest first.
  var activities: [HostedActivity] = []
  /// How many activities were ever started; names the next one.
  var activitiesStarted = 0
  var alerts = Reloads()
  /// Background pushes.
  var wakes = Reloads()
  /// What it asked for besides, as its manifest declares it.
  var handlers: [PushHandler] = []
  /// Tokens that somebody registered for it besides: of widgets, which name them, or where its own place is taken.
  var others: [DeviceToken] = []

  /// An app of that id.
  init(bundleID: String, manifest: AppManifest) {
    self.bundleID = bundleID
    self.manifest = manifest
  }

  /// Whether it has a widget or a control of that id. Ids are an app's own: another app's would tell what that has.
  func has(itemID: String) -> Bool { widgets.contains { $0.id == itemID } || controls.contains { $0.id == itemID } }

  /// Whether any push-enabled widget is reloaded by that token.
  func hasPushEnabledWidget(of token: DeviceToken) -> Bool {
    widgets.contains { $0.pushEnabled && ($0.token ?? widgetsToken) == token }
  }
}

/// What takes the pushes of one type in an app's own code: VoIP, the File Provider extension and the like.
struct PushHandler: Sendable {
  let kind: TokenKind
  var token: DeviceToken
  var pushes = Reloads()
}

/// How often something was done for a push, and the last time.
public struct Reloads: Hashable, Sendable {
  /// How often.
  public internal(set) var count: UInt32 = 0
  /// When it was last done.
  public internal(set) var last: Instant?
  /// The `apns-id` of the push that was last.
  public internal(set) var lastPush: PushID?

  mutating func add(_ push: PushID, at now: Instant) {
    count &+= 1
    last = now
    lastPush = push
  }
}

/// One widget on the Home Screen.
public struct PlacedWidget: Hashable, Sendable {
  /// The instance's name, unique among those that the app has on its device.
  public let id: String
  /// The `kind` string.
  public let kind: String
  /// The family it was placed in.
  public let family: WidgetFamily
  /// Whether a widgets push reloads it.
  public internal(set) var pushEnabled: Bool
  /// The token that it is reloaded by, where somebody registered another than the widget extension's.
  var token: DeviceToken?
  /// Whether only its token's registration tells of it; whoever then places one like it means this one.
  var isRemembered = false
  /// Its reloads.
  public internal(set) var reloads = Reloads()
}

/// One control in Control Center.
public struct PlacedControl: Hashable, Sendable {
  /// The instance's name, unique among those that the app has on its device.
  public let id: String
  /// The `kind` string.
  public let kind: String
  /// Its own push token.
  public internal(set) var token: DeviceToken
  /// Whether only its token's registration tells of it; whoever then places one like it means this one.
  var isRemembered = false
  /// How often its value was asked for again.
  public internal(set) var reloads = Reloads()
}

/// One Live Activity with the token that updates it.
struct HostedActivity: Sendable {
  let id: String
  /// What updates it, unless it follows a channel; then nobody outside knows the token.
  var token: DeviceToken
  var activity: LiveActivity
  /// The channel that it follows in place of a token.
  var channel: ChannelID?
  /// Whether there is such a channel.
  var channelCheck = ChannelCheck.unchecked
  /// Whether only its token's registration tells of it; whoever then starts one of that name means this one.
  var isRemembered = false
}

/// Whether the gateway has the channel that an activity follows; an activity whose channel it does not have does not run.
public enum ChannelCheck: Hashable, Sendable {
  /// It is being asked.
  case pending
  /// It has it.
  case known
  /// It could not be asked, or does not tell.
  case unchecked
  /// It does not have it, as the sentence says.
  case unknown(String)

  /// The name used in JSON.
  public var name: String {
    switch self {
    case .pending: "pending"
    case .known: "known"
    case .unchecked: "unchecked"
    case .unknown: "unknown"
    }
  }
}
