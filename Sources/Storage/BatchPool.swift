import Synchronization

/// Emptied batches, for loops and the store thread to use again.
final class BatchPool: Sendable {
  /// Batches kept; more are in use at once only when the store is behind.
  private static let keptMax = 256

  private let batches = Mutex<[Batch]>([])

  func take() -> Batch { batches.withLock { $0.popLast() } ?? Batch() }

  func give(_ batch: Batch) {
    batch.reset()
    batches.withLock { if $0.count < Self.keptMax { $0.append(batch) } }
  }
}
