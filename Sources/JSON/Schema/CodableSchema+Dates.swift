import Primitives

/// Seconds from the Unix epoch to 2001-01-01 UTC, where Swift's `Date` counts from.
private let referenceDateSeconds: Int64 = 978_307_200
/// How far from now a date is expected to be, in seconds.
private let nearSeconds: Double = 10 * 365 * 86_400

extension CodableSchema.DateForm {
  /// What a value must be.
  var sentence: String {
    switch self {
    case .date2001: "a number of seconds since 2001-01-01 UTC, as Swift's Date decodes by default"
    case .unix: "a Unix time: a number of seconds since 1970-01-01 UTC"
    case .unixMilliseconds: "a number of milliseconds since 1970-01-01 UTC"
    case .dateTime: "a date of ISO 8601"
    }
  }

  /// The right number for a date that is written as a string; nil where it is none.
  func rewritten(_ value: JSONValue) -> String? {
    value.stringValue.flatMap { Instant(rfc3339: $0) }.map { "\(number($0.unixSeconds))" }
  }

  /// What this form writes for a Unix time in seconds.
  private func number(_ unixSeconds: Int64) -> Int64 {
    switch self {
    case .date2001: unixSeconds - referenceDateSeconds
    case .unixMilliseconds: unixSeconds * 1000
    case .unix, .dateTime: unixSeconds
    }
  }

  /// The time, in this form.
  func sample(now: Instant) -> JSONValue {
    self == .dateTime ? .string("\(Instant(unixSeconds: now.unixSeconds))") : .integer(number(now.unixSeconds))
  }

  /// A number that decodes, but near now only when it is read in another form.
  func oddity(_ value: JSONValue, at path: String, now: Instant) -> CodableMismatch? {
    guard self != .dateTime, let number = value.doubleValue else { return nil }
    func isNear(_ unixSeconds: Double) -> Bool { abs(unixSeconds - Double(now.unixSeconds)) < nearSeconds }
    guard self == .date2001 || !isNear(self == .unix ? number : number / 1000) else { return nil }
    let forms: [(CodableSchema.DateForm, name: String, unixSeconds: Double)] = [
      (.unix, "a Unix time", number), (.unixMilliseconds, "a Unix time in milliseconds", number / 1000),
      (.date2001, "a number of seconds since 2001", number + Double(referenceDateSeconds)),
    ]
    guard let (form, name, seconds) = forms.first(where: { $0.0 != self && isNear($0.unixSeconds) }) else { return nil }
    let right = self.number(Int64(seconds))
    let message =
      switch (self, form) {
      case (.date2001, .unix):
        "\(name); Swift's Date shows \(Instant(unixSeconds: Int64(seconds) + referenceDateSeconds).description.prefix(4)), send \(right)"
      case (.date2001, _): "\(name); Swift's Date shows a year past \(Int(number / (366 * 86_400)) / 1000 * 1000), send \(right)"
      default: "\(name), and must be \(sentence); send \(right)"
      }
    return CodableMismatch(path: path, message: "\(path) is \(message)", consequence: .misreads)
  }
}

/// Dates as strings.
enum DateText {
  /// Whether `JSONDecoder`'s strategy `iso8601` takes it: date and time with an offset, without fractions of a second.
  static func isDateTime(_ text: String) -> Bool {
    !text.utf8.contains { [UInt8(ascii: "."), UInt8(ascii: "t"), UInt8(ascii: "z")].contains($0) } && text.utf8.count > 10
      && Instant(rfc3339: text) != nil
  }

  /// The string for a date that is written as a Unix time, or with what the strategy does not take; nil where it is none.
  static func rewritten(_ value: JSONValue) -> String? {
    if let instant = value.stringValue.flatMap({ Instant(rfc3339: $0) }) { return "\"\(Instant(unixSeconds: instant.unixSeconds))\"" }
    guard let number = value.doubleValue, abs(number) < 1e11 else { return nil }
    return "\"\(Instant(unixSeconds: Int64(number)))\""
  }
}
