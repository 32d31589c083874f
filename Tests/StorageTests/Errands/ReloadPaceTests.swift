import Primitives
import Testing

@testable import Storage

@Suite("How reloads are spread") struct ReloadPaceTests {
  private let start = Instant(unixSeconds: 1_800_000_000)

  /// For all small totals, spans and beginnings: even, in order, from now on, and never later than its share of the span.
  @Test func everySmallPace() {
    for total in 1...40 {
      for seconds in [0, 1, 7, 60] {
        for visited in 0...total {
          let spread = TimeSpan.seconds(Int64(seconds))
          let pace = ReloadPace(total: total, spread: spread, visited: visited, at: start)
          #expect(pace.due(after: visited) == start, "the first goes at once")
          var before = start
          for place in visited...(total + 3) {
            let due = pace.due(after: place)
            let share = Double(seconds) * Double(min(place, total) - visited) / Double(total)
            #expect(due >= before && abs((due - start).seconds - share) < 1e-6, "\(total) \(seconds) \(visited) \(place)")
            before = due
          }
          #expect(before <= start + spread)
        }
      }
    }
  }

  /// Slices are as large as they may be, but for a spread that would be coarse with them; one token at least.
  @Test(arguments: [
    (1_000_000, 0, 256, 256), (1_000_000, 3600, 256, 27), (1_000_000, 60, 256, 256), (10, 100, 256, 1), (1, 86_400, 256, 1),
    (1000, 1, 256, 100), (0, 10, 256, 1),
  ]) func slices(total: Int, seconds: Int64, limit: Int, expected: Int) {
    #expect(ReloadPace(total: total, spread: .seconds(seconds), visited: 0, at: start).slice(limit: limit) == expected)
  }

  /// The largest figures there may be do not overflow.
  @Test func theLargest() {
    let pace = ReloadPace(total: 10_000_000, spread: .seconds(86_400), visited: 0, at: start)
    #expect(pace.due(after: 10_000_000) == start + .seconds(86_400))
    #expect(pace.due(after: 5_000_000) == start + .seconds(43_200))
  }
}
