import Delivery
import Primitives
import Push

@testable import Storage

/// One token as sections 5 and 7 of the design describe it, in lists that are searched from end to end: nothing of the store's own code
/// but its nouns and the delay that it drew after a failure.
struct LaneModel {
  /// A push that was accepted.
  struct Item: Equatable {
    var id: Int
    var type: PushType
    var priority: Priority
    var traits: PushTraits
    var expiration: Expiration
    var deadline: Instant
    var notBefore = Instant.distantPast
    /// It waits for the next batch, and for nothing else.
    var isBatched = false
    var isPaid = false
    var collapseID = ""
    var received: Instant

    /// One attempt and no storage: 0, or a date that had passed as it came.
    var isUnstored: Bool {
      switch expiration {
      case .absent: false
      case .zero: true
      case .at(let date): date <= received
      }
    }

    /// It only looks for a connection.
    var isBrief: Bool { isUnstored && ![.reload, .background].contains(traits.lane) }
  }

  /// What was sent, and when.
  struct Sent: Equatable {
    var id: Int
    var priority: Priority
    var at: Instant
  }

  /// What became of a push so far.
  struct Fate: Equatable {
    var disposition: Disposition
    var cause: Cause
  }

  let kind: BudgetKind?
  let parameters: BudgetParameters
  let mode: AppPolicy.BudgetMode
  let dropsZero: Bool
  let triesPast: Bool
  let coalesce: TimeSpan
  let batch: TimeSpan
  let lane: Int
  let patience: TimeSpan
  let storage: TimeSpan
  /// For each budget its theoretical arrival time and its last charge, in nanoseconds.
  var budgets: [(tat: Int, last: Int)]
  private(set) var waiting: [Item] = []
  private(set) var inFlight: Item?
  private(set) var sent: [Sent] = []
  private(set) var charges: [Instant] = []
  private(set) var fates: [Int: Fate] = [:]

  init(
    kind: BudgetKind?, parameters: BudgetParameters, mode: AppPolicy.BudgetMode, dropsZero: Bool, triesPast: Bool, coalesce: TimeSpan,
    batch: TimeSpan, lane: Int, patience: TimeSpan, storage: TimeSpan, budgets count: Int
  ) {
    self.kind = kind
    self.parameters = parameters
    self.mode = mode
    self.dropsZero = dropsZero
    self.triesPast = triesPast
    self.coalesce = coalesce
    self.batch = batch
    self.lane = lane
    self.patience = patience
    self.storage = storage
    budgets = Array(repeating: (tat: Int.min / 4, last: Int.min / 4), count: count)
  }

  // MARK: Budgets, after section 7.

  private var interval: Int {
    let (window, steady) = (Int(parameters.window.nanoseconds), Int(parameters.allowance - parameters.burst))
    return steady == 0 ? window + 1 : Int((Double(window) / Double(steady)).rounded(.up))
  }

  private func payable(_ budget: (tat: Int, last: Int)) -> Int {
    max(budget.tat - Int(parameters.burst - 1) * interval, budget.last + Int(parameters.minimumInterval.nanoseconds))
  }

  /// When all budgets can pay, in nanoseconds.
  private var payableAt: Int { budgets.map(payable).max() ?? .min }

  private mutating func charge(at now: Instant, counts: Bool = true) {
    let now = Int(now.nanoseconds)
    for index in budgets.indices {
      let t = max(now, budgets[index].last)
      let floor = t + Int(parameters.burst + parameters.allowance) * interval
      budgets[index].tat = max(budgets[index].tat, min(max(budgets[index].tat, t) + interval, floor))
      budgets[index].last = t
    }
    if counts { charges.append(Instant(nanoseconds: Int64(now))) }
  }

  private func costs(_ item: Item) -> Bool {
    guard let kind, !item.isPaid else { return false }
    switch kind {
    case .widgets, .controls: return item.traits.lane == .reload
    case .liveactivity, .liveactivityFrequent: return item.priority == .immediate
    case .pushToStart: return item.traits.activity == .start
    case .background: return item.traits.lane == .background
    }
  }

  // MARK: Lanes, after section 5.

