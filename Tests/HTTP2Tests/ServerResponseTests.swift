import HTTP2
import Primitives
import Testing

/// Answers in every size and at every time, frame by frame.
@Suite("Server responses") struct ServerResponseTests {
  private func settings(initialWindow: UInt32) -> [UInt8] {
    Array(preface.prefix(24)) + Frame(kind: .settings, payload: [0, 4] + big(initialWindow)).bytes
  }

  private func windowUpdate(_ stream: UInt32, _ increment: UInt32) -> [UInt8] {
    Frame(kind: .windowUpdate, stream: stream, payload: big(increment)).bytes
  }

  /// Bodies up to a frame's size are one DATA frame; larger ones as many as needed, and only the last ends the stream.
  @Test(arguments: [1, 27, 256, 257, 16_383, 16_384, 16_385, 40_000]) func bodySizes(length: Int) throws {
    let server = TestServer()
    server.receive(preface + request(1))
    _ = server.drained()
    let body = (0..<length).map { UInt8($0 % 253) }
    server.respond(try server.next(), 200, [(.contentType, "application/json")], body: body)
    let frames = server.frames()
    let data = frames.dropFirst()
    #expect(frames[0].kind == .headers && frames[0].flags == Frame.endHeaders)
    #expect(data.count == (length + 16_383) / 16_384 && data.allSatisfy { $0.kind == .data })
    #expect(data.map(\.flags) == Array(repeating: 0, count: data.count - 1) + [Frame.endStream])
    #expect(data.flatMap(\.payload) == body)
    #expect(server.pool.memory.blocks.lentBytes == 0)
  }

  /// Body and answer lie behind the fields of the request where there is room, and none of them is in another's way.
  @Test(arguments: [0, 1, 31, 130, 260]) func partsOfAMessageKeepApart(length: Int) throws {
    let pool = makePool(1)
    let (client, server) = (TestClient(), TestServer(pool: pool))
    converse(client, server)
    let body = (0..<length).map { UInt8($0 % 251) }
    for filler in 0..<700 {
      let fields = clientPush() + [(.contentType, String(repeating: "f", count: filler))]
      client.send(fields, body: body, tag: UInt64(filler))
      converse(client, server)
      let exchange = try server.next()
      let answer = Array("answer \(filler)".utf8) + body
      #expect(server.respond(exchange, 429, [(.apnsID, "id \(filler)")], body: answer))
      #expect(exchange.list == fields.map { ["\($0.0.wireName)", $0.1] } && exchange.bodyBytes == body, "\(filler)")
      converse(client, server)
      let record = try #require(client.answers().first)
      #expect(record.fields == [[":status", "429"], ["apns-id", "id \(filler)"]] && record.body == answer, "\(filler)")
      #expect(pool.memory.blocks.lentBytes == 0)
    }
  }

