import Primitives
import Testing

@Suite("Instant") struct InstantTests {
  @Test(arguments: [
    (Int64(0), "1970-01-01T00:00:00.000Z"), (951_782_400_000, "2000-02-29T00:00:00.000Z"),
    (1_700_000_000_123, "2023-11-14T22:13:20.123Z"),
    (-1, "1969-12-31T23:59:59.999Z"), (4_107_542_399_999, "2100-02-28T23:59:59.999Z"),
  ]) func text(unixMilliseconds: Int64, expected: String) {
    #expect(Instant(unixMilliseconds: unixMilliseconds).description == expected)
  }

  /// Never before the instant, and at a whole unit.
  @Test(arguments: [(Int64(0), Int64(0)), (1, 10), (9, 10), (10, 10), (-1, 0), (-10, -10), (-11, -10), (.max - 1, .max), (.min, .min)])
  func roundedUp(nanoseconds: Int64, expected: Int64) {
    #expect(Instant(nanoseconds: nanoseconds).roundedUp(to: TimeSpan(nanoseconds: 10)).nanoseconds == expected)
  }

  @Test(arguments: [
    (Int64(0), Int64(0)), (1, 1), (1_000_000_000, 1), (1_000_000_001, 2), (-1, 0), (-1_000_000_000, -1), (-1_500_000_000, -1),
  ]) func secondsRoundedUp(nanoseconds: Int64, expected: Int64) {
    #expect(TimeSpan(nanoseconds: nanoseconds).secondsRoundedUp == expected)
    #expect(TimeSpan(nanoseconds: .max).secondsRoundedUp == 9_223_372_037 && TimeSpan(nanoseconds: .min).secondsRoundedUp < 0)
  }

  @Test func arithmeticSaturates() {
    #expect(Instant.distantFuture + .seconds(1) == .distantFuture)
    #expect(Instant.distantPast - .seconds(1) == .distantPast)
    #expect(Instant(unixSeconds: .max) == .distantFuture)
    #expect(Instant(unixSeconds: .min) == .distantPast)
  }
}
