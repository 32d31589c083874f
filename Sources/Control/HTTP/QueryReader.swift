public import Primitives

/// Reads a query's parameters one by one, with errors that name the parameter and the right form; `finish()` refuses
/// what was not asked for.
public struct QueryReader {
  private let query: HTTPQuery
  private var known: [String] = []

  init(_ query: HTTPQuery) { self.query = query }

  /// The parameter's text, or nil when absent or empty; given twice is an error.
  public mutating func text(_ name: String) throws(ControlError) -> String? {
    known.append(name)
    let values = query.parameters.filter { $0.name == name }
    guard values.count < 2 else { throw .badRequest("\(name) is given \(values.count) times; give it once", field: name) }
    return values.first.flatMap { $0.value.isEmpty ? nil : $0.value }
  }

  /// The parameter as `parse` understands it, or nil when absent; `form` says what is right, after "must be".
  public mutating func value<Value>(_ name: String, _ form: String, _ parse: (String) -> Value?) throws(ControlError) -> Value? {
    guard let text = try text(name) else { return nil }
    guard let value = parse(text) else { throw .badRequest("\(name) must be \(form), not \"\(text)\"", field: name) }
    return value
  }

  /// One of `choices`, or nil when absent.
  public mutating func choice(_ name: String, of choices: [String]) throws(ControlError) -> String? {
    try value(name, "one of \(choices.joined(separator: ", "))") { choices.contains($0) ? $0 : nil }
  }

  /// An integer within `range`, or nil when absent.
  public mutating func integer(_ name: String, in range: ClosedRange<Int>) throws(ControlError) -> Int? {
    try value(name, "an integer from \(range.lowerBound) to \(range.upperBound)") { text in
      Int(text).flatMap { range.contains($0) ? $0 : nil }
    }
  }

  /// A length of time such as `500ms`, `10s`, `5m` or `1h`, at most `max`; nil when absent.
  public mutating func duration(_ name: String, max: TimeSpan) throws(ControlError) -> TimeSpan? {
    try value(name, "a length of time such as 500ms, 10s or 5m, at most \(durationText(max))") { text in
      parseDuration(text).flatMap { $0 <= max ? $0 : nil }
    }
  }

  /// Whether a flag is set: `1`, `true`, or the name alone; `0` and `false` clear it.
  public mutating func flag(_ name: String) throws(ControlError) -> Bool {
    let isGiven = query.parameters.contains { $0.name == name }
    return try value(name, "1 or 0") { ["1": true, "true": true, "0": false, "false": false][$0] } ?? isGiven
  }

  /// Refuses parameters that were never asked for, naming the nearest one that is known.
  public func finish() throws(ControlError) {
    for name in query.parameters.map(\.name) where !known.contains(name) {
      let hint =
        nearestName(to: name, among: known).map { "did you mean \($0)?" }
        ?? (known.isEmpty
          ? "none is known here" : known.count == 1 ? "the only one known is `\(known[0])`" : "known are \(known.joined(separator: ", "))")
      throw .badRequest("\(name) is not a known query parameter; \(hint)", field: name)
    }
  }
}

/// The length of time that `text` spells: a whole number and one of the units `ms`, `s`, `m`, `h` and `d`; nil for anything else.
public func parseDuration(_ text: String) -> TimeSpan? {
  let digits = text.prefix { $0.isASCII && $0.isNumber }
  guard let count = Int64(digits) else { return nil }
  let unit: Int64
  switch text.dropFirst(digits.count) {
  case "ms": unit = 1_000_000
  case "s": unit = 1_000_000_000
  case "m": unit = 60_000_000_000
  case "h": unit = 3_600_000_000_000
  case "d": unit = 86_400_000_000_000
  default: return nil
  }
  let (nanoseconds, overflow) = count.multipliedReportingOverflow(by: unit)
  return overflow ? nil : TimeSpan(nanoseconds: nanoseconds)
}

/// `span` as `parseDuration` reads it, in the largest unit that leaves a whole number.
func durationText(_ span: TimeSpan) -> String {
  let milliseconds = span.milliseconds
  if milliseconds % 1000 != 0 { return "\(milliseconds)ms" }
  let seconds = milliseconds / 1000
  if seconds % 60 != 0 { return "\(seconds)s" }
  return seconds % 3600 == 0 ? "\(seconds / 3600)h" : "\(seconds / 60)m"
}
