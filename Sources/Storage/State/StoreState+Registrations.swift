import Delivery
import Primitives
import Push

// Registrations: what makes a token known, and what is kept when it is registered again.
extension StoreState {
  /// Registers a token, or replaces what is known of it. Budgets stay with their widgets; a dead token lives again.
  ///
  /// - Parameters:
  ///   - previous: The registration that this one replaces, when there is one.
  ///   - rotated: The registration of the token that this one has taken the place of. A new token goes on with its budgets; the old
  ///     one is removed as soon as nothing waits for it.
  /// - Returns: Whether the token is new.
  mutating func register(
    _ registration: Registration, previous: Registration?, rotated: Registration? = nil, at now: Instant
  ) throws(StoreError) -> Bool {
    precondition(registration.widgets.count <= Limits.widgetsPerRegistration)
    let route = routes.number(
      of: RouteName(
        bundleID: registration.bundleID, environment: registration.environment, upstream: registration.upstream))
    let found = tokens.find(registration.token)
    let isNew = found.map { !tokens[$0].pointee.isActive } ?? true
    guard !isNew || tokens.activeCount < settings.registrations else { throw .full(registrations: settings.registrations) }
    guard let number = found ?? tokens.insert(registration.token, kind: registration.kind, route: route, registered: now)
    else { throw .full(registrations: settings.registrations) }
    let token = tokens[number]
    let oldRule = nominalBudget(number).map { rule($0, number) }
    let keepsPlace = !isNew && previous?.kind == registration.kind && previous?.bundleID == registration.bundleID
    if !isNew, !keepsPlace { failLane(number, .registrationRemoved, at: now) }
    let wasReplaced = !isNew && token.pointee.flags.contains(.replaced)
    tokens.revive(number)
    let predecessor = isNew || wasReplaced ? takeBudgets(of: rotated, for: registration, at: now) : nil
    // What a replaced token had is the other's by now.
    if wasReplaced, predecessor == nil { handOnBudgets(number, at: now) }
    let own = keepsPlace && predecessor == nil ? previous.map { ($0, Array(tokens.budgets(number))) } : nil
    arrangeBudgets(number, registration, from: own ?? predecessor.map { ($0.registration, $0.budgets) })
    if found != nil, token.pointee.route != route { writeFormerRoute(number) }
    token.pointee.kind = registration.kind
    if token.pointee.route != route { tokens.move(number, to: route) }
    token.pointee.registered = now
    token.pointee.retiredSince = .distantPast
    token.pointee.flags.subtract([.suspect, .expired, .replaced])
    token.pointee.flags.set(.developerMode, registration.developerMode)
    token.pointee.flags.set(.frequentUpdates, registration.frequentUpdates)
    token.pointee.flags.set(.unmetered, registration.isUnmetered)
    setOwnTerms(OwnTerms(registration), of: number)
    token.pointee.minimumIntervalMilliseconds = Self.milliseconds(registration.minimumInterval)
    token.pointee.coalesceMilliseconds = Self.milliseconds(registration.coalesce)
    if let new = nominalBudget(number).map({ rule($0, number) }), let old = own == nil ? predecessor?.rule : oldRule {
      convertBudgets(number, from: old, to: new, at: now)
    }
    registrationChanges.append(.put(registration, registered: now))
    noteRegistered(registration)
    if let old = predecessor?.number { leaveIfReplaced(old, at: now) }
    change(number)
    scheduleWake(number, at: now)
    return isNew
  }

  /// How many tokens of an app are registered. O(routes of the app).
  func registrations(of bundleID: String) -> Int { routes.numbers(of: bundleID).reduce(0) { $0 + tokens.count(ofRoute: $1) } }

  /// Whether the app may have that token beside those that it has.
  ///
  /// A token that is registered for the app already is none more; where there is one app alone, nobody is to share with.
  func hasShareLeft(_ bundleID: String, for token: DeviceToken) -> Bool {
    guard routes.resolver.apps.isShared else { return true }
    let isItsOwn = tokens.find(token).map { tokens[$0].pointee.isActive && routes.bundleID(tokens[$0].pointee.route) == bundleID }
    return isItsOwn == true || registrations(of: bundleID) < FairShare(of: settings.registrations).ofApp
  }

  /// Throws `shareUsedUp` where the app may not.
  func checkShare(of bundleID: String, for token: DeviceToken) throws(StoreError) {
    guard !hasShareLeft(bundleID, for: token) else { return }
    throw .shareUsedUp(.app(bundleID, share: FairShare(of: settings.registrations).ofApp))
  }

  /// Whether the caller may change what is registered for a token; throws `foreign` when it is an app's that it does not see.
  func check(_ token: DeviceToken, _ sees: (String) -> Bool) throws(StoreError) {
    guard let number = tokens.find(token), tokens[number].pointee.isActive else { return }
    guard sees(routes.bundleID(tokens[number].pointee.route)) else { throw .foreign }
  }

