public import Primitives
public import Push

/// A budget's parameters, worked out once so that a decision takes a few additions.
///
/// The budget is a generic cell rate algorithm (GCRA, ITU-T I.371): it starts with `burst` credits and gains one each
/// `interval`. The interval is chosen so that no window of `window`'s length, its ends included, ever sees more than
/// `allowance` charges: at most `burst + window / interval` fall into one, so interval = window / (allowance - burst).
public struct BudgetRule: Hashable, Sendable {
  /// The most charges in any window.
  public let allowance: Int64
  /// The most charges at once.
  public let burst: Int64
  /// How long one credit takes to come back.
  public let interval: TimeSpan
  /// The least time between two charges.
  public let minimumInterval: TimeSpan
  /// How far ahead of now the theoretical arrival time may be for one more charge.
  let tolerance: TimeSpan

  /// How long after a charge no window holds that charge any more.
  var recovery: TimeSpan { interval * max(1, allowance - burst) + TimeSpan(nanoseconds: 1) }

  /// The rule of `parameters`; values outside their bounds are moved to the nearest bound.
  ///
  /// With `burst` equal to `allowance` nothing may come back within a window, so a credit takes just longer than one.
  public init(_ parameters: BudgetParameters) {
    allowance = max(1, parameters.allowance)
    burst = min(max(1, parameters.burst), allowance)
    let window = max(1, parameters.window.nanoseconds)
    let steady = allowance - burst
    let nanoseconds = steady == 0 ? window.saturatingAdd(1) : (window - 1) / steady + 1
    interval = TimeSpan(nanoseconds: nanoseconds)
    minimumInterval = max(.zero, parameters.minimumInterval)
    tolerance = interval * (burst - 1)
  }

  private init(_ rule: BudgetRule, minimumInterval: TimeSpan) {
    allowance = rule.allowance
    burst = rule.burst
    interval = rule.interval
    tolerance = rule.tolerance
    self.minimumInterval = minimumInterval
  }

  /// The same rule with another least time between charges, as a registration may ask for.
  public func with(minimumInterval: TimeSpan) -> BudgetRule { BudgetRule(self, minimumInterval: max(.zero, minimumInterval)) }
}
