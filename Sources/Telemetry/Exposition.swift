/// Anything that `/metrics` shows.
public protocol Metric: Sendable {
  /// Writes its name, help, type and samples.
  func write(to text: inout Exposition)
}

/// Text in Prometheus's exposition format, version 0.0.4.
public struct Exposition: Sendable {
  /// The media type of the text.
  public static let contentType = "text/plain; version=0.0.4; charset=utf-8"

  /// What has been written.
  public private(set) var text = ""

  /// The text of `metrics`, in their order.
  public static func text(of metrics: [any Metric]) -> String {
    var exposition = Exposition()
    for metric in metrics { metric.write(to: &exposition) }
    return exposition.text
  }

  /// Begins a family.
  mutating func begin(_ name: String, help: String, type: String) {
    text += "# HELP \(name) \(Self.escapedHelp(help))\n# TYPE \(name) \(type)\n"
  }

  /// Adds one sample; `labels` stand between the braces.
  mutating func sample(_ name: String, labels: String, value: String) {
    text += labels.isEmpty ? "\(name) \(value)\n" : "\(name){\(labels)} \(value)\n"
  }

  /// A number in the format's spelling.
  static func number(_ value: Double) -> String {
    if value.isNaN { return "NaN" }
    if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
    if let whole = Int64(exactly: value) { return "\(whole)" }
    return "\(value)"
  }

  private static func escapedHelp(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": escaped += "\\\\"
      case "\n": escaped += "\\n"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}
