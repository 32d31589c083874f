import Delivery
import Primitives
public import Push

/// What would become of a push, with nothing done about it.
public struct AdmissionPreview: Hashable, Sendable {
  /// The answer.
  public var result: Admission
  /// What exactly would be wrong, where the cause's own sentence leaves it open; else empty.
  public var detail = ""
  /// Credits of the budget that binds, before; nil where the push costs nothing.
  public var budgetBefore: Int?
  /// Credits of the budget that binds, after.
  public var budgetAfter: Int?
  /// Which budget pays; nil where the push costs nothing.
  public var budget: BudgetKind?
  /// Whether it would go on with priority 5 in place of its own.
  public var isLowered = false
  /// Why it would go although its budget is spent; else `none`.
  public var cause = Cause.none
  /// Whether the push would register its token.
  public var isAdopted = false
  /// The warnings of the rules, and of the token's schema.
  public var warnings: PushWarnings = []
  /// What those of them are about that are of a key, a header or a date.
  public var warningDetails: [WarningDetail] = []

  init(_ result: Admission) { self.result = result }
}

// The same checks and the same decision as an admission's, on a push that is given back at once and on a copy of the budgets.
extension StoreState {
  /// What `admit` would answer now, and what it would cost.
  mutating func preview(_ asked: AdmitOperation, _ batch: Batch, at now: Instant) -> AdmissionPreview {
    var operation = asked
    operation.received = now
    guard let number = tokens.find(operation.token), tokens[number].pointee.isActive else {
      let policy = routes.policy(batch.bytes[operation.bundleID].string)
      guard policy.unknownTokens == .adopt, hasShareLeft(batch.bytes[operation.bundleID].string, for: operation.token) else {
        return AdmissionPreview(.refused(.badDeviceToken, .tokenUnknown))
      }
      return adopted(operation, policy, at: now)
    }
    if let refusal = refusal(of: operation, number, batch) {
      var preview = AdmissionPreview(refusal)
      if case .refused(let reason, _, _, _) = refusal { preview.detail = detail(of: reason, operation, batch) }
      return preview
    }
    if hasPassed(operation, at: now) { return AdmissionPreview(.ended(.expired, .expirationPassed)) }
    if let missing = missingChannel(of: operation, number) {
      var preview = AdmissionPreview(.ended(.ignored, .channelUnknown))
      preview.detail = missing
      return preview
    }
    let waiting = waitingPushes(number)
    if let stands = waiting.first(where: { pushes[$0].pointee.traits.lane.standsFor(newer: operation.traits.lane) }) {
      return AdmissionPreview(.merged(into: pushes[stands].pointee.id))
    }
    let superseded = waiting.count { gives(way: $0, to: operation, batch) }
    guard waiting.count - superseded < settings.lanePushes else { return AdmissionPreview(.refused(.tooManyRequests, .laneFull)) }
    guard let slot = take(operation, number, batch, at: now) else { return AdmissionPreview(noRoom(for: number)) }
    defer { release(slot) }
    return decided(slot, operation, supersedes: superseded > 0, at: now)
  }

  /// The same for a push that registers its token: nothing waits for that one, and its budgets are full.
  private func adopted(_ operation: AdmitOperation, _ policy: AppPolicy, at now: Instant) -> AdmissionPreview {
    var preview = AdmissionPreview(.forwarded)
    preview.isAdopted = true
    if hasPassed(operation, at: now) {
      preview.result = .ended(.expired, .expirationPassed)
      return preview
    }
    let kind = BudgetKind(of: Self.kind(adopting: operation), frequentUpdates: false)
    if let kind, kind.pays(for: operation.type, operation.priority, operation.traits) {
      let credits = Int(BudgetRule(policy[kind]).burst)
      preview.budget = kind
      (preview.budgetBefore, preview.budgetAfter) = (credits, credits - 1)
    }
    var (notBefore, cause) = (now, Cause.none)
    if operation.traits.lane == .reload, policy.coalesce > .zero { (notBefore, cause) = (now + policy.coalesce, .coalescing) }
    if let next = Self.nextBatch(policy.batch, operation, at: now), next > notBefore { (notBefore, cause) = (next, .waitingForBatch) }
    if cause != .none {
      preview.result = .waiting(due: notBefore, cause)
      preview.budgetAfter = preview.budgetBefore
    }
    return preview
  }

  /// Whether a push ends as it comes, since its date has passed.
  private func hasPassed(_ operation: AdmitOperation, at now: Instant) -> Bool {
    guard case .at(let date) = operation.expiration else { return false }
    return date <= now && !settings.triesPastExpirations
  }

  private mutating func decided(_ slot: UInt32, _ operation: AdmitOperation, supersedes: Bool, at now: Instant) -> AdmissionPreview {
    let number = pushes[slot].pointee.token
    let (before, terms) = arrivalTerms(slot, operation, supersedes: supersedes, at: now)
    var copy = Array(tokens.budgets(number))
    var budgets = copy.mutableSpan
    let decision = decide(&budgets, terms, at: now)
    var preview: AdmissionPreview
    switch decision {
    case .forward(let cause):
      preview = AdmissionPreview(.forwarded)
      preview.cause = cause
    case .forwardAtFive(let cause):
      preview = AdmissionPreview(.forwarded)
      preview.cause = cause
      preview.isLowered = true
    case .hold(let until, let cause): preview = AdmissionPreview(.waiting(due: until, cause))
    case .reject(let until, let cause):
      let why: Cause = cause == .minimumInterval ? .tooSoon : .budgetSpent
      preview = AdmissionPreview(.refused(.tooManyRequests, why, since: nil, retryAt: until))
    case .drop(let cause): preview = AdmissionPreview(.ended(.ignored, cause))
    }
    preview.budget = budget(number, slot)
    preview.budgetBefore = before
    if let rule = terms.rule, before != nil { preview.budgetAfter = Int(copy.span.survey(rule, at: now).credits) }
    return preview
  }

  private func waitingPushes(_ number: UInt32) -> [UInt32] {
    var slots: [UInt32] = []
    var slot = tokens[number].pointee.laneHead
    while slot != none {
      slots.append(slot)
      slot = pushes[slot].pointee.next
    }
    return slots
  }
}
