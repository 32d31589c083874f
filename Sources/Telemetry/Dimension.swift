/// One axis of a metric: the label texts that it can take, numbered from zero.
///
/// The values are fixed when the metric is made. That keeps its series bounded, and keeps anything a peer chose, above
/// all a push token, out of the labels.
public struct Dimension: Sendable {
  /// The text of each value as it stands between the braces, such as `status="400",reason="BadTopic"`.
  let labels: [String]

  /// How many values there are.
  public var count: Int { labels.count }

  /// An axis of one label with these values.
  public init(_ name: String, _ values: [String]) {
    self.init([name], values.map { [$0] })
  }

  /// An axis of labels that belong together, such as a status with its reason; each row holds one value for each name.
  public init(_ names: [String], _ rows: [[String]]) {
    precondition(!rows.isEmpty && names.allSatisfy(isMetricName))
    labels = rows.map { row in
      precondition(row.count == names.count)
      return zip(names, row).map { "\($0)=\"\(escapedLabelValue($1))\"" }.joined(separator: ",")
    }
  }
}

/// The index space of a metric: every combination of its dimensions, the last one changing fastest.
struct IndexSpace: Sendable {
  let dimensions: [Dimension]

  var count: Int { dimensions.reduce(1) { $0 * $1.count } }

  func index(_ values: [Int]) -> Int {
    precondition(values.count == dimensions.count, "one value for each dimension")
    var index = 0
    for (value, dimension) in zip(values, dimensions) {
      precondition(value >= 0 && value < dimension.count)
      index = index * dimension.count + value
    }
    return index
  }

  /// The labels of combination `index`, without braces; empty when there are no dimensions.
  func labels(at index: Int) -> String {
    var rest = index
    var parts: [String] = []
    for dimension in dimensions.reversed() {
      parts.append(dimension.labels[rest % dimension.count])
      rest /= dimension.count
    }
    return parts.reversed().joined(separator: ",")
  }
}

/// Whether `name` may name a metric or a label in Prometheus's text format: a letter or underscore, then digits too.
func isMetricName(_ name: String) -> Bool {
  guard let first = name.utf8.first, !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else { return false }
  return name.utf8.allSatisfy { byte in
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: "_"):
      true
    default: false
    }
  }
}

/// `text` as a label value: backslash, quote and line feed escaped.
func escapedLabelValue(_ text: String) -> String {
  var escaped = ""
  for scalar in text.unicodeScalars {
    switch scalar {
    case "\\": escaped += "\\\\"
    case "\"": escaped += "\\\""
    case "\n": escaped += "\\n"
    default: escaped.unicodeScalars.append(scalar)
    }
  }
  return escaped
}
