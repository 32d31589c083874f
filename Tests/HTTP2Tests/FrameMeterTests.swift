import Primitives
import Testing

@testable import HTTP2

/// What a client's bytes count as, and how much of what brings nothing it may send.
@Suite("Frames that bring nothing") struct FrameMeterTests {
  /// Each frame by itself: how many it counts as.
  @Test(arguments: [
    (Frame(kind: .headers, flags: Frame.endHeaders, stream: 1, payload: [0x83]), 0, 1),
    (Frame(kind: .headers, flags: Frame.endHeaders, stream: 1, payload: Array(repeating: 0x83, count: 8000)), 0, 8000),
    (Frame(kind: .headers, flags: Frame.endHeaders, stream: 1, payload: Array(repeating: 0x83, count: 8001)), 500, 4 * 8001),
    (Frame(kind: .continuation, flags: Frame.endHeaders, stream: 1, payload: [0x83, 0x84]), 1, 2),
    (Frame(kind: .data, flags: Frame.endStream, stream: 1, payload: []), 0, 0),
    (Frame(kind: .data, stream: 1, payload: []), 1, 0),
    (Frame(kind: .data, stream: 1, payload: Array(repeating: 0, count: 63)), 1, 0),
    (Frame(kind: .data, stream: 1, payload: Array(repeating: 0, count: 64)), 0, 0),
    (Frame(kind: .data, flags: 8, stream: 1, payload: [255] + Array(repeating: 0, count: 255)), 1, 0),
    (Frame(kind: .data, flags: 8, stream: 1, payload: [255] + Array(repeating: 0, count: 319)), 0, 0),
    (Frame(kind: .ping, payload: Array(0..<8)), 1, 0),
    (Frame(kind: .reset, stream: 1, payload: big(8)), 1, 0),
    (Frame(kind: .settings, payload: Array(repeating: 0, count: 12_000)), 47, 0),
  ])
  func frameByItself(frame: Frame, idle: Int, headerBytes: Int) {
    var meter = FrameMeter(headerListBytesMax: 8000)
    _ = meter.measure(Array(preface.prefix(24)).span.bytes)
    let continuations = frame.kind == .continuation ? 1 : 0
    #expect(
      meter.measure(frame.bytes.span.bytes)
        == FrameMeter.Tally(frames: 1, headerBytes: headerBytes, idle: idle, continuations: continuations))
  }

  /// However the bytes are cut, they count the same.
  @Test(arguments: [1, 2, 3, 7, 8, 9, 10, 11, 64, 1000]) func cutsChangeNothing(size: Int) {
    let bytes =
      preface + request(1) + Frame(kind: .ping, payload: Array(0..<8)).bytes + request(3)
      + Frame(kind: .data, stream: 3, payload: []).bytes + Frame(kind: .continuation, stream: 5, payload: Array(0..<20)).bytes
    var whole = FrameMeter(headerListBytesMax: 8000)
    let expected = whole.measure(bytes.span.bytes)
    var meter = FrameMeter(headerListBytesMax: 8000)
    var sum = FrameMeter.Tally()
    for start in stride(from: 0, to: bytes.count, by: size) {
      let part = meter.measure(Array(bytes[start..<min(start + size, bytes.count)]).span.bytes)
      sum.frames += part.frames
      sum.headerBytes += part.headerBytes
      sum.idle += part.idle
      sum.continuations = max(sum.continuations, part.continuations)
    }
    #expect(sum == expected && expected.frames > 7 && expected.idle >= 3)
  }

  private static func server() -> TestServer {
    TestServer { settings in
      settings.idleFrameBurst = 20
      settings.idleFramesPerSecond = 2
      settings.idleFramesPerRequest = 5
    }
  }

  private static let floods: [(name: String, frame: Frame)] = [
    ("PING", Frame(kind: .ping, payload: Array(0..<8))),
    ("PING ACK", Frame(kind: .ping, flags: 1, payload: Array(0..<8))),
    ("SETTINGS", Frame(kind: .settings)),
    ("PRIORITY", Frame(kind: .priority, stream: 99, payload: [0, 0, 0, 0, 1])),
    ("WINDOW_UPDATE", Frame(kind: .windowUpdate, payload: big(1))),
    ("empty DATA", Frame(kind: .data, stream: 1)),
    ("DATA of a byte", Frame(kind: .data, stream: 1, payload: [1])),
  ]

  /// A flood of any of them ends the connection with ENHANCE_YOUR_CALM, and no frame later.
  @Test(arguments: floods.indices) func floodEndsTheConnection(index: Int) throws {
    let server = Self.server()
    server.receive(
      preface + Frame(kind: .headers, flags: Frame.endHeaders, stream: 1, payload: headerBlock(pushFields())).bytes)
    _ = server.drained()
    let frame = Self.floods[index].frame.bytes
    // The SETTINGS of the preface was one.
    for number in 1..<20 { #expect(server.receive(frame) == nil, "\(Self.floods[index].name) \(number)") }
    #expect(server.receive(frame)?.code == HTTP2ErrorCode.enhanceYourCalm)
    let goAway = try #require(server.frames().last)
    #expect(goAway.kind == .goAway && goAway.errorCode == HTTP2ErrorCode.enhanceYourCalm)
    #expect(server.isDone)
  }

  /// Time, and requests, make up for them.
  @Test func timeAndRequestsMakeUp() {
    let server = Self.server()
    server.receive(preface)
    let ping = Frame(kind: .ping, payload: Array(0..<8)).bytes
    for _ in 0..<19 { server.receive(ping) }
    server.receive(request(1))
    for _ in 0..<5 { #expect(server.receive(ping) == nil) }
    for _ in 0..<2 { #expect(server.receive(ping, at: 1) == nil) }
    #expect(server.receive(ping, at: 1) != nil)
  }

  /// A client that has less than the burst open to it gets no credit for many requests.
  @Test func requestsAreNoCredit() {
    let server = Self.server()
    server.receive(preface)
    for number in 0..<50 { server.serve(request(UInt32(2 * number + 1))) }
    let ping = Frame(kind: .ping, payload: Array(0..<8)).bytes
    let allowed = (0..<100).prefix { _ in server.receive(ping) == nil }.count
    #expect(allowed == 20)
  }

  /// A header list may come in so many CONTINUATION frames, and those in as many pieces as it likes.
  @Test(arguments: [8, 9]) func continuations(count: Int) throws {
    let server = TestServer()
    let block = headerBlock(pushFields())
    var bytes = preface + Frame(kind: .headers, flags: Frame.endStream, stream: 1, payload: Array(block.prefix(20))).bytes
    for number in 1...count {
      let isLast = number == count
      let part = isLast ? Array(block.dropFirst(20 + 10 * (count - 1))) : Array(block.dropFirst(10 + 10 * number).prefix(10))
      bytes += Frame(kind: .continuation, flags: isLast ? Frame.endHeaders : 0, stream: 1, payload: part).bytes
    }
    for byte in bytes { server.receive([byte]) }
    guard count > 8 else {
      #expect(try server.next().fieldCount == pushFields().count)
      return
    }
    #expect(server.failure?.code == HTTP2ErrorCode.enhanceYourCalm && server.ready() == nil)
    #expect(server.frames().last?.errorCode == HTTP2ErrorCode.enhanceYourCalm)
  }

  /// Opening more streams than may be, without end, ends the connection; want of room on our side does not.
  @Test(arguments: [true, false]) func refusedStreams(isOverLimit: Bool) {
    let server = TestServer(pool: makePool(isOverLimit ? 64 : 1)) { settings in
      settings.concurrentStreams = isOverLimit ? 1 : 100
      settings.concurrentStreamsTrusted = settings.concurrentStreams
      settings.idleFrameBurst = 20
    }
    server.receive(preface)
    _ = server.drained()
    let open = { (number: Int) in
      Frame(kind: .headers, flags: Frame.endHeaders, stream: UInt32(2 * number + 1), payload: headerBlock(pushFields())).bytes
    }
    let refused = (1...50).prefix { server.receive(open($0)) == nil }.count
    #expect(refused == (isOverLimit ? 11 : 50))
    #expect(server.failure?.code == (isOverLimit ? HTTP2ErrorCode.enhanceYourCalm : nil))
  }

  /// Lists that are too large are answered, and then too many.
  @Test func largeLists() {
    let server = TestServer { $0.idleFrameBurst = 400 }
    server.receive(preface)
    let many = (0..<65).map { ("x\($0)", "") }
    var answers = 0
    for number in 0..<10 {
      server.receive(request(UInt32(2 * number + 1), pushFields() + many, body: []))
      answers += server.frames().count { $0.kind == .headers }
      if server.failure != nil { break }
    }
    #expect(answers == 4 && server.failure?.code == HTTP2ErrorCode.enhanceYourCalm)
  }

  /// The stream that is one too many ends the connection, whatever came with it.
  @Test(arguments: [0, 1]) func brokenStreamsInOneGo(kind: Int) {
    let server = TestServer { $0.streamResetBurst = 10 }
    var bytes = preface
    for number in 0..<50 {
      let fields = kind == 0 ? [(":method", "GET"), (":scheme", "https")] : pushFields() + [("X-A", "b")]
      bytes +=
        Frame(
          kind: .headers, flags: Frame.endHeaders | Frame.endStream, stream: UInt32(2 * number + 1), payload: headerBlock(fields)
        ).bytes
    }
    server.receive(bytes)
    guard case .rapidReset? = server.failure else {
      Issue.record("\(String(describing: server.failure))")
      return
    }
    let last = server.frames().last { $0.kind == .goAway }?.payload.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    #expect(last == 21)
  }

  /// Work is counted, not timed: the same bytes are the same work.
  @Test func workIsTheSame() {
    let work = (0..<2).map { _ in
      let server = TestServer()
      server.serve(preface + request(1))
      return server.work
    }
    #expect(work[0] == work[1] && work[0] > 50 && work[0] < 1000)
  }
}
