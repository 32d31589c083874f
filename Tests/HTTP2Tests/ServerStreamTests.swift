import HTTP2
import Primitives
import Testing

/// Answers whose bodies are written bit by bit.
@Suite("Server streams") struct ServerStreamTests {
  private func started(initialWindow: UInt32 = 65_535) throws -> (TestServer, Exchange) {
    let server = TestServer()
    server.receive(Array(preface.prefix(24)) + Frame(kind: .settings, payload: [0, 4] + big(initialWindow)).bytes + request(1))
    _ = server.drained()
    let exchange = try server.next()
    #expect(server.begin(exchange))
    #expect(server.frames().map(\.kind) == [.headers])
    return (server, exchange)
  }

  private func data(_ text: String, end: Bool = false) -> Frame {
    Frame(kind: .data, flags: end ? Frame.endStream : 0, stream: 1, payload: Array(text.utf8))
  }

  @Test func eachWriteGoesOutAtOnce() throws {
    let (server, exchange) = try started()
    #expect(!server.wantsWrite)
    for text in ["data: 1\n\n", "data: 22\n\n", "x"] {
      #expect(exchange.write(text))
      #expect(server.pool.nextToDrain() == 7)
      #expect(server.frames() == [data(text)])
    }
    exchange.endBody()
    #expect(server.frames() == [data("", end: true)])
    #expect(!server.hasOpenExchanges && !exchange.write("late"))
  }

  @Test func writesAreGathered() throws {
    let (server, exchange) = try started()
    for text in ["a", "bc", "def"] { #expect(exchange.write(text)) }
    exchange.endBody()
    #expect(server.frames() == [data("abcdef", end: true)])
  }

  /// A client that does not read holds at most the given bytes of ours.
  @Test func unsentBytesAreBounded() throws {
    let (server, exchange) = try started(initialWindow: 3)
    #expect(exchange.write("abcdef", atMost: 6))
    #expect(server.frames() == [data("abc")])
    #expect(exchange.write("ghi", atMost: 6) && !exchange.write("j", atMost: 6))
    server.receive(Frame(kind: .windowUpdate, stream: 1, payload: big(4)).bytes)
    #expect(server.frames() == [data("defg")])
    #expect(exchange.write("jklm", atMost: 6))
    exchange.endBody()
    server.receive(Frame(kind: .windowUpdate, stream: 1, payload: big(400)).bytes)
    #expect(server.frames() == [data("hijklm", end: true)])
  }

  /// Many writes into a body that is read in other portions come out as one text.
  @Test(arguments: [1, 7, 300, 5000]) func portions(size: Int) throws {
    let (server, exchange) = try started(initialWindow: UInt32(size))
    var written = ""
    var read: [UInt8] = []
    for number in 0..<400 {
      let text = "event \(number)\n"
      #expect(exchange.write(text, atMost: 1 << 20))
      written += text
      read += server.frames().flatMap(\.payload)
      server.receive(Frame(kind: .windowUpdate, stream: 1, payload: big(UInt32(size))).bytes)
    }
    exchange.endBody()
    server.receive(Frame(kind: .windowUpdate, stream: 1, payload: big(10_000)).bytes)
    read += server.frames().flatMap(\.payload)
    #expect(String(decoding: read, as: UTF8.self) == written)
    #expect(server.pool.memory.blocks.lentBytes == 0)
  }

  @Test func clientGoesAway() throws {
    let (server, exchange) = try started()
    #expect(exchange.write("abc"))
    server.receive(Frame(kind: .reset, stream: 1, payload: big(8)).bytes)
    #expect(!exchange.write("def"))
    exchange.endBody()
    #expect(server.frames().isEmpty && server.pool.memory.blocks.lentBytes == 0)
  }
}
