import Primitives
import Testing

@testable import HTTP2

/// Answers that a client leaves no window for.
@Suite("Windows of zero") struct WindowTests {
  /// SETTINGS_INITIAL_WINDOW_SIZE of 0.
  private static let noWindow = Frame(kind: .settings, payload: [0, 4, 0, 0, 0, 0]).bytes

  @Test func anAnswerThatWaitsIsFound() throws {
    let server = TestServer()
    server.receive(preface + Self.noWindow + request(1))
    server.respond(try server.next(), 400, body: payload)
    #expect(!server.frames().contains { $0.kind == .data })
    for _ in 0..<3 { #expect(!server.hasAnswerWaiting(sinceTimes: 3)) }
    #expect(server.hasAnswerWaiting(sinceTimes: 3))
    // A byte of window is progress, and it waits anew.
    server.receive(Frame(kind: .windowUpdate, stream: 1, payload: big(1)).bytes)
    #expect(server.frames().contains { $0.kind == .data && $0.payload.count == 1 })
    for _ in 0..<3 { #expect(!server.hasAnswerWaiting(sinceTimes: 3)) }
    #expect(server.hasAnswerWaiting(sinceTimes: 3))
    server.receive(Frame(kind: .windowUpdate, stream: 1, payload: big(1000)).bytes)
    _ = server.drained()
    #expect(!server.hasOpenExchanges && !server.hasAnswerWaiting(sinceTimes: 0))
  }

  /// Neither a request that is not answered yet nor a body that has nothing to send yet waits for the client.
  @Test func whatWaitsForUsIsNotFound() throws {
    let server = TestServer()
    server.receive(preface + Self.noWindow + request(1) + request(3))
    _ = try server.next()
    let stream = try server.next()
    server.begin(stream)
    _ = server.drained()
    for _ in 0..<10 { #expect(!server.hasAnswerWaiting(sinceTimes: 1)) }
    #expect(stream.write("event"))
    #expect(!server.hasAnswerWaiting(sinceTimes: 1))
    #expect(server.hasAnswerWaiting(sinceTimes: 1))
  }

  /// Connections that hold the pool full of answers which they do not read give way.
  @Test(arguments: [1, 2, 20]) func answersGiveWay(greedy: Int) throws {
    let pool = makePool(200)
    do {
      let sessions = (0..<greedy).map { _ in TestServer(pool: pool) }
      for session in sessions {
        session.receive(preface + Self.noWindow)
        for number in 0..<200 { session.receive(request(UInt32(2 * number + 1))) }
        while let exchange = session.ready() { session.respond(exchange, 400, body: payload) }
        _ = session.drained()
      }
      #expect(pool.openExchanges == 200)
      let other = TestServer(pool: pool)
      other.receive(preface)
      for stream in [1, 3, 5] as [UInt32] {
        other.receive(request(stream))
        other.respond(try other.next(), 200)
        #expect(other.frames().contains { $0.kind == .headers && $0.stream == stream })
      }
      // What was given up had been acted on: CANCEL, and a late window does no harm.
      let lost = sessions.flatMap { session in session.frames().filter { $0.kind == .reset } }
      #expect(!lost.isEmpty && lost.allSatisfy { $0.errorCode == HTTP2ErrorCode.cancel })
      for session in sessions {
        for number in 0..<200 {
          session.receive(Frame(kind: .windowUpdate, stream: UInt32(2 * number + 1), payload: big(1000)).bytes)
        }
        _ = session.drained()
        #expect(session.failure == nil && !session.hasOpenExchanges)
      }
    }
    #expect(pool.openExchanges == 0 && pool.memory.blocks.lentBytes == 0 && pool.memory.liveAllocations == 0)
  }
}
