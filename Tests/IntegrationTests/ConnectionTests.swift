import Foundation
import Testing

/// How clients connect: ALPN, TLS versions, and those that speak something else.
@Suite("Connections to the provider face", .processes) struct ConnectionTests {
  private func onePush(_ dev: Deployment, environment: String = "development") async throws -> [Step] {
    let token = newToken()
    try await dev.register(token, RegistrationBody.widgets.replacingOccurrences(of: "development", with: environment))
    return [
      .preface(), .headers(try await dev.fields(to: token), stream: 1), .data(#"{"aps":{"content-changed":true}}"#, stream: 1),
      .receive(ends: 1),
    ]
  }

  @Test(arguments: [nil, ["h2"], ["h2", "http/1.1"], ["http/1.1", "h2"]] as [[String]?])
  func withOrWithoutALPNItIsHTTP2(alpn: [String]?) async throws {
    let dev = try await SharedDev.deployment()
    let talk = try await dev.converse(onePush(dev), alpn: alpn)
    #expect(talk.alpn == (alpn == nil ? nil : "h2"))
    #expect(talk.status(of: 1) == "200", "\(talk.document)")
  }

  @Test(arguments: ["1.2", "1.3"]) func bothVersionsOfTLSServe(version: String) async throws {
    let dev = try await SharedDev.deployment()
    let talk = try await dev.converse(onePush(dev), tls: version)
    #expect(talk.version == "TLSv\(version)")
    #expect(talk.status(of: 1) == "200", "\(talk.document)")
  }

  @Test(arguments: ["1.2", "1.3"]) func theOldestVersionOfTLSIsConfigured(oldest: String) async throws {
    let gateway = try await Deployment.behind(["200"], environment: ["WIDGETPUSH_PROVIDER_ANSWERS_MINIMUM_TLS": oldest])
    let new = try await gateway.converse(onePush(gateway), tls: "1.3")
    #expect(new.status(of: 1) == "200")
    let old = try await gateway.converse(onePush(gateway), tls: "1.2")
    #expect((old.error == nil) == (oldest == "1.2"), "\(old.document)")
    #expect((old.status(of: 1) == "200") == (oldest == "1.2"))
  }

  @Test(arguments: ["localhost", "api.push.apple.com", "api.sandbox.push.apple.com", "api.development.push.apple.com", "gateway"])
  func theCertificateNamesTheHostsThatClientsUse(name: String) async throws {
    let dev = try await SharedDev.deployment()
    // Apple's own name for production stands for the environment of the token.
    let environment = name == "api.push.apple.com" ? "production" : "development"
    let talk = try await dev.converse(onePush(dev, environment: environment), serverName: name)
    #expect(talk.error == nil)
    #expect(talk.status(of: 1) == "200", "\(talk.document)")
  }

  @Test func aTokenOfTheOtherEnvironmentIsBadThere() async throws {
    let dev = try await SharedDev.deployment()
    let talk = try await dev.converse(onePush(dev), serverName: "api.push.apple.com")
    #expect(talk.frames(of: 1).last?.text == #"{"reason":"BadDeviceToken"}"#, "\(talk.document)")
  }

  @Test func openSSLWithoutALPNIsSentSettingsAtOnce() async throws {
    let dev = try await SharedDev.deployment()
    let port = try dev.port("provider")
    let result = try await run([
      "timeout", "2", "sh", "-c",
      "sleep 1 | openssl s_client -quiet -verify_return_error -CAfile \(dev.state.path("ca.pem")) -connect 127.0.0.1:\(port) 2>/dev/null",
    ])
    #expect(result.standardOutput.starts(with: [0, 0, 24, 4, 0, 0, 0, 0, 0]), "\([UInt8](result.standardOutput))")
  }

  /// The bytes that Apple answers: SETTINGS, then GOAWAY with PROTOCOL_ERROR and this text (apns.md section 1.4).
  @Test(arguments: [["http/1.1"], nil] as [[String]?]) func anHTTP1ClientIsToldInAGoAway(alpn: [String]?) async throws {
    let dev = try await SharedDev.deployment()
    let token = newToken()
    let talk = try await dev.converse(
      [.raw("POST /3/device/\(token) HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}"), .receive(seconds: 10)], alpn: alpn)

    #expect(talk.alpn == nil)
    #expect(talk.isClosed)
    #expect(talk.frames.map(\.type) == ["SETTINGS", "GOAWAY"], "\(talk.frames)")
    #expect(talk.frames.last?.document["error"].int == 1)
    #expect(talk.frames.last?.text == "Unexpected HTTP/1.x request: POST /3/device/\(token) ")
    #expect(!talk.bytes.contains("485454502f312e31"), "no HTTP/1.1 status line")
  }

  @Test func curlWithHTTP1SeesNoHTTP1Answer() async throws {
    let dev = try await SharedDev.deployment()
    let result = try await run([
      "curl", "-sS", "--http1.1", "--max-time", "10", "--cacert", dev.state.path("ca.pem"), "-d", "{}",
      try dev.url("provider") + "/3/device/\(newToken())",
    ])
    #expect(result.status != 0)
    #expect(result.standardError.contains("HTTP/0.9"), "\(result.standardError)")
  }

  @Test func garbageInsteadOfThePrefaceEndsTheConnection() async throws {
    let dev = try await SharedDev.deployment()
    let talk = try await dev.converse([.raw("\u{1}\u{2}\u{3} not HTTP at all, and long enough to be judged"), .receive(seconds: 10)])
    #expect(talk.isClosed)
    #expect(talk.frames.last?.type == "GOAWAY", "\(talk.frames)")
    #expect(talk.frames.last?.text.hasPrefix("HTTP/2 client preface string missing or corrupt.") == true, "\(talk.frames)")
  }

  @Test func whatIsRefusedIsCountedByKind() async throws {
    let gateway = try await Deployment.start(["gateway"])
    _ = try await gateway.converse([.raw("GET / HTTP/1.1\r\n\r\n"), .receive(seconds: 10)])
    _ = try await gateway.converse([.raw("nothing that anybody would understand"), .receive(seconds: 10)])
    // HEADERS on the stream 2, which is not a client's to open.
    _ = try await gateway.converse([.preface(), .headers([(":method", "GET")], stream: 2), .receive(seconds: 10)])
    let untrusting = ["curl", "-sS", "--http2", "--max-time", "10", try gateway.url("provider") + "/"]
    #expect(try await run(untrusting).status == 60)
    for kind in ["http1", "garbage", "protocol_error", "handshake_failed"] {
      try await eventually("\(kind) is counted") {
        try await gateway.control("GET", "/metrics", as: "read").text.contains(#"widgetpush_connections_refused_total{kind="\#(kind)"} 1"#)
      }
    }
  }

  @Test func aClientThatDoesNotTrustTheCAIsReportedWithItsRemedy() async throws {
    let dev = try await SharedDev.deployment()
    let before = dev.process.output.text.count
    let result = try await run([
      "curl", "-sS", "--http2", "--max-time", "10", "-d", "{}", try dev.url("provider") + "/3/device/\(newToken())",
    ])
    #expect(result.status == 60)
    try await eventually("dev names the CA: \(dev.process.output.text)") {
      let said = dev.process.output.text.dropFirst(before) + dev.process.errors.text
      return said.contains("ca.pem")
    }
  }
}
