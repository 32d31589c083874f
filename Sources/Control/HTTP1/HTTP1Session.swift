import Primitives

/// The server's side of one HTTP/1.1 connection, without a socket: bytes in, one request at a time out, bytes back.
///
/// A pipeline waits: the next request is looked at when the one before it is answered, so that order needs no
/// bookkeeping and a client cannot make the server hold more than one request and `unreadBytesMax`.
struct HTTP1Session {
  /// What is to be done after bytes came or an answer was given.
  enum Action {
    /// Wait for more bytes or for the answer.
    case wait
    /// Have this request answered, then call `answer`.
    case handle(HTTP1Message)
  }

  /// Bytes of answers that may wait to be sent: then the next request has to wait too.
  static let unsentBytesMax = 65_536
  /// Bytes that may wait behind the request that is being answered: then reading stops.
  static let unreadBytesMax = 65_536

  private let decoder: HTTP1Decoder
  private var unread: [UInt8] = []
  private var output: [UInt8] = []
  private var sent = 0
  private var current: HTTP1Message?
  /// Whether the answer to it is being written bit by bit.
  private var isStreaming = false
  /// Whether the connection ends with that answer.
  private var isLast = false

  /// Whether nothing further is read, and the connection ends once the output is sent.
  private(set) var isClosing = false

  init(limits: HTTP1Limits) { decoder = HTTP1Decoder(limits: limits) }

  /// Whether a request is being answered.
  var isAnswering: Bool { current != nil }
  /// Whether a part of a request has come and the rest has not.
  var isReceiving: Bool { current == nil && !isClosing && !decoder.isIdle }
  /// Whether neither a request is being received or answered, nor the connection ending.
  var isIdle: Bool { current == nil && !isClosing && decoder.isIdle && unread.isEmpty }
  /// Whether requests wait until what is to be sent was sent.
  var isHeldBack: Bool { current == nil && !isClosing && !unread.isEmpty }
  /// Whether more bytes may come.
  var wantsRead: Bool { isClosing || unread.count < Self.unreadBytesMax }
  /// Whether the connection is to be closed now: nothing is due and nothing is left to send.
  var isDone: Bool { isClosing && !isAnswering && !wantsWrite }
  /// Whether there is something to drain.
  var wantsWrite: Bool { sent < output.count }

  /// Takes what the client sent.
  mutating func receive(_ bytes: RawSpan, date: String) -> Action {
    guard !isClosing else { return .wait }
    guard current == nil && unread.isEmpty else {
      unread += bytes.array
      return .wait
    }
    let (action, consumed) = read(bytes, date: date)
    if !isClosing { unread += bytes.extracting(droppingFirst: consumed).array }
    return action
  }

  /// Gives the answer to the request that was to be handled, and looks at the next one.
  mutating func answer(_ response: HTTPResponse, date: String) -> Action {
    guard let message = current else { preconditionFailure("a request is answered once") }
    current = nil
    write(response, to: message, keepsAlive: message.keepsAlive && !isClosing, date: date)
    return readOn(date: date)
  }

  /// Goes on with requests that were held back.
  mutating func resume(date: String) -> Action { isHeldBack ? readOn(date: date) : .wait }

  /// Goes on with what came behind a request, now that it is answered, unless the client has to read first.
  private mutating func readOn(date: String) -> Action {
    guard !isClosing, !unread.isEmpty, unsentBytes <= Self.unsentBytesMax else { return .wait }
    let waiting = unread
    let (action, consumed) = read(waiting.span.bytes, date: date)
    unread = isClosing ? [] : Array(waiting[consumed...])
    return action
  }

  /// Begins the answer to the request that was to be handled; its body follows by `write`, up to `endBody`.
  mutating func begin(_ response: HTTPResponse, date: String) {
    guard let message = current, !isStreaming else { preconditionFailure("a request is answered once") }
    isStreaming = true
    // To a client of 1.0 only the end of the connection tells that of the body.
    if message.minorVersion == 0 || !message.keepsAlive { isLast = true }
    output += HTTP1Encoder.beginning(
      response, keepsAlive: !isLast && !isClosing, minorVersion: message.minorVersion, date: date)
  }

  /// Bytes that wait to be sent.
  var unsentBytes: Int { output.count - sent }

  /// Appends to the body that was begun.
  mutating func write(_ bytes: [UInt8]) {
    guard let message = current, isStreaming else { preconditionFailure("a body is begun before it is written") }
    output.removeFirst(sent)
    sent = 0
    output += message.minorVersion == 0 ? bytes : HTTP1Encoder.chunk(bytes)
  }

  /// Ends the body that was begun, and looks at the next request.
  mutating func endBody(date: String) -> Action {
    guard let message = current, isStreaming else { preconditionFailure("a body is begun before it ends") }
    if message.minorVersion > 0 { output += HTTP1Encoder.lastChunk }
    isStreaming = false
    current = nil
    if isLast { close() }
    return readOn(date: date)
  }

  /// Answers a request that has not come completely, and ends the connection: its time is over.
  mutating func refuse(_ error: ControlError, date: String) {
    write(HTTPResponse(error), to: HTTP1Message(), keepsAlive: false, date: date)
  }

  /// Ends the connection after the answer that is due, or at once when none is.
  mutating func close() {
    isClosing = true
    unread = []
  }

  /// Moves what is to be sent into `queue`; true when nothing is left, false when the queue is full.
  mutating func drain(into queue: inout ByteQueue) -> Bool {
    sent += queue.append(output.span.bytes.extracting(droppingFirst: sent))
    guard sent == output.count else { return false }
    output = []
    sent = 0
    return true
  }

  /// Reads up to the end of one request, and says how far that was.
  private mutating func read(_ bytes: RawSpan, date: String) -> (Action, consumed: Int) {
    var consumed = 0
    while consumed < bytes.byteCount {
      let (count, event) = decoder.read(bytes.extracting(droppingFirst: consumed))
      consumed += count
      switch event {
      case .needsMore: return (.wait, consumed)
      case .continueExpected: output += HTTP1Encoder.proceed
      case .message(let message):
        current = message
        return (.handle(message), consumed)
      case .failed(let error):
        refuse(error, date: date)
        return (.wait, consumed)
      }
    }
    return (.wait, consumed)
  }

  private mutating func write(_ response: HTTPResponse, to message: HTTP1Message, keepsAlive: Bool, date: String) {
    let bytes = HTTP1Encoder.encode(
      response, withoutBody: message.method == .head, keepsAlive: keepsAlive, minorVersion: message.minorVersion, date: date)
    // Mostly there is nothing before it, and a large one is not copied.
    if output.isEmpty { output = bytes } else { output += bytes }
    if !keepsAlive { close() }
  }
}
