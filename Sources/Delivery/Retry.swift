public import Primitives

/// The delay between attempts: doubled by each failure up to a longest one, half of it drawn at random so that what
/// failed together does not come back together.
public struct Retry: Hashable, Sendable {
  /// The delay after the first failure, before the draw.
  public var first: TimeSpan
  /// The longest delay.
  public var longest: TimeSpan

  /// Delays from `first` to `longest`.
  public init(first: TimeSpan, longest: TimeSpan) {
    precondition(first > .zero && longest >= first)
    self.first = first
    self.longest = longest
  }

  /// Delays that begin with one to two times `span`, for what must not come back sooner.
  public init(notBefore span: TimeSpan) { self.init(first: span * 2, longest: span * 16) }

  /// The delay after `failures` failures in a row, at least 1: between half of the full delay and all of it.
  public func delay(afterFailures failures: Int, using generator: inout some RandomNumberGenerator) -> TimeSpan {
    let full = min(first * (1 << Int64(min(max(failures, 1) - 1, 40))), longest).nanoseconds
    return TimeSpan(nanoseconds: full - Int64.random(in: 0...full / 2, using: &generator))
  }
}
