/// A family of counters over a fixed index space, such as answers by push type, status and reason.
///
/// A writer works out an index once, or keeps a table of them; counting itself allocates nothing.
public final class Counter: Metric {
  /// The name in `/metrics`; ends in `_total`.
  public let name: String
  /// What it counts, in one sentence.
  public let help: String
  /// The counters themselves.
  public let cells: CounterCells
  private let space: IndexSpace

  /// A family with one counter for each combination of `dimensions`, counted by `shards` loops and by anyone else.
  public init(_ name: String, help: String, dimensions: [Dimension] = [], shards: Int = 0) {
    precondition(isMetricName(name) && name.hasSuffix("_total"))
    self.name = name
    self.help = help
    space = IndexSpace(dimensions: dimensions)
    cells = CounterCells(count: space.count, shards: shards)
  }

  /// The index of one combination: the value's number in each dimension, in the order of `dimensions`.
  public func index(_ values: Int...) -> Int { space.index(values) }

  /// Adds `amount` from any thread.
  @inlinable public func add(_ amount: UInt64 = 1, at index: Int = 0) { cells.add(amount, at: index) }

  /// Adds `amount` from the thread that owns `shard`.
  @inlinable public func add(_ amount: UInt64 = 1, at index: Int = 0, shard: Int) { cells.add(amount, at: index, shard: shard) }

  /// The sum over all writers.
  public func value(at index: Int = 0) -> UInt64 { cells.sum(at: index) }

  /// Writes the family; of a family with dimensions only the combinations that have been counted, since most never occur.
  public func write(to text: inout Exposition) {
    text.begin(name, help: help, type: "counter")
    for index in 0..<cells.count {
      let value = cells.sum(at: index)
      if value > 0 || space.dimensions.isEmpty { text.sample(name, labels: space.labels(at: index), value: "\(value)") }
    }
  }
}
