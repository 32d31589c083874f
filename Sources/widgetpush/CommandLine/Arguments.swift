import Primitives

/// A command line that was understood.
struct Arguments: Sendable {
  /// What stands without a name, in order.
  var operands: [String] = []
  /// The command after `--`; nil when there is none.
  var command: [String]?
  private var values: [String: [String]] = [:]

  mutating func add(_ value: String, to option: String) { values[option, default: []].append(value) }

  /// Whether the option was given.
  func has(_ option: String) -> Bool { values[option] != nil }

  /// The value of an option, or nil when it was not given.
  func value(_ option: String) -> String? { values[option]?.last }

  /// All values of an option that may be repeated.
  func all(_ option: String) -> [String] { values[option] ?? [] }

  /// Whether JSON was asked for.
  var wantsJSON: Bool { has(Option.json.name) }

  /// The value of an option as a whole number within `range`.
  func integer(_ option: String, in range: ClosedRange<Int64>) throws(UsageError) -> Int64? {
    guard let text = value(option) else { return nil }
    guard let number = Int64(text), range.contains(number) else {
      throw UsageError("\(option) must be a whole number from \(range.lowerBound) to \(range.upperBound), not \"\(text)\"")
    }
    return number
  }

  /// The value of an option that is one of `known`.
  func choice(_ option: String, of known: [String]) throws(UsageError) -> String? {
    guard let text = value(option) else { return nil }
    guard known.contains(text) else {
      let nearest = nearestName(to: text, among: known).map { "; did you mean \($0)?" } ?? ""
      throw UsageError("\(option) must be one of \(known.joined(separator: ", ")), not \"\(text)\"\(nearest)")
    }
    return text
  }

  /// The value of an option as a span of time: `500ms`, `10s`, `5m`, `2h`, or a number of seconds.
  func span(_ option: String) throws(UsageError) -> TimeSpan? {
    guard let text = value(option) else { return nil }
    if let span = TimeSpan(text: text) { return span }
    throw UsageError("\(option) must be a time of at most a day such as 500ms, 10s or 5m, not \"\(text)\"")
  }
}

extension TimeSpan {
  /// The span that `text` spells: `500ms`, `10s`, `5m`, `2h`, or a number of seconds, up to a day.
  init?(text: String) {
    let units: [(String, Double)] = [("ms", 0.001), ("s", 1), ("m", 60), ("h", 3600), ("", 1)]
    guard let (unit, seconds) = units.first(where: { text.hasSuffix($0.0) }), let count = Double(text.dropLast(unit.count)), count >= 0,
      count * seconds <= 86_400
    else { return nil }
    self.init(nanoseconds: Int64(count * seconds * 1e9))
  }
}

/// A command line that cannot be understood.
struct UsageError: Error, Hashable, CustomStringConvertible {
  /// What is wrong and what would be right.
  let message: String

  init(_ message: String) { self.message = message }

  var description: String { message }
}
