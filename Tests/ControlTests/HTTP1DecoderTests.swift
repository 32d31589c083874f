import Primitives
import Seeds
import Testing

@testable import Control

/// What a decoder made of some bytes, in a form that can be compared.
private struct Outcome: Equatable {
  var messages: [String] = []
  var failure: ControlError?
  var continues = 0
  var isIdle = true
}

/// Feeds `pieces` to a fresh decoder as a connection does: what a message leaves over is read again.
private func decode(_ pieces: [[UInt8]], limits: HTTP1Limits = HTTP1Limits()) -> Outcome {
  let decoder = HTTP1Decoder(limits: limits)
  var outcome = Outcome()
  for piece in pieces {
    var rest = piece[...]
    while !rest.isEmpty && outcome.failure == nil {
      let bytes = Array(rest)
      let (consumed, event) = decoder.read(bytes.span.bytes)
      rest = rest.dropFirst(consumed)
      switch event {
      case .needsMore: #expect(rest.isEmpty)
      case .continueExpected: outcome.continues += 1
      case .message(let message): outcome.messages.append(text(of: message))
      case .failed(let error): outcome.failure = error
      }
    }
  }
  outcome.isIdle = decoder.isIdle
  return outcome
}

private func decode(_ text: String, limits: HTTP1Limits = HTTP1Limits()) -> Outcome {
  decode([Array(text.utf8)], limits: limits)
}

private func text(of message: HTTP1Message) -> String {
  let fields = message.fields.lines.map { "\($0.name)=\($0.value)" }.joined(separator: ";")
  let body = String(decoding: message.body, as: UTF8.self)
  return "\(message.method) \(message.target) 1.\(message.minorVersion) [\(fields)] \(body) \(message.keepsAlive ? "stays" : "closes")"
}

@Suite("HTTP/1.1 decoder") struct HTTP1DecoderTests {
  /// Requests of every framing, one behind the other.
  private static let pipeline = [
    "GET /v1/pushes?limit=1 HTTP/1.1\r\nHost: a\r\nAccept: */*\r\n\r\n",
    "PUT /v1/registrations/aa HTTP/1.1\r\nhost:b\r\nContent-Length: 5\r\n\r\nhello",
    "POST /x HTTP/1.1\r\nHost: c \r\nTransfer-Encoding: Chunked\r\n\r\n3\r\nabc\r\nB;ext=1\r\nhello world\r\n0\r\nTrailer: t\r\n\r\n",
    "HEAD / HTTP/1.1\r\nHost: d\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nEmpty:\r\n\r\n",
    "DELETE http://h/y HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
    "\r\n\r\nGET /z HTTP/1.1\r\nHost: e\r\nX-Bytes: caf\u{e9}\r\nConnection: close\r\n\r\n",
  ]
  private static let expected = [
    "GET /v1/pushes?limit=1 1.1 [host=a;accept=*/*]  stays",
    "PUT /v1/registrations/aa 1.1 [host=b;content-length=5] hello stays",
    "POST /x 1.1 [host=c;transfer-encoding=Chunked] abchello world stays",
    "HEAD / 1.1 [host=d;connection=Upgrade, HTTP2-Settings;upgrade=h2c;empty=]  stays",
    "DELETE http://h/y 1.0 [connection=keep-alive]  stays",
    "GET /z 1.1 [host=e;x-bytes=caf\u{e9};connection=close]  closes",
  ]

  @Test func wholePipeline() {
    #expect(decode(Self.pipeline.joined()).messages == Self.expected)
  }

  /// Every way to cut the pipeline in two, and a byte at a time: the same requests.
  @Test func everySplitReadsTheSame() {
    let bytes = Array(Self.pipeline.joined().utf8)
    for cut in 1..<bytes.count {
      let outcome = decode([Array(bytes[..<cut]), Array(bytes[cut...])])
      #expect(outcome.messages == Self.expected, "cut at \(cut)")
      #expect(outcome.isIdle && outcome.failure == nil)
    }
    #expect(decode(bytes.map { [$0] }).messages == Self.expected)
  }

