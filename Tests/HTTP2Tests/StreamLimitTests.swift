import Primitives
import Testing

@testable import HTTP2

/// How many streams a client may have open, and how it is told (apns.md section 1.3).
@Suite("Stream limit") struct StreamLimitTests {
  /// A server that trusts the requests whose `apns-id` is the one of `pushFields`, and starts with one stream.
  private let server = TestServer(pool: makePool(4096), { $0.concurrentStreams = 1 }, trusts: { $0.text(.apnsID) != nil })

  private let acknowledgement = Frame(kind: .settings, flags: Frame.ack).bytes
  private let untrusted = pushFields().filter { $0.0 != "apns-id" }

  private func refusals(_ frames: [Frame]) -> [UInt32] {
    #expect(!frames.contains { $0.kind == .goAway })
    let resets = frames.filter { $0.kind == .reset }
    #expect(resets.allSatisfy { $0.errorCode == HTTP2ErrorCode.refusedStream })
    return resets.map(\.stream)
  }

  /// SETTINGS of four parameters at first, and of five later, byte for byte.
  private func settings(_ streams: [UInt8], isFirst: Bool = false) -> [UInt8] {
    let window: [UInt8] = isFirst ? [] : [0, 4, 0, 0, 0xFF, 0xFF]
    return [0, 0, isFirst ? 0x18 : 0x1E, 4, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0x10, 0, 0, 3, 0, 0] + streams + window
      + [0, 5, 0, 0, 0x40, 0, 0, 6, 0, 0, 0x1F, 0x40]
  }

  @Test func oneStreamIsAnnouncedFirst() { #expect(server.drained() == settings([0, 1], isFirst: true)) }

  @Test func settingsRiseAheadOfTheAnswer() throws {
    #expect(server.drained() == settings([0, 1], isFirst: true))
    server.receive(preface + acknowledgement)
    _ = server.drained()
    server.receive(request(1))
    server.respond(try server.next(), 400, body: payload)
    let bytes = server.drained()
    #expect(Array(bytes.prefix(39)) == settings([3, 0xE8]))
    #expect(Frame.parse(bytes).map(\.kind) == [.settings, .headers, .data])
    // Once is enough.
    server.receive(acknowledgement + request(3))
    server.respond(try server.next(), 200)
    #expect(server.frames().map(\.kind) == [.headers])
  }

  @Test func untrustedRequestsRaiseNothing() throws {
    server.receive(preface + acknowledgement)
    _ = server.drained()
    for stream in [1, 3] as [UInt32] {
      server.receive(request(stream, untrusted))
      server.respond(try server.next(), 403, body: payload)
      #expect(server.frames().map(\.kind) == [.headers, .data])
    }
  }

  /// A client's first flight, in one piece, before it has read anything.
  @Test(arguments: [false, true]) func firstFlight(isTrusted: Bool) throws {
    let fields = isTrusted ? pushFields() : untrusted
    let streams = (0..<50).map { UInt32(2 * $0 + 1) }
    server.receive(preface + streams.flatMap { request($0, fields) })
    #expect(refusals(server.frames()) == (isTrusted ? [] : Array(streams.dropFirst())))
    server.respond(try server.next(), 200)
    #expect(server.frames().map(\.kind) == [.headers])
  }

  /// What of a refused stream is still on its way is passed over.
  @Test func lateDataOfARefusedStream() throws {
    server.receive(
      preface + request(1, untrusted) + Frame(kind: .headers, flags: Frame.endHeaders, stream: 3, payload: headerBlock(untrusted)).bytes)
    #expect(refusals(server.frames()) == [3])
    server.receive(Frame(kind: .data, flags: Frame.endStream, stream: 3, payload: payload).bytes)
    server.respond(try server.next(), 200)
    #expect(server.frames().map(\.kind) == [.headers])
  }

  /// The list raises the limit when it is whole, although the body is not there.
  @Test func bodiesAreNotWaitedFor() {
    server.receive(preface + Frame(kind: .headers, flags: Frame.endHeaders, stream: 1, payload: headerBlock(pushFields())).bytes)
    server.receive(request(3, untrusted))
    #expect(refusals(server.frames()) == [] && server.ready() != nil)
  }

  @Test(arguments: [1, 7, 1000]) func oneStreamTooMany(limit: Int) throws {
    let server = TestServer(pool: makePool(4096)) { $0.concurrentStreams = limit }
    server.receive(preface + acknowledgement)
    _ = server.drained()
    let streams = (0..<limit + 2).map { UInt32(2 * $0 + 1) }
    for stream in streams { server.receive(request(stream)) }
    #expect(refusals(server.frames()) == Array(streams.suffix(2)))
    #expect(server.pool.openExchanges == limit)
    // An answer makes room for one more, once it is out.
    server.respond(try server.next(), 200)
    _ = server.drained()
    server.receive(request(streams.last! + 2) + request(streams.last! + 4))
    #expect(refusals(server.frames()) == [streams.last! + 4])
  }

  /// After a lowering, open streams are served; what is more is refused once the client knows.
  @Test func lowering() throws {
    server.receive(preface + acknowledgement + request(1) + request(3) + request(5))
    _ = server.drained()
    server.receive(acknowledgement)
    server.announce(1)
    #expect(server.drained() == settings([0, 1]))
    // Not acknowledged yet: it was on its way.
    server.receive(request(7, untrusted))
    #expect(refusals(server.frames()) == [])
    server.receive(acknowledgement + request(9, untrusted))
    #expect(refusals(server.frames()) == [9])
    for _ in 0..<4 { server.respond(try server.next(), 200) }
    #expect(server.frames().map(\.kind) == [.headers, .headers, .headers, .headers])
    server.receive(request(11, untrusted) + request(13, untrusted))
    #expect(refusals(server.frames()) == [13])
    // And up again.
    server.respond(try server.next(), 200)
    _ = server.drained()
    server.receive(request(15))
    #expect(server.drained() == settings([3, 0xE8]))
  }

  @Test func theNumberThatHoldsIsNotToldAgain() {
    server.receive(preface)
    _ = server.drained()
    server.announce(1)
    #expect(!server.wantsWrite)
  }

  @Test func limitsHoldFromTheAcknowledgementOfAllSettings() {
    var limit = StreamLimit(announced: 5)
    limit.acknowledge()
    limit.announce(9)
    limit.announce(2)
    #expect(limit.allowed == 9 && limit.announced == 2)
    limit.acknowledge()
    #expect(limit.allowed == 9)
    limit.acknowledge()
    #expect(limit.allowed == 2)
  }
}

/// Faults of a connection that nghttp2 does not see.
@Suite("Connection faults") struct ConnectionFaultTests {
  private func errorCode(_ bytes: [UInt8]) -> UInt32? {
    let server = TestServer()
    server.receive(preface + bytes)
    return server.frames().first { $0.kind == .goAway }?.errorCode
  }