  private func gives(_ old: Item, to new: Item) -> Bool {
    switch (old.traits.lane, new.traits.lane) {
    case (.reload, _), (.activityEndWithState, _): return false
    case (.background, .background): return true
    case (.activityUpdate, .activityUpdate), (.activityUpdate, .activityEndWithState):
      return new.traits.timestamp >= old.traits.timestamp
    default: break
    }
    // What is sent under one collapse id is one thing, of which the newest counts; an end is the last word.
    guard old.collapseID != "", old.collapseID == new.collapseID, old.type == new.type else { return false }
    switch old.traits.activity {
    case .end: return false
    case .update: return new.traits.timestamp >= old.traits.timestamp
    case .none, .start: return true
    }
  }

  /// A request that passed the rules; nil when it is refused with 429.
  mutating func arrive(
    _ id: Int, _ type: PushType, _ priority: Priority, _ traits: PushTraits, _ expiration: Expiration, collapseID: String, at now: Instant
  ) -> Disposition {
    if case .at(let date) = expiration, date <= now, !triesPast { return end(id, .expired, .expirationPassed) }
    var item = Item(
      id: id, type: type, priority: priority, traits: traits, expiration: expiration, deadline: now + storage, collapseID: collapseID,
      received: now)
    if item.isBrief { item.deadline = now + patience }
    if case .at(let date) = expiration, date > now { item.deadline = min(date, now + storage) }
    if traits.lane == .reload, let index = waiting.firstIndex(where: { $0.traits.lane == .reload }) {
      waiting[index] = joined(waiting[index], with: item)
      end(id, .merged, .mergedIntoWaiting)
      if priority == .immediate { hurry(at: now) }
      return .merged
    }
    let replaced = waiting.filter { gives($0, to: item) }
    guard waiting.count - replaced.count < lane else { return .refused }
    let isPaidFor = costs(item) && replaced.contains(where: \.isPaid)
    for old in replaced where !old.isBatched { item.notBefore = max(item.notBefore, old.notBefore) }
    item.isPaid = isPaidFor
    if traits.lane == .reload { item.notBefore = max(item.notBefore, now + coalesce) }
    if priority != .immediate, !item.isBrief, batch > .zero {
      var next = Instant(nanoseconds: 0)
      let (span, time) = (batch.nanoseconds, now.nanoseconds)
      next = Instant(nanoseconds: (time + span - 1) / span * span)
      if next > item.notBefore { (item.notBefore, item.isBatched) = (next, true) }
    }
    if mode == .reject, costs(item), isOverbooked(by: waiting.filter { !replaced.contains($0) }, at: now) {
      return .refused
    }
    if costs(item), Int(now.nanoseconds) < payableAt {
      switch (mode, kind) {
      case (.observe, _): break
      case (.reject, _): return .refused
      case (.enforce, .pushToStart?):
        charge(at: now, counts: false)
        return end(id, .ignored, .startBudgetSpent)
      case (.enforce, _):
        if item.isUnstored, dropsZero, [.reload, .background].contains(traits.lane) { return end(id, .ignored, .droppedByPolicy) }
      }
    }
    // What is refused stands for nothing.
    for old in replaced { end(old.id, .merged, .supersededByNewer) }
    waiting = waiting.filter { old in !replaced.contains(old) }
    fates[id] = Fate(disposition: .waiting, cause: .none)
    waiting.append(item)
    go(at: now)
    // What goes by itself takes nobody along; what has to wait has the batch go.
    if priority == .immediate, fates[id]?.disposition == .waiting { hurry(at: now) }
    return fates[id]!.disposition
  }

  /// The batch goes early, with a push of priority 10.
  private mutating func hurry(at now: Instant) {
    for index in waiting.indices where waiting[index].isBatched { (waiting[index].notBefore, waiting[index].isBatched) = (now, false) }
    go(at: now)
  }

  /// Whether those that wait take every credit there is. What waits for nothing but its budget holds up nothing, and is not counted.
  private func isOverbooked(by others: [Item], at now: Instant) -> Bool {
    let isBlocked = inFlight != nil || others.contains { $0.traits.lane != .background }
    let reserved = others.count(where: costs)
    guard isBlocked, reserved > 0, Int(now.nanoseconds) >= payableAt else { return false }
    return credits(at: now) <= reserved || parameters.minimumInterval > .zero
  }

