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
  @usableFromInline var status = 0
  @usableFromInline var failure: StreamFailure?
  var previous: UnsafeMutablePointer<RequestSlot>?
  var next: UnsafeMutablePointer<RequestSlot>?
  @usableFromInline var fields = ReceivedFields()
  @usableFromInline var body = ReceivedBody()
  var request = PendingMessage()

  init(index: UInt32) { self.index = index }

  /// Reads `:status`; informational responses (RFC 9110 section 15.2) are forgotten, and the next is waited for.
  mutating func endHeaders(_ blocks: BlockPool) {
    var value = 0
    if let digits = fields.value(of: .status) {
      for index in 0..<digits.byteCount { value = value * 10 + Int(digits.byte(index)) - 48 }
    }
    if value >= 200 { status = value } else { fields.removeAll(blocks) }
  }
}
