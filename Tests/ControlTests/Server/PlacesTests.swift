import Control
import Primitives
import Testing

@Suite("Server and places for connections", .timeLimit(.minutes(10))) struct PlacesTests {
  private static func get(_ path: String, _ secret: String? = nil) -> String {
    "GET \(path) HTTP/1.1\r\nHost: a\r\n\(secret.map { "Authorization: Bearer \($0)\r\n" } ?? "")\r\n"
  }

  /// A client that has asked for `path` and read the answer.
  private static func client(_ stage: ControlStage, _ path: String, _ secret: String? = nil) async throws -> RawClient {
    try await blocking {
      let client = try RawClient(port: stage.plainPort)
      client.send(get(path, secret))
      _ = client.read { $0.hasSuffix("\n") && !$0.hasSuffix("\r\n") }
      return client
    }
  }

  private static func isServed(_ client: RawClient) async throws -> Bool {
    try await blocking {
      client.send(get("/own", "read"))
      return client.read { $0.hasSuffix("own\n") }.hasSuffix("own\n")
    }
  }

  /// Whoever has shown no credential gives way, the oldest first; whoever has shown one stays, and so does health.
  @Test func theOldestWithoutACredentialGivesWay() async throws {
    let stage = try ControlStage { $0.connectionsMax = 3 }
    let admitted = try await Self.client(stage, "/own", "read")
    let strangers = [try await Self.client(stage, "/hello"), try await Self.client(stage, "/own", "wrong")]
    var healths: [RawClient] = []
    for number in 0..<20 {
      healths.append(try await Self.client(stage, "/hello"))
      let oldest = number < 2 ? strangers[number] : healths[number - 2]
      #expect(try await blocking { oldest.isClosedByPeer() })
    }
    #expect(try await Self.isServed(admitted))
  }

  /// A call that waits with a credential keeps its place, though nothing was answered yet.
  @Test func whoeverWaitsWithACredentialStays() async throws {
    let stage = try ControlStage { $0.connectionsMax = 2 }
    let waiting = try await blocking {
      let client = try RawClient(port: stage.plainPort)
      client.send(Self.get("/own-wait", "read"))
      return client
    }
    try await stage.handlers.events.until { $0 == ["began"] }
    var strangers: [RawClient] = []
    for _ in 0..<10 { strangers.append(try await Self.client(stage, "/hello")) }
    stage.handlers.gate.open()
    #expect(try await blocking { waiting.read { $0.hasSuffix("waited\n") } }.hasSuffix("waited\n"))
  }

  /// Where all have shown one, the one that has rested longest gives way to the next: an address cannot keep others out.
  @Test func theLongestIdleGivesWayAtLast() async throws {
    let stage = try ControlStage { $0.connectionsMax = 2 }
    let first = try await Self.client(stage, "/own", "read")
    let second = try await Self.client(stage, "/own", "read")
    let third = try await Self.client(stage, "/own", "read")
    #expect(try await blocking { first.isClosedByPeer() })
    #expect(try await Self.isServed(second))
    #expect(try await Self.isServed(third))
  }

  /// HTTP/2 connections are no different.
  @Test func anHTTP2ConnectionIsKeptByItsCredential() async throws {
    let stage = try ControlStage { $0.connectionsMax = 2 }
    async let waited = curl(["--http2-prior-knowledge", "-H", "Authorization: Bearer read", "http://127.0.0.1:\(stage.plainPort)/own-wait"])
    try await stage.handlers.events.until { $0 == ["began"] }
    var strangers: [RawClient] = []
    for _ in 0..<10 { strangers.append(try await Self.client(stage, "/hello")) }
    stage.handlers.gate.open()
    #expect(try await waited.output == "waited\n")
  }
}
