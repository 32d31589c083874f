import Delivery
import Primitives
import Push

/// A push that was accepted and has not ended: it waits in its token's lane, or is in flight.
struct LivePush {
  /// Its number in the log.
  var sequence: UInt64
  var received: Instant
  /// When it ends unsent.
  var deadline: Instant
  /// It does not go before this.
  var notBefore: Instant
  /// Topic, collapse id and payload, one after another.
  var block: Block?
  var id: PushID
  var expiration: Expiration
  var traits: PushTraits
  var token: UInt32
  /// The next in the lane.
  var next = none
  var warnings: PushWarnings
  /// Attempts made so far.
  var attempts: UInt16 = 0
  /// Failures in a row, attempts or not, for the delay.
  var failures: UInt16 = 0
  var topicCount: UInt16
  var collapseCount: UInt16
  var payloadCount: UInt16
  var type: PushType
  var priority: Priority
  var prioritySent: Bool
  /// Its budgets have paid for it.
  var isCharged = false
  var isInFlight = false
  /// It goes with priority 5 whatever its own, since its budget cannot pay.
  var isLowered = false
  /// It waits because its upstream has answered it with a server error, and is not to come back sooner.
  var isPatient = false
  /// The commit with which it was last sent out.
  var group: UInt64 = 0
  /// The number of the errand that it was made for; `none` for a provider's.
  var errand = none
  /// The upstream of whose share its bytes are.
  var upstream = UInt16.max
  /// Why it does not go before `notBefore`.
  var notBeforeCause = Cause.none

  /// Whether the app has been reset since it went out: it comes to its end without another attempt, whatever the clocks say.
  ///
  /// Kept as a date that no sender can give, which is saved with the token, so that it holds after a restart as well.
  var isReset: Bool {
    get { expiration == .at(.distantPast) }
    set { if newValue { (deadline, expiration) = (.distantPast, .at(.distantPast)) } }
  }

  var byteCount: Int { Int(topicCount) + Int(collapseCount) + Int(payloadCount) }
  /// The collapse id, valid while the push lives; empty when there is none.
  var collapseID: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: bytes.dropFirst(Int(topicCount)).prefix(Int(collapseCount)))
  }
  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: block?.base, count: byteCount) }
}
