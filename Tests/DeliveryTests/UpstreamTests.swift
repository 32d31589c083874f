import Delivery
import Primitives
import Push
import Testing

@Suite("Upstream answers") struct UpstreamAnswerTests {
  private let now = Instant(unixSeconds: 1_700_000_000)

  @Test(arguments: [
    (UpstreamAnswer(status: 200), UpstreamOutcome.accepted),
    (UpstreamAnswer(status: 200, disposition: .applied, cause: .reloaded), .finished(.applied, .reloaded)),
    (UpstreamAnswer(status: 200, disposition: .ignored, cause: .staleTimestamp), .finished(.ignored, .staleTimestamp)),
    (UpstreamAnswer(status: 200, disposition: .waiting), .pending),
    (UpstreamAnswer(status: 400, reason: .badDeviceToken), .suspect),
    (UpstreamAnswer(status: 400, reason: .badTopic), .refused(status: 400, .badTopic)),
    (UpstreamAnswer(status: 400), .refused(status: 400, nil)),
    (UpstreamAnswer(status: 403, reason: .invalidProviderToken), .retry(.upstreamPaused)),
    (UpstreamAnswer(status: 413, reason: .payloadTooLarge), .refused(status: 413, .payloadTooLarge)),
    (UpstreamAnswer(status: 429, reason: .tooManyRequests), .retry(.upstreamBusy)),
    (UpstreamAnswer(status: 403, reason: .expiredProviderToken), .retry(.upstreamPaused)),
    (UpstreamAnswer(status: 403), .retry(.upstreamPaused)),
    (UpstreamAnswer(status: 403, reason: .forbidden), .refused(status: 403, .forbidden)),
    (UpstreamAnswer(status: 429, reason: .tooManyProviderTokenUpdates), .retry(.upstreamPaused)),
    (UpstreamAnswer(status: 429), .retry(.upstreamBusy)),
    (UpstreamAnswer(status: 500), .retry(.upstreamFailed)), (UpstreamAnswer(status: 503), .retry(.upstreamFailed)),
    (UpstreamAnswer(status: 503, cause: .fault), .retry(.fault)), (UpstreamAnswer(status: 403, cause: .fault), .retry(.fault)),
    (
      UpstreamAnswer(status: 410, reason: .unregistered, timestamp: Instant(unixMilliseconds: 1_454_948_015_990)),
      .unregistered(Instant(unixMilliseconds: 1_454_948_015_990))
    ),
    (
      UpstreamAnswer(status: 410, reason: .expiredToken, timestamp: Instant(unixMilliseconds: 1_454_948_015_990)),
      .expired(Instant(unixMilliseconds: 1_454_948_015_990))
    ),
    (UpstreamAnswer(status: 410), .unregistered(Instant(unixSeconds: 1_700_000_000))),
  ]) func meaning(answer: UpstreamAnswer, outcome: UpstreamOutcome) {
    #expect(answer.meaning(at: now, mayRetire: true) == outcome)
  }

  @Test func underSuspicionNothingIsRetired() {
    for reason in [Reason.unregistered, .expiredToken] {
      #expect(UpstreamAnswer(status: 410, reason: reason).meaning(at: now, mayRetire: false) == .refused(status: 410, reason))
    }
  }

  @Test(arguments: [
    ("applied reloaded", Disposition?.some(.applied), Cause.reloaded, ""), ("applied", .applied, .none, ""),
    ("pending", .waiting, .none, ""), ("ignored staleTimestamp older than 1700", .ignored, .staleTimestamp, "older than 1700"),
    ("ignored notACause x", .ignored, .none, "x"), ("", nil, .none, ""), ("refused", nil, .none, ""),
    ("refused fault fault 3: answered 503", nil, .fault, "fault 3: answered 503"), ("applied ", .applied, .none, ""),
  ]) func outcomeHeader(text: String, disposition: Disposition?, cause: Cause, detail: String) {
    var answer = UpstreamAnswer(status: 200)
    let bytes = Array(text.utf8)
    let range = answer.readOutcome(bytes.span.bytes)
    #expect(answer.disposition == disposition && answer.cause == cause)
    #expect(bytes.span.bytes[range].string == detail)
  }
}

@Suite("Upstream window") struct UpstreamWindowTests {
  private let start = Instant(unixSeconds: 1_700_000_000)
  private func window() -> UpstreamWindow {
    UpstreamWindow(
      .init(
        connections: 2, firstDelay: .milliseconds(100), longestDelay: .seconds(1),
        breaker: .init(serverErrors: 3, firstRest: .seconds(1), longestRest: .seconds(8), pause: .seconds(60))))
  }

  private func expect(
    _ expected: Bool, _ window: inout UpstreamWindow, queued: Int, freeStreams: Int, at now: Instant,
    _ location: SourceLocation = #_sourceLocation
  ) {
    let connects = window.shouldConnect(queued: queued, freeStreams: freeStreams, at: now)
    #expect(connects == expected, sourceLocation: location)
  }

