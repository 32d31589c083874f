import Push
import Synchronization

/// Emptied batches, for loops and the store thread to use again.
///
/// What is kept is bounded by the memory that it takes, and by a number for the sake of address space: a batch with one push has room for
/// a thousand.
final class BatchPool: Sendable {
  private struct Contents {
    var batches: [Batch] = []
    var bytes = 0
  }

  private let contents = Mutex(Contents())

  func take() -> Batch {
    let kept = contents.withLock { contents -> Batch? in
      guard let batch = contents.batches.popLast() else { return nil }
      contents.bytes -= batch.touchedBytes
      return batch
    }
    return kept ?? Batch()
  }

  func give(_ batch: Batch) {
    batch.reset()
    contents.withLock { contents in
      guard contents.batches.count < Limits.batchesKept, contents.bytes < Limits.batchBytesKept else { return }
      contents.batches.append(batch)
      contents.bytes += batch.touchedBytes
    }
  }

  /// Bytes of the batches that wait for use.
  var spareBytes: Int { contents.withLock { $0.bytes } }

  /// Frees them.
  func releaseSpare() { contents.withLock { $0 = Contents() } }
}
