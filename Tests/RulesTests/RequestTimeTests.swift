import Primitives
import Push
import Testing

@testable import Rules

/// Requests are judged by three clocks once the product's has been moved.
@Suite("Times of a request") struct RequestTimeTests {
  private let hour = TimeSpan.seconds(3600)

  /// A moment at which the product's clock is so far ahead of the tests' own.
  private func ahead(_ lead: TimeSpan, real: Instant = now) -> Moment { Moment(now: real + lead, real: real) }

  private func verdict(_ request: TestRequest, _ time: RequestTime, _ rules: inout TestRules) -> Verdict {
    rules.evaluate(request.with { $0.time = time })
  }

  /// Every choice of clocks, for a token that is an hour old by the product's clock alone and one that was signed just now by the
  /// sender's.
  @Test(arguments: TimeScale.allCases, TimeScale.allCases) func theAgeOfProviderTokens(age: TimeScale, sender: TimeScale) {
    let settings = ClockSettings(permitted: true, tokenAge: age, providerTimes: sender)
    var rules = TestRules()
    let first = TestRequest()
    #expect(verdict(first, RequestTime(ahead(.zero), settings), &rules).push != nil)
    // The product's clock is moved by two hours; a minute has passed by the machine's.
    let later = RequestTime(ahead(hour * 2, real: now + .seconds(60)), settings)
    #expect(verdict(first, later, &rules).refusal?.reason == (age == .real ? nil : .expiredProviderToken))
    // Whoever signs anew is as young as by the own clock.
    let signedAt = sender == .real ? now + .seconds(60) : now + hour * 2 + .seconds(60)
    let anew = TestRequest().with { $0.authorization = "bearer " + TestToken(issuedAt: "\(signedAt.unixSeconds)").text }
    #expect(verdict(anew, later, &rules).push != nil)
    // And ages from then on by the clock that tokens age by.
    let last = RequestTime(ahead(hour * 2, real: now + .seconds(60) + hour * 2), settings)
    #expect(verdict(anew, last, &rules).refusal?.reason == .expiredProviderToken)
  }

  /// How much has passed between two provider tokens goes by the steady clock: a machine's clock that is set back keeps no connection barred
  /// for longer, and one that is set ahead bars none for less. With virtual tokens it goes by the product's, which somebody moves.
  @Test(arguments: [TimeSpan.seconds(-3600), .seconds(3600)]) func theTimeBetweenProviderTokensIsWhatHasPassed(leap: TimeSpan) throws {
    let window = TimeSpan.seconds(Limits.providerTokenUpdateSeconds)
    func time(after passed: TimeSpan, _ leap: TimeSpan) -> RequestTime {
      let steady = now + passed
      let moment = Moment(now: steady + leap, real: steady + leap, steady: steady)
      return RequestTime(moment, ClockSettings(permitted: true))
    }
    var connection = ConnectionCredentials(source: 1)
    let policy = ProviderTokenPolicy(updates: .enforce, wedgesAfterExpired: false)
    for token in 1...UInt64(Limits.providerTokensFree) { try connection.count(token, policy, time(after: .zero, .zero).windows) }
    #expect(throws: Violation.self) { try connection.count(100, policy, time(after: window - .seconds(1), leap).windows) }
    #expect(throws: Violation.self) { try connection.count(101, policy, time(after: window, leap).windows) }
    try connection.count(102, policy, time(after: window * 2, leap).windows)
    let moment = Moment(now: now + window, real: now, steady: now)
    #expect(RequestTime(moment, ClockSettings(permitted: true, tokenAge: .virtual)).windows == now + window)
  }

  /// `apns-expiration` becomes an instant of the product's clock; none and 0 stay what they are.
  @Test func theExpirationIsTurnedIntoTheProducts() throws {
    var rules = TestRules()
    let request = TestRequest().with { $0.expiration = "\((now + .seconds(600)).unixSeconds)" }
    let real = RequestTime(ahead(hour), ClockSettings(permitted: true))
    #expect(verdict(request, real, &rules).push?.expiration == .at(now + hour + .seconds(600)))
    let virtual = RequestTime(ahead(hour), ClockSettings(permitted: true, providerTimes: .virtual))
    #expect(verdict(request, virtual, &rules).push?.expiration == .at(now + .seconds(600)))
    #expect(verdict(TestRequest().with { $0.expiration = "0" }, real, &rules).push?.expiration == .zero)
    #expect(verdict(TestRequest(), real, &rules).push?.expiration == .absent)
  }

  /// The dates of a payload are judged by the sender's clock.
  @Test func timestampsAreTheSenders() {
    var rules = TestRules()
    let moment = ahead(hour * 10)
    func warnings(_ timestamp: Instant, _ sender: TimeScale) -> Verdict {
      let request = TestRequest.liveActivity(#"{"timestamp":\#(timestamp.unixSeconds),"event":"update","content-state":{"a":1}}"#)
      return verdict(request, RequestTime(moment, ClockSettings(permitted: true, providerTimes: sender)), &rules)
    }
    #expect(warnings(moment.real, .real).push?.warnings.contains(.timestampOld) == false)
    #expect(warnings(moment.real, .virtual).push?.warnings.contains(.timestampOld) == true)
    #expect(warnings(moment.now, .real).refusal?.reason == .badPayload, "ten hours ahead of the machine's clock")
    #expect(warnings(moment.now, .virtual).push != nil)
  }

  /// A mock device judges the gateway's own tokens, which are always signed by the machine's clock.
  @Test(arguments: TimeScale.allCases) func theGatewaysOwnTokens(sender: TimeScale) {
    var rules = TestRules()
    #expect(verdict(TestRequest(), .upstream(ahead(hour * 9), senders: sender), &rules).push != nil)
    #expect(RequestTime.upstream(ahead(hour * 9), senders: sender).shift == (sender == .real ? hour * 9 : .zero))
  }

  @Test func clocksThatAgreeAreOne() {
    for settings in [ClockSettings(), ClockSettings(permitted: true, tokenAge: .virtual, providerTimes: .virtual)] {
      #expect(RequestTime(Moment(now), settings) == RequestTime(now))
    }
  }
}
