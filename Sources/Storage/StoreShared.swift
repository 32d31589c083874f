import Synchronization

/// What any thread may ask of the store without waiting for it.
final class StoreShared: Sendable {
  private let readiness = Mutex(Readiness.ready)
  private let counters = Mutex(StoreCounters())
  private let changed: (@Sendable (Readiness) -> Void)?

  /// - Parameter changed: Told of each change, on the thread that makes it.
  init(changed: (@Sendable (Readiness) -> Void)?) { self.changed = changed }

  func set(_ value: Readiness) {
    let isNew = readiness.withLock { readiness in
      defer { readiness = value }
      return readiness != value
    }
    if isNew { changed?(value) }
  }

  /// The store has been stopped as it was asked to, which is no news.
  func end() { readiness.withLock { $0 = .notReady("\(StoreError.stopped)") } }

  func set(_ value: StoreCounters) { counters.withLock { $0 = value } }
  func get() -> Readiness { readiness.withLock { $0 } }
  func get() -> StoreCounters { counters.withLock { $0 } }
}
