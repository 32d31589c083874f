import HTTP2
import Primitives
import Testing

@Suite("Server framing") struct ServerFramingTests {
  let server = TestServer()

  @Test func settingsAreAppleSByteForByteAndComeFirst() {
    let expected: [UInt8] = [
      0, 0, 0x18, 4, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0x10, 0, 0, 3, 0, 0, 3, 0xE8, 0, 5, 0, 0, 0x40, 0, 0, 6, 0, 0, 0x1F, 0x40,
    ]
    #expect(server.drained() == expected)
  }

  @Test func successIsOneHeadersFrameWithEndStream() throws {
    server.receive(preface + request(1))
    _ = server.frames()
    let exchange = try server.next()
    #expect(server.respond(exchange, 200, [(.apnsID, "8A2B36F1-5F0E-4C62-B8A6-3A4F3D1C2B10")]))
    let frames = server.frames()
    #expect(frames.map(\.kind) == [.headers])
    #expect(frames[0].flags == Frame.endStream | Frame.endHeaders && frames[0].stream == 1)
    // The dynamic table is given up; `:status: 200` is entry 8 of the static one; the next field is a never-indexed literal.
    #expect(frames[0].payload.prefix(3) == [0x20, 0x88, 0x10])
    #expect(server.ready() == nil && !server.hasOpenExchanges)
  }

  @Test func errorIsHeadersAndOneDataFrameWithEndStream() throws {
    server.receive(preface + request(1))
    _ = server.frames()
    let body = Array(#"{"reason":"BadDeviceToken"}"#.utf8)
    server.respond(try server.next(), 400, body: body)
    let frames = server.frames()
    #expect(frames.map(\.kind) == [.headers, .data])
    #expect(frames[0].flags == Frame.endHeaders)
    #expect(frames[1] == Frame(kind: .data, flags: Frame.endStream, stream: 1, payload: body))
  }

  @Test func requestIsTokenisedAndKept() throws {
    server.receive(preface + request(1), at: 9)
    let exchange = try server.next()
    #expect(exchange.list == pushFields().map { [$0, $1] })
    #expect(exchange.text(.apnsTopic) == "com.example.app.push-type.widgets")
    #expect(exchange.text(.apnsCollapseID) == nil)
    #expect(exchange.bodyBytes == payload && exchange.bodyBytesTotal == payload.count)
    #expect(exchange.received == Instant(unixSeconds: 9) && exchange.sessionTag == 7)
    #expect(exchange.duplicates.isEmpty && exchange.isComplete)
  }
}