  /// Has budgets say under another rule what was spent; whether that changes any of them.
  @discardableResult
  mutating func convertBudgets(_ number: UInt32, from old: BudgetRule, to new: BudgetRule, at now: Instant) -> Bool {
    guard old != new else { return false }
    let budgets = tokens.budgets(number)
    var hasChanged = false
    for index in budgets.indices {
      let converted = budgets[index].converted(from: old, to: new, at: now)
      hasChanged = hasChanged || converted != budgets[index]
      budgets[index] = converted
    }
    return hasChanged
  }

  /// Removes a registration; what waits for it ends, and the log keeps its past. False when there is none.
  mutating func unregister(_ token: DeviceToken, at now: Instant) -> Bool {
    guard let number = tokens.find(token), tokens[number].pointee.isActive else { return false }
    failLane(number, .registrationRemoved, at: now)
    noteGone(number)
    tokens.markRemoved(number)
    // From here on, since when it has been removed.
    tokens[number].pointee.retiredSince = now
    setWake(number, .distantFuture)
    registrationChanges.append(.remove(token))
    change(number)
    removed.append(number)
    return true
  }

  /// What has become of a token that is registered no more, told to its own app only; empty once the log has forgotten its last push.
  func past(of operation: AdmitOperation, _ batch: Batch) -> String {
    guard let number = tokens.find(operation.token), !tokens[number].pointee.isActive,
      routes.bundleID(tokens[number].pointee.route) == batch.bytes[operation.bundleID].string
    else { return "" }
    let until = tokens[number].pointee.isRetired ? "until \(tokens[number].pointee.retiredSince)" : "before"
    return tokens[number].pointee.flags.contains(.replaced)
      ? "this token was registered \(until), and another has taken its place: delete it on your side, and send to the newer one"
      : "this token was registered \(until), and its registration was removed: delete it on your side, unless the app reports it again"
  }

  /// Registers the token of an authenticated push that nobody registered, where the app's policy says so.
  mutating func adopt(_ operation: AdmitOperation, _ batch: Batch, at now: Instant) -> UInt32? {
    let bundleID = batch.bytes[operation.bundleID].string
    guard routes.policy(bundleID).unknownTokens == .adopt, hasShareLeft(bundleID, for: operation.token) else { return nil }
    let registration = Registration(
      token: operation.token, kind: Self.kind(adopting: operation), bundleID: bundleID, environment: operation.environment ?? .production)
    guard (try? register(registration, previous: nil, at: now)) != nil else { return nil }
    return tokens.find(operation.token)
  }

  /// What the token of a push is, as far as the push tells.
  static func kind(adopting operation: AdmitOperation) -> TokenKind {
    let starts = operation.type == .liveactivity && operation.traits.activity == .start
    return starts ? .pushToStart : TokenKind(taking: operation.type)
  }

  /// The budgets of a token, or nil when there is no such registration.
  func budgetReports(_ token: DeviceToken, _ registration: Registration?, at now: Instant) -> [BudgetReport]? {
    guard let number = tokens.find(token), tokens[number].pointee.isActive else { return nil }
    guard let kind = nominalBudget(number) else { return [] }
    let rule = rule(kind, number)
    let budgets = tokens.budgets(number)
    let binding = Span(_unsafeElements: UnsafeBufferPointer(budgets)).survey(rule, at: now).binding
    let widgets = registration?.widgets ?? []
    // What a reload pays for goes when nobody sleeps any more.
    let quiet = kind == .widgets || kind == .controls ? ownTerms(number)?.quietHours : nil
    func awake(_ instant: Instant) -> Instant { quiet?.end(around: instant) ?? instant }
    return budgets.enumerated().map { index, budget in
      BudgetReport(
        kind: kind, widget: index < widgets.count ? widgets[index] : nil, allowance: Int(rule.allowance), burst: Int(rule.burst),
        interval: rule.interval, minimumInterval: rule.minimumInterval, remaining: Int(budget.credits(rule, at: now)),
        binds: index == binding, payableAt: awake(max(budget.payableAt(rule), now)), nextCredit: budget.nextCredit(rule, at: now),
        lastCharge: budget.lastCharge == .distantPast ? nil : budget.lastCharge)
    }
  }

  /// Sets what is left of one budget of a token, or of all; nil credits fill it. False when there is no such budget.
  mutating func setBudget(_ token: DeviceToken, index: Int?, credits: Int64?, at now: Instant) -> Bool {
    guard let number = tokens.find(token), tokens[number].pointee.isActive, let budget = nominalBudget(number) else { return false }
    let rule = rule(budget, number)
    let budgets = tokens.budgets(number)
    let chosen = index.map { $0..<($0 + 1) } ?? budgets.startIndex..<budgets.endIndex
    guard chosen.lowerBound >= 0, chosen.upperBound <= budgets.count else { return false }
    for index in chosen { budgets[index] = credits.map { BudgetState(credits: $0, rule: rule, at: now) } ?? .full }
    change(number)
    scheduleWake(number, at: now)
    return true
  }

