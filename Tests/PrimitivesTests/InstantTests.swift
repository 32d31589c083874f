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

  @Test func arithmeticSaturates() {
    #expect(Instant.distantFuture + .seconds(1) == .distantFuture)
    #expect(Instant.distantPast - .seconds(1) == .distantPast)
    #expect(Instant(unixSeconds: .max) == .distantFuture)
    #expect(Instant(unixSeconds: .min) == .distantPast)
  }
}
