import Control
import Testing

@Suite("Server and curl") struct CurlTests {
  /// Each way to reach a server, with the version that curl ends up with.
  private static let ways: [(name: String, flags: [String], isTLS: Bool, version: String)] = [
    ("plain HTTP/1.1", ["--http1.1"], false, "1.1"), ("plain HTTP/1.0", ["--http1.0"], false, "1.1"),
    ("plain HTTP/2 with prior knowledge", ["--http2-prior-knowledge"], false, "2"),
    ("an offer to upgrade, which is ignored", ["--http2"], false, "1.1"), ("TLS, HTTP/2 by ALPN", ["--http2"], true, "2"),
    ("TLS, HTTP/1.1 by ALPN", ["--http1.1"], true, "1.1"), ("TLS without ALPN", ["--no-alpn"], true, "1.1"),
    ("TLS 1.2", ["--tls-max", "1.2"], true, "2"),
  ]

  private let stage: ControlStage

  init() throws { stage = try ControlStage { $0.limits.bodyBytes = 50_000 } }

  private func url(_ path: String, isTLS: Bool) -> String {
    isTLS ? "https://localhost:\(stage.tlsPort)\(path)" : "http://127.0.0.1:\(stage.plainPort)\(path)"
  }

  private func fetch(_ way: Int, _ path: String, _ more: [String] = [], input: [UInt8] = []) async throws -> String {
    let (_, flags, isTLS, version) = Self.ways[way]
    let result = try await curl(flags + more + ["-w", "%{http_code} %{http_version}", url(path, isTLS: isTLS)], input: input)
    #expect(result.output.hasSuffix(" \(version)"), "\(Self.ways[way].name): \(result.output.suffix(100))")
    #expect(result.status == 0)
    return String(result.output.dropLast(version.count + 1))
  }

  @Test(arguments: ways.indices) func everyWayIsAnswered(way: Int) async throws {
    #expect(try await fetch(way, "/hello") == "hello\n200")
    #expect(try await fetch(way, "/nothing") == "204")
    let host = Self.ways[way].isTLS ? "localhost" : "127.0.0.1"
    let face = Self.ways[way].isTLS ? "tls" : "plain"
    let about = #"{"method":"GET","path":"/about","host":"\#(host)","face":"\#(face)","x":"y z"}"#
    #expect(try await fetch(way, "/about?q=1", ["-H", "X: y z"]) == about + "\n200")
  }

  @Test(arguments: ways.indices) func headHasTheLengthAndNoBody(way: Int) async throws {
    let answer = try await fetch(way, "/hello", ["-I"]).lowercased()
    #expect(answer.contains("\r\ncontent-length: 6\r\n") && answer.contains(" 200"))
    #expect(answer.contains("\r\ndate: tue, 14 nov 2023 22:13:20 gmt\r\n"))
    #expect(!answer.contains("hello"))
  }

  @Test(arguments: ways.indices) func errorsAreJSON(way: Int) async throws {
    #expect(
      try await fetch(way, "/helo")
        == #"{"error":{"code":"unknownRoute","message":"there is nothing at /helo; did you mean /hello?","field":"path"}}"# + "\n404")
    #expect(try await fetch(way, "/%zz").contains("two hexadecimal digits"))
    #expect(try await fetch(way, "/hello", ["-X", "DELETE", "-D", "-"]).lowercased().contains("allow: get, head\r\n"))
    #expect(try await fetch(way, "/hello", ["-X", "DELETE"]).hasSuffix("405"))
    let invalid = try await fetch(way, "/json", ["-d", #"{"n": 1"#])
    #expect(invalid.contains(#""code":"invalidJSON""#) && invalid.hasSuffix("400"))
    let unknown = try await fetch(way, "/json", ["-d", #"{"n": 1, "nn": 2}"#])
    #expect(unknown.contains(#"nn is not a known field; did you mean \"n\"?"#) && unknown.hasSuffix("400"))
    #expect(try await fetch(way, "/json", ["-d", #"{"n": 1}"#]) == #"{"n":1}"# + "\n200")
  }

  /// Bodies of every size around frames and buffers, with a length, in chunks, and after 100 Continue.
  @Test(arguments: ways.indices) func bodiesArriveWhole(way: Int) async throws {
    let flags = [["--data-binary", "@-"], ["-T", "-", "-X", "POST"], ["--data-binary", "@-", "-H", "Expect: 100-continue"]]
    for (index, size) in [1, 16_384, 50_000].enumerated() {
      let body = (0..<size).map { UInt8(ascii: "a") + UInt8(truncatingIfNeeded: $0 % 23) }
      // HTTP/1.0 has no chunks.
      let more = way == 1 ? flags[0] : flags[index]
      let answer = try await fetch(way, "/echo", more, input: body)
      #expect(answer == String(decoding: body, as: UTF8.self) + "200", "\(size) bytes")
    }
  }

  @Test(arguments: ways.indices) func aBodyTooLargeIsRefused(way: Int) async throws {
    let answer = try await fetch(way, "/echo", ["--data-binary", "@-"], input: [UInt8](repeating: 0x61, count: 50_001))
    #expect(answer == #"{"error":{"code":"tooLarge","message":"the body must have at most 50000 bytes","field":"body"}}"# + "\n413")
  }

  @Test(arguments: ways.indices) func aLargeAnswerArrivesWhole(way: Int) async throws {
    let (_, flags, isTLS, _) = Self.ways[way]
    let result = try await curl(flags + ["-o", "/dev/null", "-w", "%{size_download}", url("/large", isTLS: isTLS)])
    #expect(result.output == "\(TestHandlers.largeBytes)" && result.status == 0)
  }

  /// Several requests on one connection; but curl of this version cannot use one again that HTTP/2 was assumed for, and
  /// closes after each answer to HTTP/1.0.
  @Test(arguments: ways.indices.filter { $0 != 1 && $0 != 2 }) func connectionsAreKept(way: Int) async throws {
    let (_, flags, isTLS, _) = Self.ways[way]
    let target = url("/hello", isTLS: isTLS)
    let result = try await curl(flags + ["-w", "%{num_connects}", target, target, target])
    #expect(result.output == "hello\n1hello\n0hello\n0")
  }

  @Test(arguments: [("127.0.0.1", 200), ("localhost:1", 200), ("evil.example", 403)])
  func privateThingsAreForThisMachine(host: String, status: Int) async throws {
    for way in [0, 2] { #expect(try await fetch(way, "/private", ["-H", "Host: \(host)"]).hasSuffix("\(status)")) }
    for way in [4, 5] { #expect(try await fetch(way, "/private", ["-H", "Host: \(host)"]).hasSuffix("403")) }
  }

  @Test func onTheLoop() async throws {
    let stage = try ControlStage(answersOnLoop: true)
    let url = "http://127.0.0.1:\(stage.plainPort)"
    #expect(try await curl(["--http2-prior-knowledge", url + "/on-loop"]).output == "on the loop\n")
    #expect(try await curl(["--http2-prior-knowledge", url + "/hello"]).output == "hello\n")
    #expect(try await curl(["--http1.1", url + "/on-loop"]).output.contains("unknownRoute"))
  }
}
