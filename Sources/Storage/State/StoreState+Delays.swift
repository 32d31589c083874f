import Delivery
import Primitives
import Push

// The two clocks of the state. Instants are the product's, but for the delay after a failed attempt and the time that a push has to find
// a connection: an upstream's troubles end by the steady clock, wherever the product's is moved to and whatever the machine's is set to.
extension StoreState {
  /// The steady clock's time when the product's is `now`.
  func steady(_ now: Instant) -> Instant { now - lead }

  /// Until when, by the steady clock, a push waits for its next attempt; nil when it does not.
  func delay(_ slot: UInt32, at now: Instant) -> Instant? {
    let push = pushes[slot]
    return push.pointee.isDelayed && push.pointee.notBefore > steady(now) ? push.pointee.notBefore : nil
  }

  /// When a push may go at the earliest, by the product's clock as it is at present.
  func notBefore(_ slot: UInt32) -> Instant {
    let push = pushes[slot]
    return push.pointee.isDelayed ? push.pointee.notBefore + lead : push.pointee.notBefore
  }

  /// When the next lane must be looked at; nil when none by itself.
  var nextDue: Instant? {
    mutating get {
      guard let delay = delays.next else { return nextProductDue }
      return min(nextProductDue ?? .distantFuture, delay + lead)
    }
  }

  /// When the next lane must be looked at by the product's clock.
  var nextProductDue: Instant? {
    mutating get {
      while let first = due.first {
        if holds(first) { return first.due }
        _ = due.popDue(at: first.due)
      }
      return nil
    }
  }

  /// Takes out a token whose lane must be looked at now.
  mutating func popDue(at now: Instant) -> UInt32? {
    while let entry = due.popDue(at: now) {
      guard holds(entry) else { continue }
      tokens[entry.key].pointee.wake = .distantFuture
      return entry.key
    }
    guard !delays.isEmpty else { return nil }
    while let number = delays.popDue(at: steady(now)) {
      if tokens[number].pointee.laneHead != none { return number }
    }
    return nil
  }
}

extension LivePush {
  /// Whether `notBefore` is an instant of the steady clock: the next attempt at an upstream.
  var isDelayed: Bool { notBeforeCause != .none && notBeforeCause != .coalescing && notBeforeCause != .waitingForBatch }

  /// Whether it may only look for a connection, for as long as `deadline` says by the steady clock: one attempt, and no storage.
  var isBrief: Bool { !isReset && expiration.isUnstored(received: received) && !traits.lane.mayWaitUnstored }
}