  /// RFC 9110 section 9.3.2: clients take content after HEAD for a violation, and never see the status.
  @Test func anAnswerToHEADHasNoBody() throws {
    let server = TestServer()
    server.receive(preface + request(1, [(":method", "HEAD")] + pushFields().dropFirst(), body: []))
    _ = server.drained()
    server.respond(try server.next(), 405, [(.apnsID, "A")], body: Array(#"{"reason":"MethodNotAllowed"}"#.utf8))
    let frames = server.frames()
    #expect(frames.map(\.kind) == [.headers] && frames[0].flags == Frame.endHeaders | Frame.endStream)
    #expect(server.pool.memory.blocks.lentBytes == 0)
  }

  @Test(arguments: [200, 201, 204, 400, 403, 404, 405, 410, 413, 429, 431, 500, 503, 599]) func statuses(status: Int) throws {
    let (client, server) = (TestClient(), TestServer())
    converse(client, server)
    client.send()
    converse(client, server)
    server.respond(try server.next(), status, [(.apnsID, "A")])
    converse(client, server)
    #expect(client.answers() == [AnswerRecord(tag: 1, status: status, fields: [[":status", "\(status)"], ["apns-id", "A"]])])
  }

  /// With no window nothing but HEADERS goes out; each opening of it lets exactly so much through.
  @Test func windowZero() throws {
    let server = TestServer()
    server.receive(settings(initialWindow: 0) + request(1))
    _ = server.drained()
    server.respond(try server.next(), 400, body: payload)
    #expect(server.frames().map(\.kind) == [.headers])
    #expect(server.frames().isEmpty && !server.wantsWrite)
    server.receive(windowUpdate(1, 5))
    #expect(server.frames() == [Frame(kind: .data, stream: 1, payload: Array(payload.prefix(5)))])
    server.receive(windowUpdate(1, 1000))
    #expect(server.frames() == [Frame(kind: .data, flags: Frame.endStream, stream: 1, payload: Array(payload.dropFirst(5)))])
    #expect(!server.hasOpenExchanges)
  }

  /// A body of megabytes streams as the client opens its windows, and never faster.
  @Test func largeBodyKeepsToTheWindows() throws {
    let server = TestServer()
    server.receive(preface + request(1))
    _ = server.drained()
    let body = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
    server.respond(try server.next(), 200, body: body)
    var received: [UInt8] = []
    var window = 65_535
    while true {
      let data = server.frames().filter { $0.kind == .data }
      let bytes = data.flatMap(\.payload)
      received += bytes
      window -= bytes.count
      #expect(window >= 0)
      if data.last?.flags == Frame.endStream { break }
      try #require(!bytes.isEmpty)
      server.receive(windowUpdate(0, 50_000) + windowUpdate(1, 50_000))
      window += 50_000
    }
    #expect(received == body)
    #expect(!server.hasOpenExchanges && server.pool.memory.blocks.lentBytes == 0)
  }

  /// The client goes away in the middle of a body: slot and body come back.
  @Test func resetInTheMiddleOfABody() throws {
    let server = TestServer()
    server.receive(settings(initialWindow: 10) + request(1) + request(3))
    let (first, second) = (try server.next(), try server.next())
    server.respond(first, 400, body: payload)
    server.respond(second, 400, body: payload)
    _ = server.drained()
    server.receive(Frame(kind: .reset, stream: 1, payload: big(8)).bytes)
    #expect(server.pool.openExchanges == 1)
    server.receive(windowUpdate(3, 1000))
    #expect(server.frames().last?.flags == Frame.endStream)
    #expect(server.pool.openExchanges == 0 && server.pool.memory.blocks.lentBytes == 0)
  }

  /// A queue of any size gets the same bytes.
  @Test(arguments: [1, 2, 9, 10, 100, 16_393]) func drainInPieces(capacity: Int) throws {
    let answer = { (capacity: Int) -> [UInt8] in
      let server = TestServer()
      server.receive(preface + request(1) + request(3))
      server.respond(try server.next(), 200, [(.apnsID, "A")])
      server.respond(try server.next(), 400, body: payload)
      return server.drained(capacity: capacity)
    }
    #expect(try answer(capacity) == answer(1 << 16))
  }

  @Test func answersMayComeInAnyOrder() throws {
    let server = TestServer()
    server.receive(preface + request(1) + request(3) + request(5))
    _ = server.drained()
    let all = [try server.next(), try server.next(), try server.next()]
    for index in [2, 0, 1] { server.respond(all[index], 200) }
    #expect(server.frames().map(\.stream) == [5, 1, 3])
  }

  @Test func resetGivesTheStreamUp() throws {
    let server = TestServer()
    server.receive(preface + request(1))
    _ = server.drained()
    try server.next().reset(HTTP2ErrorCode.enhanceYourCalm)
    let frames = server.frames()
    #expect(frames.map(\.kind) == [.reset] && frames[0].errorCode == HTTP2ErrorCode.enhanceYourCalm)
    #expect(!server.hasOpenExchanges)
  }

  /// Without memory for its body, an answer becomes a reset: the client learns that it failed, and nothing is half sent.
  @Test func wantOfMemoryForABody() throws {
    let server = TestServer(pool: makePool(8, blockBytes: 4096))
    server.receive(preface + request(1))
    _ = server.drained()
    server.respond(try server.next(), 200, body: [UInt8](repeating: 1, count: 100_000))
    let frames = server.frames()
    #expect(frames.map(\.kind) == [.reset] && frames[0].errorCode == HTTP2ErrorCode.internalError)
    #expect(!server.hasOpenExchanges)
  }

  @Test func answeringTwiceTraps() async {
    await #expect(processExitsWith: .failure) {
      let server = TestServer()
      server.receive(preface + request(1))
      let exchange = try server.next()
      server.respond(exchange, 200)
      server.respond(exchange, 200)
    }
  }

  @Test func usingAClosedExchangeTraps() async {
    await #expect(processExitsWith: .failure) {
      let server = TestServer()
      server.receive(preface + request(1))
      let exchange = try server.next()
      server.respond(exchange, 200)
      _ = server.drained()
      _ = exchange.bodyBytesTotal
    }
  }

  /// Sessions that have something to send are named once each, and not after they were drained or are gone.
  @Test func nextToDrainNamesEachSessionOnce() throws {
    let pool = makePool()
    let servers = (1...4).map { TestServer(pool: pool, tag: UInt64($0)) }
    var named: [UInt64] = []
    while let tag = pool.nextToDrain() { named.append(tag) }
    #expect(named == [1, 2, 3, 4], "each has its SETTINGS to send")
    for server in servers {
      server.receive(preface + request(1) + request(3))
      _ = server.drained()
    }
    #expect(pool.nextToDrain() == nil)
    for index in [2, 0, 3] {
      server(servers[index])
    }
    _ = servers[0].drained()
    #expect(pool.nextToDrain() == 3)
    #expect(pool.nextToDrain() == 4)
    #expect(pool.nextToDrain() == nil)
    func server(_ server: TestServer) {
      while let exchange = server.ready() { server.respond(exchange, 200) }
    }
    do {
      let short = TestServer(pool: pool, tag: 9)
      _ = short.wantsWrite
    }
    #expect(pool.nextToDrain() == nil)
  }
}
