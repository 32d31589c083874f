import CLinux
import Glibc
import Synchronization

/// What other threads may do to a loop: wake it, and stop it.
public final class LoopHandle: Sendable {
  let event: Descriptor
  /// Whether the loop waits in the kernel, or is about to.
  private let asleep = Atomic<Bool>(false)
  private let stopping = Atomic<Bool>(false)

  init() throws(SystemError) {
    event = Descriptor(owning: try syscallNow("eventfd") { eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC)) })
  }

  /// Makes the loop run a round soon. Costs a system call only when the loop sleeps.
  ///
  /// Whoever leaves work for the loop does so under a lock, and wakes it afterwards. The loop declares itself
  /// asleep first and looks for work, under the same lock, afterwards; so either it sees the work, or the
  /// declaration is seen here.
  public func wake() {
    guard asleep.load(ordering: .sequentiallyConsistent), asleep.exchange(false, ordering: .sequentiallyConsistent) else {
      return
    }
    // Edge-triggered: each write is an edge, so nobody ever needs to read the counter back.
    var one: UInt64 = 1
    _ = write(event.raw, &one, 8)
  }

  /// Makes `EventLoop.run()` return after the round it is in.
  public func stop() {
    stopping.store(true, ordering: .sequentiallyConsistent)
    wake()
  }

  var isStopping: Bool { stopping.load(ordering: .sequentiallyConsistent) }

  func declareAsleep(_ value: Bool) { asleep.store(value, ordering: .sequentiallyConsistent) }
}
