import HTTP2
import Primitives
import Seeds
import Testing

/// The header blocks that we send, read by nghttp2's decoder.
@Suite("Header blocks") struct HeaderBlockTests {
  /// Names whose values nobody on the way is to remember.
  private static let neverIndexed: Set<HeaderName> = [
    .authorization, .path, .contentLength, .location, .idempotencyKey, .apnsID, .apnsExpiration, .apnsCollapseID, .apnsRequestID,
    .apnsUniqueID, .widgetpushDetail,
  ]

  /// Around the ends of one, two and three bytes of length (RFC 7541 section 5.1).
  private static let lengths = [0, 1, 4, 125, 126, 127, 128, 254, 255, 256, 16_383, 16_384, 16_510, 16_511, 16_512, 17_000]

  /// A session that has sent one request, so that what follows does not begin with the update of the table's size.
  private func started() -> TestClient {
    let client = TestClient()
    client.receive(Frame(kind: .settings).bytes)
    client.send(body: [])
    _ = client.drained()
    return client
  }

  private func text(_ length: Int) -> String { String((0..<length).map { Character(UnicodeScalar(UInt8(33 + $0 % 90))) }) }

  @Test(arguments: HeaderName.allCases) func everyNameWithEveryLength(name: HeaderName) throws {
    let client = started()
    for length in Self.lengths {
      let value = text(length)
      let expected = Inflater.Field(name: "\(name.wireName)", value: value, isNeverIndexed: Self.neverIndexed.contains(name))
      // A copied value, one that is written in place, and a name that is given as text.
      client.send([(name, value)], body: [])
      let copied = block(of: Frame.parse(client.drained()))
      #expect(Inflater().fields(copied) == [expected], "\(length)")
      client.send(body: []) { $0.append(name, bytesMax: length + length % 3) { for byte in value.utf8 { $0.append(byte) } } }
      #expect(block(of: Frame.parse(client.drained())) == copied, "\(length)")
      client.send(body: []) { $0.append(name: Array("\(name.wireName)".utf8).span.bytes, Array(value.utf8).span.bytes) }
      let named = try #require(Inflater().fields(block(of: Frame.parse(client.drained()))))
      #expect(named == [Inflater.Field(name: expected.name, value: value)], "\(length)")
    }
  }

  @Test(
    arguments: [
      (.method, "GET", 0x82), (.method, "POST", 0x83), (.scheme, "http", 0x86), (.scheme, "https", 0x87),
    ] as [(HeaderName, StaticString, UInt8)])
  func whatIsInTheStaticTableIsOneByte(name: HeaderName, value: StaticString, index: UInt8) {
    let client = started()
    client.send(body: []) { $0.append(name, value) }
    #expect(block(of: Frame.parse(client.drained())) == [index])
    for neighbour in ["PUT", "GEN", "POSE", "https:", "httpx", "h"] {
      client.send([(name, neighbour)], body: [])
      #expect(Inflater().fields(block(of: Frame.parse(client.drained()))) == [.init(name: "\(name.wireName)", value: neighbour)])
    }
  }