  private func credits(at now: Instant) -> Int {
    budgets.map { budget in
      let t = max(Int(now.nanoseconds), budget.last)
      let owed = max(budget.tat, t) - t
      return Int(parameters.burst) - (owed + interval - 1) / interval
    }.min() ?? 0
  }

  private func joined(_ waiting: Item, with item: Item) -> Item {
    var waiting = waiting
    waiting.deadline = max(waiting.deadline, item.deadline)
    switch (waiting.expiration, item.expiration) {
    case (.absent, _), (_, .absent): waiting.expiration = .absent
    case (.at(let a), .at(let b)): waiting.expiration = .at(max(a, b))
    case (.zero, .at(let b)): waiting.expiration = .at(b)
    case (_, .zero): break
    }
    return waiting
  }

  @discardableResult private mutating func end(_ id: Int, _ disposition: Disposition, _ cause: Cause) -> Disposition {
    fates[id] = Fate(disposition: disposition, cause: cause)
    return disposition
  }

  /// What the upstream said of the push in flight; `notBefore` is when it may be tried again.
  mutating func answer(_ outcome: UpstreamOutcome, notBefore: Instant?, at now: Instant) {
    guard var item = inFlight else { return }
    inFlight = nil
    switch outcome {
    case .accepted: end(item.id, .accepted, .none)
    case .retry(let cause) where item.isUnstored: end(item.id, .expired, cause)
    case .retry, .notAttempted:
      item.notBefore = notBefore ?? .distantFuture  // it has ended in the store
      if let newer = waiting.firstIndex(where: { gives(item, to: $0) }) {
        waiting[newer].notBefore = max(waiting[newer].notBefore, item.notBefore)
        waiting[newer].isBatched = false
        if item.isPaid, costs(waiting[newer]) { waiting[newer].isPaid = true }
        end(item.id, .merged, .supersededByNewer)
      } else {
        for other in waiting where other.traits.lane == .reload && item.traits.lane == .reload {
          item = joined(item, with: other)
          end(other.id, .merged, .mergedIntoWaiting)
        }
        if item.traits.lane == .reload { waiting.removeAll { $0.traits.lane == .reload } }
        fates[item.id] = Fate(disposition: .waiting, cause: .none)
        waiting.insert(item, at: 0)
      }
    default: preconditionFailure("not an outcome of this model")
    }
    go(at: now)
  }

  /// Lets everything happen that is due at `now`.
  mutating func go(at now: Instant) {
    for item in waiting where item.deadline <= now {
      end(item.id, .expired, item.isBrief ? .upstreamUnavailable : .expirationPassed)
    }
    waiting.removeAll { $0.deadline <= now }
    for item in waiting where inFlight == nil {
      if !attempt(item, at: now), item.traits.lane != .background { break }
    }
  }

  /// False when the push goes on waiting.
  private mutating func attempt(_ item: Item, at now: Instant) -> Bool {
    var item = item
    var priority = item.priority
    let isShort = costs(item) && Int(now.nanoseconds) < payableAt && mode != .observe
    if isShort, kind == .pushToStart {
      charge(at: now, counts: false)
      waiting.removeAll { $0.id == item.id }
      end(item.id, .ignored, .startBudgetSpent)
      return true
    }
    guard item.notBefore <= now else { return false }
    if isShort {
      guard kind == .liveactivity || kind == .liveactivityFrequent else { return false }
      priority = .considerate
    } else if costs(item) {
      charge(at: now)
      item.isPaid = true
    } else if item.isPaid {
      for index in budgets.indices { budgets[index].last = max(Int(now.nanoseconds), budgets[index].last) }
    }
    waiting.removeAll { $0.id == item.id }
    item.isBatched = false
    inFlight = item
    sent.append(Sent(id: item.id, priority: priority, at: now))
    fates[item.id] = Fate(disposition: .forwarding, cause: .none)
    return true
  }

  /// When something may happen by itself; nil when never.
  func nextDue(after now: Instant) -> Instant? {
    var instants = waiting.flatMap { [$0.deadline, $0.notBefore] }
    if !waiting.isEmpty { instants.append(Instant(nanoseconds: Int64(payableAt))) }
    return instants.filter { $0 > now }.min()
  }
}
