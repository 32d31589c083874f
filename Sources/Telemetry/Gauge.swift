/// A family of values that are read when somebody asks, such as how many pushes wait.
public final class Gauge: Metric {
  /// The name in `/metrics`.
  public let name: String
  /// What it measures and in which unit, in one sentence.
  public let help: String
  private let dimension: Dimension?
  private let read: @Sendable () -> [Double]

  /// A single value.
  public init(_ name: String, help: String, read: @escaping @Sendable () -> Double) {
    precondition(isMetricName(name))
    self.name = name
    self.help = help
    dimension = nil
    self.read = { [read()] }
  }

  /// One value for each value of `dimension`; `read` returns exactly as many.
  public init(_ name: String, help: String, dimension: Dimension, read: @escaping @Sendable () -> [Double]) {
    precondition(isMetricName(name))
    self.name = name
    self.help = help
    self.dimension = dimension
    self.read = read
  }

  /// Reads the values and writes them.
  public func write(to text: inout Exposition) {
    let values = read()
    precondition(values.count == dimension?.count ?? 1, "\(name) reads another number of values than it has labels")
    text.begin(name, help: help, type: "gauge")
    for (index, value) in values.enumerated() {
      text.sample(name, labels: dimension?.labels[index] ?? "", value: Exposition.number(value))
    }
  }
}
