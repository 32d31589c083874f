import Delivery
import Primitives
import Push

// Pushes that are not urgent and wait for the next batch of their app.
extension StoreState {
  /// When the next batch of the token's app goes, for a push that is to wait for it; one that may not be stored does not.
  static func nextBatch(_ batch: TimeSpan, _ operation: AdmitOperation, at now: Instant) -> Instant? {
    guard operation.priority != .immediate else { return nil }
    if operation.expiration.isUnstored(received: operation.received), !operation.traits.lane.mayWaitUnstored { return nil }
    return nextBatch(batch, at: now)
  }

  /// When the next of batches goes that are `batch` apart; nil where there are none.
  static func nextBatch(_ batch: TimeSpan, at now: Instant) -> Instant? {
    let span = batch.nanoseconds
    guard span > 0 else { return nil }
    let rest = now.nanoseconds % span
    return rest <= 0 ? Instant(nanoseconds: now.nanoseconds - rest) : Instant(nanoseconds: now.nanoseconds - rest + span)
  }

  /// A push of priority 10 has come behind those that wait for a batch: they go with it.
  mutating func hurry(_ number: UInt32, _ batch: Batch, at now: Instant) {
    var slot = tokens[number].pointee.laneHead
    var isHurried = false
    while slot != none {
      let push = pushes[slot]
      if push.pointee.notBeforeCause == .waitingForBatch {
        push.pointee.notBefore = now
        push.pointee.notBeforeCause = .none
        isHurried = true
      }
      slot = push.pointee.next
    }
    if isHurried { advance(number, batch, at: now) }
  }
}
