import HTTP2
import Primitives
import Testing

/// How a connection ends: by our word, by the client's, or because it was never HTTP/2.
@Suite("Server ends") struct ServerEndTests {
  /// Any first bytes but the preface, as Apple's servers answer them: SETTINGS, one GOAWAY, nothing else.
  @Test(arguments: [
    ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", "Unexpected HTTP/1.x request: GET / "),
    ("POST /3/device/abc HTTP/1.1\r\nHost: a\r\n\r\n", "Unexpected HTTP/1.x request: POST /3/device/abc "),
    ("PUT /x HTTP/1.0\r\n\r\n", "Unexpected HTTP/1.x request: PUT /x "),
    ("PRI * HTTP/1.1\r\n\r\n", "Unexpected HTTP/1.x request: PRI * "),
    ("hello", "HTTP/2 client preface string missing or corrupt. Hex dump for received bytes: 68656c6c6f"),
    (
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r!more",
      "HTTP/2 client preface string missing or corrupt. Hex dump for received bytes: "
        + "505249202a20485454502f322e300d0a0d0a534d0d0a0d21"
    ),
  ]) func badPreface(sent: String, debug: String) throws {
    let server = TestServer()
    let failure = try #require(server.receive(Array(sent.utf8)))
    let frames = server.frames()
    #expect(frames.map(\.kind) == [.settings, .goAway])
    let goAway = frames[1].payload
    #expect(Array(goAway.prefix(8)) == big(0) + big(HTTP2ErrorCode.protocolError))
    #expect(String(decoding: goAway.dropFirst(8), as: UTF8.self) == debug)
    #expect(server.isDone && server.failure == failure)
    if case .http1Request(let line) = failure { #expect(debug.hasSuffix(line)) } else { #expect(debug.contains("Hex dump")) }
    // What still comes is ignored.
    #expect(server.receive(preface) == failure && server.frames().isEmpty)
  }

  /// The same when the first bytes come one at a time: the request line is then cut where the preface was left.
  @Test func badPrefaceAfterAGoodStart() {
    let server = TestServer()
    #expect(server.receive(Array("P".utf8)) == nil)
    #expect(server.receive(Array("OST /a HTTP/1.1\r\n".utf8)) == .http1Request("POST /a "))
  }

  /// 410 and what is no error does not count; what is open when the last one is answered is answered too.
  @Test(arguments: [0, 1, 2, 3]) func tooManyErrorsEndTheConnection(errors: Int) throws {
    let server = TestServer { $0.errorAnswersMax = errors }
    server.receive(preface + (0..<6).flatMap { request(UInt32(2 * $0 + 1)) })
    _ = server.drained()
    var (seen, goAways) = (0, 0)
    for status in [200, 410, 400, 403, 410, 500] {
      server.respond(try server.next(), status, body: payload)
      if status >= 400, status != 410 { seen += 1 }
      goAways += server.frames().filter { $0.kind == .goAway && $0.payload == big(11) + big(0) }.count
      #expect(goAways == (errors > 0 && seen >= errors ? 1 : 0))
    }
    #expect(server.isDone == (errors > 0))
  }

  @Test func goAwayNamesTheLastStreamExactly() throws {
    let server = TestServer()
    server.receive(preface + request(1) + request(3))
    _ = server.drained()
    let (first, second) = (try server.next(), try server.next())
    server.respond(first, 200)
    server.goAway(debug: #"{"reason":"Shutdown"}"#)
    // A stream that comes before the GOAWAY is out is refused, for it is not among those that the GOAWAY covers.
    server.receive(request(5))
    #expect(server.ready() == nil)
    let frames = server.frames()
    #expect(frames.contains { $0.kind == .reset && $0.stream == 5 && $0.errorCode == HTTP2ErrorCode.refusedStream })
    let goAway = try #require(frames.first { $0.kind == .goAway })
    #expect(goAway.payload == big(3) + big(0) + Array(#"{"reason":"Shutdown"}"#.utf8))
    #expect(frames.contains { $0.kind == .headers && $0.stream == 1 })
    #expect(server.ready() == nil && !server.isDone)
    // Later ones are ignored; those that were open are still answered.
    server.receive(request(7))
    #expect(server.ready() == nil)
    server.respond(second, 400, body: payload)
    #expect(server.frames().contains { $0.kind == .data && $0.stream == 3 && $0.flags == Frame.endStream })
    #expect(server.isDone && server.failure == nil)
  }

  /// A client that rests on its connection and does not hang up: the session is over as soon as it has been told.
  @Test func goAwayEndsAnIdleSession() {
    let server = TestServer()
    server.receive(preface)
    _ = server.frames()
    #expect(!server.isDone)
    server.goAway(debug: "")
    #expect(!server.isDone, "the GOAWAY has to be sent first")
    _ = server.frames()
    #expect(server.isDone)
  }

  @Test func goAwayWithStreamZero() throws {
    let server = TestServer()
    server.receive(preface)
    _ = server.drained()
    server.goAway(.none, debug: #"{"reason":"BadCertificateEnvironment"}"#)
    let goAway = try #require(server.frames().first)
    // As captured from Apple: a payload of 46 bytes.
    #expect(goAway.payload.count == 46 && goAway.payload.prefix(8) == [0, 0, 0, 0, 0, 0, 0, 0])
    #expect(server.isDone)
  }

  @Test func peerGoAwayEndsAnIdleSession() {
    let server = TestServer()
    server.receive(preface + Frame(kind: .goAway, payload: big(0) + big(0)).bytes)
    _ = server.drained()
    #expect(server.isDone && server.failure == nil)
  }

  @Test func pingIsAcknowledged() {
    let server = TestServer()
    server.receive(preface)
    _ = server.drained()
    server.receive(Frame(kind: .ping, payload: Array(0..<8)).bytes)
    #expect(server.frames() == [Frame(kind: .ping, flags: Frame.ack, payload: Array(0..<8))])
  }

  /// As Apple's servers: the windows stay as RFC 9113 has them, and the connection's is refilled when half of it is used.
  @Test func connectionWindowIsRefilledByHalves() {
    let server = TestServer()
    server.receive(preface)
    #expect(server.frames().map(\.kind) == [.settings, .settings])
    server.receive(Frame(kind: .headers, flags: Frame.endHeaders, stream: 1, payload: headerBlock(pushFields())).bytes)
    server.receive(Frame(kind: .data, stream: 1, payload: [UInt8](repeating: 32, count: 16_384)).bytes)
    server.receive(Frame(kind: .data, stream: 1, payload: [UInt8](repeating: 32, count: 16_382)).bytes)
    #expect(server.frames().isEmpty)
    server.receive(Frame(kind: .data, stream: 1, payload: [UInt8](repeating: 32, count: 56)).bytes)
    let updates = server.frames().filter { $0.stream == 0 }
    #expect(updates.map(\.kind) == [.windowUpdate] && updates.first?.payload == big(32_822))
  }

  /// SETTINGS that bring a stream's window above 2^31-1 end the connection, though nghttp2 would only reset the stream; up to there
  /// they are as good as any.
  @Test(arguments: [(0 as UInt32, 0x7FFF_FFFF as UInt32, true), (1, 0x7FFF_FFFF, false), (1, 0x7FFF_FFFE, true)])
  func windowThatOverflows(given: UInt32, initial: UInt32, isGood: Bool) {
    let server = TestServer()
    server.receive(preface)
    for stream in [1, 3, 5] as [UInt32] {
      server.receive(Frame(kind: .headers, flags: Frame.endHeaders, stream: stream, payload: headerBlock(pushFields())).bytes)
    }
    if given > 0 { server.receive(Frame(kind: .windowUpdate, stream: 3, payload: big(given)).bytes) }
    _ = server.drained()
    server.receive(Frame(kind: .settings, payload: [0, 4] + big(initial)).bytes)
    let kinds = server.frames().map(\.kind)
    #expect(kinds.last == (isGood ? .settings : .goAway))
    #expect((server.failure == nil) == isGood)
  }

  /// A fault of the whole connection: GOAWAY with its code, and the failure says why.
  @Test func protocolViolation() throws {
    let server = TestServer()
    server.receive(preface)
    _ = server.drained()
    server.receive(Frame(kind: .data, stream: 0, payload: [1]).bytes)
    let goAway = try #require(server.frames().first)
    #expect(goAway.kind == .goAway && goAway.errorCode == HTTP2ErrorCode.protocolError)
    guard case .violation(HTTP2ErrorCode.protocolError, let detail) = server.failure else {
      Issue.record("\(String(describing: server.failure))")
      return
    }
    #expect(detail.contains("stream_id == 0") && server.isDone)
  }

  @Test func pingFloodEndsTheConnection() {
    let server = TestServer()
    server.receive(preface)
    var last: SessionFailure?
    for _ in 0..<3000 { last = server.receive(Frame(kind: .ping, payload: Array(0..<8)).bytes) }
    #expect(last != nil)
  }

  /// Whatever state a session is in when it goes, everything it held comes back.
  @Test func nothingIsLeftBehind() throws {
    let pool = makePool()
    do {
      let server = TestServer(pool: pool)
      let head = Frame(kind: .headers, flags: Frame.endHeaders, stream: 7, payload: headerBlock(pushFields())).bytes
      server.receive(preface + request(1) + request(3) + request(5) + head)
      server.respond(try server.next(), 400, body: payload)
      _ = try server.next()
      #expect(pool.openExchanges == 4)
    }
    #expect(pool.openExchanges == 0 && pool.memory.blocks.lentBytes == 0 && pool.memory.liveAllocations == 0)
    #expect(pool.nextToDrain() == nil)
  }
}
