import Delivery
import Primitives
import Push
import Testing

@Suite("Upstream breaker") struct UpstreamBreakerTests {
  private static let start = Instant(unixSeconds: 1_700_000_000)
  private static let bounds = UpstreamBreaker.Bounds(
    serverErrors: 3, firstRest: .seconds(2), longestRest: .seconds(8), pause: .seconds(5))

  /// The same in other words: a list of all that has happened, read from its end.
  private struct Story {
    var events: [(answer: UpstreamBreaker.Answer, at: Instant)] = []

    /// When it may next be used, and why not before; nil where it may be used as ever.
    var left: (until: Instant, cause: Cause)? {
      let sinceItWorked = events.lastIndex { $0.answer == .works }.map { events[($0 + 1)...] } ?? events[...]
      var (errors, openings) = (0, 0)
      var left: (until: Instant, cause: Cause)?
      for (answer, at) in sinceItWorked {
        if let open = left, at < open.until, answer == .serverError || open.cause == .upstreamPaused { continue }
        if answer == .serverError { errors += 1 }
        if answer == .serverError, left == nil, errors < bounds.serverErrors { continue }
        openings += 1
        let rest = [2, 4, 8][min(openings, 3) - 1]
        left = answer == .refusesSender ? (at + bounds.pause, .upstreamPaused) : (at + .seconds(Int64(rest)), .upstreamFailed)
      }
      return left
    }
  }

  /// Every history of up to seven steps, each an answer of one of the kinds or a second or three that pass: some 78,000.
  @Test func everyHistory() {
    func walk(_ breaker: UpstreamBreaker, _ story: Story, _ now: Instant, _ depth: Int, _ trace: String) -> String? {
      let expected: UpstreamBreaker.Permission =
        switch story.left {
        case nil: .all
        case (let until, let cause)? where now < until: .none(until: until, cause)
        case (_, let cause)?: .one(cause)
        }
      if breaker.permission(at: now) != expected { return "\(trace): \(breaker.permission(at: now)), and should be \(expected)" }
      guard depth > 0 else { return nil }
      for answer in UpstreamBreaker.Answer.allCases {
        var (next, told) = (breaker, story)
        next.answered(answer, at: now)
        told.events.append((answer, now))
        if let fault = walk(next, told, now, depth - 1, "\(trace) \(answer)") { return fault }
      }
      for seconds: Int64 in [1, 3] {
        if let fault = walk(breaker, story, now + .seconds(seconds), depth - 1, "\(trace) +\(seconds)s") { return fault }
      }
      return nil
    }
    let fault = walk(UpstreamBreaker(Self.bounds), Story(), Self.start, 7, "")
    #expect(fault == nil, "\(fault ?? "")")
  }

  @Test func restsDoubleUpToTheLongestAndBeginAnew() {
    var breaker = UpstreamBreaker(Self.bounds)
    var now = Self.start
    for _ in 0..<2 { breaker.answered(.serverError, at: now) }
    for rest: Int64 in [2, 4, 8, 8, 8] {
      breaker.answered(.serverError, at: now)
      #expect(breaker.permission(at: now) == .none(until: now + .seconds(rest), .upstreamFailed))
      now = now + .seconds(rest)
      #expect(breaker.permission(at: now) == .one(.upstreamFailed))
    }
    breaker.answered(.works, at: now)
    #expect(breaker.permission(at: now) == .all)
    for _ in 0..<3 { breaker.answered(.serverError, at: now) }
    #expect(breaker.permission(at: now) == .none(until: now + .seconds(2), .upstreamFailed))
  }
}