  /// Gives every budget of the new registration the state that its widget's had.
  private mutating func arrangeBudgets(_ number: UInt32, _ registration: Registration, from before: (Registration, [BudgetState])?) {
    let count = max(1, registration.kind == .widgets ? registration.widgets.count : 1)
    tokens.resetBudgets(number, count: count)
    guard let (previous, old) = before else { return }
    let oldIdentities = WidgetIdentity.all(previous.widgets)
    let budgets = tokens.budgets(number)
    guard registration.kind == .widgets, !registration.widgets.isEmpty, !oldIdentities.isEmpty else {
      // One budget that stands for the whole token goes on, whatever is listed now.
      let scarcest = old.max { $0.fullAt < $1.fullAt } ?? .full
      for index in 0..<count { budgets[index] = scarcest }
      return
    }
    for (index, identity) in WidgetIdentity.all(registration.widgets).enumerated() {
      if let place = oldIdentities.firstIndex(of: identity), place < old.count { budgets[index] = old[place] }
    }
  }

  private static func milliseconds(_ span: TimeSpan?) -> UInt32 {
    guard let span else { return none }
    return min(UInt32(clamping: span.milliseconds), none - 1)
  }
}

extension StoreState {
  /// A registration with what has become of it; nil when it has been removed meanwhile.
  func describe(_ registration: Registration, registered: Instant) -> RegistrationRecord? {
    guard let number = tokens.find(registration.token), tokens[number].pointee.isActive else { return nil }
    let token = tokens[number]
    return RegistrationRecord(
      registration: registration, registered: registered, retiredSince: token.pointee.isRetired ? token.pointee.retiredSince : nil,
      isSuspect: token.pointee.flags.contains(.suspect), waiting: Int(token.pointee.laneCount),
      isInFlight: token.pointee.inFlight != none)
  }

  /// Takes over a new configuration; waiting pushes may become due by it.
  mutating func reconfigure(_ resolver: RouteResolver, at now: Instant) {
    // Where nothing was ever spent there is nothing to convert.
    var spent: [(number: UInt32, rule: BudgetRule)] = []
    for number in 0..<tokens.end where tokens[number].pointee.isActive {
      guard tokens.budgets(number).contains(where: { $0 != .full }), let budget = nominalBudget(number) else { continue }
      spent.append((number, rule(budget, number)))
    }
    routes.reconfigure(resolver)
    countShares()
    for (number, old) in spent {
      guard let budget = nominalBudget(number), convertBudgets(number, from: old, to: rule(budget, number), at: now) else { continue }
      change(number)
    }
    forEachWaitingToken { state, number in
      state.goByConfiguration(number, at: now)
      state.scheduleWake(number, at: now)
    }
  }

  /// Lets the pushes of a token that waited for another configuration go by this one, and has none wait longer than one that comes now.
  private mutating func goByConfiguration(_ number: UInt32, at now: Instant) {
    let coalesced = now + coalescing(number)
    let batched = Self.nextBatch(routes[tokens[number].pointee.route].pointee.batch, at: now) ?? now
    var slot = tokens[number].pointee.laneHead
    while slot != none {
      let push = pushes[slot]
      switch push.pointee.notBeforeCause {
      case .coalescing: push.pointee.notBefore = min(push.pointee.notBefore, coalesced)
      case .waitingForBatch: push.pointee.notBefore = min(push.pointee.notBefore, batched)
      case let cause where cause.awaitsConfiguration:
        push.pointee.notBefore = steady(now)
        push.pointee.failures = 0
      default: break
      }
      slot = push.pointee.next
    }
  }

  /// Lets the pushes that wait for their next attempt at an upstream go now.
  mutating func retryNow(_ upstream: UInt16, at now: Instant) {
    forEachWaitingToken { state, number in
      guard state.routes[state.tokens[number].pointee.route].pointee.upstream == upstream else { return }
      var slot = state.tokens[number].pointee.laneHead
      while slot != none {
        let push = state.pushes[slot]
        slot = push.pointee.next
        guard push.pointee.failures > 0, !push.pointee.isPatient, push.pointee.notBefore > state.steady(now) else { continue }
        push.pointee.notBefore = state.steady(now)
        push.pointee.failures = 0
      }
      state.scheduleWake(number, at: now)
    }
  }

  /// Visits the tokens in whose lanes something waits. O(waiting), not O(tokens): the heaps know them.
  private mutating func forEachWaitingToken(_ body: (inout StoreState, UInt32) -> Void) {
    let delayed = Array(delays.keys)
    for entry in due.all where tokens[entry.key].pointee.laneHead != none && tokens[entry.key].pointee.wake == entry.due {
      body(&self, entry.key)
    }
    // Those that have nothing to do by the product's clock, and so are in no other heap.
    for number in delayed where tokens[number].pointee.laneHead != none && tokens[number].pointee.wake == .distantFuture {
      body(&self, number)
    }
  }
}