  /// Ends of a message leave the next one untouched.
  @Test(arguments: 0..<6) func aMessageConsumesExactlyItself(index: Int) {
    let bytes = Array((Self.pipeline[index] + "GET").utf8)
    let decoder = HTTP1Decoder(limits: HTTP1Limits())
    let (consumed, event) = decoder.read(bytes.span.bytes)
    #expect(consumed == bytes.count - 3)
    guard case .message = event else { Issue.record("\(event)"); return }
  }

  @Test func idleUntilTheFirstByte() {
    #expect(decode("\r\n\r\n").isIdle)
    #expect(!decode("G").isIdle)
    #expect(!decode("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nx").isIdle)
  }

  // MARK: Expect

  @Test func continueIsAskedForOnce() {
    let head = "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-Continue\r\n\r\n"
    let bytes = Array(head.utf8)
    for cut in 1...bytes.count {
      let outcome = decode([Array(bytes[..<cut]), Array(bytes[cut...]), [UInt8(ascii: "h")], [UInt8(ascii: "i")]])
      #expect(outcome.continues == 1, "cut at \(cut)")
      #expect(outcome.messages.count == 1)
    }
  }

  /// A client that has begun the body, or will send none, waits for nothing.
  @Test(arguments: [
    "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\nh",
    "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nExpect: 100-continue\r\n\r\n",
    "PUT / HTTP/1.0\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n",
  ]) func noContinueWhereNoneIsNeeded(text: String) {
    #expect(decode(text).continues == 0)
  }

  // MARK: Malformed input

