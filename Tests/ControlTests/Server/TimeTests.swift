import Control
import Primitives
import Testing

@Suite("Server and time", .timeLimit(.minutes(10))) struct TimeTests {
  private static func get(_ path: String) -> String { "GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n" }

  /// A client that never finishes: 408 and the end, however it dribbles, and not before its time.
  @Test(arguments: ["GET /", "GET / HTTP/1.1\r\nHost: a\r\nX: ", "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc"])
  func aRequestThatIsNeverComplete(part: String) async throws {
    let stage = try ControlStage { $0.timeouts.request = .seconds(30) }
    let client = try await blocking {
      let client = try RawClient(port: stage.plainPort)
      client.send(Self.get("/hello"))
      _ = client.read { $0.hasSuffix("hello\n") }
      client.send(part)
      return client
    }
    try await sweepsPass(stage)
    stage.clock.advance(.seconds(15))
    try await sweepsPass(stage)
    // Another byte is no new beginning.
    try await blocking { client.send("d") }
    try await sweepsPass(stage)
    stage.clock.advance(.seconds(16))
    let answer = try await blocking { client.read() }
    #expect(answer.hasPrefix("HTTP/1.1 408 Request Timeout\r\n"), "\(answer)")
    #expect(answer.contains(#"{"error":{"code":"timeout","message":"the request was not complete within 30s of its first byte"}}"#))
  }

  @Test func anHTTP2RequestThatIsNeverComplete() async throws {
    let stage = try ControlStage { $0.timeouts.request = .seconds(30) }
    let client = try await blocking {
      let client = try RawClient(port: stage.plainPort)
      // Preface, empty SETTINGS, and HEADERS without END_STREAM: POST, http, path /, authority a.
      client.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
      client.send([0, 0, 0, 4, 0, 0, 0, 0, 0])
      client.send([0, 0, 6, 1, 4, 0, 0, 0, 1, 0x83, 0x86, 0x84, 0x41, 1, 0x61])
      return client
    }
    try await sweepsPass(stage)
    stage.clock.advance(.seconds(31))
    let answer = try await blocking { client.read { $0.contains("timeout") } }
    #expect(answer.contains("not complete within 30s"))
  }

  @Test func aConnectionAtRestIsClosed() async throws {
    let stage = try ControlStage { $0.idle = .seconds(60) }
    let client = try await blocking {
      let client = try RawClient(port: stage.plainPort)
      client.send(Self.get("/hello"))
      _ = client.read { $0.hasSuffix("hello\n") }
      return client
    }
    stage.clock.advance(.seconds(40))
    try await sweepsPass(stage)
    let stays = try await blocking {
      client.send(Self.get("/hello"))
      return client.read { $0.hasSuffix("hello\n") }
    }
    #expect(stays.hasSuffix("hello\n"))
    stage.clock.advance(.seconds(61))
    #expect(try await blocking { client.isClosedByPeer() })
  }

  @Test func aConnectionThatNeverSpeaksIsClosed() async throws {
    let stage = try ControlStage { $0.timeouts.handshake = .seconds(10) }
    for port in [stage.plainPort, stage.tlsPort] {
      let client = try await blocking { try RawClient(port: port) }
      try await sweepsPass(stage)
      stage.clock.advance(.seconds(11))
      #expect(try await blocking { client.isClosedByPeer() })
    }
  }

  /// A wait of minutes is no idleness and no slowness.
  @Test func aLongAnswerIsWaitedFor() async throws {
    let stage = try ControlStage()
    async let waited = curl(["http://127.0.0.1:\(stage.plainPort)/wait"])
    async let waited2 = curl(["https://localhost:\(stage.tlsPort)/wait"])
    try await stage.handlers.events.until { $0.count == 2 }
    stage.clock.advance(.seconds(300))
    try await sweepsPass(stage)
    stage.handlers.gate.open()
    #expect(try await waited.output == "waited\n")
    #expect(try await waited2.output == "waited\n")
    #expect(stage.handlers.events.all == ["began", "began", "passed", "passed"])
  }

  /// Makes the server look for what takes too long, twice: each request needs a round of the loop, in which its timers run.
  private func sweepsPass(_ stage: ControlStage) async throws {
    for _ in 0..<2 {
      stage.clock.advance(.milliseconds(100))
      _ = try await blocking {
        let client = try RawClient(port: stage.plainPort)
        client.send(Self.get("/hello"))
        return client.read { $0.hasSuffix("hello\n") }
      }
    }
  }
}
