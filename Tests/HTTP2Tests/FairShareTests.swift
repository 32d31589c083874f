import Primitives
import Testing

@testable import HTTP2

/// What a greedy connection leaves to others, and a burst to the system.
@Suite("Fair shares") struct FairShareTests {
  /// Connections that hold the pool full of requests which never end give way to those that have fewer.
  @Test(arguments: [1, 2, 5, 20]) func greedySessionsGiveWay(greedy: Int) throws {
    let pool = makePool(200)
    do {
      let sessions = (0..<greedy).map { _ in TestServer(pool: pool) }
      for session in sessions {
        session.receive(preface)
        _ = session.drained()
        for number in 0..<300 { session.receive(Self.begin(UInt32(2 * number + 1))) }
      }
      #expect(pool.openExchanges == 200)
      let others = (0..<3).map { _ in TestServer(pool: pool) }
      for other in others {
        other.receive(preface + request(1))
        other.respond(try other.next(), 200)
        #expect(other.frames().contains { $0.kind == .headers })
      }
      // What was given up is reset, what still comes of it ignored, and the connection serves.
      let lost = Set(sessions[0].frames().filter { $0.kind == .reset }.map(\.stream))
      #expect(!lost.isEmpty)
      for stream in lost { sessions[0].receive(Frame(kind: .data, stream: stream, payload: [1]).bytes) }
      #expect(sessions[0].receive(Frame(kind: .ping, payload: Array(0..<8)).bytes) == nil)
      #expect(sessions[0].frames().contains { $0.kind == .ping })
    }
    #expect(pool.openExchanges == 0 && pool.memory.blocks.lentBytes == 0 && pool.memory.liveAllocations == 0)
  }

  /// Whole requests are never given up for others.
  @Test func wholeRequestsStay() {
    let pool = makePool(20)
    let (greedy, other) = (TestServer(pool: pool), TestServer(pool: pool))
    greedy.receive(preface)
    for number in 0..<20 { greedy.receive(request(UInt32(2 * number + 1))) }
    other.receive(preface + request(1))
    #expect(other.ready() == nil)
    for _ in 0..<20 { #expect(greedy.ready() != nil) }
  }

  /// A request whose body is still to come.
  private static func begin(_ stream: UInt32) -> [UInt8] {
    Frame(kind: .headers, flags: Frame.endHeaders, stream: stream, payload: headerBlock(pushFields())).bytes
  }

  /// One connection alone may have the whole pool.
  @Test func aloneItMayHaveAll() {
    let pool = makePool(50)
    let server = TestServer(pool: pool)
    server.receive(preface)
    for number in 0..<60 { server.receive(request(UInt32(2 * number + 1))) }
    #expect(pool.openExchanges == 50)
  }

  /// Memory that a burst has left behind goes back once there was little to do between two looks, and not before.
  @Test func memoryOfABurstGoesBack() {
    let pool = makePool(16, keptBytes: 32 << 20)
    let memory = pool.memory
    var lent: [Block] = []
    while lent.count < 100 { lent.append(memory.blocks.allocate(64 << 10)!) }
    for block in lent { memory.blocks.release(block) }
    #expect(memory.blocks.bytes == 100 * 64 << 10)
    serve(2000, pool)
    #expect(memory.settle(connections: 1), "there was a load")
    #expect(memory.blocks.bytes >= 100 * 64 << 10)
    #expect(!memory.settle(connections: 1))
    #expect(memory.blocks.bytes == memory.blocks.lentBytes)
  }

  /// Slots that a burst has used go back once none is in use; a key from before finds nothing, whoever has its slot then.
  @Test func slotsOfABurstGoBack() {
    let pool = makePool(2000)
    let keys = (0..<3).flatMap { _ in
      let server = TestServer(pool: pool) { settings in settings.concurrentStreams = 600 }
      server.receive(preface)
      for number in 0..<600 { server.receive(request(UInt32(2 * number + 1))) }
      var keys: [ExchangeKey] = []
      while let exchange = server.ready() { keys.append(exchange.key) }
      #expect(pool.spareBytes == 0, "they are in use")
      pool.releaseSpare()
      #expect(keys.allSatisfy { pool.exchange(for: $0) != nil })
      withExtendedLifetime(server) {}
      return keys
    }
    #expect(keys.count == 1800 && Set(keys.map(\.packed)).count == 1800)
    #expect(pool.openExchanges == 0 && pool.spareBytes > 600 * 100)
    pool.releaseSpare()
    #expect(pool.spareBytes == 0)
    let server = TestServer(pool: pool) { settings in settings.concurrentStreams = 600 }
    server.receive(preface)
    for number in 0..<600 { server.receive(request(UInt32(2 * number + 1))) }
    var served = 0
    while let exchange = server.ready() {
      #expect(pool.exchange(for: exchange.key) != nil)
      served += 1
    }
    #expect(served == 600 && keys.allSatisfy { pool.exchange(for: $0) == nil })
  }

  /// A load that needs little keeps it.
  @Test func littleIsKept() {
    let pool = makePool(16)
    serve(100, pool)
    let bytes = pool.memory.blocks.bytes
    #expect(bytes > 0)
    for _ in 0..<3 { #expect(!pool.memory.settle(connections: 1)) }
    #expect(pool.memory.blocks.bytes == bytes)
  }

  /// Streams whose windows a client makes too large, so that nghttp2 resets them, count as resets (CVE-2025-8671).
  @Test func brokenWindowsCountAsResets() {
    let server = TestServer { settings in settings.streamResetBurst = 10 }
    server.receive(preface)
    var failure: SessionFailure?
    var streams = 0
    while failure == nil && streams < 50 {
      let stream = UInt32(2 * streams + 1)
      server.receive(request(stream))
      failure = server.receive(Frame(kind: .windowUpdate, stream: stream, payload: big(0x7FFF_FFFF)).bytes)
      _ = server.drained()
      streams += 1
    }
    #expect(streams == 11)
  }

  private func serve(_ requests: Int, _ pool: ExchangePool) {
    let server = TestServer(pool: pool)
    server.receive(preface)
    for number in 0..<requests {
      server.receive(request(UInt32(2 * number + 1)))
      if let exchange = server.ready() { server.respond(exchange, 200) }
      _ = server.drained()
    }
  }
}
