import Primitives
import Push
import Testing

@Suite("Quiet hours") struct QuietHoursTests {
  private static let midnight = Instant(unixSeconds: 1_800_000_000 / 86_400 * 86_400)

  /// Every pair of hours and every half hour of two days, against a day that is walked minute by minute.
  @Test func theyEndWhereTheyShould() throws {
    for from in stride(from: UInt16(0), to: 1440, by: 90) {
      for to in stride(from: UInt16(30), to: 1440, by: 90) {
        let hours = try #require(QuietHours(from: from, to: to))
        func isQuiet(_ minute: Int) -> Bool {
          let ofDay = minute % 1440
          return from < to ? ofDay >= from && ofDay < to : ofDay >= from || ofDay < to
        }
        for minute in stride(from: 0, to: 2880, by: 30) {
          var end = minute
          while isQuiet(end) { end += 1 }
          let at = Self.midnight + .seconds(Int64(minute) * 60)
          #expect(hours.end(around: at) == Self.midnight + .seconds(Int64(end) * 60), "\(from) to \(to) at \(minute)")
        }
      }
    }
  }

  @Test func withinAMinuteToo() throws {
    let hours = try #require(QuietHours(from: 60, to: 61))
    #expect(hours.end(around: Self.midnight + .milliseconds(3_600_001)) == Self.midnight + .seconds(3660))
    #expect(hours.end(around: Self.midnight + .milliseconds(3_599_999)) == Self.midnight + .milliseconds(3_599_999))
    #expect(hours.end(around: Self.midnight + .seconds(3660)) == Self.midnight + .seconds(3660))
    #expect(hours.end(around: Instant(unixSeconds: -86_400 + 3600)) == Instant(unixSeconds: -86_400 + 3660))
  }

  @Test func localTimesAreMovedToUTC() throws {
    #expect(QuietHours(localFrom: 22 * 60, to: 7 * 60, utcOffset: 120) == QuietHours(from: 20 * 60, to: 5 * 60))
    #expect(QuietHours(localFrom: 60, to: 7 * 60, utcOffset: 120) == QuietHours(from: 23 * 60, to: 5 * 60))
    #expect(QuietHours(localFrom: 22 * 60, to: 7 * 60, utcOffset: -480) == QuietHours(from: 6 * 60, to: 15 * 60))
    #expect(QuietHours(localFrom: 5, to: 5, utcOffset: 0) == nil)
    #expect(QuietHours(from: 1440, to: 5) == nil)
    #expect(QuietHours(localFrom: -1, to: 5, utcOffset: 0) == nil)
  }
}
