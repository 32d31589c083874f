import Glibc
public import Primitives

/// How long a fault holds a push back.
public enum FaultLatency: Hashable, Sendable {
  /// Always so long.
  case fixed(TimeSpan)
  /// Anything between the two, each as likely.
  case uniform(from: TimeSpan, to: TimeSpan)
  /// Log-normal, as latencies of networks are: half are below `median`, and one in a hundred is above `p99`.
  case logNormal(median: TimeSpan, p99: TimeSpan)

  /// The next delay, never more than `longest`; draws nothing where there is nothing to choose.
  public func draw(longest: TimeSpan, using generator: inout SplitMix64) -> TimeSpan {
    switch self {
    case .fixed(let span): return min(span, longest)
    case .uniform(let from, let to):
      return min(TimeSpan(nanoseconds: Int64.random(in: from.nanoseconds...to.nanoseconds, using: &generator)), longest)
    case .logNormal(let median, let p99):
      // Box and Muller's normal variable; 2.326 is the normal quantile of 0.99.
      let (u, v) = (1 - Double.random(in: 0..<1, using: &generator), Double.random(in: 0..<1, using: &generator))
      let normal = (-2 * log(u)).squareRoot() * cos(2 * .pi * v)
      let sigma = log(p99.seconds / median.seconds) / 2.326_347_874
      let seconds = median.seconds * exp(sigma * normal)
      return seconds >= longest.seconds ? longest : TimeSpan(nanoseconds: Int64(seconds * 1e9))
    }
  }
}
