import Delivery
import Forwarding
import Primitives
import Push
import Testing

/// The machine's clock is set while an upstream is down, is left alone or answers: nothing waits for longer or less than it would have.
@Suite("Upstreams and a machine's clock that is set") struct ClockLeapTests {
  private static let leaps: [TimeSpan] = [.seconds(-3600), .seconds(3600)]

  private func pass(_ span: TimeSpan, leap: TimeSpan = .zero, _ stage: Stage) {
    stage.clock.now = stage.clock.now + span
    stage.clock.leap = stage.clock.leap + leap
    #expect(stage.wait { stage.loop.moment == stage.clock.moment })
  }

  /// It comes back, and is found within the five seconds of the longest delay.
  @Test(arguments: leaps) func itsReturnIsNoticedInTime(leap: TimeSpan) throws {
    let stage = try Stage(isUp: false)
    stage.send(1)
    #expect(stage.wait { stage.recorder.outcomes[1] == [.notAttempted(.upstreamUnavailable)] })
    try stage.start()
    pass(.zero, leap: leap, stage)
    stage.send(2)
    #expect(stage.recorder.outcomes[2] == [.notAttempted(.upstreamUnavailable)], "its delay is not over")
    pass(.milliseconds(Limits.reconnectLongestMilliseconds), stage)
    stage.send(3)
    #expect(stage.wait { stage.recorder.outcomes[3] == [.accepted] })
  }

  /// After server errors it is left alone for a second, and after a refusal of the gateway's own token for a minute.
  @Test(arguments: leaps, [(503, "ServiceUnavailable"), (403, "InvalidProviderToken")])
  func itIsLeftAloneForAsLongAsBefore(leap: TimeSpan, answer: (status: Int, reason: String)) throws {
    let stage = try Stage()
    stage.upstream.behaviour = .answer(status: answer.status, body: #"{"reason":"\#(answer.reason)"}"#, outcome: nil)
    for number in 0..<(answer.status == 503 ? Limits.serverErrorsInARow : 1) {
      stage.send(number)
      #expect(stage.wait { stage.recorder.count == number + 1 })
    }
    stage.upstream.behaviour = .answer(status: 200, body: "", outcome: nil)
    let rest = answer.status == 503 ? Limits.upstreamRestMilliseconds.first : Limits.upstreamPauseMilliseconds
    let cause: Cause = answer.status == 503 ? .upstreamFailed : .upstreamPaused
    pass(.milliseconds(rest - 1), leap: leap, stage)
    stage.send(100)
    #expect(stage.recorder.outcomes[100] == [.notAttempted(cause)])
    pass(.milliseconds(1), stage)
    stage.send(101)
    #expect(stage.wait { stage.recorder.outcomes[101] == [.accepted] })
  }

  /// The gateway's own provider token has the machine's date, so a clock that is set brings a new one; its age is what has passed.
  @Test(arguments: leaps) func theProviderTokenHasTheNewDate(leap: TimeSpan) throws {
    let stage = try Stage()
    var tokens: [String?] = []
    func send() throws {
      stage.send(tokens.count)
      #expect(stage.wait { stage.upstream.requests.count == tokens.count + 1 })
      tokens.append(stage.upstream.requests[tokens.count].fields["authorization"])
    }
    try send()
    pass(.seconds(1), leap: leap, stage)
    try send()
    pass(.seconds(39 * 60), stage)
    try send()
    pass(.seconds(60), stage)
    try send()
    #expect(tokens[0] != tokens[1] && tokens[1] == tokens[2] && tokens[2] != tokens[3])
  }
}
