import Synchronization

/// What any thread may ask of the store without waiting for it.
final class StoreShared: Sendable {
  private let readiness = Mutex(Readiness.ready)
  private let counters = Mutex(StoreCounters())

  func set(_ value: Readiness) { readiness.withLock { $0 = value } }
  func set(_ value: StoreCounters) { counters.withLock { $0 = value } }
  func get() -> Readiness { readiness.withLock { $0 } }
  func get() -> StoreCounters { counters.withLock { $0 } }
}