  @Test func everyStatus() throws {
    let server = TestServer(pool: makePool(1000))
    server.receive(preface)
    _ = server.drained()
    let inflater = Inflater()
    for status in 200...599 {
      server.receive(request(UInt32(2 * status + 1)))
      server.respond(try server.next(), status)
      let block = block(of: server.frames())
      #expect(inflater.fields(block) == [.init(name: ":status", value: "\(status)")])
      if [200, 204, 206, 304, 400, 404, 500].contains(status) { #expect(block.count == (status == 200 ? 2 : 1)) }
    }
    #expect(inflater.dynamicEntries == 0)
  }

  /// The same list is the same block, whatever went before: there is no state that a lost stream could spoil.
  @Test func blocksHaveNoState() {
    let client = started()
    let blocks = (0..<5).map { number -> [UInt8] in
      client.send(clientPush(number % 2), body: [])
      return block(of: Frame.parse(client.drained()))
    }
    #expect(blocks[0] == blocks[2] && blocks[1] == blocks[3] && blocks[0] != blocks[1])
  }

  // MARK: The dynamic table's size

  /// RFC 7541 section 4.2: a table that was made smaller has to be answered for at the start of the next block. We say once
  /// that we use none, which is right for every later size.
  @Test(arguments: [[], [0], [4096, 0], [100, 4096], [0, 4096, 50, 0], [65_536, 1]]) func tableSizes(sizes: [Int]) throws {
    let server = TestServer()
    server.receive(preface)
    _ = server.drained()
    let inflater = Inflater()
    var stream: UInt32 = 1
    func answer() throws {
      server.receive(request(stream))
      stream += 2
      server.respond(try server.next(), 200, [(.apnsID, "A")])
      let block = block(of: server.frames())
      #expect(block.first == (stream == 3 ? 0x20 : 0x88))
      #expect(inflater.fields(block) == [.init(name: ":status", value: "200"), .init(name: "apns-id", value: "A", isNeverIndexed: true)])
    }
    for size in sizes {
      server.receive(Frame(kind: .settings, payload: [0, 1] + big(UInt32(size))).bytes)
      inflater.setTableSize(size)
      try answer()
    }
    // Two changes between two blocks.
    for size in [30, 4096] {
      server.receive(Frame(kind: .settings, payload: [0, 1] + big(UInt32(size))).bytes)
      inflater.setTableSize(size)
    }
    try answer()
    #expect(inflater.dynamicEntries == 0)
  }

  /// The update belongs to the first block that goes out, not to the first that was made.
  @Test func updateOfTheTableSizeIsNotLost() throws {
    let client = TestClient()
    client.receive(Frame(kind: .settings).bytes)
    _ = client.drained()
    let first = try #require(client.send(tag: 1))
    client.cancel(first)
    client.send(tag: 2)
    client.send(tag: 3)
    let headers = Frame.parse(client.drained()).filter { $0.kind == .headers }
    #expect(headers.map(\.stream) == [3, 5] && headers.map { $0.payload[0] } == [0x20, 0x83])
  }

  // MARK: Frames

  /// A block over a frame's size goes on in CONTINUATION frames (RFC 9113 section 6.10), in queues of any size.
  @Test(arguments: [16_381, 16_382, 16_383, 16_384, 16_385, 17_300]) func continuation(length: Int) throws {
    // The update of the table's size, the status, and four bytes before the value.
    let value = text(length - 6)
    let answer = { (capacity: Int, body: [UInt8]) -> [UInt8] in
      let server = TestServer()
      server.receive(preface + request(1))
      _ = server.drained()
      server.respond(try server.next(), 200, [(.contentType, value)], body: body)
      return server.drained(capacity: capacity)
    }
    for body in [[], payload] {
      let bytes = try answer(1 << 16, body)
      let frames = Frame.parse(bytes)
      let headers = body.isEmpty ? frames : Array(frames.dropLast())
      let whole = block(of: frames)
      #expect(Inflater().fields(whole) == [.init(name: ":status", value: "200"), .init(name: "content-type", value: value)])
      #expect(headers.map(\.kind) == (whole.count > 16_384 ? [.headers, .continuation] : [.headers]))
      #expect(headers[0].flags == (body.isEmpty ? Frame.endStream : 0) | (headers.count == 1 ? Frame.endHeaders : 0))
      if headers.count > 1 { #expect(headers[1].flags == Frame.endHeaders && headers[0].payload.count == 16_384) }
      #expect(headers.allSatisfy { $0.stream == 1 })
      if !body.isEmpty { #expect(frames.last == Frame(kind: .data, flags: Frame.endStream, stream: 1, payload: body)) }
      for capacity in [1, 10, 16_392, 16_393] { #expect(try answer(capacity, body) == bytes) }
    }
  }

  /// What is left of a block when the queue is full does not mind the other sessions of the thread.
  @Test func fullQueuesOfTwoSessions() throws {
    let pool = makePool()
    let servers = [TestServer(pool: pool), TestServer(pool: pool)]
    var expected: [[UInt8]] = []
    var bytes: [[UInt8]] = [[], []]
    for (index, server) in servers.enumerated() {
      server.receive(preface + request(1) + request(3))
      _ = server.drained()
      for number in 0..<2 { server.respond(try server.next(), 429, [(.apnsID, "\(index)\(number)" + text(200))], body: payload) }
      let alone = TestServer()
      alone.receive(preface + request(1) + request(3))
      _ = alone.drained()
      for number in 0..<2 { alone.respond(try alone.next(), 429, [(.apnsID, "\(index)\(number)" + text(200))], body: payload) }
      expected.append(alone.drained())
    }
    while bytes[0].count < expected[0].count || bytes[1].count < expected[1].count {
      for (index, server) in servers.enumerated() { bytes[index] += server.drainedOnce(capacity: 17 + index) }
    }
    #expect(bytes == expected)
    #expect(!servers[0].wantsWrite && pool.memory.blocks.lentBytes == 0)
  }

  /// A session may go while a part of a block waits for room.
  @Test func sessionGoesWithAFullQueue() throws {
    let pool = makePool()
    do {
      let server = TestServer(pool: pool)
      server.receive(preface + request(1))
      _ = server.drained()
      server.respond(try server.next(), 200, [(.apnsID, text(300))])
      #expect(server.drainedOnce(capacity: 100).count == 100)
    }
    #expect(pool.memory.blocks.lentBytes == 0 && pool.memory.liveAllocations == 0)
  }

  /// An answer whose stream is reset before it goes out is gone, and the next one has its own fields.
  @Test func resetBeforeTheAnswerWentOut() throws {
    let server = TestServer()
    server.receive(preface + request(1) + request(3))
    _ = server.drained()
    for id in ["first", "second"] { server.respond(try server.next(), 200, [(.apnsID, id)]) }
    server.receive(Frame(kind: .reset, stream: 1, payload: big(8)).bytes)
    let frames = server.frames()
    #expect(frames.map(\.stream) == [3])
    #expect(Inflater().fields(block(of: frames))?.last?.value == "second")
    #expect(server.pool.memory.blocks.lentBytes == 0)
  }

  /// Answers of a session that is going away, and that of a header list that is too long.
  @Test func otherAnswers() throws {
    let server = TestServer()
    server.receive(preface + request(1, pushFields() + [("x", text(8000))]) + request(3))
    server.goAway(debug: "bye")
    server.respond(try server.next(), 503)
    let headers = server.frames().filter { $0.kind == .headers }
    let inflater = Inflater()
    #expect(
      headers.map { inflater.fields($0.payload) } == [[.init(name: ":status", value: "431")], [.init(name: ":status", value: "503")]])
  }

  /// A list that is too large may be reset instead; the connection goes on.
  @Test func resetsWhatIsTooLong() throws {
    let server = TestServer { $0.resetsHeaderOverflow = true }
    server.receive(preface + request(1, pushFields() + [("x", text(8000))]) + request(3))
    server.respond(try server.next(), 200)
    let frames = server.frames().filter { $0.stream != 0 }
    #expect(frames.map(\.kind) == [.reset, .headers] && frames.map(\.stream) == [1, 3])
    #expect(frames[0].payload == [0, 0, 0, 1])
    #expect(server.pool.memory.blocks.lentBytes == 0)
  }

  // MARK: At random

  /// Lists of any names and lengths, over one connection, in both directions.
  @Test(arguments: seeds(20)) func anyLists(seed: UInt64) throws {
    var numbers = SplitMix64(seed: seed)
    let (client, server) = (started(), TestServer())
    server.receive(preface)
    let (atServer, atClient) = (Inflater(), Inflater())
    _ = server.drained()
    var stream: UInt32 = 1
    for _ in 0..<60 {
      var list: [(String, String)] = []
      let fill = { (fields: inout FieldList) in
        list = []
        for _ in 0..<numbers.below(12) {
          let value = text(numbers.chance(90) ? numbers.below(160) : numbers.below(1200))
          let name = HeaderName.allCases[numbers.below(HeaderName.allCases.count)]
          if numbers.chance(70) {
            fields.append(name, Array(value.utf8).span.bytes)
            list.append(("\(name.wireName)", value))
          } else {
            let name = "x-" + String(repeating: "y", count: numbers.below(300))
            fields.append(name: Array(name.utf8).span.bytes, Array(value.utf8).span.bytes)
            list.append((name, value))
          }
        }
      }
      client.send(body: [], fill)
      let sent = try #require(atServer.fields(block(of: Frame.parse(client.drained()))))
      #expect(sent.map { [$0.name, $0.value] } == list.map { [$0.0, $0.1] })
      server.receive(request(stream))
      stream += 2
      server.respond(try server.next(), 200 + numbers.below(400), fill)
      let answered = try #require(atClient.fields(block(of: server.frames())))
      #expect(answered.dropFirst().map { [$0.name, $0.value] } == list.map { [$0.0, $0.1] })
    }
    #expect(atServer.dynamicEntries == 0 && atClient.dynamicEntries == 0)
  }
}
