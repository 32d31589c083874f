import Primitives
import Testing

@testable import HTTP2

/// What a server session refuses, and what is left when a client goes away in the middle.
@Suite("Server limits") struct ServerLimitTests {
  @Test(arguments: [1, 3, 8]) func streamsOverCapacityAreRefused(capacity: Int) throws {
    let server = TestServer(pool: makePool(capacity))
    server.receive(preface)
    _ = server.drained()
    for number in 0..<capacity + 2 { server.receive(request(UInt32(2 * number + 1))) }
    let resets = server.frames().filter { $0.kind == .reset }
    #expect(resets.map(\.stream) == [UInt32(2 * capacity + 1), UInt32(2 * capacity + 3)])
    #expect(resets.allSatisfy { $0.errorCode == HTTP2ErrorCode.refusedStream })
    #expect(server.pool.refusedStreams == 2 && server.pool.openExchanges == capacity)
    // An answer frees a slot.
    server.respond(try server.next(), 200)
    _ = server.drained()
    server.receive(request(101))
    #expect(server.frames().isEmpty && server.pool.openExchanges == capacity)
  }

  @Test func slotsAreSharedByConnections() throws {
    let pool = makePool(2)
    let (a, b) = (TestServer(pool: pool), TestServer(pool: pool))
    a.receive(preface + request(1) + request(3))
    b.receive(preface + request(1))
    #expect(b.frames().contains { $0.kind == .reset && $0.errorCode == HTTP2ErrorCode.refusedStream })
    a.respond(try a.next(), 200)
    _ = a.drained()
    b.receive(request(3))
    #expect(b.ready() != nil)
  }

  /// Header lists around the announced bound, sized by RFC 9113 section 6.5.2.
  @Test(arguments: [-1, 0, 1, 5000]) func headerListBound(over: Int) throws {
    let server = TestServer()
    let fixed = pushFields().reduce(0) { $0 + $1.0.utf8.count + $1.1.utf8.count + 32 } + 32 + 1
    let filler = String(repeating: "v", count: 8000 - fixed + over)
    server.receive(preface + request(1, pushFields() + [("y", filler)]))
    let frames = server.frames().filter { $0.stream == 1 }
    if over <= 0 {
      #expect(try server.next().fieldCount == pushFields().count + 1 && frames.isEmpty)
    } else {
      #expect(server.ready() == nil)
      #expect(frames.map(\.kind) == [.headers] && frames[0].flags & Frame.endStream != 0)
      #expect(!server.hasOpenExchanges && server.pool.openExchanges == 0)
      // The header compression state is intact: the next request is understood.
      server.receive(request(3))
      #expect(try server.next().bodyBytes == payload)
    }
  }

