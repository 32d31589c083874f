import Delivery
import Foundation
import Primitives
import Push
import Testing

@testable import Storage

/// Random lives of single tokens, each played to the store and to the model: what is sent, when, with which priority and in which
/// order, what every push comes to, and what it costs must be the same.
@Suite("Lanes and budgets against a model") struct LaneModelTests {
  /// How many lives each kind of budget has in each mode: a hundred thousand of a kind with WIDGETPUSH_LONG, which only the optimised
  /// build plays in minutes.
  #if DEBUG
    private static let lives = 150
  #else
    private static let lives = ProcessInfo.processInfo.environment["WIDGETPUSH_LONG"] == nil ? 150 : 33_334
  #endif

  private static let cases = BudgetKind.allCases.flatMap { kind in AppPolicy.BudgetMode.allCases.map { (kind, $0) } }

  @Test(arguments: cases) func theStoreDoesWhatTheModelSays(kind: BudgetKind, mode: AppPolicy.BudgetMode) throws {
    for seed in 0..<Self.lives {
      var life = try Life(kind: kind, mode: mode, seed: UInt64(seed))
      if let fault = try life.play() {
        Issue.record("\(kind), \(mode), life \(seed): \(fault)")
        return
      }
    }
  }

  /// A model that cannot tell a wrong store would prove nothing: with another allowance each budget is told apart.
  @Test(arguments: BudgetKind.allCases) func anotherAllowanceIsSeen(kind: BudgetKind) throws {
    let seen = try (0..<40).contains { seed in
      var life = try Life(kind: kind, mode: .enforce, seed: UInt64(seed), modelBurst: 1)
      return try life.play() != nil
    }
    #expect(seen)
  }
}

/// One life of one token.
private struct Life {
  private let kind: BudgetKind
  private let parameters: BudgetParameters
  private let bench: Bench
  private var model: LaneModel
  private var generator: SplitMix64
  private var nextID = 1

  /// - Parameter modelBurst: Another burst for the model than the store has.
  init(kind: BudgetKind, mode: AppPolicy.BudgetMode, seed: UInt64, modelBurst: Int64? = nil) throws {
    var generator = SplitMix64(seed: seed &* 31 &+ UInt64(kind.ordinal))
    let allowance = Int64.random(in: 2...9, using: &generator)
    var parameters = BudgetParameters(
      allowance: allowance, burst: Int64.random(in: modelBurst == nil ? 1...allowance : 2...allowance, using: &generator),
      window: .seconds(Int64.random(in: 20...200, using: &generator)),
      minimumInterval: .seconds([0, 0, 3, 10].randomElement(using: &generator)!))
    var policy = AppPolicy()
    policy.budgetMode = mode
    policy[kind] = parameters
    policy.expirationZero = Bool.random(using: &generator) ? .wait : .drop
    policy.coalesce = .seconds([0, 0, 2].randomElement(using: &generator)!)
    policy.batch = .seconds([0, 0, 7].randomElement(using: &generator)!)
    let triesPast = Bool.random(using: &generator)
    bench = try Bench(policy: policy) {
      $0.seed = seed
      $0.triesPastExpirations = triesPast
      $0.registrations = 4
      $0.logEntries = 256
      $0.waitingBytes = 1 << 20
    }
    var registration = Bench.registration(1, kind.tokenKind)
    registration.frequentUpdates = kind == .liveactivityFrequent
    if kind == .widgets {
      registration.widgets = (0..<Int.random(in: 0...3, using: &generator)).map { .init(id: "w\($0)", kind: "k", family: "f") }
    }
    try bench.register(registration)
    self.kind = kind
    self.parameters = parameters
    if let modelBurst { parameters.burst = modelBurst }
    model = LaneModel(
      kind: kind, parameters: parameters, mode: mode, dropsZero: policy.expirationZero == .drop, triesPast: triesPast,
      coalesce: policy.coalesce, batch: policy.batch, lane: bench.settings.lanePushes, patience: bench.settings.connectPatience,
      storage: bench.settings.storage,
      budgets: max(1, registration.widgets.count))
    self.generator = generator
  }

  /// Plays it to its end; what went wrong, or nil.
  mutating func play() throws -> String? {
    for _ in 0..<40 {
      switch Int.random(in: 0..<10, using: &generator) {
      case 0..<5: if let fault = try arrive() { return fault }
      case 5..<8: try answer()
      default: try advance(to: bench.now + .milliseconds(Int64.random(in: 1...25_000, using: &generator)))
      }
      if let fault = compare() { return fault }
    }
    return try drain()
  }

  private mutating func arrive() throws -> String? {
    let (type, traits) = push()
    let priority = [Priority.immediate, .immediate, .considerate].randomElement(using: &generator)!
    let date = bench.now + .seconds(Int64.random(in: -40...300, using: &generator))
    let expiration = [Expiration.absent, .absent, .zero, .at(date)].randomElement(using: &generator)!
    let collapseID = ["", "", "a", "b"].randomElement(using: &generator)!
    defer { nextID += 1 }
    let ours = try bench.push(nextID, type, traits: traits, priority: priority, expiration: expiration, collapseID: collapseID).disposition
    // What gave way may have held up others, which the store thread looks at in its next round.
    try bench.advance(to: bench.now)
    let theirs = model.arrive(nextID, type, priority, traits, expiration, collapseID: collapseID, at: bench.now)
    return ours == theirs ? nil : "push \(nextID) is \(ours), and should be \(theirs)"
  }

