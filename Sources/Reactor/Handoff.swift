import Glibc

/// One value that one thread waits for and another gives, once: how a thread that was started says how it went.
public final class Handoff<Value: Sendable>: @unchecked Sendable {
  // `@unchecked Sendable`: `value` is touched only while `mutex` is held.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var value: Value?

  /// A handoff that holds nothing yet.
  public init() {
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(condition, nil)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  /// Gives the value; a second one is our bug.
  public func give(_ value: Value) {
    pthread_mutex_lock(mutex)
    precondition(self.value == nil, "a handoff is given one value")
    self.value = value
    pthread_cond_broadcast(condition)
    pthread_mutex_unlock(mutex)
  }

  /// Waits for the value.
  public func take() -> Value {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while true {
      if let value { return value }
      pthread_cond_wait(condition, mutex)
    }
  }
}
