import Synchronization

/// What any thread may ask of the store without waiting for it.
final class StoreShared: Sendable {
  private let readiness = Mutex(Readiness.ready)
  private let counters = Mutex(StoreCounters())
  private let warnings = Mutex<[StoreWarning]>([])
  /// Bytes that the pushes of each upstream hold; the last number is for those that none has.
  private let held = Mutex<[Int]>([])
  private let changed: (@Sendable (Readiness) -> Void)?
  private let warned: (@Sendable (StoreWarning, _ holds: Bool) -> Void)?

  /// - Parameters:
  ///   - changed: Told of each change of readiness, on the thread that makes it.
  ///   - warned: Told of each warning that begins to hold, and of each that holds no more.
  init(changed: (@Sendable (Readiness) -> Void)?, warned: (@Sendable (StoreWarning, _ holds: Bool) -> Void)? = nil) {
    self.changed = changed
    self.warned = warned
  }

  func set(_ value: Readiness) {
    let isNew = readiness.withLock { readiness in
      defer { readiness = value }
      return readiness != value
    }
    if isNew { changed?(value) }
  }

  func set(_ value: [StoreWarning]) {
    let before = warnings.withLock { warnings in
      defer { warnings = value }
      return warnings
    }
    guard before != value else { return }
    for warning in before where !value.contains(warning) { warned?(warning, false) }
    for warning in value where !before.contains(warning) { warned?(warning, true) }
  }

  /// Copied place by place, since an array that is shared would be copied whole with each change.
  func set(held values: ContiguousArray<Int>) {
    held.withLock { held in
      if held.count != values.count { held = Array(repeating: 0, count: values.count) }
      for place in values.indices { held[place] = values[place] }
    }
  }

  /// The store has been stopped as it was asked to, which is no news.
  func end() { readiness.withLock { $0 = .notReady("\(StoreError.stopped)") } }

  func set(_ value: StoreCounters) { counters.withLock { $0 = value } }
  func get() -> Readiness { readiness.withLock { $0 } }
  func get() -> StoreCounters { counters.withLock { $0 } }
  func getHeld() -> [Int] { held.withLock { held in held.map { $0 } } }
  func get() -> [StoreWarning] { warnings.withLock { $0 } }
}