  @Test(arguments: [64, 65]) func fieldCountBound(count: Int) throws {
    let server = TestServer()
    let fields = pushFields() + (pushFields().count..<count).map { ("x\($0)", "") }
    server.receive(preface + request(1, fields, body: []))
    if count == 64 { #expect(try server.next().list == fields.map { [$0, $1] }) } else { #expect(server.ready() == nil) }
  }

  /// Whatever has been received when the client resets the stream, its slot and memory come back.
  @Test func resetAtEveryPoint() {
    let pool = makePool()
    let bytes = request(1)
    for cut in stride(from: 0, through: bytes.count, by: 7) {
      let server = TestServer(pool: pool)
      server.receive(preface + bytes.prefix(cut))
      // A reset inside a frame is not possible: such a connection just ends.
      if cut == bytes.count { server.receive(Frame(kind: .reset, stream: 1, payload: big(8)).bytes) }
    }
    #expect(pool.openExchanges == 0 && pool.memory.blocks.lentBytes == 0 && pool.memory.liveAllocations == 0)
  }

  @Test func staleKeysFindNothing() throws {
    let server = TestServer(pool: makePool(1))
    server.receive(preface + request(1))
    let first = try server.next()
    let key = first.key
    #expect(server.pool.exchange(for: key)?.bodyBytes == payload)
    server.receive(Frame(kind: .reset, stream: 1, payload: big(8)).bytes)
    #expect(server.pool.exchange(for: key) == nil)
    #expect(!server.respond(first, 200), "the client has gone")
    // The slot is used again, under another key.
    server.receive(request(3))
    let second = try server.next()
    #expect(second.key != key && server.pool.exchange(for: key) == nil)
    #expect(!server.respond(first, 200) && !second.isAnswered)
    #expect(server.pool.exchange(for: ExchangeKey(packed: .max)) == nil)
    #expect(server.pool.exchange(for: ExchangeKey(packed: second.key.packed)) != nil)
  }

  /// Nothing of a request is left in the slot that the next one gets.
  @Test func usedSlotsAreClean() throws {
    let server = TestServer(pool: makePool(1))
    server.receive(preface + request(1, pushFields() + [("apns-topic", "again")]))
    server.respond(try server.next(), 400, body: payload)
    _ = server.drained()
    let few = [(":method", "GET"), (":scheme", "https"), (":path", "/"), (":authority", "a")]
    server.receive(request(3, few, body: []))
    let exchange = try server.next()
    #expect(exchange.names == HeaderNames([.method, .scheme, .path, .authority].map { HeaderNames($0) }))
    #expect(exchange.duplicates.isEmpty && exchange.list == few.map { [$0, $1] })
    #expect(exchange.bodyBytesTotal == 0 && exchange.bodyBytes.isEmpty && !exchange.isAnswered)
  }

  /// A slot goes to another connection; what the first one still sends does not reach it.
  @Test func usedSlotsAreOutOfReach() throws {
    let pool = makePool(1)
    let (a, b) = (TestServer(pool: pool), TestServer(pool: pool))
    let head = { (stream: UInt32, flags: UInt8) in
      Frame(kind: .headers, flags: flags, stream: stream, payload: headerBlock(pushFields())).bytes
    }
    a.serve(preface + request(1))
    b.receive(preface + head(3, Frame.endHeaders))
    // Refused, for the slot is taken, by a stream of the same number.
    a.receive(request(3, body: Array("stray".utf8)))
    #expect(b.ready() == nil && a.ready() == nil)
    b.receive(Frame(kind: .data, flags: Frame.endStream, stream: 3, payload: payload).bytes)
    let exchange = try b.next()
    #expect(exchange.bodyBytes == payload)
    b.respond(exchange, 200)
    _ = b.drained()
    // The same between the parts of one header list: it is too long, answered, reset, and then goes on.
    let long = headerBlock(pushFields() + [("x", String(repeating: "y", count: 8000))])
    a.receive(Frame(kind: .headers, stream: 5, payload: long).bytes)
    _ = a.drained()
    b.receive(head(5, 0))
    a.receive(Frame(kind: .continuation, flags: Frame.endHeaders, stream: 5, payload: headerBlock([("stray", "1")])).bytes)
    b.receive(Frame(kind: .continuation, flags: Frame.endHeaders, stream: 5).bytes)
    b.receive(Frame(kind: .data, flags: Frame.endStream, stream: 5).bytes)
    #expect(try b.next().list == pushFields().map { [$0, $1] })
  }

  @Test func resetOfAReadyRequestTakesItBack() {
    let server = TestServer()
    server.receive(preface + request(1) + request(3) + Frame(kind: .reset, stream: 1, payload: big(8)).bytes)
    #expect(server.ready()?.text(.apnsPriority) == "5")
    #expect(server.ready() == nil)
  }

  @Test func rapidResetEndsTheConnection() {
    let server = TestServer {
      $0.streamResetBurst = 10; $0.streamResetsPerSecond = 1
    }
    server.receive(preface)
    for number in 0..<40 {
      let stream = UInt32(2 * number + 1)
      server.receive(request(stream) + Frame(kind: .reset, stream: stream, payload: big(8)).bytes)
    }
    #expect(server.frames().contains { $0.kind == .goAway && $0.errorCode == HTTP2ErrorCode.enhanceYourCalm })
    #expect(server.failure != nil && server.isDone)
  }

  /// As by a client's own resets, streams are ended before their time by requests that break the rules.
  @Test func malformedRequestsCountAsResets() {
    let server = TestServer {
      $0.streamResetBurst = 10; $0.streamResetsPerSecond = 1
    }
    server.receive(preface)
    for number in 0..<40 {
      let block = headerBlock(pushFields() + [("connection", "close")])
      server.receive(
        Frame(kind: .headers, flags: Frame.endHeaders | Frame.endStream, stream: UInt32(2 * number + 1), payload: block).bytes)
    }
    #expect(server.frames().contains { $0.kind == .goAway && $0.errorCode == HTTP2ErrorCode.enhanceYourCalm })
    #expect(server.isDone)
  }

  /// curl 7.88 resets each stream whose answer has no body, after it has ended.
  @Test func resetsOfEndedStreamsAreNotCounted() throws {
    let server = TestServer {
      $0.streamResetBurst = 10; $0.streamResetsPerSecond = 1
    }
    server.receive(preface)
    for number in 0..<40 {
      let stream = UInt32(2 * number + 1)
      server.receive(request(stream))
      server.respond(try server.next(), 200)
      _ = server.drained()
      server.receive(Frame(kind: .reset, stream: stream, payload: big(5)).bytes)
    }
    #expect(server.failure == nil && server.frames().isEmpty)
  }

  @Test func resetsAreAllowedInABurstAndThenAtARate() {
    var rate = EventRate(burst: 3, perSecond: 2)
    let allowed = [10.0, 10, 10, 10, 10.4, 10.6, 10.6, 9, 11.1, 20, 20, 20, 20].map {
      rate.allows(at: Instant(nanoseconds: Int64($0 * 1e9)))
    }
    #expect(allowed == [true, true, true, false, false, true, false, false, true, true, true, true, false])
  }

  @Test func wantOfMemoryRefusesTheStream() throws {
    let pool = makePool(8, blockBytes: 1536)
    let server = TestServer(pool: pool)
    server.receive(preface + request(1) + request(3))
    #expect(try server.next().bodyBytes == payload)
    #expect(server.ready() == nil)
    #expect(server.frames().contains { $0.kind == .reset && $0.stream == 3 && $0.errorCode == HTTP2ErrorCode.refusedStream })
    #expect(pool.refusedStreams == 1 && pool.openExchanges == 1)
  }

  @Test func stalledRequestsAreFoundOldestFirst() throws {
    let server = TestServer()
    let open = { (stream: UInt32) in
      Frame(kind: .headers, flags: Frame.endHeaders, stream: stream, payload: headerBlock(pushFields())).bytes
    }
    server.receive(preface + open(1), at: 10)
    server.receive(open(3) + request(5), at: 20)
    #expect(server.oldestIncomplete == Instant(unixSeconds: 10))
    #expect(server.stalled(before: 10) == nil)
    let stalled = try #require(server.stalled(before: 11))
    #expect(!stalled.isComplete && stalled.received == Instant(unixSeconds: 10))
    #expect(server.oldestIncomplete == Instant(unixSeconds: 20))
    #expect(server.stalled(before: 11) == nil)
    _ = server.drained()
    server.respond(stalled, 400, body: Array(#"{"reason":"IdleTimeout"}"#.utf8))
    // The answer, and then the request to stop sending (RFC 9113 section 8.1).
    let frames = server.frames()
    #expect(frames.map(\.kind) == [.headers, .data, .reset] && frames[2].errorCode == HTTP2ErrorCode.noError)
    #expect(server.pool.exchange(for: stalled.key) == nil)
    // What the client still had on the way is dropped without harm.
    server.receive(Frame(kind: .data, flags: Frame.endStream, stream: 1, payload: payload).bytes)
    #expect(server.failure == nil && server.frames().isEmpty)
    #expect(try server.next().isComplete)
  }
}
