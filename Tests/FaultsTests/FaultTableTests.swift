import Primitives
import Push
import Seeds
import Testing

@testable import Faults

private let start = Instant(unixSeconds: 1_800_000_000)
private let tokens = (0..<4).map { DeviceToken(hex: "a\($0)ff")! }
private let apps = ["com.example.app", "com.example.other"]
private let types: [PushType] = [.widgets, .alert, .liveactivity]

extension FaultTable {
  /// Strikes a push of an app whose id is text.
  fileprivate mutating func strike(_ token: DeviceToken?, _ app: String, _ type: PushType, at now: Instant = start) -> FaultStrike? {
    let bytes = Array(app.utf8)
    return strike(token, bundleID: bytes.span.bytes, type, at: now)
  }
}

@Suite("Faults: what is struck") struct FaultTableTests {
  /// A broadcast is a push of its app and type without a token, so that a fault for one token leaves it alone.
  @Test func aBroadcastHasNoToken() {
    for token in [nil, tokens[0]] {
      for (app, type) in [(nil, nil), (apps[0], PushType.liveactivity), (apps[1], nil), (nil, .alert)] {
        var table = FaultTable()
        _ = table.add(FaultSpecification(.stall, match: FaultMatch(token: token, bundleID: app, type: type)))
        let expected = token == nil && app != apps[1] && type != .alert
        #expect((table.strike(nil, apps[0], .liveactivity) != nil) == expected)
        #expect(table.rules[0].matched == (expected ? 1 : 0))
      }
    }
  }

  /// Every combination of criteria against every push: a criterion that is nil matches all.
  @Test func everyMatchAgainstEveryPush() {
    for token in [nil, tokens[0]] {
      for app in [nil, apps[0]] {
        for type in [nil, types[0]] {
          var table = FaultTable()
          _ = table.add(FaultSpecification(.stall, match: FaultMatch(token: token, bundleID: app, type: type)))
          for (t, a, y) in tokens.flatMap({ t in apps.flatMap { a in types.map { (t, a, $0) } } }) {
            let expected = (token == nil || token == t) && (app == nil || app == a) && (type == nil || type == y)
            #expect((table.strike(t, a, y) != nil) == expected, "\(token?.hex ?? "any") \(app ?? "any") \(type?.description ?? "any")")
          }
        }
      }
    }
  }

  @Test func timesAreCountedAndNoMore() {
    var table = FaultTable()
    _ = table.add(FaultSpecification(.close, times: 3))
    let struck = (0..<10).map { _ in table.strike(tokens[0], apps[0], .widgets) != nil }
    #expect(struck == [true, true, true] + Array(repeating: false, count: 7))
    #expect(table.rules[0].applied == 3 && table.rules[0].matched == 3 && table.rules[0].isSpent)
  }

  /// The first that strikes is the only one; a spent one lets the next have its turn.
  @Test func theFirstOfSeveralStrikes() {
    var table = FaultTable()
    _ = table.add(FaultSpecification(.answer(.serviceUnavailable, timestamp: nil), times: 1))
    _ = table.add(FaultSpecification(.stall, match: FaultMatch(type: .alert)))
    _ = table.add(FaultSpecification(.close))
    let rules = [PushType.alert, .alert, .widgets, .alert].map { table.strike(tokens[0], apps[0], $0)?.rule }
    #expect(rules == [1, 2, 3, 2])
    #expect(table.rules.map(\.applied) == [1, 2, 1])
  }

  /// The same seed strikes the same pushes for the same spans, whatever other rules do in between.
  @Test(arguments: seeds(20)) func aSeedDecidesEverything(seed: UInt64) {
    func run(withOther: Bool) -> [FaultStrike?] {
      var table = FaultTable()
      if withOther { _ = table.add(FaultSpecification(.close, match: FaultMatch(type: .alert), probability: 0.5)) }
      _ = table.add(
        FaultSpecification(
          .passes, match: FaultMatch(type: .widgets), latency: .logNormal(median: .milliseconds(50), p99: .milliseconds(900)),
          probability: 0.3, seed: seed))
      return (0..<200).map { index in
        if withOther, index % 3 == 0 { _ = table.strike(tokens[1], apps[1], .alert) }
        return table.strike(tokens[0], apps[0], .widgets)
      }
    }
    let (alone, together) = (run(withOther: false), run(withOther: true))
    #expect(alone.map { $0?.delay } == together.map { $0?.delay })
    #expect(alone.contains { $0 != nil } && alone.contains { $0 == nil })
  }

