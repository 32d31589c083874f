import HTTP2
import Primitives
import Testing

/// Every form in which a request may arrive.
@Suite("Server requests") struct ServerRequestTests {
  private func expectPush(_ exchange: Exchange, body: [UInt8] = payload, _ location: SourceLocation = #_sourceLocation) {
    #expect(exchange.list == pushFields().map { [$0, $1] }, sourceLocation: location)
    #expect(exchange.bodyBytes == body, sourceLocation: location)
  }

  /// A recorded connection, cut in two at every byte, gives the same requests.
  @Test func splitAtEveryByte() throws {
    let bytes = preface + request(1) + request(3, body: [])
    for cut in 0...bytes.count {
      let server = TestServer()
      server.receive(Array(bytes.prefix(cut)))
      server.receive(Array(bytes.dropFirst(cut)))
      expectPush(try server.next())
      expectPush(try server.next(), body: [])
      #expect(server.ready() == nil && server.failure == nil, "cut at \(cut)")
    }
  }

  @Test func byteByByte() throws {
    let server = TestServer()
    for byte in preface + request(1) {
      #expect(server.ready() == nil)
      server.receive([byte])
    }
    expectPush(try server.next())
  }

  /// The body in every split over two DATA frames, padded or not.
  @Test(arguments: [0, 1, 7, 255]) func bodyInTwoFrames(padding: Int) throws {
    for cut in 0...payload.count {
      let server = TestServer()
      var bytes = preface + Frame(kind: .headers, flags: Frame.endHeaders, stream: 1, payload: headerBlock(pushFields())).bytes
      for (part, flags) in [(payload.prefix(cut), 0), (payload.dropFirst(cut), Frame.endStream)] {
        let content = padding == 0 ? Array(part) : [UInt8(padding)] + part + [UInt8](repeating: 0, count: padding)
        let flags = padding == 0 ? flags : flags | Frame.padded
        bytes += Frame(kind: .data, flags: flags, stream: 1, payload: content).bytes
      }
      server.receive(bytes)
      let exchange = try server.next()
      expectPush(exchange)
      #expect(exchange.bodyBytesTotal == payload.count)
    }
  }

  @Test func paddedHeaders() throws {
    let server = TestServer()
    let block = [3] + headerBlock(pushFields()) + [0, 0, 0]
    let flags = Frame.endHeaders | Frame.endStream | Frame.padded
    server.receive(preface + Frame(kind: .headers, flags: flags, stream: 1, payload: block).bytes)
    expectPush(try server.next(), body: [])
  }

  /// The header list split over HEADERS and CONTINUATION at every byte.
  @Test func continuationAtEveryByte() throws {
    let block = headerBlock(pushFields())
    for cut in 0...block.count {
      let server = TestServer()
      let first = Frame(kind: .headers, flags: Frame.endStream, stream: 1, payload: Array(block.prefix(cut)))
      let second = Frame(kind: .continuation, flags: Frame.endHeaders, stream: 1, payload: Array(block.dropFirst(cut)))
      server.receive(preface + first.bytes + second.bytes)
      expectPush(try server.next(), body: [])
    }
  }

  @Test(arguments: [(2, 2), (2, 3), (30, 30), (30, 31)]) func continuationsAreBounded(max: Int, count: Int) {
    let server = TestServer { $0.continuationsMax = max }
    let block = headerBlock(pushFields())
    var bytes = preface + Frame(kind: .headers, flags: Frame.endStream, stream: 1, payload: Array(block.prefix(10))).bytes
    for _ in 1..<count { bytes += Frame(kind: .continuation, stream: 1).bytes }
    bytes += Frame(kind: .continuation, flags: Frame.endHeaders, stream: 1, payload: Array(block.dropFirst(10))).bytes
    server.receive(bytes)
    _ = server.drained()
    #expect((server.ready() != nil) == (count <= max))
    #expect((server.failure != nil) == (count > max) && server.isDone == (count > max))
  }

