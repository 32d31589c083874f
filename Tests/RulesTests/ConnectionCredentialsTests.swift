import Primitives
import Push
import Testing

@testable import Rules

/// What one connection's provider tokens may be (apns.md sections 4.2 and 4.3).
@Suite("Connection credentials") struct ConnectionCredentialsTests {
  typealias Provider = ProviderDirectory.Provider

  private static let bundles: [[String]?] = [
    nil, ["com.example.app"], ["com.example.other"], ["com.example.app", "com.example.other"], ["com.example.other", "com.example.app"],
  ]
  private static let environments: [PushEnvironment?] = [nil, .development, .production]

  /// Every kind of key, twice.
  private static let keys: [Provider] = ["TEAM012345", "TEAM999999"].flatMap { team in
    bundles.indices.flatMap { apps in
      environments.indices.flatMap { environment in
        (0..<2).map { number in
          Provider(
            keyID: "\(team.last!)APPS\(apps)ENV\(environment)N\(number)", teamID: team, bundleIDs: bundles[apps],
            environment: environments[environment])
        }
      }
    }
  }

  private static func answer(_ first: Provider, _ second: Provider) -> Reason? {
    if first.teamID != second.teamID { return .invalidProviderToken }
    if first.keyID == second.keyID { return nil }
    let apps = { (key: Provider) in key.bundleIDs.map { $0.sorted().joined(separator: " ") } }
    if apps(first) != apps(second) { return .unrelatedKeyIDInToken }
    switch (first.environment, second.environment) {
    case (.development?, .production?), (.production?, .development?): return .unrelatedKeyIDInToken
    default: return nil
    }
  }

  /// All pairs of keys: a connection that began with the first goes on with the second, and always with the first.
  @Test func aConnectionKeepsToRelatedKeys() {
    var refused = 0
    for first in Self.keys {
      for second in Self.keys {
        var connection = ConnectionCredentials(source: 0)
        #expect(Self.accept(1, of: first, &connection) == nil)
        let expected = Self.answer(first, second)
        #expect(Self.accept(3, of: second, &connection) == expected, "\(first) \(second)")
        #expect(connection.knows(expected == nil ? 3 : 1) && !connection.knows(expected == nil ? 1 : 3))
        #expect(Self.accept(5, of: first, &connection) == nil)
        if expected != nil { refused += 1 }
      }
    }
    #expect(refused > 1000)
  }

  private static func accept(_ token: UInt64, of key: Provider, _ connection: inout ConnectionCredentials) -> Reason? {
    do throws(Violation) {
      try connection.accept(token, of: key)
      return nil
    } catch {
      return error.reason
    }
  }

  // MARK: Through the rules

  private static let directory = ProviderDirectory([
    .init(keyID: "ABCDE12345", teamID: "TEAM012345"), .init(keyID: "SECOND0001", teamID: "TEAM012345"),
    .init(keyID: "ONEAPP0001", teamID: "TEAM012345", bundleIDs: ["com.example.app"]),
    .init(keyID: "DEVKEY0001", teamID: "TEAM012345", environment: .development),
    .init(keyID: "OTHERTEAM1", teamID: "TEAM999999"),
  ])

  private func request(key: String = "ABCDE12345", team: String = "TEAM012345", age: Int64 = 0, signature: String = "good")
    -> TestRequest
  {
    var token = TestToken()
    (token.keyID, token.teamID, token.signature) = (key, team, signature)
    token.issuedAt = "\(now.unixSeconds - age)"
    return TestRequest().with { $0.authorization = "bearer " + token.text }
  }

