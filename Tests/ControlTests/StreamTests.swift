import Primitives
import Testing

@testable import Control

@Suite("HTTP/1.1 session: a body bit by bit") struct HTTP1StreamTests {
  private func session(_ request: String) -> (HTTP1Session, output: (inout HTTP1Session) -> String) {
    var session = HTTP1Session(limits: HTTP1Limits())
    _ = session.receive(Array(request.utf8).span.bytes, date: "D")
    return (
      session,
      { session in
        var queue = ByteQueue(capacity: 64 << 10)
        var text = ""
        while !session.drain(into: &queue) {
          text += queue.bytes.string
          queue.removeAll()
        }
        return text + queue.bytes.string
      }
    )
  }

  @Test func chunksAndWhatCameBehind() {
    var (session, output) = session("GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n")
    session.begin(HTTPResponse(status: 200, fields: ["x": "y"]), date: "D")
    #expect(output(&session) == "HTTP/1.1 200 OK\r\nx: y\r\ndate: D\r\ntransfer-encoding: chunked\r\n\r\n")
    #expect(session.isAnswering && !session.isIdle && !session.isReceiving)
    session.write(Array("0123456789abcdef!".utf8))
    session.write([])
    #expect(session.unsentBytes == 23)
    #expect(output(&session) == "11\r\n0123456789abcdef!\r\n")
    guard case .handle(let second) = session.endBody(date: "D") else {
      Issue.record("the request behind it is not looked at")
      return
    }
    #expect(second.target == "/2")
    #expect(output(&session) == "0\r\n\r\n")
  }

  /// HTTP/1.0 knows no chunks, and a client that wants no further request gets the end with the body's.
  @Test(arguments: [
    ("GET / HTTP/1.0\r\n\r\n", "", "ab", ""),
    ("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "transfer-encoding: chunked\r\n", "2\r\nab\r\n", "0\r\n\r\n"),
  ])
  func theEndOfTheConnection(request: String, framing: String, body: String, end: String) {
    var (session, output) = session(request)
    session.begin(HTTPResponse(status: 200), date: "D")
    #expect(output(&session) == "HTTP/1.1 200 OK\r\ndate: D\r\n\(framing)connection: close\r\n\r\n")
    session.write(Array("ab".utf8))
    #expect(output(&session) == body && !session.isDone)
    _ = session.endBody(date: "D")
    #expect(output(&session) == end && session.isDone)
  }

  /// What was sent is not kept, however long the stream goes on and however slowly it is read.
  @Test func theOutputDoesNotGrow() {
    var (session, _) = session("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    session.begin(HTTPResponse(status: 200), date: "D")
    var queue = ByteQueue(capacity: 10)
    var most = 0
    for _ in 0..<1000 {
      if session.unsentBytes < 100 { session.write([1, 2, 3]) }
      _ = session.drain(into: &queue)
      queue.removeAll()
      most = max(most, session.unsentBytes)
    }
    #expect(most < 200)
  }
}

@Suite("Server: a body bit by bit", .timeLimit(.minutes(10))) struct ServerStreamTests {
  @Test(arguments: [["--http1.1"], ["--http1.0"], ["--http2-prior-knowledge"]], [0, 1, 3, 40])
  func everyPieceArrives(flags: [String], count: Int) async throws {
    let stage = try ControlStage()
    let result = try await curl(flags + ["-D", "-", "http://127.0.0.1:\(stage.plainPort)/stream?\(count)"])
    let piece = String(repeating: "x", count: TestHandlers.pieceBytes)
    #expect(result.status == 0)
    #expect(result.output.hasSuffix("\r\n\r\n" + (0..<count).map { "\($0 % 10)" + piece }.joined()), "\(result.output.suffix(100))")
    #expect(!result.output.lowercased().contains("content-length"))
    #expect(stage.handlers.events.all == ["ended"])
  }

  @Test(arguments: [["--http1.1"], ["--http2"]]) func overTLSAndTwiceOnOneConnection(flags: [String]) async throws {
    let stage = try ControlStage()
    let url = "https://localhost:\(stage.tlsPort)/stream?2"
    let result = try await curl(flags + ["-o", "/dev/null", "-o", "/dev/null", "-w", "%{num_connects} %{size_download} ", url, url])
    let size = 2 * (TestHandlers.pieceBytes + 1)
    #expect(result.output == "1 \(size) 0 \(size) ")
  }

  @Test(arguments: [["--http1.1"], ["--http2-prior-knowledge"]]) func headBeginsNone(flags: [String]) async throws {
    let stage = try ControlStage()
    let result = try await curl(flags + ["-I", "http://127.0.0.1:\(stage.plainPort)/stream?3"])
    #expect(result.output.contains(" 200") && result.status == 0 && stage.handlers.events.all.isEmpty)
  }

  /// The writer of a client that hangs up, or does not read, is told so and ends.
  @Test func aClientThatGoes() async throws {
    let stage = try ControlStage()
    for flags in [["--http1.1"], ["--http2-prior-knowledge"]] {
      try await curl(flags + ["http://127.0.0.1:\(stage.plainPort)/stream?endless"]) { output in
        _ = try await blocking { try output.read(upToCount: 1) }
      }
    }
    // Each may have been told before that there was no room, since its client had not read for a while.
    try await stage.handlers.events.until { $0.count { $0 != "full" } == 2 }
    #expect(stage.handlers.events.all.allSatisfy { ["full", "gone", "cancelled"].contains($0) })
  }

  @Test func aClientThatDoesNotRead() async throws {
    let stage = try ControlStage()
    do {
      let client = try RawClient(port: stage.plainPort)
      client.send("GET /stream?endless HTTP/1.1\r\nHost: localhost\r\n\r\n")
      try await stage.handlers.events.until { $0.contains("full") }
      withExtendedLifetime(client) {}
    }
    #expect(stage.handlers.events.all.first == "full")
    try await stage.handlers.events.until { $0.last != "full" }
  }

  @Test func aDrainEndsIt() async throws {
    let stage = try ControlStage()
    async let streamed = curl(["http://127.0.0.1:\(stage.plainPort)/stream?wait"])
    try await stage.handlers.events.until { $0 == ["began"] }
    stage.drain(within: .seconds(5))
    #expect(try await streamed.output == "end")
    #expect(stage.handlers.events.all == ["began", "cancelled"])
  }
}
