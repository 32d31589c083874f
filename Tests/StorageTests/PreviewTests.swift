import Delivery
import Primitives
import Push
import Testing

@testable import Storage

@Suite("What would become of a push") struct PreviewTests {
  private func preview(
    _ bench: Bench, _ id: Int, to token: Int = 1, _ type: PushType = .widgets, traits: PushTraits? = nil, expiration: Expiration = .absent
  ) -> AdmissionPreview {
    let batch = Batch()
    let operation = Bench.operation(
      batch, id: id, token: Bench.token(token), type: type, at: bench.now, traits: traits, expiration: expiration)
    return bench.state.preview(operation, batch, at: bench.now)
  }

  /// Whatever the state of a token: the preview says what then happens, and leaves no trace.
  @Test(arguments: [AppPolicy.BudgetMode.enforce, .reject, .observe], [TokenKind.widgets, .liveactivity, .pushToStart, .app])
  func itSaysWhatThenHappens(mode: AppPolicy.BudgetMode, kind: TokenKind) throws {
    for seed in UInt64(1)...30 {
      var generator = SplitMix64(seed: seed)
      var policy = AppPolicy()
      policy.budgetMode = mode
      for budget in BudgetKind.allCases {
        policy[budget] = BudgetParameters(allowance: 3, burst: 2, window: .seconds(60), minimumInterval: .seconds(1))
      }
      policy.expirationZero = Bool.random(using: &generator) ? .wait : .drop
      policy.coalesce = .seconds(seed % 3 == 0 ? 2 : 0)
      let bench = try Bench(policy: policy) { $0.lanePushes = 2 }
      try bench.register(Bench.registration(1, kind))
      for id in 1...25 {
        let (type, traits) = Self.push(kind, &generator)
        let expiration = [Expiration.absent, .zero, .at(bench.now - .seconds(1))].randomElement(using: &generator)!
        let before = bench.state.durable(exact: true)
        let (lent, waiting) = (bench.state.pool.lentBytes, bench.state.counters.waiting)
        let told = preview(bench, id, type, traits: traits, expiration: expiration)
        #expect(bench.state.durable(exact: true) == before && bench.state.counters.waiting == waiting)
        #expect(bench.state.pool.lentBytes == lent && bench.state.journal.count == 0 && bench.record(id) == nil)
        let happened = try bench.push(id, type, traits: traits, expiration: expiration)
        #expect(told.result == happened, "seed \(seed), push \(id)")
        if told.isLowered { #expect(bench.forwarded.last?.push.priority == .considerate) }
        if let step = bench.record(id)?.steps.last, step.disposition == .forwarding {
          #expect(step.budgetBefore == told.budgetBefore && step.budgetAfter == told.budgetAfter)
        }
        if Bool.random(using: &generator), bench.state.counters.inFlight > 0 { try bench.complete(.accepted) }
        if Bool.random(using: &generator) { try bench.advance(to: bench.now + .seconds(Int64.random(in: 0...20, using: &generator))) }
      }
    }
  }

  private static func push(_ kind: TokenKind, _ generator: inout SplitMix64) -> (PushType, PushTraits?) {
    switch kind {
    case .widgets: return (.widgets, nil)
    case .liveactivity:
      let lane = [LaneClass.activityUpdate, .keep].randomElement(using: &generator)!
      return (.liveactivity, PushTraits(lane: lane, activity: .update, hasContentState: true))
    case .pushToStart: return (.liveactivity, PushTraits(lane: .keep, activity: .start, hasContentState: true, hasAlert: true))
    default: return (Bool.random(using: &generator) ? .alert : .background, nil)
    }
  }

  @Test func unknownTokensAreNotRegisteredByIt() throws {
    let refusing = try Bench()
    #expect(preview(refusing, 1).result == .refused(.badDeviceToken, .tokenUnknown))
    var policy = AppPolicy()
    policy.unknownTokens = .adopt
    let adopting = try Bench(policy: policy)
    let told = preview(adopting, 1)
    #expect(told.result == .forwarded && told.isAdopted)
    #expect(adopting.state.tokens.activeCount == 0)
  }

  /// A token that the push itself would register: cost, coalescing and expiration as they then are.
  @Test(arguments: [AppPolicy.BudgetMode.enforce, .reject, .observe], [TimeSpan.zero, .seconds(2)])
  func adoptedTokensAreToldWhole(mode: AppPolicy.BudgetMode, coalesce: TimeSpan) throws {
    let pushes: [(PushType, PushTraits?, Expiration)] = [
      (.widgets, nil, .absent), (.controls, nil, .zero), (.widgets, nil, .at(Instant(unixSeconds: 1))), (.alert, nil, .absent),
      (.background, PushTraits(lane: .background), .absent), (.voip, PushTraits(lane: .keep), .absent),
      (.liveactivity, PushTraits(lane: .keep, activity: .start, hasContentState: true, hasAlert: true), .absent),
      (.liveactivity, PushTraits(lane: .activityUpdate, activity: .update, hasContentState: true), .absent),
    ]
    for (id, push) in pushes.enumerated() {
      var policy = AppPolicy()
      (policy.unknownTokens, policy.budgetMode, policy.coalesce) = (.adopt, mode, coalesce)
      let bench = try Bench(policy: policy)
      let told = preview(bench, id, push.0, traits: push.1, expiration: push.2)
      #expect(told.isAdopted && bench.state.tokens.activeCount == 0)
      let happened = try bench.push(id, push.0, traits: push.1, expiration: push.2)
      #expect(told.result == happened, "\(push)")
      let step = try #require(bench.record(id)?.steps.last)
      #expect(step.budgetBefore == told.budgetBefore && step.budgetAfter == told.budgetAfter, "\(push): \(told)")
    }
  }

  /// A push that would register its token waits for the app's next batch as any other does.
  @Test(arguments: [Priority.considerate, .immediate]) func anAdoptedTokensBatchIsTold(priority: Priority) throws {
    var policy = AppPolicy()
    (policy.unknownTokens, policy.batch) = (.adopt, .seconds(600))
    let bench = try Bench(policy: policy)
    bench.now = bench.now + .seconds(1)
    let batch = Batch()
    let operation = Bench.operation(
      batch, id: 1, token: Bench.token(1), type: .alert, at: bench.now, priority: priority)
    let told = bench.state.preview(operation, batch, at: bench.now).result
    if priority == .considerate {
      guard case .waiting(_, .waitingForBatch) = told else { throw StoreError.engine("\(told)") }
    }
    #expect(try bench.push(1, .alert, priority: priority) == told)
  }

  @Test func anotherAppsTokenIsNamed() throws {
    let bench = try Bench()
    try bench.register(Bench.registration(1))
    let told = preview(bench, 1, .controls)
    #expect(told.result == .refused(.deviceTokenNotForTopic, .otherKind))
    #expect(told.detail.contains("this token is a widgets token of com.example.app"))
  }
}