  @Test func oneAttemptAtATimeAndNeverMoreThanTheBound() {
    var window = window()
    expect(true, &window, queued: 1, freeStreams: 0, at: start)
    expect(false, &window, queued: 9, freeStreams: 0, at: start)
    window.connected()
    expect(false, &window, queued: 9, freeStreams: 9, at: start)
    expect(true, &window, queued: 9, freeStreams: 8, at: start)
    window.connected()
    expect(false, &window, queued: 9, freeStreams: 0, at: start)
  }

  @Test func delaysDoubleUpToTheLongestAndEndWithSuccess() {
    var window = window()
    var now = start
    for expected: Int64 in [100, 200, 400, 800, 1000, 1000] {
      expect(true, &window, queued: 1, freeStreams: 0, at: now)
      window.connectFailed(at: now, jitter: 0)
      #expect(window.availability(at: now) == .unavailable(until: now + .milliseconds(expected), .upstreamUnavailable))
      expect(false, &window, queued: 1, freeStreams: 0, at: now + .milliseconds(expected - 1))
      now = now + .milliseconds(expected)
    }
    expect(true, &window, queued: 1, freeStreams: 0, at: now)
    window.connected()
    window.answered(UpstreamAnswer(status: 200), at: now)
    window.disconnected(at: now, orderly: false, hasAnswered: true, jitter: 1)
    #expect(window.availability(at: now) == .unavailable(until: now + .milliseconds(150), .upstreamUnavailable))
  }

  @Test func anOrderlyEndCostsNoDelay() {
    var window = window()
    expect(true, &window, queued: 1, freeStreams: 0, at: start)
    window.connected()
    window.answered(UpstreamAnswer(status: 200), at: start)
    window.disconnected(at: start, orderly: true, hasAnswered: true, jitter: 0)
    expect(true, &window, queued: 1, freeStreams: 0, at: start)
  }

  /// Where a connection takes over before the one that was turned away has ended, it takes over the delay, too.
  @Test func theNextConnectionDoesNotClearTheDelay() {
    var window = window()
    expect(true, &window, queued: 1, freeStreams: 0, at: start)
    window.connected()
    expect(true, &window, queued: 1, freeStreams: 0, at: start)
    window.disconnected(at: start, orderly: true, hasAnswered: false, jitter: 0)
    window.connected()
    #expect(window.availability(at: start) == .available, "a connection is open")
    expect(false, &window, queued: 1, freeStreams: 0, at: start + .milliseconds(99))
    window.disconnected(at: start, orderly: true, hasAnswered: false, jitter: 0)
    #expect(window.availability(at: start) == .unavailable(until: start + .milliseconds(200), .upstreamUnavailable))
    expect(true, &window, queued: 1, freeStreams: 0, at: start + .milliseconds(200))
    window.connected()
    window.answered(UpstreamAnswer(status: 200), at: start + .milliseconds(200))
    expect(true, &window, queued: 2, freeStreams: 0, at: start + .milliseconds(200))
  }

  @Test(arguments: [true, false]) func aConnectionThatAnswersNothingCostsTheNextDelay(orderly: Bool) {
    var window = window()
    var now = start
    for expected: Int64 in [100, 200, 400, 800, 1000] {
      expect(true, &window, queued: 1, freeStreams: 0, at: now)
      window.connected()
      window.disconnected(at: now, orderly: orderly, hasAnswered: false, jitter: 0)
      #expect(window.availability(at: now) == .unavailable(until: now + .milliseconds(expected), .upstreamUnavailable))
      now = now + .milliseconds(expected)
    }
  }

  @Test func a403PausesTheUpstream() {
    var window = window()
    window.answered(UpstreamAnswer(status: 403), at: start)
    #expect(window.availability(at: start + .seconds(59)) == .unavailable(until: start + .seconds(60), .upstreamPaused))
    expect(false, &window, queued: 1, freeStreams: 0, at: start + .seconds(59))
    #expect(window.availability(at: start + .seconds(60)) == .onTrial(.upstreamPaused))
    expect(true, &window, queued: 1, freeStreams: 0, at: start + .seconds(60))
    window.connected()
    window.answered(UpstreamAnswer(status: 410), at: start + .seconds(60))
    #expect(window.availability(at: start + .seconds(60)) == .available)
  }

  @Test func serverErrorsInARowRestTheUpstream() {
    var window = window()
    for status in [500, 503, 429, 500, 503] { window.answered(UpstreamAnswer(status: status), at: start) }
    #expect(window.availability(at: start) == .available, "two in a row are not three")
    window.answered(UpstreamAnswer(status: 500), at: start)
    #expect(window.availability(at: start) == .unavailable(until: start + .seconds(1), .upstreamFailed))
    expect(false, &window, queued: 1, freeStreams: 0, at: start)
    #expect(window.availability(at: start + .seconds(1)) == .onTrial(.upstreamFailed))
  }

  @Test func retiringStopsBeyondTwentyPercentOfTwoHundredAnswers() {
    var window = window()
    for index in 0..<199 { window.answered(UpstreamAnswer(status: index < 41 ? 410 : 200), at: start) }
    #expect(window.mayRetire, "fewer than 200 answers prove nothing")
    window.answered(UpstreamAnswer(status: 200), at: start)
    #expect(!window.mayRetire)
    window.answered(UpstreamAnswer(status: 200), at: start)
    #expect(window.mayRetire, "the oldest doubtful answer has left the 200")
  }
}