  @Test(arguments: [16_384, 16_385]) func continuationsAreBounded(count: Int) {
    let head = Frame(kind: .headers, flags: Frame.endStream, stream: 1, payload: headerBlock(pushFields())).bytes
    let rest = Frame(kind: .continuation, flags: Frame.endHeaders, stream: 1, payload: Array(repeating: 0x20, count: count)).bytes
    #expect(errorCode(head + rest) == (count > 16_384 ? HTTP2ErrorCode.frameSizeError : 9))
  }

  @Test func streamsThatWereLeftOutCannotBeOpened() {
    for stream in [3, 5, 9] as [UInt32] {
      #expect(errorCode(request(1) + request(7) + request(11) + request(stream)) == HTTP2ErrorCode.protocolError)
    }
    #expect(errorCode(request(1) + request(7) + request(9)) == nil)
  }

  /// HEADERS that were on their way when their stream was reset do no harm.
  @Test func streamsThatWereOpenAreForgiven() {
    let trailers = Frame(kind: .headers, flags: Frame.endHeaders | Frame.endStream, stream: 1, payload: headerBlock([("a", "b")]))
    let reset = Frame(kind: .reset, stream: 1, payload: big(8))
    #expect(errorCode(request(1) + request(3) + reset.bytes + trailers.bytes) == nil)
  }

  @Test func gaps() {
    var streams = SkippedStreams()
    let numbers: [Int32] = [1, 3, 9, 5, 9, 3, 11, 21, 13, 15, 19, 7, 23]
    var refused: [Int32] = []
    for number in numbers where !streams.allows(number) { refused.append(number) }
    #expect(refused == [5, 13, 15, 19, 7])
  }
}
