import Control
import Primitives
import Testing

@Suite("Server and many requests", .timeLimit(.minutes(10))) struct LoadTests {
  private static let ways: [[String]] = [["--http1.1"], ["--http2-prior-knowledge"]]

  /// Whoever goes away, politely or not, has its handler cancelled.
  @Test(arguments: [0, 1, 2, 3]) func aClientThatGoesAwayCancelsItsHandler(way: Int) async throws {
    let stage = try ControlStage()
    let began = { try await stage.handlers.events.until { $0 == ["began"] } }
    switch way {
    case 0, 1: try await curl(Self.ways[way] + ["http://127.0.0.1:\(stage.plainPort)/wait"]) { _ in try await began() }
    case 2: try await curl(["https://localhost:\(stage.tlsPort)/wait"]) { _ in try await began() }
    default:
      let client = try await blocking {
        let client = try RawClient(port: stage.plainPort)
        client.send("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n")
        return client
      }
      try await began()
      client.reset()
    }
    try await stage.handlers.events.until { $0 == ["began", "cancelled"] }
  }

  /// RST_STREAM takes back one request; the connection goes on.
  @Test func aStreamThatIsResetCancelsItsHandler() async throws {
    let stage = try ControlStage()
    let client = try await blocking {
      let client = try RawClient(port: stage.plainPort)
      client.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
      client.send([0, 0, 0, 4, 0, 0, 0, 0, 0])
      // HEADERS with END_STREAM: GET, http, authority a, path /wait.
      client.send([0, 0, 12, 1, 5, 0, 0, 0, 1, 0x82, 0x86, 0x41, 1, 0x61, 0x44, 5] + Array("/wait".utf8))
      return client
    }
    try await stage.handlers.events.until { $0 == ["began"] }
    client.send([0, 0, 4, 3, 0, 0, 0, 0, 1, 0, 0, 0, 8])
    try await stage.handlers.events.until { $0 == ["began", "cancelled"] }
    let answer = try await blocking {
      client.send([0, 0, 13, 1, 5, 0, 0, 0, 3, 0x82, 0x86, 0x41, 1, 0x61, 0x44, 6] + Array("/hello".utf8))
      return client.read { $0.contains("hello\n") }
    }
    #expect(answer.contains("hello\n"))
  }

  /// One request too many is told so at once; when a place is free again, the next is served.
  @Test(arguments: ways.indices) func requestsAreBounded(way: Int) async throws {
    let stage = try ControlStage { $0.requestsMax = 2 }
    let url = "http://127.0.0.1:\(stage.plainPort)"
    async let first = curl(["--http1.1", url + "/wait"])
    async let second = curl(["--http1.1", url + "/wait"])
    try await stage.handlers.events.until { $0.count == 2 }
    let third = try await curl(Self.ways[way] + ["-D", "-", url + "/hello"]).output.lowercased()
    #expect(third.contains(" 503") && third.contains("retry-after: 1\r\n"))
    #expect(third.contains(#"{"error":{"code":"unavailable","message":"2 requests are being answered"#))
    stage.handlers.gate.open()
    #expect(try await first.output == "waited\n")
    #expect(try await second.output == "waited\n")
    #expect(try await curl(Self.ways[way] + [url + "/hello"]).output == "hello\n")
  }

  /// Many clients at once, each with requests behind one another, all answered.
  @Test func manyClients() async throws {
    let stage = try ControlStage()
    try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<8 {
        group.addTask {
          try await blocking {
            let client = try RawClient(port: stage.plainPort)
            for index in 0..<40 {
              client.send("GET /about HTTP/1.1\r\nHost: a\r\nX: \(index)\r\n\r\n")
              guard client.read(until: { $0.hasSuffix("}\n") }).contains(#""x":"\#(index)""#) else { return index }
            }
            return 40
          }
        }
      }
      for try await answered in group { #expect(answered == 40) }
    }
  }

  /// Stopping: nobody new, what is being answered is hurried and answered, then every connection ends.
  @Test(arguments: ways.indices) func draining(way: Int) async throws {
    let stage = try ControlStage()
    let idle = try await blocking {
      let client = try RawClient(port: stage.plainPort)
      client.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
      _ = client.read { $0.hasSuffix("hello\n") }
      return client
    }
    async let waiting = curl(Self.ways[way] + ["http://127.0.0.1:\(stage.plainPort)/wait"])
    try await stage.handlers.events.until { $0 == ["began"] }
    stage.drain(within: .seconds(30))
    let result = try await waiting
    #expect(result.output == "waited\n" && result.status == 0)
    #expect(try await blocking { idle.isClosedByPeer() })
    try await stage.drains.until { $0.count == 1 }
    #expect(try await curl(["http://127.0.0.1:\(stage.plainPort)/hello"]).status == 7)
  }
}