  @Test(
    arguments: [
      ("ABCDE12345", "TEAM012345", nil), ("SECOND0001", "TEAM012345", nil), ("ONEAPP0001", "TEAM012345", .unrelatedKeyIDInToken),
      ("DEVKEY0001", "TEAM012345", nil), ("OTHERTEAM1", "TEAM999999", .invalidProviderToken),
    ] as [(String, String, Reason?)])
  func secondKeys(key: String, team: String, reason: Reason?) {
    var rules = TestRules(providers: Self.directory)
    var connection = ConnectionCredentials(source: 0)
    #expect(rules.evaluate(request(), on: &connection).push != nil)
    // Twice: what is refused stays so, though the token is known by then.
    for _ in 0..<2 { #expect(rules.evaluate(request(key: key, team: team), on: &connection).refusal?.reason == reason) }
    #expect(rules.evaluate(request(), on: &connection).push != nil)
    // On a connection of its own it is good.
    #expect(rules.evaluate(request(key: key, team: team)).push != nil)
  }

  /// A token that is refused for what it is does not choose the connection's key.
  @Test func onlyGoodTokensCount() {
    var rules = TestRules(providers: Self.directory)
    var connection = ConnectionCredentials(source: 0)
    #expect(rules.evaluate(request(key: "OTHERTEAM1", team: "TEAM999999", signature: "bad"), on: &connection).push == nil)
    #expect(rules.evaluate(request(), on: &connection).push != nil)
    // A refused push has a good token all the same.
    connection = ConnectionCredentials(source: 0)
    #expect(rules.evaluate(request().with { $0.topic = nil }, on: &connection).refusal?.reason == .missingTopic)
    #expect(rules.evaluate(request(key: "OTHERTEAM1", team: "TEAM999999"), on: &connection).refusal?.reason == .invalidProviderToken)
  }

  @Test(arguments: [true, false]) func anExpiredTokenMakesAConnectionUseless(isWedged: Bool) {
    var answers = ProviderAnswers()
    answers.wedgeAfterExpired = isWedged
    var rules = TestRules(providers: Self.directory, answers: answers)
    var connection = ConnectionCredentials(source: 0)
    #expect(rules.evaluate(request(), on: &connection).push != nil)
    for _ in 0..<2 { #expect(rules.evaluate(request(age: 3601), on: &connection).refusal?.reason == .expiredProviderToken) }
    for good in [request(), request(age: 10), request(key: "SECOND0001")] {
      #expect(rules.evaluate(good, on: &connection).refusal?.reason == (isWedged ? .expiredProviderToken : nil))
      #expect(rules.evaluate(good).push != nil, "other connections are not concerned")
    }
    // A token that ages on the connection does the same.
    connection = ConnectionCredentials(source: 0)
    #expect(rules.evaluate(request(), on: &connection).push != nil)
    let late = request().with { $0.at = now + .seconds(3601) }
    #expect(rules.evaluate(late, on: &connection).refusal?.reason == .expiredProviderToken)
    #expect(rules.evaluate(request(), on: &connection).refusal?.reason == (isWedged ? .expiredProviderToken : nil))
  }

  @Test func trustIsGivenAheadAndChangesNothing() {
    var rules = TestRules(providers: Self.directory, tokenUpdates: .enforce)
    for (request, isTrusted) in [
      (request(), true), (request(signature: "bad"), false), (request(age: 3601), false),
      (TestRequest().with { $0.authorization = nil }, false),
      (request(key: "OTHERTEAM1", team: "TEAM999999"), true),
    ] {
      var connection = ConnectionCredentials(source: 0)
      var plain = connection
      for _ in 0..<10 { #expect(rules.trusts(request, on: &connection) == isTrusted) }
      #expect("\(rules.evaluate(request, on: &connection))" == "\(rules.evaluate(request, on: &plain))")
    }
  }

  // MARK: Too many tokens

  @Test func newTokensAreCountedOnAConnection() {
    var rules = TestRules(providers: Self.directory, tokenUpdates: .enforce)
    var connection = ConnectionCredentials(source: 0)
    func reason(_ age: Int64, at seconds: Int64 = 0) -> Reason? {
      rules.evaluate(request(age: age).with { $0.at = now + .seconds(seconds) }, on: &connection).refusal?.reason
    }
    for age in 0..<4 as Range<Int64> { #expect(reason(age) == nil) }
    // Those before are as good as ever, in any order.
    for age in [2, 0, 3, 1, 1] as [Int64] { #expect(reason(age) == nil) }
    #expect(reason(4) == .tooManyProviderTokenUpdates)
    // Then none is of use until the time has passed, and what has come meanwhile is counted by nothing.
    for (age, seconds) in [(3, 0), (0, 600), (4, 1199), (1, 1199)] as [(Int64, Int64)] {
      #expect(reason(age, at: seconds) == .tooManyProviderTokenUpdates)
    }
    #expect(reason(4, at: 1200) == nil && reason(3, at: 1200) == nil)
    for age in 5...7 as ClosedRange<Int64> { #expect(reason(age, at: 1200) == nil) }
    #expect(reason(8, at: 1200) == .tooManyProviderTokenUpdates)
    // Its signature is not even looked at, so that a connection has few checked.
    let calls = rules.verifier.calls.count
    for age in 5..<50 as Range<Int64> {
      let late = request(age: age, signature: "bad").with { $0.at = now + .seconds(1200) }
      #expect(rules.evaluate(late, on: &connection).refusal?.reason == .tooManyProviderTokenUpdates)
    }
    #expect(rules.verifier.calls.count == calls)
  }

  /// As observed: 403 for bad tokens, and then 429.
  @Test func badTokensCountToo() {
    var rules = TestRules(providers: Self.directory, tokenUpdates: .enforce)
    var connection = ConnectionCredentials(source: 0)
    let reasons = (0..<6).map { rules.evaluate(request(age: $0, signature: "bad"), on: &connection).refusal?.reason }
    #expect(reasons == Array(repeating: .invalidProviderToken, count: 4) + Array(repeating: .tooManyProviderTokenUpdates, count: 2))
  }

  @Test func warningsAreGivenOnce() {
    var rules = TestRules(providers: Self.directory, tokenUpdates: .warn)
    var connection = ConnectionCredentials(source: 0)
    var warned: [Int64] = []
    for number in 0..<2500 as Range<Int64> {
      #expect(rules.evaluate(request(age: -number).with { $0.at = now + .seconds(number) }, on: &connection).push != nil)
      if connection.takeWarning() { warned.append(number) }
    }
    #expect(warned == [4, 1204, 2404])
  }

  @Test func nothingIsCountedWhenOff() {
    var rules = TestRules(providers: Self.directory)
    var connection = ConnectionCredentials(source: 0)
    for age in 0..<100 as Range<Int64> { #expect(rules.evaluate(request(age: age), on: &connection).push != nil) }
    let hasWarning = connection.takeWarning()
    #expect(!hasWarning)
  }

  private final class Updates: ProviderTokenUpdates {
    var table = TokenUpdateTable(capacity: 64)
    func note(_ token: UInt64, source: UInt64, provider: UInt64, now: Instant, keeps: Bool) -> Bool {
      table.note(token, source: source, provider: provider, now: now, keeps: keeps)
    }
  }

  /// A connection for each token, from one address and from others, with one key and with another.
  @Test func newTokensAreCountedOverConnections() {
    var rules = TestRules(providers: Self.directory, tokenUpdates: .enforce, updates: Updates())
    func reason(_ age: Int64, key: String = "ABCDE12345", source: UInt64 = 42, signature: String = "good") -> Reason? {
      var connection = ConnectionCredentials(source: source)
      return rules.evaluate(request(key: key, age: age, signature: signature), on: &connection).refusal?.reason
    }
    // Who cannot sign cannot use up another's tokens.
    for age in 100..<120 as Range<Int64> { #expect(reason(age, signature: "bad") == .invalidProviderToken) }
    for age in 0..<4 as Range<Int64> { #expect(reason(age) == nil) }
    #expect(reason(4) == .tooManyProviderTokenUpdates && reason(3) == nil)
    #expect(reason(4, source: 77) == nil && reason(4, key: "SECOND0001") == nil)
  }

  /// Keys that change their places in a new directory, as a reload may bring it, keep their counts.
  @Test func countsStayWithTheirKeysWhenKeysAreReordered() {
    let updates = Updates()
    func reason(_ directory: ProviderDirectory, _ age: Int64, key: String) -> Reason? {
      var rules = TestRules(providers: directory, tokenUpdates: .enforce, updates: updates)
      var connection = ConnectionCredentials(source: 42)
      return rules.evaluate(request(key: key, age: age), on: &connection).refusal?.reason
    }
    let keys = (0..<3).map { ProviderDirectory.Provider(keyID: "KEY000000\($0)", teamID: "TEAM012345") }
    let (before, after) = (ProviderDirectory(keys), ProviderDirectory([keys[2], keys[0]]))
    for age in 0..<4 as Range<Int64> { #expect(reason(before, age, key: "KEY0000000") == nil) }
    #expect(reason(after, 4, key: "KEY0000000") == .tooManyProviderTokenUpdates)
    for age in 0..<4 as Range<Int64> { #expect(reason(after, age, key: "KEY0000002") == nil) }
    #expect(reason(before, 4, key: "KEY0000002") == .tooManyProviderTokenUpdates)
    #expect(reason(before, 4, key: "KEY0000001") == nil)
  }

  /// A connection has so many tokens looked at that are none, whether or not new ones are counted; one that is known costs nothing.
  @Test(arguments: [ProviderTokenPolicy.Updates.off, .warn]) func invalidTokensAreLookedAtUpToABound(updates: ProviderTokenPolicy.Updates) {
    var rules = TestRules(providers: Self.directory, capacity: 256, tokenUpdates: updates)
    var connection = ConnectionCredentials(source: 1)
    let most = Limits.invalidProviderTokens
    func send(_ age: Int64, _ signature: String, _ connection: inout ConnectionCredentials) -> Reason? {
      rules.evaluate(request(age: age, signature: signature), on: &connection).refusal?.reason
    }
    for index in 0..<most - 1 {
      #expect(send(0, "bad\(index)", &connection) == .invalidProviderToken)
      #expect(send(0, "bad\(index)", &connection) == .invalidProviderToken)
    }
    #expect(!connection.isExhausted && rules.verifier.calls.count == most - 1)
    // A good one in time makes up for those before.
    #expect(send(0, "good", &connection) == nil)
    for index in 0..<most { #expect(send(1, "bad\(index)", &connection) == .invalidProviderToken) }
    #expect(connection.isExhausted && rules.verifier.calls.count == 2 * most)
    for index in 0..<100 { #expect(send(2, "bad\(index)", &connection) == .invalidProviderToken) }
    #expect(send(2, "good", &connection) == .invalidProviderToken)
    #expect(rules.verifier.calls.count == 2 * most)
    // The last good one is known.
    #expect(send(0, "good", &connection) == nil)
    var other = ConnectionCredentials(source: 1)
    #expect(send(2, "good", &other) == nil)
  }

  /// So are those whose key is unknown, which costs a search for the one that was meant.
  @Test func tokensOfUnknownKeysCountToo() {
    var rules = TestRules(providers: Self.directory, capacity: 256)
    var connection = ConnectionCredentials(source: 1)
    for age in 0..<Int64(Limits.invalidProviderTokens) {
      #expect(!connection.isExhausted)
      #expect(rules.evaluate(request(key: "UNKNOWN001", age: age), on: &connection).refusal?.reason == .invalidProviderToken)
    }
    #expect(connection.isExhausted && rules.verifier.calls.isEmpty)
  }

  /// Against a list of all uses, in a seeded order.
  @Test func theTableCountsAsAListDoes() {
    var table = TokenUpdateTable(capacity: 1024)
    var random = SplitMix64(seed: 3)
    var uses: [UInt64: [(token: UInt64, at: Int64)]] = [:]
    var (clock, refused) = (Int64(0), 0)
    for _ in 0..<20_000 {
      clock += Int64(random.next() % 8 + 1)
      let (source, provider) = ((random.next() % 5 + 1) &* 0xD6E8_FEB8_6659_FD93, random.next() % 3)
      let token = (random.next() % 9) << 1 | 1
      let pair = source &+ provider
      let known = (uses[pair] ?? []).suffix(4)
      let isKnown = known.contains { $0.token == token }
      let expected = isKnown || known.count < 4 || clock - known.first!.at >= 1200
      let answer = table.note(token, source: source, provider: provider, now: Instant(unixSeconds: clock), keeps: false)
      #expect(answer == expected)
      if expected, !isKnown { uses[pair, default: []].append((token, clock)) }
      if !expected { refused += 1 }
    }
    #expect(refused > 1000)
  }

  /// A table that is too small forgets, and goes on.
  @Test func aFullTableForgets() {
    var table = TokenUpdateTable(capacity: 4)
    for source in 0..<1000 as Range<UInt64> {
      for token in 0..<4 as Range<UInt64> {
        let isInTime = table.note(token << 1 | 1, source: source << 8, provider: 0, now: now, keeps: false)
        #expect(isInTime)
      }
      let fifth = table.note(99, source: source << 8, provider: 0, now: now, keeps: false)
      #expect(!fifth)
    }
  }
}
