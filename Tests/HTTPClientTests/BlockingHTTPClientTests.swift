import HTTPClient
import Primitives
import Synchronization
import Testing

@Suite("Blocking HTTP client") struct BlockingHTTPClientTests {
  private typealias Request = BlockingHTTPClient.Request
  private typealias Kind = BlockingHTTPClient.Failure.Kind

  @Test(arguments: ["GET", "POST", "PUT", "DELETE"], [nil, [], Array("hello".utf8)] as [[UInt8]?])
  func methodsBodiesAndFieldsArrive(method: String, body: [UInt8]?) throws {
    let server = try PythonServer(PythonServer.echo(tls: false))
    let client = BlockingHTTPClient()
    let response = try client.perform(
      Request(
        method, "http://127.0.0.1:\(server.port)/a%20b?c=d", fields: [.init("authorization", "bearer x"), .init("x-empty", "")], body: body)
    )
    #expect(response.status == 200)
    #expect(response.text.hasPrefix("\(method) /a%20b?c=d HTTP/1.1\n"))
    #expect(response.text.contains("\nauthorization: bearer x\n"))
    #expect(response.text.contains("\nx-empty: \n"))
    #expect(response.text.hasSuffix("\n\n" + String(decoding: body ?? [], as: UTF8.self)))
    #expect(response.text.contains("content-length: 5") == (body?.count == 5))
    for added in ["content-type", "expect"] { #expect(!response.text.contains("\n\(added):")) }
    #expect(response.fields.filter { $0.name == "x-twice" }.map(\.value) == ["one", "two"])
    #expect(!response.isHTTP2)
  }

  @Test func everyStatusIsAnAnswerAndHEADHasNoBody() throws {
    let server = try PythonServer(PythonServer.echo(tls: false))
    let client = BlockingHTTPClient()
    #expect(try client.perform(Request("GET", "http://127.0.0.1:\(server.port)/teapot")).status == 418)
    let head = try client.perform(Request("HEAD", "http://127.0.0.1:\(server.port)/teapot"))
    #expect(head.status == 418)
    #expect(head.body.isEmpty)
    #expect(head.field("content-length") != nil)
  }

  @Test func connectionsAreKeptAndReused() throws {
    let server = try PythonServer(PythonServer.echo(tls: true))
    let client = BlockingHTTPClient(trust: .file(server.caFile))
    let ports = try (0..<5).map { _ in
      try client.perform(Request("POST", "https://localhost:\(server.port)/", body: [1])).field("x-port")
    }
    #expect(Set(ports).count == 1)
    #expect(ports[0] != nil)
  }

  @Test func trustMayBeGivenAsTextOrFile() throws {
    let server = try PythonServer(PythonServer.echo(tls: true))
    let pem = try String(contentsOfFile: server.caFile, encoding: .utf8)
    for trust in [BlockingHTTPClient.Trust.pem(pem), .file(server.caFile)] {
      let client = BlockingHTTPClient(trust: trust)
      #expect(try client.perform(Request("GET", "https://localhost:\(server.port)/")).status == 200)
      #expect(try client.perform(Request("GET", "https://127.0.0.1:\(server.port)/", version: .http1)).status == 200)
    }
  }

  @Test func aStrangersCertificateIsNotTrusted() throws {
    let server = try PythonServer(PythonServer.echo(tls: true))
    let other = try PythonServer(PythonServer.echo(tls: true))
    for trust in [BlockingHTTPClient.Trust.file(other.caFile), .system] {
      let failure = failure(of: BlockingHTTPClient(trust: trust), Request("GET", "https://localhost:\(server.port)/"))
      #expect(failure?.kind == .untrusted)
      #expect(failure?.message.contains("localhost:\(server.port)") == true)
    }
    let named = failure(of: BlockingHTTPClient(trust: .file(other.caFile)), Request("GET", "https://localhost:\(server.port)/"))
    #expect(named?.message.contains(other.caFile) == true)
    let missing = failure(of: BlockingHTTPClient(trust: .file("/nonexistent/ca.pem")), Request("GET", "https://localhost:\(server.port)/"))
    #expect(missing?.kind == .badTrust)
    #expect(missing?.message.contains("/nonexistent/ca.pem") == true)
  }

  @Test func aNameThatTheCertificateDoesNotHaveIsNotTrusted() throws {
    let server = try PythonServer(PythonServer.echo(tls: true))
    let failure = failure(of: BlockingHTTPClient(trust: .file(server.caFile)), Request("GET", "https://[::ffff:127.0.0.1]:\(server.port)/"))
    #expect(failure?.kind == .untrusted)
  }

  @Test(arguments: [
    ("c.close()", Kind.connectionLost),
    ("c.sendall(b'HTTP/1.1 200 OK\\r\\ncontent-length: 10\\r\\n\\r\\nhalf'); c.close()", .connectionLost),
    ("kept.append(c)", .timeout),
    ("c.sendall(b'SSH-2.0-OpenSSH\\r\\n'); c.close()", .malformed),
    ("c.sendall(b'HTTP/1.1 200 OK\\r\\ncontent-length: 2000\\r\\n\\r\\n' + b'x' * 2000); c.close()", .tooLarge),
    (
      "c.sendall(b'HTTP/1.1 200 OK\\r\\ntransfer-encoding: chunked\\r\\n\\r\\n' + b'400\\r\\n' + b'x' * 1024 + b'\\r\\n400\\r\\n' + b'x' * 1024)",
      .tooLarge
    ),
  ])
  func badServersAreToldApart(reaction: String, kind: BlockingHTTPClient.Failure.Kind) throws {
    let server = try PythonServer(PythonServer.raw(reaction))
    let client = BlockingHTTPClient(bounds: .init(total: .milliseconds(kind == .timeout ? 200 : 20_000), bodyBytesMax: 1024))
    let failure = failure(of: client, Request("GET", "http://127.0.0.1:\(server.port)/path"))
    #expect(failure?.kind == kind)
    #expect(failure?.message.contains("http://127.0.0.1:\(server.port)/path") == true)
  }

  @Test func interimAnswersAreSkipped() throws {
    let server = try PythonServer(
      PythonServer.raw("c.sendall(b'HTTP/1.1 103 Early Hints\\r\\nlink: x\\r\\n\\r\\nHTTP/1.1 204 No Content\\r\\na: b\\r\\n\\r\\n')"))
    let response = try BlockingHTTPClient().perform(Request("GET", "http://127.0.0.1:\(server.port)/"))
    #expect(response.status == 204)
    #expect(response.fields == [.init("a", "b")])
  }

  @Test func nothingListening() throws {
    let port = try PythonServer(PythonServer.echo(tls: false)).port
    let failure = failure(of: BlockingHTTPClient(), Request("GET", "http://127.0.0.1:\(port)/"))
    #expect(failure?.kind == .connectionRefused)
    #expect(failure?.message == "nothing listens at http://127.0.0.1:\(port)/: connection refused")
  }

  @Test(arguments: ["", "nonsense::", "ftp://localhost/", "file:///etc/passwd", "https://"]) func otherURLsAreRefused(url: String) {
    let failure = failure(of: BlockingHTTPClient(), Request("GET", url))
    #expect(failure?.kind == .badRequest)
  }

  @Test func fieldsCannotSmuggleLines() {
    let request = Request("GET", "http://127.0.0.1:1/", fields: [.init("a", "b\r\nc: d")])
    #expect(failure(of: BlockingHTTPClient(), request)?.kind == .badRequest)
  }

  @Test func aFailedCallLeavesTheClientUsable() throws {
    let server = try PythonServer(PythonServer.echo(tls: false))
    let client = BlockingHTTPClient()
    #expect(failure(of: client, Request("GET", "http://127.0.0.1:1/"))?.kind == .connectionRefused)
    #expect(try client.perform(Request("GET", "http://127.0.0.1:\(server.port)/")).status == 200)
  }

  @Test func pathSegmentsAreEncoded() {
    #expect(BlockingHTTPClient.percentEncoded("com.example.app-1_~") == "com.example.app-1_~")
    #expect(BlockingHTTPClient.percentEncoded("a/b?c d&é") == "a%2Fb%3Fc%20d%26%C3%A9")
  }

  private func failure(of client: BlockingHTTPClient, _ request: Request) -> BlockingHTTPClient.Failure? {
    do {
      _ = try client.perform(request)
      return nil
    } catch {
      return error
    }
  }

  // MARK: Streams

  private static let streaming = """
    c.sendall(b'HTTP/1.1 200 OK\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n'); kept.append(c)
      for word in [b'one', b'two', b'three']:
        c.sendall(b'%x\\r\\n%s\\r\\n' % (len(word), word)); time.sleep(0.02)
    """

  @Test func aStreamIsReadAsItComes() throws {
    let server = try PythonServer(PythonServer.raw(Self.streaming + "\n  c.sendall(b'0\\r\\n\\r\\n')"))
    let pieces = Mutex<[String]>([])
    let response = try BlockingHTTPClient().stream(Request("GET", "http://127.0.0.1:\(server.port)/"), silence: .seconds(30)) { bytes in
      pieces.withLock { $0.append(String(decoding: bytes, as: UTF8.self)) }
      return true
    }
    #expect(response.status == 200 && response.body.isEmpty)
    #expect(pieces.withLock { $0.joined() } == "onetwothree")
  }

  @Test func aReaderMayHaveEnough() throws {
    let server = try PythonServer(PythonServer.raw(Self.streaming))
    let response = try BlockingHTTPClient().stream(Request("GET", "http://127.0.0.1:\(server.port)/"), silence: .seconds(30)) { _ in false }
    #expect(response.status == 200)
  }

  /// The total time does not count, silence does.
  @Test func silenceEndsAStream() throws {
    let server = try PythonServer(PythonServer.raw(Self.streaming))
    let client = BlockingHTTPClient(bounds: .init(total: .milliseconds(10)))
    let failure = #expect(throws: BlockingHTTPClient.Failure.self) {
      try client.stream(Request("GET", "http://127.0.0.1:\(server.port)/"), silence: .seconds(1)) { _ in true }
    }
    #expect(failure?.kind == .timeout)
  }

  @Test func anErrorIsNoStream() throws {
    let server = try PythonServer(PythonServer.echo(tls: false))
    let response = try BlockingHTTPClient().stream(
      Request("GET", "http://127.0.0.1:\(server.port)/teapot"), silence: .seconds(30)
    ) { _ in
      Issue.record("its body is no stream")
      return true
    }
    #expect(response.status == 418 && response.text.hasPrefix("GET /teapot"))
  }
}
