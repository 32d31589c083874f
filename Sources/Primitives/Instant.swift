/// A span of time in whole nanoseconds; may be negative.
public struct TimeSpan: Hashable, Comparable, Sendable {
  /// The length in nanoseconds.
  public var nanoseconds: Int64

  /// A span of `nanoseconds`.
  @inlinable public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// No time at all.
  public static let zero = TimeSpan(nanoseconds: 0)

  /// A span of whole seconds, saturating at about 292 years.
  @inlinable public static func seconds(_ count: Int64) -> TimeSpan {
    TimeSpan(nanoseconds: count.saturatingMultiply(1_000_000_000))
  }

  /// A span of whole milliseconds, saturating at about 292 years.
  @inlinable public static func milliseconds(_ count: Int64) -> TimeSpan {
    TimeSpan(nanoseconds: count.saturatingMultiply(1_000_000))
  }

  /// The whole milliseconds in the span, rounded towards zero.
  @inlinable public var milliseconds: Int64 { nanoseconds / 1_000_000 }

  /// The whole seconds that the span fits into: rounded up.
  public var secondsRoundedUp: Int64 { -Int64(0).saturatingSubtract(nanoseconds).floorDivide(1_000_000_000) }

  /// The span in seconds.
  @inlinable public var seconds: Double { Double(nanoseconds) / 1e9 }

  /// Whether `a` is shorter than `b`.
  @inlinable public static func < (a: TimeSpan, b: TimeSpan) -> Bool { a.nanoseconds < b.nanoseconds }
  /// The sum, saturating.
  @inlinable public static func + (a: TimeSpan, b: TimeSpan) -> TimeSpan {
    TimeSpan(nanoseconds: a.nanoseconds.saturatingAdd(b.nanoseconds))
  }
  /// The difference, saturating.
  @inlinable public static func - (a: TimeSpan, b: TimeSpan) -> TimeSpan {
    TimeSpan(nanoseconds: a.nanoseconds.saturatingSubtract(b.nanoseconds))
  }
  /// The span `n` times over, saturating.
  @inlinable public static func * (a: TimeSpan, n: Int64) -> TimeSpan {
    TimeSpan(nanoseconds: a.nanoseconds.saturatingMultiply(n))
  }
}

/// A point in time: nanoseconds since 1970-01-01 00:00:00 UTC.
///
/// Arithmetic saturates, so that a hostile or absurd date never traps.
public struct Instant: Hashable, Comparable, Sendable {
  /// Nanoseconds since the Unix epoch.
  public var nanoseconds: Int64

  /// The instant `nanoseconds` after the Unix epoch.
  @inlinable public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// The instant `unixSeconds` after the Unix epoch, saturating.
  @inlinable public init(unixSeconds: Int64) { nanoseconds = unixSeconds.saturatingMultiply(1_000_000_000) }

  /// The instant `unixMilliseconds` after the Unix epoch, saturating.
  @inlinable public init(unixMilliseconds: Int64) { nanoseconds = unixMilliseconds.saturatingMultiply(1_000_000) }

  /// Before every other instant.
  public static let distantPast = Instant(nanoseconds: .min)

  /// After every other instant.
  public static let distantFuture = Instant(nanoseconds: .max)

  /// Whole seconds since the Unix epoch, rounded down.
  @inlinable public var unixSeconds: Int64 { nanoseconds.floorDivide(1_000_000_000) }

  /// Whole milliseconds since the Unix epoch, rounded down.
  @inlinable public var unixMilliseconds: Int64 { nanoseconds.floorDivide(1_000_000) }

  /// The first instant from this one on that is a whole number of `unit`s since the Unix epoch, saturating; `unit` is longer than nothing.
  ///
  /// From when on something is possible is told in this way: rounded down it would be told of a time at which it is not yet.
  public func roundedUp(to unit: TimeSpan) -> Instant {
    let rest = nanoseconds - nanoseconds.floorDivide(unit.nanoseconds).saturatingMultiply(unit.nanoseconds)
    return rest == 0 ? self : self + (unit - TimeSpan(nanoseconds: rest))
  }

  /// Whether `a` comes before `b`.
  @inlinable public static func < (a: Instant, b: Instant) -> Bool { a.nanoseconds < b.nanoseconds }
  /// The instant `b` later, saturating.
  @inlinable public static func + (a: Instant, b: TimeSpan) -> Instant {
    Instant(nanoseconds: a.nanoseconds.saturatingAdd(b.nanoseconds))
  }
  /// The instant `b` earlier, saturating.
  @inlinable public static func - (a: Instant, b: TimeSpan) -> Instant {
    Instant(nanoseconds: a.nanoseconds.saturatingSubtract(b.nanoseconds))
  }
  /// The span from `b` to `a`, saturating.
  @inlinable public static func - (a: Instant, b: Instant) -> TimeSpan {
    TimeSpan(nanoseconds: a.nanoseconds.saturatingSubtract(b.nanoseconds))
  }
}

extension Instant: CustomStringConvertible {
  /// The instant as RFC 3339 text in UTC with milliseconds, such as `2026-11-30T01:26:50.123Z`.
  public var description: String {
    let milliseconds = unixMilliseconds
    let (year, month, day) = civilDate(daysSinceEpoch: milliseconds.floorDivide(86_400_000))
    let inDay = milliseconds - milliseconds.floorDivide(86_400_000) * 86_400_000
    let parts: [(Int64, Int)] = [
      (year, 4), (month, 2), (day, 2), (inDay / 3_600_000, 2), (inDay / 60_000 % 60, 2), (inDay / 1000 % 60, 2),
      (inDay % 1000, 3),
    ]
    let separators = ["", "-", "-", "T", ":", ":", "."]
    var text = ""
    for (separator, (value, width)) in zip(separators, parts) {
      let digits = String(value)
      text += separator + String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
    return text + "Z"
  }

  /// The proleptic Gregorian date of a day number, by counting in 400-year eras that begin on 1 March.
  private func civilDate(daysSinceEpoch: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let shifted = daysSinceEpoch + 719_468
    let era = shifted.floorDivide(146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
  }
}

extension Int64 {
  /// The sum, or the nearest representable value.
  @inlinable public func saturatingAdd(_ other: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other < 0 ? .min : .max) : sum
  }

  /// The difference, or the nearest representable value.
  @inlinable public func saturatingSubtract(_ other: Int64) -> Int64 {
    let (difference, overflow) = subtractingReportingOverflow(other)
    return overflow ? (other < 0 ? .max : .min) : difference
  }

  /// The product, or the nearest representable value.
  @inlinable public func saturatingMultiply(_ other: Int64) -> Int64 {
    let (product, overflow) = multipliedReportingOverflow(by: other)
    return overflow ? ((self < 0) == (other < 0) ? .max : .min) : product
  }

  /// The quotient rounded towards negative infinity; `divisor` is positive.
  @inlinable public func floorDivide(_ divisor: Int64) -> Int64 {
    let quotient = self / divisor
    return self % divisor < 0 ? quotient - 1 : quotient
  }
}
