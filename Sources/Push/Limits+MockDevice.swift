// Bounds of a mock device.
extension Limits {
  /// Entries of a device's event log; the oldest go first.
  public static let deviceLogEntries = 10_000
  /// Devices one mock process hosts, not counting those that exist only as the token they were made for; the oldest of those that
  /// nobody has set up make room for others.
  public static let devices = 10_000
  /// Push tokens one mock process knows, about 250 bytes each; the oldest that nothing on a device owns are forgotten first.
  public static let deviceTokens = 1_000_000
  /// Apps on one mock device.
  public static let appsPerDevice = 64
  /// Controls of one app on one mock device.
  public static let controlsPerApp = 64
  /// Tokens of one app on one mock device that somebody else registered, beside those that it asked for itself.
  public static let otherTokensPerApp = 64
  /// Live Activities of one app that run at once; Apple lets the number depend on the device, about 5 have been seen.
  public static let activitiesPerApp = 32
  /// Ended Live Activities of one app that are still shown; the oldest go first.
  public static let endedActivitiesPerApp = 32
  /// Bytes of an activity's attributes and content-state as JSON, both together (Apple, "Displaying live data with Live Activities").
  public static let activityBytes = 4096
  /// Bytes of the name of a mock device, widget, control or activity.
  public static let deviceNameBytes = 128
  /// Bytes of a bundle id (App Store Connect allows 155 characters).
  public static let bundleIDBytes = 155
  /// Bytes of the `widgetpush-outcome` header; a longer detail is cut.
  public static let outcomeHeaderBytes = 512
  /// `wait=` calls open at once on a mock device.
  public static let deviceWaiters = 256
  /// Pushes that a mock device holds while it asks the gateway about their tokens; further ones are taken without asking.
  public static let heldPushes = 1024
  /// Milliseconds for which each is held at most: well within what a gateway waits for an answer.
  public static let heldPushMilliseconds: Int64 = 2000
  /// Pushes at once, and then each second, for which the gateway is asked again about tokens that somebody else registered: enough for
  /// people and tests to see each change at once, and few beside the pushes of a load test.
  public static let tokenQuestions: (atOnce: Int, eachSecond: Int) = (1024, 100)
  /// Milliseconds for which a gateway that keeps pushes waiting in vain is not asked again about tokens that are known.
  public static let tokenQuestionPauseMilliseconds: Int64 = 5000
  /// First and longest delay between attempts of a mock device to register a token, or to find its gateway, in milliseconds.
  public static let registerRetryMilliseconds: (first: Int64, longest: Int64) = (100, 5000)
  /// Milliseconds for which a connection to the gateway stays open after the last call.
  public static let registrarIdleMilliseconds: Int64 = 200
  /// Notifications that the mock devices together remember to show; the oldest leave first.
  public static let deviceNotifications = 256
  /// Milliseconds one registration call to the gateway may take.
  public static let registerMilliseconds: Int64 = 10_000
}
