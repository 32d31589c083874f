import Primitives

/// How a reload is spread over time: evenly, from the instant at which it begins or goes on.
///
/// What remains after a restart takes its share of the whole span, so that nothing is made up for in a burst; and the next goes no sooner
/// than it would have gone.
struct ReloadPace: Hashable {
  private let total: Int
  private let spread: TimeSpan
  private let origin: Instant
  private let base: Int

  /// Pushes that are sent less than this apart go in one slice.
  static let sliceInterval = TimeSpan.milliseconds(100)

  /// A pace for `total` tokens within `spread`, of which `visited` are done, and the next goes at `now`.
  init(total: Int, spread: TimeSpan, visited: Int, at now: Instant) {
    self.total = max(total, 1)
    self.spread = max(spread, .zero)
    origin = now
    base = visited
  }

  /// When the token after the first `visited` may go; tokens beyond the total go with the last.
  func due(after visited: Int) -> Instant {
    let part = Double(max(0, min(visited, total) - base)) / Double(total)
    return origin + TimeSpan(nanoseconds: Int64((Double(spread.nanoseconds) * part).rounded(.down)))
  }

  /// How many tokens go together, at most `limit`.
  func slice(limit: Int) -> Int {
    guard spread > .zero else { return limit }
    let count = Double(total) * Double(Self.sliceInterval.nanoseconds) / Double(spread.nanoseconds)
    return max(1, Int(min(count, Double(limit))))
  }
}
