import HTTP2
import Primitives
import ProviderAPI
import Push
import Rules

/// The provider's side of a connection, without its socket.
///
/// The first byte of an input decides how the rest is handed over: with a preface in front or not, in pieces of what size,
/// and what becomes of the requests. Where it is a colon, the input is `RequestText`, and the client gets one stream at first.
enum RequestEntry {
  private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + [0, 0, 0, 4, 0, 0, 0, 0, 0]

  static func run(_ input: [UInt8]) {
    guard let first = input.first else { return }
    let isText = first == RequestText.mark
    let how = isText ? 32 : first
    let memory = SessionMemory(blockBytesMax: 1 << 20)
    let pool = ExchangePool(capacity: 16, memory: memory)
    let judge = Judge()
    do {
      var settings = ServerSettings(bodyBytesMax: Limits.providerBodyBytes)
      if isText { settings.concurrentStreams = 1 }
      var session = ServerSession(pool: pool, settings: settings, tag: 1) { judge.rules.value.trusts($0) }
      var output = ByteQueue(capacity: 4096)
      var seconds: Int64 = 0
      for piece in isText ? [preface] + RequestText.frames(input) : pieces(input, how) {
        seconds += 1
        _ = session.receive(piece.span.bytes, now: Instant(unixSeconds: seconds))
        while let exchange = session.takeReady() { answer(exchange, how, judge) }
        if how & 32 != 0 { drain(&session, &output) }
      }
      if how & 64 != 0, let exchange = session.takeStalled(before: .distantFuture) { answer(exchange, how, judge) }
      if how & 128 != 0 { session.goAway(debug: "{\"reason\":\"Shutdown\"}") }
      drain(&session, &output)
    }
    precondition(pool.openExchanges == 0 && memory.blocks.lentBytes == 0 && memory.liveAllocations == 0, "something is left behind")
    precondition(pool.nextToDrain() == nil, "a session that is gone waits to be drained")
  }

  /// The rules of one connection, which are asked from within the session, too.
  private final class Judge {
    let rules = Confined(RuleEntries())
  }

  private static func pieces(_ input: [UInt8], _ how: UInt8) -> [[UInt8]] {
    let bytes = (how & 1 == 0 ? preface : []) + input.dropFirst()
    let size = min(max(bytes.count, 1), [Int.max, 1, 7, 100][Int(how >> 1 & 3)])
    return stride(from: 0, to: bytes.count, by: size).map { Array(bytes[$0..<min(bytes.count, $0 + size)]) }
  }

  private static func answer(_ exchange: Exchange, _ how: UInt8, _ judge: Judge) {
    if how & 8 != 0 && how & 16 != 0 { return }
    if how & 8 != 0 { return exchange.reset(HTTP2ErrorCode.cancel) }
    var fields = FieldList()
    guard let reason = judge.rules.value.judge(exchange) else {
      exchange.respond(status: 200, fields)
      return
    }
    fields.append(.apnsID, Array("id".utf8).span.bytes)
    exchange.respond(status: reason.status, fields, body: Array("{\"reason\":\"\(reason)\"}".utf8).span.bytes)
  }

  private static func drain(_ session: inout ServerSession, _ output: inout ByteQueue) {
    while true {
      let before = output.count
      let isDone = session.drain(into: &output)
      if isDone || output.count == before { break }
      output.removeAll()
    }
    output.removeAll()
  }
}
