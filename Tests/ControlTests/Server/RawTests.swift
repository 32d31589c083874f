import Control
import Primitives
import Testing

@Suite("Server and raw bytes", .timeLimit(.minutes(10))) struct RawTests {
  private static let hello =
    "HTTP/1.1 200 OK\r\ncontent-type: text/plain; charset=utf-8\r\ndate: Tue, 14 Nov 2023 22:13:20 GMT\r\ncontent-length: 6\r\n\r\nhello\n"

  private static func get(_ path: String, _ more: String = "") -> String { "GET \(path) HTTP/1.1\r\nHost: localhost\r\n\(more)\r\n" }

  @Test func everyByteOfAnAnswer() async throws {
    let stage = try ControlStage()
    let answer = try await blocking {
      let client = try RawClient(port: stage.plainPort)
      client.send(Self.get("/hello"))
      return client.read { $0.hasSuffix("hello\n") }
    }
    #expect(answer == Self.hello)
  }

  /// A pipeline in one packet: every answer, in order, on one connection.
  @Test func pipelinedRequestsAreAnsweredInOrder() async throws {
    let stage = try ControlStage()
    let answer = try await blocking {
      let client = try RawClient(port: stage.plainPort)
      client.send((0..<50).map { Self.get("/about?\($0)", "X: \($0)\r\n") }.joined() + Self.get("/hello", "Connection: close\r\n"))
      return client.read()
    }
    let numbers = answer.split(separator: #""x":""#).dropFirst().map { String($0.prefix { $0 != "\"" }) }
    #expect(numbers == (0..<50).map { "\($0)" })
    #expect(answer.hasSuffix("connection: close\r\n\r\nhello\n"))
  }

  @Test func aByteAtATime() async throws {
    let stage = try ControlStage()
    let answer = try await blocking {
      let client = try RawClient(port: stage.plainPort)
      for byte in Self.get("/hello").utf8 { client.send([byte]) }
      return client.read { $0.hasSuffix("hello\n") }
    }
    #expect(answer == Self.hello)
  }

  @Test(arguments: [
    ("nonsense\r\n\r\n", "400 Bad Request", "must begin with a line such as GET"),
    ("GET / HTTP/1.1\r\n\r\n", "400 Bad Request", "exactly one host"),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2000000\r\n\r\n", "413 Payload Too Large", "at most 1048576 bytes"),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "400 Bad Request", "hexadecimal"),
    (
      "GET / HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "x", count: 20_000))\r\n\r\n", "431 Request Header Fields Too Large",
      "16384 bytes"
    ),
    ("\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}", "400 Bad Request", "http:// URL"),
    ("PRI * HTTP/1.1\r\n\r\n", "400 Bad Request", "must begin with a line"),
    ("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}xx0\r\n\r\n", "400 Bad Request", "end in CR LF"),
    (
      "POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", "400 Bad Request",
      "HTTP/1.0 has no transfer-encoding"
    ),
    ("GET /hello HTTP/1.1\nHost: a\n\n", "400 Bad Request", "CR LF"),
  ])
  func badRequestsAreAnsweredAndClosed(request: String, status: String, word: String) async throws {
    let stage = try ControlStage()
    let answer = try await blocking {
      let client = try RawClient(port: stage.plainPort)
      client.send(request)
      return client.read()
    }
    #expect(answer.hasPrefix("HTTP/1.1 \(status)\r\n"), "\(answer)")
    #expect(answer.contains("content-type: application/json\r\n") && answer.contains("connection: close\r\n"))
    #expect(answer.contains(#"{"error":{"code":""#) && answer.contains(word), "\(answer)")
  }

  /// The answer to a body that is too large reaches a client that is still sending.
  @Test func anEarlyAnswerIsNotLostToAReset() async throws {
    let stage = try ControlStage()
    let answer = try await blocking {
      let client = try RawClient(port: stage.plainPort)
      client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3000000\r\n\r\n")
      for _ in 0..<30 { client.send([UInt8](repeating: 0x61, count: 100_000)) }
      return client.read()
    }
    #expect(answer.hasPrefix("HTTP/1.1 413 ") && answer.hasSuffix("}}\n"))
  }

  /// A client that has said its last word still gets its answer.
  @Test func aHalfClosedConnectionIsAnswered() async throws {
    let stage = try ControlStage()
    let answers = try await blocking {
      try ["/hello", "/wait"].map { path in
        let client = try RawClient(port: stage.plainPort)
        client.send(Self.get(path))
        client.endSending()
        return client.read()
      }
    }
    // The end may be seen after the answer was made, which then does not announce that the connection closes.
    #expect(answers[0].hasPrefix("HTTP/1.1 200 ") && answers[0].hasSuffix("\r\n\r\nhello\n"))
    // What would wait is told to come to an end.
    #expect(answers[1].hasSuffix("waited\n"))
    #expect(stage.handlers.events.all == ["began", "cancelled"])
  }

  @Test func plainHTTPOnTheTLSPortIsReported() async throws {
    let stage = try ControlStage()
    _ = try await blocking {
      let client = try RawClient(port: stage.tlsPort)
      client.send(Self.get("/hello"))
      return client.read()
    }
    try await stage.failures.until { $0.count == 1 }
    #expect("\(stage.failures.all[0].end)".contains("https://"))
  }
}
