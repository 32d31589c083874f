import Primitives
import Testing

@testable import Control

@Suite("Server and clients that do not read", .timeLimit(.minutes(10))) struct UnreadTests {
  private static let large = "GET /large HTTP/1.1\r\nHost: a\r\n\r\n"

  private static func stage() throws -> ControlStage {
    try ControlStage { configuration in
      configuration.unread.connection = 4_000_000
      configuration.unread.caller = 7_000_000
      configuration.unread.all = 7_000_000
    }
  }

  /// A client that takes in little, and has seen the beginning of its answer.
  private static func client(_ stage: ControlStage, _ request: String = large) async throws -> (RawClient, beginning: String) {
    try await blocking {
      let client = try RawClient(port: stage.plainPort, receiveBufferBytes: 4096)
      client.send(request)
      return (client, client.read(atMost: 4096) { $0.contains("\r\n") })
    }
  }

  /// Two answers of three megabytes fit; further ones are told so, small ones are served, and once the clients are gone there is room.
  @Test func unreadAnswersAreBounded() async throws {
    let stage = try Self.stage()
    var clients: [RawClient] = []
    var beginnings: [String] = []
    for _ in 0..<5 {
      let (client, beginning) = try await Self.client(stage)
      clients.append(client)
      beginnings.append(String(beginning.prefix(12)))
    }
    #expect(beginnings == ["HTTP/1.1 200", "HTTP/1.1 200", "HTTP/1.1 429", "HTTP/1.1 429", "HTTP/1.1 429"])
    #expect(try await curl(["http://127.0.0.1:\(stage.plainPort)/hello"]).output == "hello\n")
    clients.removeAll()
    while try await !Self.client(stage).beginning.hasPrefix("HTTP/1.1 200") { await Task.yield() }
  }

  /// The description of the API needs no access token: all who read it without one share a bound, a hundred that do not read it included.
  @Test func unreadDescriptionsAreBounded() async throws {
    let document = OpenAPIFile.control.bytes.count
    let stage = try ControlStage { configuration in
      configuration.unread.caller = 3 * document
      configuration.unread.all = 1 << 30
    }
    // What the kernel has taken over waits here no more: each connection asks for the document until that is full.
    let pipeline = String(repeating: "GET /openapi.yaml HTTP/1.1\r\nHost: a\r\n\r\n", count: 100)
    var clients: [RawClient] = []
    for _ in 0..<100 { clients.append(try await Self.client(stage, pipeline).0) }
    while try await !Self.client(stage, "GET /openapi.yaml HTTP/1.1\r\nHost: a\r\n\r\n").beginning.hasPrefix("HTTP/1.1 429") {
      await Task.yield()
    }
    #expect(try await curl(["http://127.0.0.1:\(stage.plainPort)/hello"]).output == "hello\n")
    clients.removeAll()
    while try await !Self.client(stage, "GET /openapi.yaml HTTP/1.1\r\nHost: a\r\n\r\n").beginning.hasPrefix("HTTP/1.1 200") {
      await Task.yield()
    }
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
      func get(_ stream: UInt8, _ path: String) -> [UInt8] {
        let path = Array(path.utf8)
        return [0, 0, UInt8(7 + path.count), 1, 5, 0, 0, 0, stream, 0x82, 0x86, 0x41, 1, 0x61, 0x44, UInt8(path.count)] + path
      }
      client.send(get(1, "/large"))
      _ = client.read { $0.contains("llllllll") }
      client.send(get(3, "/large"))
      let refusal = client.read { $0.contains("answersUnread") }
      client.send(get(5, "/hello"))
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
