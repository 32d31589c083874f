/// A family of values that are read when somebody asks, such as how many pushes wait.
public final class Gauge: Metric {
  private let reading: Reading

  /// A single value.
  public init(_ name: String, help: String, read: @escaping @Sendable () -> Double) {
    reading = Reading(name, help, nil) { [read()] }
  }

  /// One value for each value of `dimension`; `read` returns exactly as many.
  public init(_ name: String, help: String, dimension: Dimension, read: @escaping @Sendable () -> [Double]) {
    reading = Reading(name, help, dimension, read)
  }

  /// Reads the values and writes them.
  public func write(to text: inout Exposition) { reading.write(to: &text, type: "gauge") }
}

/// A family of counts that somebody else keeps, read when somebody asks; each only ever grows.
public final class CounterReading: Metric {
  private let reading: Reading

  /// A single count; the name ends in `_total`.
  public init(_ name: String, help: String, read: @escaping @Sendable () -> UInt64) {
    precondition(name.hasSuffix("_total"))
    reading = Reading(name, help, nil) { [Double(read())] }
  }

  /// One count for each value of `dimension`; `read` returns exactly as many, and the name ends in `_total`.
  public init(_ name: String, help: String, dimension: Dimension, read: @escaping @Sendable () -> [UInt64]) {
    precondition(name.hasSuffix("_total"))
    reading = Reading(name, help, dimension) { read().map { Double($0) } }
  }

  /// Reads the counts and writes them.
  public func write(to text: inout Exposition) { reading.write(to: &text, type: "counter") }
}

/// What families that are read have in common.
private struct Reading: Sendable {
  let name: String
  let help: String
  let dimension: Dimension?
  let read: @Sendable () -> [Double]

  init(_ name: String, _ help: String, _ dimension: Dimension?, _ read: @escaping @Sendable () -> [Double]) {
    precondition(isMetricName(name))
    self.name = name
    self.help = help
    self.dimension = dimension
    self.read = read
  }

  func write(to text: inout Exposition, type: String) {
    let values = read()
    precondition(values.count == dimension?.count ?? 1, "\(name) reads another number of values than it has labels")
    text.begin(name, help: help, type: type)
    for (index, value) in values.enumerated() {
      text.sample(name, labels: dimension?.labels[index] ?? "", value: Exposition.number(value))
    }
  }
}
