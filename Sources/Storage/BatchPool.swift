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

  /// Bytes of the batches that wait for use.
  var spareBytes: Int { batches.withLock { $0.reduce(0) { $0 + $1.touchedBytes } } }

  /// Frees them.
  func releaseSpare() { batches.withLock { $0 = [] } }
}
