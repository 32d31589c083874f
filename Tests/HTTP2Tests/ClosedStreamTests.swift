import Primitives
import Testing

@testable import HTTP2

/// Frames on streams that the client has ended (RFC 9113 section 5.1).
@Suite("Closed streams") struct ClosedStreamTests {
  private static let data = Frame(kind: .data, flags: Frame.endStream, stream: 1, payload: payload)
  private static let headers = Frame(
    kind: .headers, flags: Frame.endHeaders | Frame.endStream, stream: 1, payload: headerBlock(pushFields()))
  private static let reset = Frame(kind: .reset, stream: 1, payload: big(8))
  private static let open = Frame(kind: .headers, flags: Frame.endHeaders, stream: 1, payload: headerBlock(pushFields()))
  private static let closed = Frame(kind: .reset, stream: 1, payload: big(HTTP2ErrorCode.streamClosed))

  /// After its END_STREAM and the answer, and after its RST_STREAM: a stream error STREAM_CLOSED, and the connection serves.
  @Test(arguments: [data, headers], [false, true]) func whatFollowsTheClientsEndIsAnswered(frame: Frame, isReset: Bool) {
    let server = TestServer()
    server.serve(preface + (isReset ? Self.open.bytes + Self.reset.bytes : request(1)))
    server.receive(frame.bytes)
    #expect(server.frames() == [Self.closed] && server.ready() == nil && server.failure == nil)
    server.serve(request(3))
    #expect(server.failure == nil)
  }

  /// In one piece with what ended the stream, and however it is cut.
  @Test func cutsChangeNothing() {
    for bytes in [
      [Self.open.bytes + Self.reset.bytes + Self.data.bytes], (Self.open.bytes + Self.reset.bytes + Self.data.bytes).map { [$0] },
    ] {
      let server = TestServer()
      server.serve(preface)
      for part in bytes { server.receive(part) }
      #expect(server.frames() == [Self.closed])
    }
  }

  /// What may be late, and what is never wrong.
  @Test(arguments: [
    Frame(kind: .windowUpdate, stream: 1, payload: big(1)), reset, Frame(kind: .priority, stream: 1, payload: [0, 0, 0, 0, 1]),
  ]) func whatMayBeLateIsPassedOver(frame: Frame) {
    let server = TestServer()
    server.serve(preface + request(1))
    server.receive(frame.bytes)
    #expect(server.frames().isEmpty && server.failure == nil)
  }

  /// What was on its way when this side reset the stream is no fault of the client.
  @Test func whatFollowsOurResetIsPassedOver() {
    let server = TestServer()
    server.receive(
      preface + Frame(kind: .headers, flags: Frame.endHeaders, stream: 1, payload: headerBlock([("connection", "close")])).bytes)
    #expect(server.frames().contains { $0.kind == .reset && $0.errorCode == HTTP2ErrorCode.protocolError })
    server.receive(Self.data.bytes)
    #expect(server.frames().isEmpty && server.failure == nil)
  }

  /// A stream that is half-closed is nghttp2's to judge, which ends the connection with the same code.
  @Test func aHalfClosedStreamEndsTheConnection() {
    let server = TestServer()
    server.receive(preface + request(1))
    _ = server.drained()
    server.receive(Self.data.bytes)
    #expect(server.frames().last?.kind == .goAway && server.failure?.code == HTTP2ErrorCode.streamClosed)
  }

  /// The memory is bounded: the latest 64 streams are known, older ones are passed over.
  @Test(arguments: [63, 64]) func theMemoryIsBounded(others: Int) {
    let server = TestServer()
    server.serve(preface + request(1))
    for number in 1...others { server.serve(request(UInt32(2 * number + 1))) }
    server.receive(Self.data.bytes)
    #expect(server.frames() == (others < 64 ? [Self.closed] : []))
  }

  /// Each such frame has at most one answer, of what comes at once no more than 16 have one, and a flood ends the connection.
  @Test func answersAreBounded() {
    let server = TestServer { $0.idleFrameBurst = 200 }
    server.serve(preface)
    for number in 0..<40 { server.serve(request(UInt32(2 * number + 1))) }
    let late = (0..<40).flatMap { Frame(kind: .data, stream: UInt32(2 * $0 + 1), payload: [UInt8](repeating: 0, count: 64)).bytes }
    server.receive(late + late)
    #expect(server.frames().count == 16 && server.failure == nil)
    for _ in 0..<2 { server.receive(late) }
    #expect(server.failure?.code == HTTP2ErrorCode.enhanceYourCalm)
  }
}

/// Spaces around the values of fields (RFC 9113 section 8.2.1).
@Suite("Spaces around values") struct SpacedFieldTests {
  private func server(_ fields: [(String, String)], trims: Bool = true) -> TestServer {
    let server = TestServer { $0.trimsFields = trims }
    let good = [(":method", "POST"), (":scheme", "https"), (":path", "/")]
    server.receive(preface + request(1, good + fields, body: []))
    return server
  }

  /// The fields that a provider's request is made of are taken without them.
  @Test(arguments: [
    ("authorization", "bearer ", "bearer"), ("authorization", " \tbearer x", "bearer x"), ("apns-topic", "a b ", "a b"),
    ("apns-id", "\tx\t", "x"), ("apns-push-type", " ", ""), ("apns-unique-id", "x ", "x"),
  ]) func applesFieldsAreTrimmed(name: String, value: String, taken: String) throws {
    let server = server([(name, value)])
    #expect(try server.next().list.last == [name, taken])
    // Where that is switched off, as any other field.
    let faults = self.server([(name, value)], trims: false).malformed()
    #expect(faults.map(\.field) == [name] && faults.allSatisfy { [.leadingSpace, .trailingSpace].contains($0.fault) })
  }

  /// Every other field's spaces make the request malformed, and so do control characters within the trimmed ones.
  @Test(arguments: [
    ("content-type", "x "), ("user-agent", " x"), ("x-own", "x\t"), ("host", "a "), ("widgetpush-explain", "1 "), ("apns-topic", "a\u{1} "),
  ]) func othersAreNot(name: String, value: String) {
    let fault = server([(name, value)]).malformed().first?.fault
    #expect([.leadingSpace, .trailingSpace, .controlCharacter].contains(fault))
  }
}
