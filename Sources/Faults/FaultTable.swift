public import Primitives
public import Push

/// The faults that stand, in the order in which they were set: the first that strikes a push is the only one.
public struct FaultTable: Sendable {
  /// All of them.
  public private(set) var rules: [FaultRule] = []
  private var lastID = 0
  private var outage: (rule: Int, until: Instant)?

  /// No faults.
  public init() {}

  /// Adds a fault behind those that are there; nil when there are `Limits.faultRules`.
  public mutating func add(_ specification: FaultSpecification) -> FaultRule? { try? add(specification, for: nil).get() }

  /// Adds a fault behind those that are there, unless there are as many as may be.
  ///
  /// - Parameter bundleID: The app for which it is added, of which there may be no more than its share; nil for an operator's.
  public mutating func add(_ specification: FaultSpecification, for bundleID: String?) -> Result<FaultRule, ShareRefusal> {
    let apps = bundleID.map { app in [(app, rules.count { $0.specification.match.bundleID == app })] } ?? []
    if let refusal = FairShare(of: Limits.faultRules).refusal(used: rules.count, token: nil, apps: apps) { return .failure(refusal) }
    lastID += 1
    let rule = FaultRule(id: lastID, specification)
    rules.append(rule)
    return .success(rule)
  }

  /// Takes the faults away for which `condition` holds, and the outages that they have begun; returns how many.
  public mutating func remove(where condition: (FaultRule) -> Bool) -> Int {
    let before = rules.count
    rules.removeAll(where: condition)
    if let outage, !rules.contains(where: { $0.id == outage.rule }) { self.outage = nil }
    return before - rules.count
  }

  /// What happens to a push, or to a broadcast, which has no token; nil where no fault strikes it. During an outage every one is struck by it.
  public mutating func strike(_ token: DeviceToken?, bundleID: RawSpan, _ type: PushType, at now: Instant) -> FaultStrike? {
    if let outage {
      if now < outage.until { return FaultStrike(rule: outage.rule, action: .outage(nil), delay: .zero) }
      self.outage = nil
    }
    for place in rules.indices {
      guard let strike = rules[place].strike(token, bundleID: bundleID, type) else { continue }
      if case .outage(let span) = strike.action { outage = (strike.rule, span.map { now + $0 } ?? .distantFuture) }
      return strike
    }
    return nil
  }
}
