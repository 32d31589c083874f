import HTTP2
import Primitives
import ProviderAPI
import Push
import Rules

/// The provider's side of a connection, without its socket.
///
/// The first byte of an input decides how the rest is handed over: with a preface in front or not, in pieces of what size,
/// and what becomes of the requests.
enum RequestEntry {
  private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + [0, 0, 0, 4, 0, 0, 0, 0, 0]

  static func run(_ input: [UInt8]) {
    guard let how = input.first else { return }
    let memory = SessionMemory(blockBytesMax: 1 << 20)
    let pool = ExchangePool(capacity: 16, memory: memory)
    var rules = RuleEntries()
    do {
      var session = ServerSession(pool: pool, settings: ServerSettings(bodyBytesMax: Limits.providerBodyBytes), tag: 1)
      var output = ByteQueue(capacity: 4096)
      let bytes = (how & 1 == 0 ? preface : []) + input.dropFirst()
      let pieceSize = [Int.max, 1, 7, 100][Int(how >> 1 & 3)]
      var place = 0
      var seconds: Int64 = 0
      while place < bytes.count {
        let piece = Array(bytes[place..<min(bytes.count, place + min(pieceSize, bytes.count))])
        place += piece.count
        seconds += 1
        _ = session.receive(piece.span.bytes, now: Instant(unixSeconds: seconds))
        while let exchange = session.takeReady() { answer(exchange, how, &rules) }
        if how & 32 != 0 { drain(&session, &output) }
      }
      if how & 64 != 0, let exchange = session.takeStalled(before: .distantFuture) { answer(exchange, how, &rules) }
      if how & 128 != 0 { session.goAway(debug: "{\"reason\":\"Shutdown\"}") }
      drain(&session, &output)
    }
    precondition(pool.openExchanges == 0 && memory.blocks.lentBytes == 0 && memory.liveAllocations == 0, "something is left behind")
    precondition(pool.nextToDrain() == nil, "a session that is gone waits to be drained")
  }

  private static func answer(_ exchange: Exchange, _ how: UInt8, _ rules: inout RuleEntries) {
    if how & 8 != 0 && how & 16 != 0 { return }
    if how & 8 != 0 { return exchange.reset(HTTP2ErrorCode.cancel) }
    var fields = FieldList()
    let verdict = rules.judge(exchange)
    guard case .refused(let refusal) = verdict else {
      exchange.respond(status: 200, fields)
      return
    }
    fields.append(.apnsID, Array("id".utf8).span.bytes)
    exchange.respond(status: refusal.reason.status, fields, body: Array("{\"reason\":\"\(refusal.reason)\"}".utf8).span.bytes)
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
