public import Primitives

/// One request while it is received and answered: plain values at a stable address, which nghttp2's callbacks reach
/// without counting references.
///
/// A slot is in exactly one list: its pool's free list, or one of its session's three (receiving, ready, taken).
@usableFromInline struct ExchangeSlot {
  enum State: UInt8 {
    case free
    /// The request is not complete.
    case receiving
    /// The request is complete and waits to be taken.
    case ready
    /// The request was given to the caller.
    case taken
  }

  @usableFromInline let index: UInt32
  @usableFromInline var generation: UInt32
  var state = State.free
  /// Whether the whole request has arrived.
  @usableFromInline var isComplete = false
  /// Whether a response was submitted, or the stream was given up; what still arrives of the request is then dropped.
  @usableFromInline var isAnswered = false
  /// Whether a reset was submitted, which must not be done twice.
  var isReset = false
  /// Whether the answer came before the request was complete; the session counts those.
  var isEarly = false
  var stream: Int32 = 0
  var session: UnsafeMutablePointer<ServerCore>?
  var previous: UnsafeMutablePointer<ExchangeSlot>?
  var next: UnsafeMutablePointer<ExchangeSlot>?
  @usableFromInline var received = Instant(nanoseconds: 0)
  var rules = MessageRules()
  @usableFromInline var fields = ReceivedFields()
  @usableFromInline var body = ReceivedBody()
  var response = PendingMessage()

  init(index: UInt32, generation: UInt32) {
    self.index = index
    self.generation = generation
  }

  @usableFromInline var key: ExchangeKey { ExchangeKey(index: index, generation: generation) }
}

extension ExchangeSlot: LinkedSlot {}
