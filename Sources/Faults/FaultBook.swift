public import Primitives
public import Push
public import Synchronization

/// The faults of one gateway or mock device, which its loops and its control face share.
///
/// Safe to use from any thread. While no fault is set, a push costs a load and a branch.
public final class FaultBook: Sendable {
  @usableFromInline let armed = Atomic<Bool>(false)
  private let table = Mutex(FaultTable())

  /// A book without faults.
  public init() {}

  /// Whether any fault is set.
  @inlinable public var isArmed: Bool { armed.load(ordering: .relaxed) }

  /// What happens to a push, or to a broadcast, which has no token; nil where no fault strikes it.
  public func strike(_ token: DeviceToken?, bundleID: RawSpan, _ type: PushType, at now: Instant) -> FaultStrike? {
    table.withLock { $0.strike(token, bundleID: bundleID, type, at: now) }
  }

  /// Adds a fault; nil when there are as many as there may be.
  public func add(_ specification: FaultSpecification) -> FaultRule? { change { $0.add(specification) } }

  /// Adds a fault for an app, which has its share of them, or for an operator; see `FaultTable.add(_:for:)`.
  public func add(_ specification: FaultSpecification, for bundleID: String?) -> Result<FaultRule, ShareRefusal> {
    change { $0.add(specification, for: bundleID) }
  }

  /// Takes the faults away for which `condition` holds; returns how many.
  public func remove(where condition: (FaultRule) -> Bool) -> Int { change { $0.remove(where: condition) } }

  /// The faults that stand, in their order, with what they have done.
  public var rules: [FaultRule] { table.withLock { $0.rules } }

  private func change<Result: Sendable>(_ body: (inout FaultTable) -> Result) -> Result {
    table.withLock { table in
      let result = body(&table)
      armed.store(!table.rules.isEmpty, ordering: .relaxed)
      return result
    }
  }
}
