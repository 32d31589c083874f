import Primitives
import Seeds
import Testing

@testable import Control

/// A session and a client that reads everything, with handlers that answer when the test says so.
private struct Exchange {
  private static let date = "D"
  var session = HTTP1Session(limits: HTTP1Limits(bodyBytes: 100))
  var handled: [HTTP1Message] = []
  var output = ""

  mutating func send(_ text: String) { send(Array(text.utf8)) }

  mutating func send(_ bytes: [UInt8]) {
    take(session.receive(bytes.span.bytes, date: Self.date))
  }

  mutating func answer(_ text: String) { take(session.answer(HTTPResponse(status: 200, body: Array(text.utf8)), date: Self.date)) }

  private mutating func take(_ action: HTTP1Session.Action) {
    if case .handle(let message) = action { handled.append(message) }
    var queue = ByteQueue(capacity: 64)
    var isDone = false
    while !isDone {
      isDone = session.drain(into: &queue)
      output += queue.bytes.string
      queue.removeAll()
    }
  }

  static func response(_ body: String) -> String { "HTTP/1.1 200 OK\r\ndate: D\r\ncontent-length: \(body.utf8.count)\r\n\r\n\(body)" }
}

@Suite("HTTP/1.1 session") struct HTTP1SessionTests {
  private static func request(_ path: String) -> String { "GET /\(path) HTTP/1.1\r\nHost: a\r\n\r\n" }

  @Test func onePipelinedRequestAtATime() {
    var exchange = Exchange()
    exchange.send(Self.request("1") + Self.request("2") + Self.request("3") + "GET /4")
    #expect(exchange.handled.map(\.target) == ["/1"])
    #expect(exchange.session.isAnswering && !exchange.session.isReceiving)
    exchange.answer("one")
    #expect(exchange.handled.map(\.target) == ["/1", "/2"])
    exchange.send(" HTTP/1.1\r\nHost: a\r\n\r\n")
    exchange.answer("two")
    exchange.answer("three")
    #expect(exchange.handled.map(\.target) == ["/1", "/2", "/3", "/4"])
    exchange.answer("four")
    #expect(exchange.output == ["one", "two", "three", "four"].map(Exchange.response).joined())
    #expect(!exchange.session.isAnswering && !exchange.session.isReceiving && !exchange.session.isClosing)
  }

  /// However the pipeline is cut and whenever answers come, the same answers in the same order.
  @Test(arguments: seeds(200)) func seededInterleaving(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var rest = Array((0..<8).map { Self.request("\($0)") }.joined().utf8)[...]
    var exchange = Exchange()
    var answered = 0
    while answered < 8 {
      if exchange.session.isAnswering && (rest.isEmpty || Bool.random(using: &random)) {
        exchange.answer(exchange.handled[answered].target)
        answered += 1
      } else {
        let count = min(rest.count, Int.random(in: 1...90, using: &random))
        exchange.send(Array(rest.prefix(count)))
        rest = rest.dropFirst(count)
      }
    }
    #expect(exchange.output == (0..<8).map { Exchange.response("/\($0)") }.joined())
  }

  @Test func readingStopsBehindAnUnansweredRequest() {
    var exchange = Exchange()
    exchange.send(Self.request("1"))
    #expect(exchange.session.wantsRead)
    exchange.send([UInt8](repeating: 0x47, count: HTTP1Session.unreadBytesMax))
    #expect(!exchange.session.wantsRead)
  }

  @Test func aBadRequestIsAnsweredAndEndsTheConnection() {
    var exchange = Exchange()
    exchange.send(Self.request("1") + "nonsense\r\n\r\n" + Self.request("2"))
    exchange.answer("one")
    #expect(exchange.handled.count == 1)
    #expect(exchange.session.isClosing)
    #expect(exchange.output.hasPrefix(Exchange.response("one") + "HTTP/1.1 400 Bad Request\r\n"))
    #expect(exchange.output.contains("\r\nconnection: close\r\n"))
    let before = exchange.output
    exchange.send(Self.request("3"))
    #expect(exchange.output == before)
  }

  @Test func connectionCloseIsHonoured() {
    var exchange = Exchange()
    exchange.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n" + Self.request("2"))
    exchange.answer("one")
    #expect(exchange.session.isClosing && exchange.handled.count == 1)
  }

  @Test func continueComesBeforeTheBody() {
    var exchange = Exchange()
    exchange.send("PUT / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
    #expect(exchange.output == "HTTP/1.1 100 Continue\r\n\r\n")
    #expect(exchange.session.isReceiving)
    exchange.send("hi")
    #expect(exchange.handled.first?.body == Array("hi".utf8))
  }

  /// A body that is too large is refused before it is sent.
  @Test func noContinueForABodyTooLarge() {
    var exchange = Exchange()
    exchange.send("PUT / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 101\r\n\r\n")
    #expect(exchange.output.hasPrefix("HTTP/1.1 413 Payload Too Large\r\n"))
    #expect(exchange.session.isClosing)
  }

  @Test func drainingEndsAfterTheAnswerThatIsDue() {
    var exchange = Exchange()
    exchange.send(Self.request("1") + Self.request("2"))
    exchange.session.close()
    exchange.answer("one")
    #expect(exchange.handled.count == 1)
    #expect(exchange.output.contains("connection: close") && exchange.output.hasSuffix("one"))
  }
}
