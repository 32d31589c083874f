import Delivery
import Primitives
import Push
import Seeds
import Testing

@testable import Storage

/// Restarts with other numbers of budgets: they must do to what was spent what a change at run time does.
@Suite("Budgets over restarts") struct BudgetRestartTests {
  private static func policy(_ allowance: Int64, _ burst: Int64) -> AppPolicy {
    var policy = AppPolicy()
    policy.widgets = BudgetParameters(allowance: allowance, burst: burst, window: .seconds(86_400), minimumInterval: .zero)
    return policy
  }

  /// A store that is closed, or killed, and opened again with other settings.
  private final class Stage {
    private let folder = Folder()
    private let isFile: Bool
    private var engine: any Engine
    private(set) var bench: Bench

    init(_ kind: EngineContractTests.Kind, _ policy: AppPolicy) throws {
      isFile = kind == .sqlite
      engine = isFile ? try SQLiteEngine(path: folder.store) : MemoryEngine()
      bench = try Bench(policy: policy, engine: engine)
    }

    deinit {
      engine.close()
      folder.remove()
    }

    func reopen(_ policy: AppPolicy, commits: Bool = true) throws {
      let now = bench.now
      if isFile {
        engine.close()
        engine = try SQLiteEngine(path: folder.store)
      }
      bench = try Bench(policy: policy, engine: engine, at: now)
      if commits { try bench.commit() }
    }

    func change(_ policy: AppPolicy) throws {
      bench.state.reconfigure(Bench.resolver(AppDirectory([], anyApp: AppDirectory.App(bundleID: "", policy: policy))), at: bench.now)
      try bench.commit()
    }

    /// Has all that is in flight arrive.
    func arrive() throws {
      for token in 1...2 {
        while let number = bench.state.tokens.find(Bench.token(token)), bench.state.tokens[number].pointee.inFlight != none {
          try bench.complete(.accepted, token: token)
        }
      }
    }

    func states(_ token: Int = 1) -> [BudgetState] {
      bench.state.tokens.find(Bench.token(token)).map { Array(bench.state.tokens.budgets($0)) } ?? []
    }

    var remaining: Int? { bench.budgets(Bench.registration(1))?.first?.remaining }
  }

  private static func spend(_ stage: Stage, _ ids: Range<Int>) throws {
    for id in ids {
      #expect(try stage.bench.push(id) == .forwarded)
      try stage.bench.complete(.accepted)
    }
  }

  @Test(arguments: EngineContractTests.Kind.allCases) func otherNumbersGiveNothing(kind: EngineContractTests.Kind) throws {
    let stage = try Stage(kind, Self.policy(40, 12))
    try stage.bench.register(Bench.registration(1))
    try Self.spend(stage, 0..<12)
    for (allowance, burst) in [(40, 40), (40, 12), (400, 60), (40, 40)] as [(Int64, Int64)] {
      try stage.reopen(Self.policy(allowance, burst))
      #expect((stage.remaining ?? 1) <= 0, "\(allowance), \(burst)")
    }
    let states = stage.states()
    try stage.reopen(Self.policy(40, 40))
    #expect(stage.states() == states, "the same numbers change nothing")
  }

  /// Killed before it has saved anything, a start with other numbers leaves no trace.
  @Test(arguments: EngineContractTests.Kind.allCases) func aStartThatIsKilledConvertsNothing(kind: EngineContractTests.Kind) throws {
    let stage = try Stage(kind, Self.policy(40, 12))
    try stage.bench.register(Bench.registration(1))
    try Self.spend(stage, 0..<5)
    let before = stage.states()
    try stage.reopen(Self.policy(20, 2), commits: false)
    #expect(stage.remaining == -3)
    let converted = stage.states()
    try stage.reopen(Self.policy(40, 12), commits: false)
    #expect(stage.states() == before)
    try stage.reopen(Self.policy(20, 2))
    try stage.reopen(Self.policy(20, 2), commits: false)
    #expect(stage.states() == converted, "and one that has saved converts once")
    try stage.bench.fold()
    try stage.reopen(Self.policy(20, 2))
    #expect(stage.states() == converted)
  }

  @Test func aRegistrationsOwnNumbersStay() throws {
    let stage = try Stage(.sqlite, Self.policy(40, 12))
    var registration = Bench.registration(1)
    registration.budget = .init(allowance: 4, burst: 2, window: .seconds(60))
    try stage.bench.register(registration)
    try Self.spend(stage, 0..<2)
    let before = stage.states()
    try stage.reopen(Self.policy(400, 60))
    #expect(stage.states() == before)
    #expect(stage.bench.budgets(registration)?.first?.burst == 2)
  }

  /// A store of an earlier build does not say what its budgets mean: they mean what they do now, and from then on it is said.
  @Test func aStoreWithoutNumbersMeansThePresentOnes() throws {
    let inner = MemoryEngine()
    let bench = try Bench(policy: Self.policy(40, 12), engine: MutedEngine(inner))
    try bench.register(Bench.registration(1))
    try bench.push(0)
    let states = bench.state.tokens.budgets(0).map { $0 }
    let later = try Bench(policy: Self.policy(40, 20), engine: inner)
    #expect(later.state.tokens.budgets(0).map { $0 } == states)
    try later.commit()
    let last = try Bench(policy: Self.policy(40, 30), engine: inner)
    #expect(last.state.tokens.budgets(0).map { $0 } != states)
  }

  private final class MutedEngine: WrappedEngine, @unchecked Sendable {
    override func commit(_ commit: borrowing Commit) throws(StoreError) {
      var silent = Commit(number: commit.number)
      silent.journal = commit.journal
      silent.words = commit.words
      silent.routes = commit.routes
      silent.registrations = commit.registrations
      try inner.commit(silent)
    }
  }

  /// Random changes, made at run time in one store and by restarts in another: the budgets are the same.
  @Test(arguments: seeds(10)) func aRestartConvertsAsAChangeDoes(seed: UInt64) throws {
    var generator = SplitMix64(seed: seed)
    let policies = [Self.policy(40, 12), Self.policy(40, 40), Self.policy(1, 1), Self.policy(400, 60), Self.policy(20, 2)]
    let (live, restarted) = (try Stage(.memory, policies[0]), try Stage(.memory, policies[0]))
    var own = Bench.registration(2)
    own.budget = .init(allowance: 10)
    for stage in [live, restarted] {
      try stage.bench.register(Bench.registration(1))
      try stage.bench.register(own)
    }
    for id in 0..<120 {
      switch Int.random(in: 0..<4, using: &generator) {
      case 0:
        let policy = policies[Int.random(in: 0..<policies.count, using: &generator)]
        try live.change(policy)
        try restarted.reopen(policy)
      case 1:
        let span = TimeSpan.seconds(Int64.random(in: 0...20_000, using: &generator))
        for stage in [live, restarted] {
          try stage.bench.advance(to: stage.bench.now + span)
          try stage.arrive()
        }
      default:
        let token = Int.random(in: 1...2, using: &generator)
        for stage in [live, restarted] {
          try stage.bench.push(id, to: token)
          try stage.arrive()
        }
      }
      for token in 1...2 { try #require(live.states(token) == restarted.states(token)) }
    }
  }
}
