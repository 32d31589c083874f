// Bounds of moving the product's clock.
extension Limits {
  /// Seconds by which the machine's clock must have been set, either way, to be told of: less is a correction that changes nothing for
  /// anybody.
  public static let clockLeapSeconds: Int64 = 60
  /// How far the product's clock may be moved ahead of the machine's, in days: ten years, far from where instants end.
  public static let clockAheadDays: Int64 = 3653
  /// Milliseconds for which moving the clock waits until all that became due is done.
  public static let clockMilliseconds: Int64 = 10_000
  /// Milliseconds that a mock device has to answer a call about its clock, which may itself wait for so long and a little more.
  public static let deviceClockMilliseconds = clockMilliseconds + 2000
  /// Milliseconds between two looks at a mock device that still has something to do.
  public static let deviceClockPauseMilliseconds: Int64 = 20
  /// Calls that may wait for their turn to move the clock.
  public static let clockCalls = 64
  /// Pushes that are listed of those that are still on their way when the clock has been moved.
  public static let outstandingListed = 20
}