  @Test func withoutASeedTheRulesNumberIsTheSeed() {
    var (one, other) = (FaultTable(), FaultTable())
    _ = one.add(FaultSpecification(.stall, probability: 0.5))
    _ = other.add(FaultSpecification(.stall, probability: 0.5, seed: 1))
    for _ in 0..<100 {
      #expect(one.strike(tokens[0], apps[0], .alert) == other.strike(tokens[0], apps[0], .alert))
    }
  }

  @Test(arguments: [0.01, 0.2, 0.5, 0.9]) func aProbabilityIsAPart(of probability: Double) {
    var table = FaultTable()
    _ = table.add(FaultSpecification(.stall, probability: probability, seed: 11))
    let count = 20_000
    for _ in 0..<count { _ = table.strike(tokens[0], apps[0], .alert) }
    let part = Double(table.rules[0].applied) / Double(count)
    // Five standard deviations.
    #expect(abs(part - probability) < 5 * (probability * (1 - probability) / Double(count)).squareRoot(), "\(part)")
    #expect(table.rules[0].matched == count)
  }

  @Test func anOutageStrikesEveryPushUntilItIsOver() {
    var table = FaultTable()
    _ = table.add(FaultSpecification(.outage(.seconds(10)), match: FaultMatch(type: .alert), times: 1))
    #expect(table.strike(tokens[0], apps[0], .widgets) == nil)
    #expect(table.strike(tokens[0], apps[0], .alert) != nil)
    #expect(table.strike(tokens[1], apps[1], .widgets, at: start + .seconds(9))?.action == .outage(nil))
    #expect(table.strike(tokens[1], apps[1], .widgets, at: start + .seconds(10)) == nil)
    #expect(table.strike(tokens[1], apps[1], .alert, at: start + .seconds(10)) == nil)
  }

  @Test func anOutageWithoutAnEndEndsWithItsRule() {
    var table = FaultTable()
    _ = table.add(FaultSpecification(.outage(nil)))
    #expect(table.strike(tokens[0], apps[0], .widgets) != nil)
    #expect(table.strike(tokens[0], apps[0], .widgets, at: start + .seconds(1_000_000)) != nil)
    #expect(table.remove { $0.id == 1 } == 1)
    #expect(table.strike(tokens[0], apps[0], .widgets) == nil)
  }

  @Test func thereAreOnlySoMany() {
    var table = FaultTable()
    for number in 1...Limits.faultRules { #expect(table.add(FaultSpecification(.stall))?.id == number) }
    #expect(table.add(FaultSpecification(.stall)) == nil)
    #expect(table.remove { $0.id == 5 } == 1)
    // A number is never given twice.
    #expect(table.add(FaultSpecification(.stall))?.id == Limits.faultRules + 1)
  }

  @Test func aBookIsArmedWhileItHasRules() {
    let book = FaultBook()
    #expect(!book.isArmed)
    let rule = book.add(FaultSpecification(.stall))
    #expect(book.isArmed && book.rules.map(\.id) == [1])
    #expect(book.remove { $0.id == rule?.id } == 1)
    #expect(!book.isArmed)
  }
}

@Suite("Faults: how long") struct FaultLatencyTests {
  private func draws(_ latency: FaultLatency, longest: TimeSpan = .seconds(60)) -> [Int64] {
    var generator = SplitMix64(seed: 3)
    return (0..<10_000).map { _ in latency.draw(longest: longest, using: &generator).milliseconds }.sorted()
  }

  @Test func aFixedOneIsAlwaysTheSame() { #expect(Set(draws(.fixed(.milliseconds(70)))) == [70]) }

  @Test func aUniformOneKeepsItsBounds() {
    let found = draws(.uniform(from: .milliseconds(10), to: .milliseconds(20)))
    #expect(found.first == 10 && (19...20).contains(found.last ?? 0))
    #expect((14...16).contains(found[5000]))
  }

  /// Its median and its 99th percentile are the ones that were asked for, within what 10,000 draws show.
  @Test func aLogNormalOneHasItsQuantiles() {
    let found = draws(.logNormal(median: .milliseconds(100), p99: .milliseconds(1000)))
    #expect((96...104).contains(found[5000]), "\(found[5000])")
    #expect((850...1150).contains(found[9900]), "\(found[9900])")
  }

  @Test func nothingIsLongerThanTheLongest() {
    #expect(draws(.logNormal(median: .seconds(30), p99: .seconds(59)), longest: .seconds(40)).last == 40_000)
    #expect(draws(.fixed(.seconds(50)), longest: .seconds(40)).last == 40_000)
  }
}
