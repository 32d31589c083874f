import Push
import Synchronization

/// Emptied batches, for loops and the store thread to use again.
final class BatchPool: Sendable {
  private let batches = Mutex<[Batch]>([])

  func take() -> Batch { batches.withLock { $0.popLast() } ?? Batch() }

  func give(_ batch: Batch) {
    batch.reset()
    batches.withLock { if $0.count < Limits.batchesKept { $0.append(batch) } }
  }
}
