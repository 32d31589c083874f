/// Notices that the machine's clock was set: compared with the steady one it has leapt between two looks.
///
/// A clock that runs a little too fast or too slow, as it does while it is being corrected, leaps by next to nothing between two looks.
public struct ClockWatch: Sendable {
  private let threshold: TimeSpan
  /// How far the machine's clock was ahead of the steady one at the last look.
  private var ahead: TimeSpan?

  /// A watch that tells of leaps of more than `threshold`, either way.
  public init(threshold: TimeSpan) { self.threshold = threshold }

  /// How far the clock was set ahead since the last look, or back where it is negative; nil when it was not, or not by much.
  public mutating func look(at moment: Moment) -> TimeSpan? {
    let before = ahead
    ahead = moment.real - moment.steady
    guard let before, let ahead else { return nil }
    let leap = ahead - before
    return leap > threshold || TimeSpan.zero - leap > threshold ? leap : nil
  }

  /// What was done to the machine's clock, for people: `set back by 3600 s`.
  public static func text(of leap: TimeSpan) -> String {
    // To the nearest: the two clocks are never read at the same moment.
    let seconds = (leap.nanoseconds.magnitude + 500_000_000) / 1_000_000_000
    return "set \(leap < .zero ? "back" : "ahead") by \(seconds) s"
  }
}
