import HTTP2
import Primitives
import Testing

@Suite("Client") struct ClientTests {
  private let serverSettings = Frame(kind: .settings, payload: [0, 3] + big(1000)).bytes

  /// A client that has got `settings` and whose own preface is out of the way.
  private func ready(_ settings: [UInt8]? = nil) -> TestClient {
    let client = TestClient()
    _ = client.drained()
    client.receive(settings ?? serverSettings)
    _ = client.drained()
    return client
  }

  @Test func beginsWithPrefaceAndSettings() {
    let client = TestClient()
    let bytes = client.drained()
    #expect(bytes.prefix(24) == preface.prefix(24))
    let frames = Frame.parse(Array(bytes.dropFirst(24)))
    #expect(frames.map(\.kind) == [.settings, .windowUpdate])
    #expect(frames[0].payload == [0, 2] + big(0) + [0, 6] + big(8000))
  }

  @Test func requestAndResponse() throws {
    let (client, server) = (TestClient(), TestServer())
    converse(client, server)
    #expect(client.isEstablished && client.peerConcurrentStreams == 1000)
    #expect(client.send(tag: 41) != nil && client.openStreams == 1)
    converse(client, server)
    let exchange = try server.next()
    #expect(exchange.list == clientPush().map { ["\($0.0.wireName)", $0.1] } && exchange.bodyBytes == payload)
    server.respond(exchange, 410, [(.apnsID, "X")], body: Array(#"{"reason":"Unregistered","timestamp":1}"#.utf8))
    converse(client, server)
    let expected = AnswerRecord(
      tag: 41, status: 410, fields: [[":status", "410"], ["apns-id", "X"]], body: Array(#"{"reason":"Unregistered","timestamp":1}"#.utf8))
    #expect(client.answers() == [expected])
    #expect(client.openStreams == 0 && client.answers().isEmpty)
  }

  @Test func requestFraming() {
    let client = ready()
    client.send()
    let frames = Frame.parse(client.drained())
    #expect(frames.map(\.kind) == [.headers, .data] && frames[0].flags == Frame.endHeaders)
    #expect(frames[1] == Frame(kind: .data, flags: Frame.endStream, stream: 1, payload: payload))
    client.send([(.method, "GET"), (.scheme, "https"), (.authority, "a"), (.path, "/")], body: [])
    #expect(Frame.parse(client.drained()).map(\.flags) == [Frame.endHeaders | Frame.endStream])
  }

  @Test func nothingIsSentBeforeTheServersSettings() {
    let client = TestClient()
    #expect(client.availableStreams == 0 && client.send() == nil)
    client.receive(serverSettings)
    #expect(client.availableStreams == 1000 && client.send() != nil)
  }

  /// The server's limit of streams is observed, also when it changes.
  @Test func concurrentStreams() {
    let client = ready(Frame(kind: .settings, payload: [0, 3] + big(2)).bytes)
    #expect(client.peerConcurrentStreams == 2)
    #expect(client.send(tag: 1) != nil && client.send(tag: 2) != nil && client.send(tag: 3) == nil)
    _ = client.drained()
    client.receive(Frame(kind: .headers, flags: Frame.endHeaders | Frame.endStream, stream: 1, payload: [0x88]).bytes)
    #expect(client.availableStreams == 1)
    client.receive(Frame(kind: .settings, payload: [0, 3] + big(1)).bytes)
    #expect(client.availableStreams == 0)
    client.receive(Frame(kind: .settings, payload: [0, 3] + big(5000)).bytes)
    #expect(client.availableStreams == 999, "our own bound")
  }

  @Test func refusedStreamIsSafeToRetry() {
    let client = ready()
    client.send(tag: 5)
    _ = client.drained()
    client.receive(Frame(kind: .reset, stream: 1, payload: big(HTTP2ErrorCode.refusedStream)).bytes)
    #expect(client.answers() == [AnswerRecord(tag: 5, failure: .refused)])
    #expect(StreamFailure.refused.isSafeToRetry && StreamFailure.unprocessed.isSafeToRetry)
    #expect(!StreamFailure.reset(code: 2).isSafeToRetry && !StreamFailure.connectionLost.isSafeToRetry)
  }

  @Test(arguments: [1, 2, 8, 11] as [UInt32]) func resetCarriesItsCode(code: UInt32) {
    let client = ready()
    client.send(tag: 5)
    _ = client.drained()
    client.receive(Frame(kind: .headers, flags: Frame.endHeaders, stream: 1, payload: [0x88]).bytes)
    client.receive(Frame(kind: .reset, stream: 1, payload: big(code)).bytes)
    #expect(client.answers().map(\.failure) == [.reset(code: code)])
  }

  /// A GOAWAY parts the streams: those it covers are still answered, the others may be tried again.
  @Test(arguments: [0, 1, 3, 5] as [UInt32]) func goAwayParts(last: UInt32) throws {
    let client = ready()
    for tag in [1, 3, 5] as [UInt64] { client.send(tag: tag) }
    _ = client.drained()
    let debug = Array(#"{"reason":"Shutdown"}"#.utf8)
    client.receive(Frame(kind: .goAway, payload: big(last) + big(0) + debug).bytes)
    let unprocessed = [1, 3, 5].filter { $0 > last }.map { AnswerRecord(tag: UInt64($0), failure: .unprocessed) }
    #expect(client.answers().sorted { $0.tag < $1.tag } == unprocessed)
    #expect(client.peerGoAway == PeerGoAway(lastStream: Int32(last), code: 0, debug: #"{"reason":"Shutdown"}"#))
    #expect(client.send() == nil && client.availableStreams == 0)
    for stream in [1, 3, 5] as [UInt32] where stream <= last {
      client.receive(Frame(kind: .headers, flags: Frame.endHeaders | Frame.endStream, stream: stream, payload: [0x88]).bytes)
      #expect(client.answers() == [AnswerRecord(tag: UInt64(stream), status: 200, fields: [[":status", "200"]])])
    }
    _ = client.drained()
    #expect(client.isDone && client.openStreams == 0)
  }

  /// Streams that a GOAWAY covers may still fail in their own way.
  @Test func resetAfterGoAway() {
    let client = ready()
    client.send(tag: 1)
    client.send(tag: 3)
    _ = client.drained()
    client.receive(Frame(kind: .goAway, payload: big(3) + big(0)).bytes)
    client.receive(Frame(kind: .reset, stream: 3, payload: big(2)).bytes)
    client.receive(Frame(kind: .reset, stream: 1, payload: big(7)).bytes)
    #expect(client.answers().map(\.failure) == [.reset(code: 2), .refused])
  }

  /// Requests that are still in the session when the GOAWAY comes never leave.
  @Test func unsentRequestsAreUnprocessed() {
    let client = ready()
    client.send(tag: 1)
    client.send(tag: 2)
    client.receive(Frame(kind: .goAway, payload: big(0) + big(0)).bytes)
    _ = client.drained()
    #expect(client.answers().map(\.failure) == [.unprocessed, .unprocessed])
  }

  @Test func lostConnection() {
    let client = ready()
    client.send(tag: 1)
    _ = client.drained()
    client.send(tag: 2)
    client.disconnect()
    #expect(client.answers() == [AnswerRecord(tag: 1, failure: .connectionLost), AnswerRecord(tag: 2, failure: .unprocessed)])
    #expect(client.send() == nil && client.openStreams == 0)
    // What had been received before it was lost is of no use any more.
    let late = Frame(kind: .headers, flags: Frame.endHeaders, stream: 1, payload: [0x88]).bytes
    client.receive(late + Frame(kind: .data, flags: Frame.endStream, stream: 1, payload: payload).bytes)
    #expect(client.answers().isEmpty && client.memory.blocks.lentBytes == 0)
  }

  @Test func cancel() throws {
    let client = ready()
    let sent = try #require(client.send(tag: 1))
    _ = client.drained()
    #expect(client.cancel(sent))
    let reset = try #require(Frame.parse(client.drained()).first)
    #expect(reset.kind == .reset && reset.stream == 1 && reset.errorCode == HTTP2ErrorCode.cancel)
    #expect(client.answers() == [AnswerRecord(tag: 1, failure: .cancelled)])
    #expect(!client.cancel(sent), "it has its answer")
    // The late response of a cancelled stream harms nobody.
    client.receive(Frame(kind: .headers, flags: Frame.endHeaders | Frame.endStream, stream: 1, payload: [0x88]).bytes)
    #expect(client.answers().isEmpty && client.failure == nil)
    // A request that has not gone out is taken back whole.
    let unsent = try #require(client.send(tag: 2))
    // Twice is as good as once: no reset goes out for a stream that the server has never seen.
    #expect(client.cancel(unsent) && client.cancel(unsent))
    #expect(client.drained().isEmpty)
    #expect(client.answers() == [AnswerRecord(tag: 2, failure: .cancelled)] && client.openStreams == 0)
  }

  @Test func stalledRequestsAreCancelledOnce() {
    let client = ready()
    for tag in 1...4 { client.send(tag: UInt64(tag), at: Int64(10 * tag)) }
    _ = client.drained()
    client.receive(Frame(kind: .headers, flags: Frame.endHeaders | Frame.endStream, stream: 1, payload: [0x88]).bytes)
    #expect(client.cancelStalled(sentBefore: 30) == 1 && client.cancelStalled(sentBefore: 30) == 0)
    #expect(client.cancelStalled(sentBefore: 31) == 1)
    #expect(Frame.parse(client.drained()).map(\.stream) == [3, 5])
    #expect(client.answers().map(\.failure) == [nil, .cancelled, .cancelled] && client.openStreams == 1)
  }

  @Test func informationalResponsesAndTrailersArePassedOver() {
    let client = ready()
    client.send(tag: 1)
    _ = client.drained()
    let early = headerBlock([(":status", "103"), ("link", "a")])
    client.receive(Frame(kind: .headers, flags: Frame.endHeaders, stream: 1, payload: early).bytes)
    client.receive(
      Frame(kind: .headers, flags: Frame.endHeaders, stream: 1, payload: headerBlock([(":status", "429"), ("retry-after", "3")])).bytes)
    client.receive(Frame(kind: .data, stream: 1, payload: payload).bytes)
    #expect(client.answers().isEmpty)
    client.receive(Frame(kind: .headers, flags: Frame.endHeaders | Frame.endStream, stream: 1, payload: headerBlock([("x", "y")])).bytes)
    let expected = AnswerRecord(tag: 1, status: 429, fields: [[":status", "429"], ["retry-after", "3"]], body: payload)
    #expect(client.answers() == [expected])
  }

  /// A server may answer and close before it has read the body (RFC 9113 section 8.1).
  @Test func earlyAnswer() {
    let client = ready(Frame(kind: .settings, payload: [0, 3] + big(10) + [0, 4] + big(0)).bytes)
    client.send(tag: 1)
    #expect(Frame.parse(client.drained()).map(\.kind) == [.headers], "the server's window is shut")
    client.receive(
      Frame(kind: .headers, flags: Frame.endHeaders | Frame.endStream, stream: 1, payload: headerBlock([(":status", "413")])).bytes)
    #expect(Frame.parse(client.drained()).map(\.kind) == [.reset])
    #expect(client.answers().map(\.status) == [413])
  }

  @Test(arguments: [4095, 4096, 4097, 100_000]) func responseBodyBound(length: Int) {
    let client = ready()
    client.send()
    _ = client.drained()
    client.receive(Frame(kind: .headers, flags: Frame.endHeaders, stream: 1, payload: [0x88]).bytes)
    let body = (0..<length).map { UInt8($0 % 251) }
    var rest = body[...]
    while !rest.isEmpty {
      let part = Array(rest.prefix(16_384))
      rest = rest.dropFirst(part.count)
      client.receive(Frame(kind: .data, flags: rest.isEmpty ? Frame.endStream : 0, stream: 1, payload: part).bytes)
      _ = client.drained()
    }
    #expect(client.answers().map(\.body) == [Array(body.prefix(4096))])
  }

  @Test func ping() {
    let client = ready()
    client.ping(0x0102_0304_0506_0708)
    let frames = Frame.parse(client.drained())
    #expect(frames.map(\.kind) == [.ping] && client.lastPong == nil)
    client.receive(Frame(kind: .ping, flags: Frame.ack, payload: frames[0].payload).bytes)
    #expect(client.lastPong == 0x0102_0304_0506_0708)
  }

  @Test func ownGoAwayWaitsForOpenRequests() {
    let client = ready()
    client.send(tag: 1)
    client.goAway()
    #expect(Frame.parse(client.drained()).map(\.kind).contains(.goAway))
    #expect(client.send() == nil && !client.isDone)
    client.receive(Frame(kind: .headers, flags: Frame.endHeaders | Frame.endStream, stream: 1, payload: [0x88]).bytes)
    #expect(client.answers().map(\.status) == [200] && client.isDone)
  }

  @Test func notHTTP2AtAll() throws {
    let client = TestClient()
    _ = client.drained()
    client.receive(Array("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n".utf8))
    _ = client.drained()
    #expect(client.failure != nil && client.isDone && client.availableStreams == 0)
  }

  /// A session of any past gives everything back when it goes.
  @Test func nothingIsLeftBehind() {
    let memory = SessionMemory(blockBytesMax: 1 << 20)
    do {
      let client = TestClient(memory: memory)
      client.receive(serverSettings)
      for tag in 0..<5 { client.send(tag: UInt64(tag)) }
      _ = client.drained()
      client.receive(Frame(kind: .headers, flags: Frame.endHeaders | Frame.endStream, stream: 1, payload: [0x88]).bytes)
      client.receive(Frame(kind: .headers, flags: Frame.endHeaders, stream: 3, payload: [0x88]).bytes)
      client.send(tag: 9)
    }
    #expect(memory.blocks.lentBytes == 0 && memory.liveAllocations == 0)
  }
}