  private mutating func push() -> (PushType, PushTraits) {
    let timestamp = Int64.random(in: 0...3, using: &generator)
    let coin = Int.random(in: 0..<5, using: &generator)
    switch kind {
    case .widgets: return (.widgets, coin == 0 ? PushTraits(lane: .keep) : .reload)
    case .controls: return (.controls, .reload)
    case .liveactivity, .liveactivityFrequent:
      let lane = [LaneClass.activityUpdate, .activityUpdate, .activityUpdate, .activityEndWithState, .keep][coin]
      let isEnd = lane == .activityEndWithState || lane == .keep && timestamp == 3
      let event = isEnd ? ActivityEvent.end : .update
      return (.liveactivity, PushTraits(lane: lane, activity: event, hasContentState: true, timestamp: timestamp))
    case .pushToStart: return (.liveactivity, PushTraits(lane: .keep, activity: .start, hasContentState: true, hasAlert: true))
    case .background: return coin < 2 ? (.alert, PushTraits(lane: .keep, hasAlert: true)) : (.background, PushTraits(lane: .background))
    }
  }

  private mutating func answer() throws {
    guard let item = model.inFlight else { return }
    let outcome = [UpstreamOutcome.accepted, .accepted, .retry(.upstreamUnavailable), .notAttempted(.upstreamBusy)]
      .randomElement(using: &generator)!
    let slot = bench.state.tokens[0].pointee.inFlight
    let sequence = bench.state.pushes[slot].pointee.sequence
    try bench.complete(outcome)
    // The delay is drawn at random, so the model is told of it; the push may also have given way to one that waited.
    model.answer(outcome, notBefore: drawn(sequence, item), at: bench.now)
  }

  private func drawn(_ sequence: UInt64, _ item: LaneModel.Item) -> Instant? {
    let token = bench.state.tokens[0].pointee
    let heir = bench.record(item.id)?.mergedInto
    for slot in [token.inFlight] + lane() where slot != none {
      let push = bench.state.pushes[slot].pointee
      if push.sequence == sequence || push.id == heir { return push.notBefore }
    }
    return nil
  }

  private func lane() -> [UInt32] {
    var slots: [UInt32] = []
    var slot = bench.state.tokens[0].pointee.laneHead
    while slot != none {
      slots.append(slot)
      slot = bench.state.pushes[slot].pointee.next
    }
    return slots
  }

  private mutating func advance(to instant: Instant) throws {
    var now = bench.now
    while let due = model.nextDue(after: now), due <= instant {
      now = due
      model.go(at: now)
    }
    try bench.advance(to: instant)
  }

  /// Lets everything come to its end: nothing waits for ever, and the last change is always sent, or its fate is told.
  private mutating func drain() throws -> String? {
    for _ in 0..<400 where model.inFlight != nil || !model.waiting.isEmpty {
      if model.inFlight != nil {
        try bench.complete(.accepted)
        model.answer(.accepted, notBefore: nil, at: bench.now)
      } else {
        try advance(to: bench.now + .seconds(60))
      }
      if let fault = compare() { return fault }
    }
    guard model.waiting.isEmpty, model.inFlight == nil else { return "pushes wait for ever" }
    for (id, fate) in model.fates where !fate.disposition.isFinal { return "push \(id) never ends: \(fate.disposition)" }
    return window()
  }

  /// No window ever sees more charges than the allowance, where the budget is kept.
  private func window() -> String? {
    guard model.mode != .observe else { return nil }
    for first in model.charges {
      let count = model.charges.count { $0 >= first && $0 <= first + parameters.window }
      if count > parameters.allowance { return "\(count) charges within \(parameters.window.seconds) s, of \(parameters.allowance)" }
    }
    return nil
  }

  private func compare() -> String? {
    let sent = bench.forwarded.map { LaneModel.Sent(id: Int($0.push.id.low), priority: $0.push.priority, at: $0.at) }
    if sent != model.sent { return "sent \(sent.suffix(3)), and should have \(model.sent.suffix(3))" }
    for (id, fate) in model.fates {
      guard let record = bench.record(id) else { return "push \(id) is not known" }
      if record.disposition != fate.disposition { return "push \(id) is \(record.disposition), and should be \(fate.disposition)" }
      if fate.cause != .none, record.cause != fate.cause { return "push \(id): \(record.cause), and should be \(fate.cause)" }
    }
    let ours = bench.state.tokens.budgets(0).map { [$0.fullAt.nanoseconds, $0.lastCharge.nanoseconds] }
    for (index, budget) in model.budgets.enumerated() where budget.last > Int.min / 8 || budget.tat > Int.min / 8 {
      if ours[index] != [Int64(budget.tat), Int64(budget.last)] { return "budget \(index) is \(ours[index]), and should be \(budget)" }
    }
    return nil
  }
}

extension BudgetKind {
  fileprivate var tokenKind: TokenKind {
    switch self {
    case .widgets: .widgets
    case .controls: .controls
    case .liveactivity, .liveactivityFrequent: .liveactivity
    case .pushToStart: .pushToStart
    case .background: .app
    }
  }
}
