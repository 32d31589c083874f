import Delivery
import Primitives
import Push
import Seeds
import Testing

@testable import Storage

/// Tokens that take each other's place: they spend what one would.
@Suite("Rotation of tokens") struct RotationTests {
  private static let allowance = 40

  private static func bench(minimumInterval: TimeSpan = .zero) throws -> Bench {
    var policy = AppPolicy()
    policy.widgets = BudgetParameters(
      allowance: Int64(allowance), burst: 12, window: .seconds(86_400), minimumInterval: minimumInterval)
    return try Bench(policy: policy)
  }

  /// Has all that is in flight arrive.
  private static func arrive(_ bench: Bench, _ tokens: ClosedRange<Int>) throws {
    for token in tokens {
      while let number = bench.state.tokens.find(Bench.token(token)), bench.state.tokens[number].pointee.inFlight != none {
        try bench.complete(.accepted, token: token)
      }
    }
  }

  private static func advance(_ bench: Bench, by span: TimeSpan, _ tokens: ClosedRange<Int>) throws {
    let end = bench.now + span
    while let due = bench.state.nextDue, due <= end {
      try bench.advance(to: max(due, bench.now))
      try arrive(bench, tokens)
    }
    try bench.advance(to: end)
  }

  private static func most(_ bench: Bench) -> Int {
    let times = bench.forwarded.map(\.at)
    return times.map { first in times.filter { $0 >= first && $0 <= first + .seconds(86_400) }.count }.max() ?? 0
  }

  @Test func aChainOfTokensSpendsOneBudget() throws {
    let bench = try Self.bench()
    let tokens = 0...30
    try bench.register(Bench.registration(0))
    for id in 0..<13 {
      try bench.push(id, to: 0)
      try Self.arrive(bench, tokens)
    }
    for token in 1...30 {
      try bench.register(Bench.registration(token), replacing: Bench.token(token - 1))
      try bench.push(100 + token, to: token)
      try Self.arrive(bench, tokens)
    }
    #expect(bench.forwarded.count == 12)
    try bench.crash()
    try Self.advance(bench, by: .seconds(3086), tokens)
    #expect(bench.forwarded.count == 13, "one credit has come back, for all of them")
    #expect(bench.budgets(Bench.registration(0)) == nil, "the first has nothing that waits any more")
    try Self.advance(bench, by: .seconds(86_400), tokens)
    #expect(bench.forwarded.count == 41)
    try Self.advance(bench, by: .seconds(86_400), tokens)
    #expect(bench.forwarded.count == 43, "none is lost")
    #expect(Self.most(bench) <= Self.allowance)
  }

  @Test func theMinimumIntervalHoldsFromTokenToToken() throws {
    let bench = try Self.bench(minimumInterval: .seconds(300))
    try bench.register(Bench.registration(1))
    try bench.push(0)
    try bench.complete(.accepted)
    try bench.push(1)
    try bench.register(Bench.registration(2), replacing: Bench.token(1))
    let start = bench.now
    #expect(try bench.push(2, to: 2) == .waiting(due: start + .seconds(600), .minimumInterval))
    try Self.advance(bench, by: .seconds(700), 1...2)
    #expect(bench.forwarded.map { $0.at - start } == [.zero, .seconds(300), .seconds(600)])
  }

  @Test func theSamePairOnceMoreChangesNothing() throws {
    let bench = try Self.bench()
    try bench.register(Bench.registration(1))
    for id in 0..<3 { try bench.push(id) }
    let new = Bench.registration(2)
    try bench.register(new, replacing: Bench.token(1))
    #expect(
      bench.budgets(Bench.registration(1))?.first?.remaining == 11, "its push in flight is paid, and the waiting one is by the new token")
    let report = bench.budgets(new)
    #expect(report?.first?.remaining == 10)
    for _ in 0..<3 {
      try bench.register(new, replacing: Bench.token(1))
      #expect(bench.budgets(new) == report)
    }
    // Another token that names the old one finds its budget gone.
    try bench.register(Bench.registration(3), replacing: Bench.token(1))
    #expect((bench.budgets(Bench.registration(3))?.first?.remaining ?? 1) <= 0)
    #expect(bench.budgets(new) == report)
  }

  @Test func theOldTokenHasNothingForAWindow() throws {
    let bench = try Self.bench()
    try bench.register(Bench.registration(1))
    for id in 0..<2 { try bench.push(id) }
    try bench.register(Bench.registration(2), replacing: Bench.token(1))
    try bench.register(Bench.registration(1))
    let old = try #require(bench.budgets(Bench.registration(1))?.first)
    #expect(old.remaining <= 0 && old.payableAt > bench.now + .seconds(86_400))
    #expect(bench.budgets(Bench.registration(2))?.first?.remaining == 10)
    try bench.crash()
    #expect(bench.budgets(Bench.registration(1))?.first?.payableAt == old.payableAt)
  }

  /// Forth and back and on to others, at random, with pushes to all of them: no window sees more than the allowance of one.
  @Test(arguments: seeds(20)) func allTokensTogetherSpendOneBudget(seed: UInt64) throws {
    var generator = SplitMix64(seed: seed)
    let bench = try Self.bench(minimumInterval: .seconds(Bool.random(using: &generator) ? 0 : 300))
    let tokens = 0...5
    var current = 0
    try bench.register(Bench.registration(0))
    for id in 0..<400 {
      switch Int.random(in: 0..<8, using: &generator) {
      case 0:
        let next = Int.random(in: tokens, using: &generator)
        try bench.register(Bench.registration(next), replacing: next == current ? nil : Bench.token(current))
        current = next
      case 1: try Self.advance(bench, by: .seconds(Int64.random(in: 0...10_000, using: &generator)), tokens)
      case 2: try bench.crash()
      default: try bench.push(id, to: Bool.random(using: &generator) ? current : Int.random(in: tokens, using: &generator))
      }
      try Self.arrive(bench, tokens)
    }
    #expect(Self.most(bench) <= Self.allowance)
    #expect(bench.forwarded.count > Self.allowance)
  }
}