  /// Each with the status, the part that is named, and a word that the sentence must have.
  private static let malformed: [(bytes: String, status: Int, field: String?, word: String)] = [
    ("(FETCH) / HTTP/1.1\r\n", 400, "method", "GET /v1/pushes"), ("GET\t/ HTTP/1.1\r\n", 400, "method", "GET /v1/pushes"),
    (String(repeating: "A", count: 33) + " / HTTP/1.1\r\n", 400, "method", "GET /v1/pushes"),
    (" GET / HTTP/1.1\r\n", 400, "method", "begin"),
    ("\u{16}\u{3}\u{1}\u{2}", 400, "scheme", "http://"),
    ("{\"a\":1}", 400, "method", "must begin"),
    ("GET  HTTP/1.1\r\n", 400, "path", "slash"),
    ("GET pushes HTTP/1.1\r\n", 400, "path", "slash"),
    ("GET / FTTP/1.1\r\n", 400, "version", "HTTP/1.1"),
    ("GET / HTTP/x.1\r\n", 400, "version", "HTTP/1.1"),
    ("GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505, "version", "HTTP/1.1"),
    ("GET / HTTP/1.1\r\n\r\n", 400, "host", "exactly one host"),
    ("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400, "host", "not 2"),
    ("GET / HTTP/1.1\r\nHost: a\r\nNo Colon\r\n\r\n", 400, "headers", "header field"),
    ("GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400, "headers", "directly followed by a colon"),
    ("GET / HTTP/1.1\r\nHost: a\r\n: empty\r\n\r\n", 400, "headers", "header field"),
    ("GET / HTTP/1.1\r\nHost: a\r\nX: b\r\n  folded\r\n\r\n", 400, "headers", "one line"),
    ("GET / HTTP/1.1\r\nHost: a\r\nX: b\u{0}c\r\n\r\n", 400, "headers", "control characters"),
    ("GET / HTTP/1.1\r\nHost: a\r\nX: b\rc\r\n\r\n", 400, "headers", "CR LF"),
    ("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: five\r\n\r\n", 400, "content-length", "decimal"),
    ("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", 400, "content-length", "decimal"),
    ("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n", 400, "content-length", "decimal"),
    ("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400, "content-length", "once"),
    ("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400, "content-length", "together"),
    ("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", 400, "transfer-encoding", "chunked"),
    ("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 400, "transfer-encoding", "chunked"),
    ("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", 400, "body", "hexadecimal"),
    ("PRI * HTTP/1.1\r\nHost: a\r\n\r\n", 400, "method", "must begin"),
    ("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n 2\r\n\r\n{}", 400, "headers", "one line"),
    ("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\n\tchunked\r\n\r\n0\r\n\r\n", 400, "headers", "one line"),
    ("GET / HTTP/1.1\r\n Host: a\r\n\r\n", 400, "headers", "one line"),
    ("GET / HTTP/1.1\r\nHost: a\r\n \r\n\r\n", 400, "headers", "one line"),
    ("GET / HTTP/1.1\nHost: a\r\n\r\n", 400, "headers", "CR LF"), ("GET / HTTP/1.1\r\nHost: a\n\r\n", 400, "headers", "CR LF"),
    ("GET / HTTP/1.1\r\nHost: a\r\n\n", 400, "headers", "CR LF"), ("\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", 400, "headers", "CR LF"),
    ("\rGET / HTTP/1.1\r\nHost: a\r\n\r\n", 400, "headers", "CR LF"), ("GET / HTTP/1.1\r\nA: b\nHost: a\r\n\r\n", 400, "headers", "CR LF"),
    ("PUT / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", 400, "transfer-encoding", "HTTP/1.0"),
    ("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\n\r\n", 400, "transfer-encoding", "chunked"),
    ("PUT / HTTP/1.1\r\nHost: a\r\nExpect: magic\r\n\r\n", 417, "expect", "100-continue"),
  ]

  /// Whole and a byte at a time, the same verdict, naming the place and the right form.
  @Test(arguments: malformed.indices) func malformedInputIsRefused(index: Int) throws {
    let (text, status, field, word) = Self.malformed[index]
    let bytes = Array(text.utf8)
    for pieces in [[bytes], bytes.map { [$0] }] {
      let outcome = decode(pieces)
      let failure = try #require(outcome.failure, "\(text) was read as \(outcome.messages)")
      #expect(failure.status == status)
      #expect(failure.field == field)
      #expect(failure.message.contains(word), "\(failure.message)")
      #expect(outcome.messages.isEmpty)
    }
  }

  // MARK: Chunks

  /// Bodies in chunks that nobody reads otherwise.
  @Test(arguments: [
    ("2\r\n{}\r\n0\r\n\r\n", "{}"), ("1\r\n{\r\n1\r\n}\r\n0\r\n\r\n", "{}"), ("002\r\n{}\r\n000\r\n\r\n", "{}"),
    ("2;a=b;c\r\n{}\r\n0;x\r\n\r\n", "{}"), ("2 ;a\r\n{}\r\n0\r\n\r\n", "{}"), ("2\r\n\r\n\r\n0\r\n\r\n", "\r\n"), ("0\r\n\r\n", ""),
    ("2\r\n{}\r\n0\r\nX: y\r\nZ:\r\n\r\n", "{}"), ("A\r\n0123456789\r\n0\r\n\r\n", "0123456789"),
  ]) func chunksAreABody(chunks: String, body: String) {
    let bytes = Array("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\(chunks)GET /b HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
    for pieces in [[bytes], bytes.map { [$0] }] {
      let outcome = decode(pieces)
      #expect(outcome.messages.count == 2 && outcome.messages.first?.contains("] \(body) stays") == true, "\(outcome)")
    }
  }

  /// What one reader takes for the end of a chunk, or of its line, and another does not, carries a request of its own.
  @Test(arguments: [
    ("2\r\n{}xx0\r\n\r\n", "body"), ("2\r\n{}\n0\r\n\r\n", "body"), ("2\r\n{}\r0\r\n\r\n", "body"), ("2\r\n{}}\r\n0\r\n\r\n", "body"),
    ("2;\nxx\r\n{}\r\n0\r\n\r\n", "headers"), ("2\n{}\r\n0\r\n\r\n", "headers"), ("2\r{}\r\n0\r\n\r\n", "headers"),
    ("2;a\r\r\n{}", "headers"),
    ("0x2\r\n{}\r\n0\r\n\r\n", "body"), ("-2\r\n{}\r\n", "body"), ("+2\r\n{}\r\n", "body"), (" 2\r\n{}\r\n", "body"), ("\r\n", "body"),
    ("2 \r\n{}\r\n", "body"), ("2 2\r\n{}\r\n", "body"), ("2;a\u{0}\r\n{}\r\n", "body"), ("00000000000000002\r\n{}\r\n", "body"),
    ("0\r\nX: y\n\r\n", "headers"), ("0\r\n\n", "headers"), ("0\r\n X: y\r\n\r\n", "headers"), ("0\r\nX y\r\n\r\n", "headers"),
    ("0\r\n: y\r\n\r\n", "headers"), ("0\r\nX: \u{1}\r\n\r\n", "headers"), ("0\r\nX : y\r\n\r\n", "headers"), ("0\r\rX", "headers"),
  ]) func doubtfulChunksAreRefused(chunks: String, field: String) {
    let bytes = Array(("PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks).utf8)
    for pieces in [[bytes], bytes.map { [$0] }] {
      let outcome = decode(pieces)
      #expect(outcome.failure?.status == 400 && outcome.failure?.field == field && outcome.messages.isEmpty, "\(chunks): \(outcome)")
    }
  }

  // MARK: Methods

  /// A method that nobody knows is no malformed request: what a path takes is said to it, as over HTTP/2.
  @Test(arguments: ["FETCH", "get", "M-SEARCH", "OPTIONS", "QUERY", "A", "UPDATEREDIRECTREF", "x!#$%&'*+-.^_`|~9"])
  func everyMethodIsRead(method: String) {
    let bytes = Array("\(method) /a HTTP/1.1\r\nHost: a\r\n\r\nGET /b HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
    for pieces in [[bytes], bytes.map { [$0] }] {
      #expect(decode(pieces).messages == ["\(method) /a 1.1 [host=a]  stays", "GET /b 1.1 [host=a]  stays"])
    }
  }

  // MARK: Limits

  private static let small = HTTP1Limits(headBytes: 200, fields: 4, bodyBytes: 10)

  @Test(arguments: [
    "GET /\(String(repeating: "a", count: 300)) HTTP/1.1\r\n",
    "GET / HTTP/1.1\r\nX: \(String(repeating: "a", count: 300))",
    "GET / HTTP/1.1\r\n\(String(repeating: "a", count: 300))",
    "GET / HTTP/1.1\r\nHost: a\r\nA: 1\r\nB: 1\r\nC: 1\r\nD: 1\r\n\r\n",
    "GET / HTTP/1.1\r\nX:\(String(repeating: " ", count: 100_000))",
    "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\(String(repeating: "X: y\r\n", count: 100))",
    "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;\(String(repeating: "x", count: 300))",
  ]) func aHeadTooLargeIsRefused(text: String) {
    #expect(decode(text, limits: Self.small).failure?.status == 431)
  }

  @Test(arguments: [
    ("Content-Length: 10\r\n\r\n0123456789", true), ("Content-Length: 11\r\n\r\n", false),
    ("Content-Length: 999999999999999999\r\n\r\n", false),
    ("Transfer-Encoding: chunked\r\n\r\n5\r\n01234\r\n5\r\n56789\r\n0\r\n\r\n", true),
    ("Transfer-Encoding: chunked\r\n\r\n5\r\n01234\r\n6\r\n567890\r\n0\r\n\r\n", false),
    ("Transfer-Encoding: chunked\r\n\r\nfffffff\r\n01234567890", false),
    ("Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n01", false),
    ("Transfer-Encoding: chunked\r\n\r\n10000000000000002\r\n01", false),
  ]) func bodiesUpToTheLimit(rest: String, fits: Bool) {
    let outcome = decode("PUT / HTTP/1.1\r\nHost: a\r\n" + rest, limits: Self.small)
    #expect(outcome.failure?.status == (fits ? nil : 413))
    #expect(outcome.messages.count == (fits ? 1 : 0))
  }

  /// Seeded damage to good requests: never a trap, never more than the limits kept, always the same verdict however it is cut.
  @Test(arguments: seeds(400)) func damagedRequestsAreJudgedAlike(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var bytes = Array(Self.pipeline.joined().utf8)
    for _ in 0..<Int.random(in: 1...6, using: &random) {
      let place = Int.random(in: 0..<bytes.count, using: &random)
      switch Int.random(in: 0..<3, using: &random) {
      case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
      case 1: bytes.remove(at: place)
      default: bytes.insert([0x0D, 0x0A, 0x20, 0x3A, 0x30, 0x00].randomElement(using: &random)!, at: place)
      }
    }
    var pieces: [[UInt8]] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = min(rest.count, Int.random(in: 1...40, using: &random))
      pieces.append(Array(rest.prefix(count)))
      rest = rest.dropFirst(count)
    }
    let whole = decode([bytes])
    let cut = decode(pieces)
    #expect(whole.messages == cut.messages)
    #expect(whole.failure?.status == cut.failure?.status)
  }
}
