// The bounds of what the gateway does of its own accord.
extension Limits {
  // MARK: Reloads

  /// Reloads that run at once, of which an app has its share; a further one is answered 429.
  public static let reloadsRunning = 64
  /// Reloads that are remembered, with their keys; the oldest that do not run are forgotten first. Below 1 KB each, unless they name
  /// many users or devices.
  public static let reloadsRemembered = 1000
  /// Names of one kind (kinds, controls, users, devices) that a reload may list.
  public static let reloadNames = 1000
  /// Bytes of the names that all reloads list which are remembered; beyond, the oldest that do not run are forgotten sooner.
  public static let reloadNameBytes = 64 << 20
  /// Longest time over which a reload may be spread, in seconds: a day.
  public static let reloadSpreadSeconds: Int64 = 86_400
  /// Bytes of an `Idempotency-Key`.
  public static let idempotencyKeyBytes = 255
  /// Registrations that one page of a reload looks at, beside the store thread: a millisecond.
  public static let reloadRows = 1024
  /// Pushes that are made for reloads between two rounds of the store, below a millisecond of its thread.
  public static let reloadSlice = 256
  /// Pushes of reloads that are on their way to upstreams; what comes from providers is then never far behind.
  public static let reloadPushesForwarding = 2048
  /// Pushes of reloads that have not ended, most of which wait for budget, about 500 bytes each; beyond, reloads go on as those end.
  public static let reloadPushesOpen = 131_072
  /// Dry runs of reloads at once; each looks at every registration.
  public static let reloadForecasts = 4

  // MARK: Activities by name

  /// Activities by name, ended ones that are remembered included; for a new one the oldest of those that are over is forgotten.
  public static let namedActivities = 20_000
  /// Activities that are over and are found at once, when one has to make room: looking for them goes over all.
  public static let activitiesForgotten = 64
  /// Bytes of their attributes, content-states and alerts, all together.
  public static let namedActivityBytes = 64 << 20
  /// Devices that show one of them.
  public static let activityDevices = 16
  /// Pushes that are remembered of each.
  public static let activityPushes = 16
  /// Registrations of a user or a device that are looked at for one.
  public static let activityRegistrations = 200
  /// Seconds after which a push of theirs that could not be taken in is made again.
  public static let activityRetrySeconds: Int64 = 5
}
