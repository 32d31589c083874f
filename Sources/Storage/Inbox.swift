import Glibc

/// What waits for the store thread: batches in order, and work of the control side.
///
/// One lock and one append a batch; the thread is woken only when it sleeps. Two arrays of each are swapped back and forth, so steady
/// use allocates nothing.
final class Inbox: @unchecked Sendable {
  // `@unchecked Sendable`: everything below the lock is touched only while it is held.

  /// Work that the store thread runs between two batches; it may answer something to do after the commit.
  typealias Work = @Sendable (inout StoreCore) -> Void

  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private let batchesMax: Int
  private var batches: ContiguousArray<(batch: Batch, loop: Int)> = []
  private var work: ContiguousArray<Work> = []
  private var isAsleep = false
  private var isPoked = false
  private var isClosed = false

  init(batchesMax: Int) {
    self.batchesMax = batchesMax
    pthread_mutex_init(mutex, nil)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(condition, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  /// Adds a batch; false when there is no room, or the store stops. A batch of outcomes alone always has room, since there are
  /// never more outcomes than pushes in flight.
  func add(_ batch: Batch, from loop: Int) -> Bool {
    withLock {
      guard !isClosed || batch.admits.isEmpty, batches.count < batchesMax || batch.admits.isEmpty else { return false }
      batches.append((batch, loop))
      wake()
      return true
    }
  }

  /// Adds work; false when the store stops.
  func add(_ item: @escaping Work) -> Bool {
    withLock {
      guard !isClosed else { return false }
      work.append(item)
      wake()
      return true
    }
  }

  /// Makes the thread look at the clock again.
  func poke() {
    withLock {
      isPoked = true
      wake()
    }
  }

  /// Takes no more admissions and no more work.
  func close() {
    withLock {
      isClosed = true
      isPoked = true
      wake()
    }
  }

  /// Swaps what waits for two emptied arrays, after sleeping for up to `nanoseconds` while there is nothing.
  ///
  /// - Returns: Whether the inbox has been closed.
  func take(
    _ batches: inout ContiguousArray<(batch: Batch, loop: Int)>, _ work: inout ContiguousArray<Work>, nanoseconds: Int64?
  ) -> Bool {
    withLock {
      if self.batches.isEmpty, self.work.isEmpty, !isPoked, !isClosed { sleep(nanoseconds) }
      isPoked = false
      swap(&self.batches, &batches)
      swap(&self.work, &work)
      return isClosed
    }
  }

  private func sleep(_ nanoseconds: Int64?) {
    isAsleep = true
    defer { isAsleep = false }
    guard let nanoseconds else {
      while batches.isEmpty, work.isEmpty, !isPoked { pthread_cond_wait(condition, mutex) }
      return
    }
    guard nanoseconds > 0 else { return }
    var until = timespec()
    clock_gettime(CLOCK_MONOTONIC, &until)
    let nano = Int64(until.tv_nsec) + nanoseconds % 1_000_000_000
    until.tv_sec += Int(nanoseconds / 1_000_000_000 + nano / 1_000_000_000)
    until.tv_nsec = Int(nano % 1_000_000_000)
    while batches.isEmpty, work.isEmpty, !isPoked {
      if pthread_cond_timedwait(condition, mutex, &until) != 0 { return }
    }
  }

  /// The lock is held.
  private func wake() {
    if isAsleep { pthread_cond_signal(condition) }
  }

  private func withLock<R>(_ body: () -> R) -> R {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body()
  }
}
