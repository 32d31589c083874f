import Primitives
import Testing

@testable import Control

@Suite("Server and clients that do not read", .timeLimit(.minutes(10))) struct UnreadTests {
  private static func stage() throws -> ControlStage {
    try ControlStage { configuration in
      configuration.unread.connection = 4_000_000
      configuration.unread.caller = 7_000_000
      configuration.unread.all = 7_000_000
    }
  }

  /// A client of HTTP/2 that asks for `path` and opens a window of 100 bytes, so that the rest waits in the server whatever the kernel takes
  /// over; returns once the answer has begun as `beginning` says, or the error of one that is not given.
  private static func holder(_ stage: ControlStage, _ path: String, beginning: String) async throws -> (RawClient, answer: String) {
    try await blocking {
      let client = try RawClient(port: stage.plainPort)
      client.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
      client.send([0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 100])
      client.send(get(1, path))
      return (client, client.read { $0.contains(beginning) || $0.contains("answersUnread") })
    }
  }

  private static func get(_ stream: UInt8, _ path: String) -> [UInt8] {
    let path = Array(path.utf8)
    return [0, 0, UInt8(7 + path.count), 1, 5, 0, 0, 0, stream, 0x82, 0x86, 0x41, 1, 0x61, 0x44, UInt8(path.count)] + path
  }

  /// Two answers of three megabytes fit.
  @Test func unreadAnswersAreBounded() async throws {
    try await expectBound(Self.stage(), "/large", beginning: "llllllll", fits: 2)
  }

  /// The description of the API needs no access token: all who read it without one share a bound.
  @Test func unreadDescriptionsAreBounded() async throws {
    let stage = try ControlStage { configuration in
      configuration.unread.caller = 3 * OpenAPIFile.control.bytes.count
      configuration.unread.all = 1 << 30
    }
    try await expectBound(stage, "/openapi.yaml", beginning: "openapi: ", fits: 3)
  }

  /// So many answers may wait; further ones are told so, small ones are served, and once the clients are gone there is room.
  private func expectBound(_ stage: ControlStage, _ path: String, beginning: String, fits: Int) async throws {
    var clients: [RawClient] = []
    for number in 0..<fits + 3 {
      let (client, answer) = try await Self.holder(stage, path, beginning: beginning)
      clients.append(client)
      #expect(answer.contains(beginning) == (number < fits) && answer.contains("answersUnread") == (number >= fits))
    }
    #expect(try await curl(["http://127.0.0.1:\(stage.plainPort)/hello"]).output == "hello\n")
    clients.removeAll()
    try await expectRoom(stage, path, beginning: beginning)
  }

  /// The server learns at some time that clients have gone; then there is room again.
  private func expectRoom(_ stage: ControlStage, _ path: String, beginning: String) async throws {
    let deadline = ContinuousClock.now + .seconds(120)
    while ContinuousClock.now < deadline {
      if try await Self.holder(stage, path, beginning: beginning).answer.contains(beginning) { return }
    }
    Issue.record("no room for \(path)")
  }

  /// The same on one connection of HTTP/2: the second stream is refused while the first is unread, and the connection goes on.
  @Test func unreadStreamsAreBounded() async throws {
    let stage = try Self.stage()
    let answer = try await blocking {
      let client = try RawClient(port: stage.plainPort)
      client.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
      client.send([0, 0, 0, 4, 0, 0, 0, 0, 0])
      // A window for the connection, none beyond the first 64 KB for a stream.
      client.send([0, 0, 4, 8, 0, 0, 0, 0, 0, 0x10, 0, 0, 0])
      client.send(Self.get(1, "/large"))
      _ = client.read { $0.contains("llllllll") }
      client.send(Self.get(3, "/large"))
      let refusal = client.read { $0.contains("answersUnread") }
      client.send(Self.get(5, "/hello"))
      return refusal + client.read { $0.contains("hello\n") }
    }
    #expect(answer.contains("answersUnread") && answer.contains("this connection") && answer.hasSuffix("hello\n"))
  }

  /// Requests behind one another: the handler of the next is not asked before its client has read.
  @Test func aPipelineWaitsForItsReader() {
    let one = "GET /1 HTTP/1.1\r\nHost: a\r\n\r\n"
    var session = HTTP1Session(limits: HTTP1Limits())
    guard case .handle = session.receive(Array((one + one + one).utf8).span.bytes, date: "D") else {
      return #expect(Bool(false), "the first is handled at once")
    }
    let large = HTTPResponse(status: 200, body: [UInt8](repeating: 1, count: HTTP1Session.unsentBytesMax))
    guard case .wait = session.answer(large, date: "D") else { return #expect(Bool(false), "the second has to wait") }
    #expect(session.isHeldBack && !session.isIdle)
    var queue = ByteQueue(capacity: 64 << 10)
    while !session.drain(into: &queue) { queue.removeAll() }
    guard case .handle = session.resume(date: "D") else { return #expect(Bool(false), "then it is handled") }
    // Behind a small answer nobody waits.
    guard case .handle = session.answer(HTTPResponse(status: 200), date: "D") else { return #expect(Bool(false), "the third at once") }
    #expect(!session.isHeldBack)
  }
}
