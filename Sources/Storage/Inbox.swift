import Glibc
import Primitives
import Push

/// What waits for the store thread: batches in order, and work of the control side.
///
/// One lock and one append a batch; the thread is woken only when it sleeps. Two arrays of each are swapped back and forth, so steady
/// use allocates nothing.
///
/// What is bounded is what costs: pushes and bytes. How many batches they come in depends on how many rounds a loop makes while a disk
/// is slow, so a loop takes its last small batch back and adds to it, once some of its batches wait.
final class Inbox: @unchecked Sendable {
  // `@unchecked Sendable`: everything below the lock is touched only while it is held.

  /// Work that the store thread runs between two batches; it may answer something to do after the commit.
  typealias Work = @Sendable (inout StoreCore) -> Void

  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private let pushesMax: Int
  private let bytesMax: Int
  private let steady: @Sendable () -> Instant
  private var pushes = 0
  private var bytes = 0
  /// Since when the thread has been busy with what it took; nil while it waits for more.
  private var busySince: Instant?
  private var batches: ContiguousArray<(batch: Batch, loop: Int)> = []
  private var work: ContiguousArray<Work> = []
  private var isAsleep = false
  private var isPoked = false
  private var isClosed = false

  /// - Parameters:
  ///   - pushes: Pushes that may wait, and may then be exceeded by one batch.
  ///   - bytes: Bytes of all batches that may wait, exceeded in the same way.
  ///   - steady: The clock that nobody sets.
  init(pushes: Int, bytes: Int, steady: @escaping @Sendable () -> Instant) {
    (pushesMax, bytesMax, self.steady) = (pushes, bytes, steady)
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

  /// Adds a batch; false when there is no room, or the store stops. A batch with outcomes always has room, but for its admissions, since
  /// there are never more outcomes than pushes in flight. Refusals are for the log alone, and wait only where there is room.
  ///
  /// - Parameter isReturned: The batch was taken back, so that most of it had its place already.
  func add(_ batch: Batch, from loop: Int, isReturned: Bool = false) -> Bool {
    withLock {
      let hasRoom = isReturned || pushes < pushesMax && bytes < bytesMax
      if !batch.admits.isEmpty {
        guard !isClosed, hasRoom else { return false }
      } else if batch.completions.isEmpty, !batch.refusals.isEmpty, !hasRoom {
        return false
      }
      batches.append((batch, loop))
      count(batch, 1)
      wake()
      return true
    }
  }

  /// Takes the last batch of `loop` back, for more to be added to it; nil while few of its batches wait, or the last one is full.
  ///
  /// Those in front of it are what the thread goes on with meanwhile.
  func takeBack(from loop: Int) -> Batch? {
    withLock {
      guard batches.count >= Limits.batchesUngathered, !isClosed else { return nil }
      var (own, last) = (0, 0)
      for place in batches.indices where batches[place].loop == loop { (own, last) = (own + 1, place) }
      guard own >= Limits.batchesUngathered, batches[last].batch.operationCount < Limits.batchOperations else { return nil }
      let batch = batches.remove(at: last).batch
      count(batch, -1)
      return batch
    }
  }

  /// How many pushes wait, and for how long the thread has been busy with those before them; nil while it is not.
  var backlog: (pushes: Int, busy: TimeSpan?) { withLock { (pushes, busySince.map { steady() - $0 }) } }

  /// The lock is held.
  private func count(_ batch: Batch, _ sign: Int) {
    pushes += sign * batch.admits.count
    bytes += sign * batch.heldBytes
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

  /// Swaps what waits for two emptied arrays, after sleeping for up to `nanoseconds` while there is nothing. Of more pushes than one commit
  /// is to save, the batches that came last wait for the next round.
  ///
  /// - Returns: Whether the inbox has been closed.
  func take(
    _ batches: inout ContiguousArray<(batch: Batch, loop: Int)>, _ work: inout ContiguousArray<Work>, nanoseconds: Int64?
  ) -> Bool {
    withLock {
      busySince = nil
      if self.batches.isEmpty, self.work.isEmpty, !isPoked, !isClosed { sleep(nanoseconds) }
      isPoked = false
      swap(&self.work, &work)
      if pushes <= Limits.roundPushes {
        swap(&self.batches, &batches)
        (pushes, bytes) = (0, 0)
      } else {
        takeRound(&batches)
      }
      if !isClosed { busySince = steady() }
      return isClosed
    }
  }

  /// Takes as many batches as one commit is to save, at least one. The lock is held.
  private func takeRound(_ batches: inout ContiguousArray<(batch: Batch, loop: Int)>) {
    var (taken, sum) = (0, 0)
    while taken < self.batches.count, taken == 0 || sum + self.batches[taken].batch.admits.count <= Limits.roundPushes {
      sum += self.batches[taken].batch.admits.count
      count(self.batches[taken].batch, -1)
      taken += 1
    }
    batches.append(contentsOf: self.batches.prefix(taken))
    self.batches.removeFirst(taken)
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
