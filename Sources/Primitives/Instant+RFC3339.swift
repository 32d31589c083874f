extension Instant {
  /// The instant that `text` spells: `2027-01-31` (midnight in UTC), or with a time and an offset as RFC 3339 section 5.6
  /// has it, such as `2027-01-31T12:00:00Z` or `2027-01-31T12:00:00+01:00`; nil for anything else.
  public init?(rfc3339 text: String) {
    let bytes = Array(text.utf8)
    guard let year = Self.digits(bytes, 0..<4), let month = Self.digits(bytes, 5..<7), let day = Self.digits(bytes, 8..<10),
      bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"), (1...12).contains(month),
      (1...Self.days(in: month, of: year)).contains(day)
    else { return nil }
    let midnight = Self.dayNumber(year, month, day) * 86_400
    if bytes.count == 10 {
      self.init(unixSeconds: midnight)
      return
    }
    guard bytes[10] | 0x20 == UInt8(ascii: "t"), let hour = Self.digits(bytes, 11..<13), let minute = Self.digits(bytes, 14..<16),
      let second = Self.digits(bytes, 17..<19), bytes[13] == UInt8(ascii: ":"), bytes[16] == UInt8(ascii: ":"),
      hour < 24, minute < 60, second < 60, bytes.count > 19, let (fraction, end) = Self.fraction(bytes), end < bytes.count,
      let offset = Self.offset(bytes[end...])
    else { return nil }
    self.init(unixSeconds: midnight + hour * 3600 + minute * 60 + second - offset)
    // Saturated beyond what an instant holds (the year 2262).
    nanoseconds = nanoseconds.saturatingAdd(fraction)
  }

  /// Nanoseconds of the digits after a point behind the seconds, if there is one, and where they end; nil for a point alone.
  private static func fraction(_ bytes: [UInt8]) -> (nanoseconds: Int64, end: Int)? {
    guard bytes[19] == UInt8(ascii: ".") else { return (0, 19) }
    let digits = bytes[20...].prefix { (0x30...0x39).contains($0) }
    guard (1...9).contains(digits.count) else { return nil }
    let value = digits.reduce(Int64(0)) { $0 * 10 + Int64($1 - 0x30) }
    return ((digits.count..<9).reduce(value) { value, _ in value * 10 }, digits.endIndex)
  }

  /// Seconds east of UTC: `Z` or `+hh:mm`.
  private static func offset(_ zone: ArraySlice<UInt8>) -> Int64? {
    let zone = Array(zone)
    if zone.count == 1, zone[0] | 0x20 == UInt8(ascii: "z") { return 0 }
    guard zone.count == 6, let hours = digits(zone, 1..<3), let minutes = digits(zone, 4..<6), zone[3] == UInt8(ascii: ":"),
      hours < 24, minutes < 60
    else { return nil }
    switch zone[0] {
    case UInt8(ascii: "+"): return hours * 3600 + minutes * 60
    case UInt8(ascii: "-"): return -(hours * 3600 + minutes * 60)
    default: return nil
    }
  }

  private static func digits(_ bytes: [UInt8], _ range: Range<Int>) -> Int64? {
    guard range.upperBound <= bytes.count, bytes[range].allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return bytes[range].reduce(0) { $0 * 10 + Int64($1 - 0x30) }
  }

  private static func days(in month: Int64, of year: Int64) -> Int64 {
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    return month == 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
  }

  /// Days since 1970-01-01, counted in 400-year eras that begin on 1 March.
  private static func dayNumber(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
    let year = month <= 2 ? year - 1 : year
    let era = year / 400
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }
}
