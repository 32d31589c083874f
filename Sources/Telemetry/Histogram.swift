public import Primitives

/// A family of distributions of time, in buckets with fixed upper bounds.
///
/// Stored per combination: one cell for each bucket, one for what is above all bounds, and the sum in nanoseconds
/// (which wraps after 584 years of observed time).
public final class Histogram: Metric {
  /// The name in `/metrics`; ends in `_seconds`.
  public let name: String
  /// What it measures, in one sentence.
  public let help: String
  /// The buckets' upper bounds, ascending and inclusive.
  public let bounds: [TimeSpan]
  private let space: IndexSpace
  private let cells: CounterCells
  private var width: Int { bounds.count + 2 }

  /// From 100 µs to 10 s, in steps of 2 to 2.5: fits answers that wait for a disk as well as ones that wait for a network.
  public static let latencyBounds: [TimeSpan] = [
    100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000, 25_000_000, 50_000_000, 100_000_000, 250_000_000,
    500_000_000, 1_000_000_000, 2_500_000_000, 5_000_000_000, 10_000_000_000,
  ].map { TimeSpan(nanoseconds: $0) }

  /// A family with one distribution for each combination of `dimensions`, observed by `shards` loops and by anyone else.
  public init(
    _ name: String, help: String, dimensions: [Dimension] = [], bounds: [TimeSpan] = Histogram.latencyBounds, shards: Int = 0
  ) {
    precondition(isMetricName(name) && name.hasSuffix("_seconds"))
    precondition(!bounds.isEmpty && zip(bounds, bounds.dropFirst()).allSatisfy { $0 < $1 })
    self.name = name
    self.help = help
    self.bounds = bounds
    space = IndexSpace(dimensions: dimensions)
    cells = CounterCells(count: space.count * (bounds.count + 2), shards: shards)
  }

  /// The index of one combination: the value's number in each dimension, in the order of `dimensions`.
  public func index(_ values: Int...) -> Int { space.index(values) }

  /// Records one time from the thread that owns `shard`; a negative one, after a clock stepped back, counts as zero.
  public func observe(_ time: TimeSpan, at index: Int = 0, shard: Int) {
    cells.add(1, at: index * width + bucket(of: time), shard: shard)
    cells.add(UInt64(max(0, time.nanoseconds)), at: index * width + bounds.count + 1, shard: shard)
  }

  /// Records one time from any thread.
  public func observe(_ time: TimeSpan, at index: Int = 0) {
    cells.add(1, at: index * width + bucket(of: time))
    cells.add(UInt64(max(0, time.nanoseconds)), at: index * width + bounds.count + 1)
  }

  /// How many times were recorded.
  public func count(at index: Int = 0) -> UInt64 {
    (0...bounds.count).reduce(0) { $0 &+ cells.sum(at: index * width + $1) }
  }

  /// Writes the cumulative buckets, the sum in seconds and the count of each combination that was observed.
  public func write(to text: inout Exposition) {
    text.begin(name, help: help, type: "histogram")
    for index in 0..<space.count {
      let buckets = (0...bounds.count).map { cells.sum(at: index * width + $0) }
      guard space.dimensions.isEmpty || buckets.contains(where: { $0 > 0 }) else { continue }
      let labels = space.labels(at: index)
      let prefix = labels.isEmpty ? "" : labels + ","
      var below: UInt64 = 0
      for (bucket, count) in buckets.enumerated() {
        below &+= count
        let bound = bucket < bounds.count ? Exposition.number(bounds[bucket].seconds) : "+Inf"
        text.sample("\(name)_bucket", labels: "\(prefix)le=\"\(bound)\"", value: "\(below)")
      }
      let sum = TimeSpan(nanoseconds: Int64(clamping: cells.sum(at: index * width + bounds.count + 1)))
      text.sample("\(name)_sum", labels: labels, value: Exposition.number(sum.seconds))
      text.sample("\(name)_count", labels: labels, value: "\(below)")
    }
  }

  private func bucket(of time: TimeSpan) -> Int {
    for bucket in bounds.indices where time <= bounds[bucket] { return bucket }
    return bounds.count
  }
}
