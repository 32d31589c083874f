import Primitives

/// Names one request of a `ClientSession` until its answer was taken; afterwards it finds nothing.
public struct RequestKey: Hashable, Sendable {
  let index: UInt32
  let generation: UInt32
}

/// One request that was sent and its response as it arrives: plain values at a stable address.
///
/// A slot is in exactly one list: the session's free, open or answered ones.
@usableFromInline struct RequestSlot: LinkedSlot {
  enum State { case free, open, answered }

  let index: UInt32
  @usableFromInline var generation: UInt32 = 0
  var state = State.free
  /// Whether the response has ended.
  var isComplete = false
  var stream: Int32 = 0
  @usableFromInline var tag: UInt64 = 0
  /// When it was sent, by the caller's clock.
  var sentAt: Int64 = 0
  /// The status of the final response; 0 before its fields are whole.
  @usableFromInline var status = 0
  /// Whether the request was a HEAD, whose response has no body.
  var isHEAD = false
  @usableFromInline var failure: StreamFailure?
  var previous: UnsafeMutablePointer<RequestSlot>?
  var next: UnsafeMutablePointer<RequestSlot>?
  var rules = MessageRules()
  @usableFromInline var fields = ReceivedFields()
  @usableFromInline var body = ReceivedBody()
  var request = PendingMessage()

  init(index: UInt32) { self.index = index }

  /// The fields of a response are whole; false when they make it malformed. Informational responses (RFC 9110 section 15.2)
  /// are forgotten, and the next is waited for.
  mutating func endHeaders(endsStream: Bool, _ blocks: BlockPool) -> Bool {
    // Trailers end the message (RFC 9113 section 8.1).
    guard status == 0 else { return endsStream }
    guard rules.isGoodResponse(toHEAD: isHEAD) else { return false }
    guard rules.status < 200 else {
      status = rules.status
      return true
    }
    fields.removeAll(blocks)
    rules = MessageRules()
    return !endsStream
  }
}