  @Test func trailersAreIgnored() throws {
    let server = TestServer()
    let open = Frame(kind: .headers, flags: Frame.endHeaders, stream: 1, payload: headerBlock(pushFields()))
    let data = Frame(kind: .data, stream: 1, payload: payload)
    let trailers = Frame(
      kind: .headers, flags: Frame.endHeaders | Frame.endStream, stream: 1, payload: headerBlock([("apns-id", "late"), ("x-late", "y")]))
    server.receive(preface + open.bytes + data.bytes)
    #expect(server.ready() == nil)
    server.receive(trailers.bytes)
    let exchange = try server.next()
    expectPush(exchange)
    #expect(exchange.duplicates.isEmpty)
  }

  /// Requests come out in the order in which they were completed, which need not be that of their streams.
  @Test func orderOfCompletion() throws {
    let server = TestServer()
    let first = Frame(kind: .headers, flags: Frame.endHeaders, stream: 1, payload: headerBlock(pushFields()))
    server.receive(preface + first.bytes + request(3, body: Array("three".utf8)) + request(5, body: Array("five".utf8)))
    server.receive(Frame(kind: .data, flags: Frame.endStream, stream: 1, payload: Array("one".utf8)).bytes)
    var bodies: [String] = []
    while let exchange = server.ready() { bodies.append(String(decoding: exchange.bodyBytes, as: UTF8.self)) }
    #expect(bodies == ["three", "five", "one"])
  }

  /// A body around the kept maximum is kept up to it and counted in full, and its window is returned.
  @Test(arguments: [99, 100, 101, 300, 60_000, 200_000]) func bodyLimit(length: Int) throws {
    let server = TestServer(bodyBytesMax: 100)
    let body = (0..<length).map { UInt8($0 % 251) }
    server.receive(preface + Frame(kind: .headers, flags: Frame.endHeaders, stream: 1, payload: headerBlock(pushFields())).bytes)
    var rest = body[...]
    var windowReturned = 0
    while !rest.isEmpty {
      let part = Array(rest.prefix(16_384))
      rest = rest.dropFirst(part.count)
      server.receive(Frame(kind: .data, flags: rest.isEmpty ? Frame.endStream : 0, stream: 1, payload: part).bytes)
      for frame in server.frames() where frame.kind == .windowUpdate && frame.stream == 1 {
        windowReturned += Int(frame.payload.reduce(0) { $0 << 8 | UInt32($1) })
      }
    }
    let exchange = try server.next()
    #expect(exchange.bodyBytes == Array(body.prefix(100)) && exchange.bodyBytesTotal == length)
    #expect(length - windowReturned < 65_535, "a client that keeps to its window is never stuck")
  }

  /// `content-length` that contradicts the body is the client's fault; the stream alone dies.
  @Test func wrongContentLengthResetsTheStream() throws {
    let server = TestServer()
    server.receive(preface + request(1, pushFields() + [("content-length", "3")]) + request(3))
    #expect(server.frames().contains { $0.kind == .reset && $0.stream == 1 })
    #expect(try server.next().bodyBytes == payload)
    #expect(server.ready() == nil && server.failure == nil)
  }

  @Test func headAndConnectPassThrough() throws {
    let server = TestServer()
    let head = [(":method", "HEAD"), (":scheme", "https"), (":path", "/livez"), (":authority", "a")]
    server.receive(preface + request(1, head, body: []))
    server.receive(request(3, [(":method", "CONNECT"), (":authority", "a:1")], body: []))
    #expect(try server.next().text(.method) == "HEAD")
    #expect(server.ready()?.text(.method) == "CONNECT" || server.frames().contains { $0.kind == .reset })
  }

  @Test func hostServesWhereAuthorityIsMissing() throws {
    let server = TestServer()
    let fields = pushFields().map { $0.0 == ":authority" ? ("host", $0.1) : $0 }
    let ordered = fields.filter { $0.0.hasPrefix(":") } + fields.filter { !$0.0.hasPrefix(":") }
    server.receive(preface + request(1, ordered))
    let exchange = try server.next()
    #expect(exchange.text(.host) == "api.push.apple.com" && exchange.text(.authority) == nil)
  }
}
