import HTTP2
import Primitives
import Testing

/// A server session and what a loop does with it, in a shape that the testing macros can look into.
final class TestServer {
  let pool: ExchangePool
  private var session: ServerSession
  private var fields = FieldList()

  init(
    pool: ExchangePool = makePool(), tag: UInt64 = 7, bodyBytesMax: Int = 5121, _ change: (inout ServerSettings) -> Void = { _ in },
    trusts: ((Exchange) -> Bool)? = nil
  ) {
    var settings = ServerSettings(bodyBytesMax: bodyBytesMax)
    change(&settings)
    self.pool = pool
    session = ServerSession(pool: pool, settings: settings, tag: tag, trusts: trusts)
  }

  @discardableResult
  func receive(_ bytes: [UInt8], at seconds: Int64 = 0) -> SessionFailure? {
    session.receive(bytes.span.bytes, now: Instant(unixSeconds: seconds))
  }

  /// Everything there is to send, by way of a queue of `capacity` bytes.
  func drained(capacity: Int = 1 << 16) -> [UInt8] {
    var bytes: [UInt8] = []
    var queue = ByteQueue(capacity: capacity)
    while true {
      let done = session.drain(into: &queue)
      bytes += queue.bytes.array
      queue.consume(queue.count)
      if done { return bytes }
    }
  }

  /// What fits a queue of `capacity` bytes.
  func drainedOnce(capacity: Int) -> [UInt8] {
    var queue = ByteQueue(capacity: capacity)
    session.drain(into: &queue)
    return queue.bytes.array
  }

  /// Every frame there is to send.
  func frames() -> [Frame] { Frame.parse(drained()) }

  /// The next complete request, or nil.
  func ready() -> Exchange? { session.takeReady() }

  /// The next complete request, of which there must be one.
  func next(_ location: SourceLocation = #_sourceLocation) throws -> Exchange {
    let exchange = session.takeReady()
    return try #require(exchange, sourceLocation: location)
  }

  func stalled(before seconds: Int64) -> Exchange? { session.takeStalled(before: Instant(unixSeconds: seconds)) }

  func malformed() -> [MalformedRequest] { session.takeMalformed() }

  func goAway(_ lastStream: ServerSession.LastStream = .exact, debug: String) { session.goAway(lastStream: lastStream, debug: debug) }

  func announce(_ concurrentStreams: Int) { session.announce(concurrentStreams: concurrentStreams) }

  @discardableResult
  func respond(_ exchange: Exchange, _ status: Int, _ list: [(HeaderName, String)] = [], body: [UInt8] = []) -> Bool {
    fields.removeAll()
    for (name, value) in list { fields.append(name, Array(value.utf8).span.bytes) }
    return exchange.respond(status: status, fields, body: body.span.bytes)
  }

  /// Answers with the fields that `fill` appends.
  func respond(_ exchange: Exchange, _ status: Int, _ fill: (inout FieldList) -> Void) {
    fields.removeAll()
    fill(&fields)
    exchange.respond(status: status, fields)
  }

  /// Begins an answer of 200 whose body is written bit by bit.
  @discardableResult
  func begin(_ exchange: Exchange) -> Bool {
    fields.removeAll()
    return exchange.beginResponse(status: 200, fields)
  }

  /// Receives, answers every request with an empty 200, and forgets what there was to send.
  func serve(_ bytes: [UInt8]) {
    receive(bytes)
    while let exchange = ready() { respond(exchange, 200) }
    _ = drained()
  }

  var isDone: Bool { session.isDone }
  var wantsWrite: Bool { session.wantsWrite }
  var failure: SessionFailure? { session.failure }
  var hasOpenExchanges: Bool { session.hasOpenExchanges }
  var oldestIncomplete: Instant? { session.oldestIncomplete }
  var work: Int { session.work }
  func hasAnswerWaiting(sinceTimes times: Int) -> Bool { session.hasAnswerWaiting(sinceTimes: times) }
}

func makePool(_ capacity: Int = 64, blockBytes: Int = 64 << 20, keptBytes: Int = 1 << 20) -> ExchangePool {
  ExchangePool(capacity: capacity, memory: SessionMemory(blockBytesMax: blockBytes, keptBytesMax: keptBytes))
}

extension Exchange {
  func text(_ name: HeaderName) -> String? { value(of: name)?.string }
  var list: [[String]] { (0..<fieldCount).map { [name(ofField: $0).string, value(ofField: $0).string] } }
  var bodyBytes: [UInt8] { body.array }
  func write(_ text: String, atMost unsentBytesMax: Int = 1000) -> Bool {
    writeBody(Array(text.utf8).span.bytes, unsentBytesMax: unsentBytesMax)
  }
}
