import Foundation
import Primitives
import Security
import Testing

/// Both ends of a TLS connection in memory.
private struct Pair: ~Copyable {
  var server: TLSSession
  var client: TLSSession
  var toServer = ByteQueue(capacity: 1 << 20)
  var toClient = ByteQueue(capacity: 1 << 20)
  var serverPlain = ByteQueue(capacity: 1 << 20)
  var clientPlain = ByteQueue(capacity: 1 << 20)
  var serverState = TLSSession.State.open
  var clientState = TLSSession.State.open

  init(_ server: TLSContext, _ client: TLSContext, name: String) {
    self.server = TLSSession(server: server)
    self.client = TLSSession(client: client, name: name)
  }

  /// Carries bytes to and fro, `portion` at a time, until neither end has anything to say.
  mutating func settle(portion: Int = 16_384) {
    clientState = client.receive(RawSpan(), plaintext: &clientPlain, output: &toServer)
    while !(toServer.isEmpty && toClient.isEmpty) {
      carry(&toServer, portion, to: &server, &serverPlain, &toClient, &serverState)
      carry(&toClient, portion, to: &client, &clientPlain, &toServer, &clientState)
    }
  }

  mutating func sendFromClient(_ bytes: [UInt8]) {
    var queue = ByteQueue(capacity: max(1, bytes.count))
    queue.append(bytes.span.bytes)
    #expect(client.send(&queue, output: &toServer) == .open && queue.isEmpty)
  }

  mutating func sendFromServer(_ bytes: [UInt8]) {
    var queue = ByteQueue(capacity: max(1, bytes.count))
    queue.append(bytes.span.bytes)
    #expect(server.send(&queue, output: &toClient) == .open && queue.isEmpty)
  }
}

/// Gives `wire` to `session`, `portion` bytes at a time; a session that has ended gets no more.
private func carry(
  _ wire: inout ByteQueue, _ portion: Int, to session: inout TLSSession, _ plain: inout ByteQueue, _ output: inout ByteQueue,
  _ state: inout TLSSession.State
) {
  while !wire.isEmpty, state == .open {
    let count = min(portion, wire.count)
    state = session.receive(wire.bytes.extracting(first: count), plaintext: &plain, output: &output)
    wire.consume(count)
  }
  wire.removeAll()
}

private struct Certificates {
  let authority: CertificateAuthority
  let identity: TLSIdentity

  init(names: [String] = ["gateway.test", "127.0.0.1"], days: Int64 = 1, ago: TimeSpan = .zero) throws {
    let now = Instant(unixSeconds: Int64(Date().timeIntervalSince1970)) - ago
    authority = try CertificateAuthority.make(commonName: "test authority", now: now, days: 3650)
    identity = try TLSIdentity(authority.issue(names: names, now: now, days: days))
  }

  func client(_ protocols: [ApplicationProtocol] = [.http2]) throws -> TLSContext {
    try .client(.authorities(pem: authority.certificate.pem()), protocols: protocols)
  }

  func server(_ protocols: [ApplicationProtocol] = [.http2]) throws -> TLSContext { try .server(identity, protocols: protocols) }
}

@Suite("TLS") struct TLSTests {
  /// A handshake survives every way of cutting the bytes, and carries data both ways.
  @Test(arguments: [1, 7, 100, 1400, 16_384]) func handshakeAndData(portion: Int) throws {
    let certificates = try Certificates()
    var pair = Pair(try certificates.server(), try certificates.client(), name: "gateway.test")
    pair.settle(portion: portion)
    #expect(pair.serverState == .open && pair.clientState == .open)
    #expect(pair.server.isEstablished && pair.client.isEstablished)
    #expect(pair.server.version == "TLSv1.3" && pair.server.serverName == "gateway.test")
    let message = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    pair.sendFromClient(message)
    pair.sendFromServer(Array(message.reversed()))
    pair.settle(portion: portion)
    let received = pair.serverPlain.bytes.array
    let returned = pair.clientPlain.bytes.array
    #expect(received == message && returned == message.reversed())
  }

  @Test(arguments: [
    (server: [ApplicationProtocol.http2], client: [ApplicationProtocol.http2], chosen: ApplicationProtocol.http2 as ApplicationProtocol?),
    ([.http2], [.http1, .http2], .http2),
    ([.http2], [.http1], nil),
    ([.http2], [], nil),
    ([.http2, .http1], [.http1, .http2], .http2),
    ([.http2, .http1], [.http1], .http1),
    ([.http2, .http1], [], nil),
  ])
  func applicationProtocols(server: [ApplicationProtocol], client: [ApplicationProtocol], chosen: ApplicationProtocol?) throws {
    let certificates = try Certificates()
    var pair = Pair(try certificates.server(server), try certificates.client(client), name: "gateway.test")
    pair.settle()
    #expect(pair.server.isEstablished && pair.client.isEstablished, "no overlap is no reason to refuse")
    #expect(pair.server.applicationProtocol == chosen && pair.client.applicationProtocol == chosen)
  }

  @Test func anAddressIsVerifiedAsAnAddress() throws {
    let certificates = try Certificates()
    var pair = Pair(try certificates.server(), try certificates.client(), name: "127.0.0.1")
    pair.settle()
    #expect(pair.client.isEstablished == true)
    #expect(pair.server.serverName == nil, "an address is no server name (RFC 6066 section 3)")
  }

  @Test(arguments: ["other.test", "127.0.0.2", "sub.gateway.test"]) func anotherHostIsRefused(name: String) throws {
    let certificates = try Certificates()
    var pair = Pair(try certificates.server(), try certificates.client(), name: name)
    pair.settle()
    guard case .failed(let seen) = pair.clientState, case .failed(let told) = pair.serverState else {
      Issue.record("the handshake must fail on both sides")
      return
    }
    #expect(seen.kind == .certificateNamesAnotherHost && seen.message == "the server's certificate does not name \(name)")
    #expect(told.kind == .certificateRejected(alert: 42))
  }

  @Test func anUnknownAuthorityIsRefused() throws {
    let certificates = try Certificates()
    var pair = Pair(try certificates.server(), try Certificates().client(), name: "gateway.test")
    pair.settle()
    guard case .failed(let seen) = pair.clientState, case .failed(let told) = pair.serverState else {
      Issue.record("the handshake must fail on both sides")
      return
    }
    #expect(seen.kind == .certificateUntrusted)
    #expect(told.kind == .certificateRejected(alert: 48))
    #expect(told.message == "the client does not trust the authority of this server's certificate (TLS alert 48, unknown CA)")
  }

  @Test func anExpiredCertificateIsRefused() throws {
    let certificates = try Certificates(days: 1, ago: .seconds(2 * 86_400))
    var pair = Pair(try certificates.server(), try certificates.client(), name: "gateway.test")
    pair.settle()
    guard case .failed(let seen) = pair.clientState else {
      Issue.record("the handshake must fail")
      return
    }
    #expect(seen.kind == .certificateExpired)
  }

  @Test func anotherIdentityForAnotherName() throws {
    let certificates = try Certificates()
    let now = Instant(unixSeconds: Int64(Date().timeIntervalSince1970))
    let other = try TLSIdentity(certificates.authority.issue(names: ["other.test"], now: now, days: 1))
    let server = try TLSContext.server(certificates.identity, protocols: [.http2]) { $0 == "other.test" ? other : nil }
    for (name, established) in [("gateway.test", true), ("other.test", true), ("third.test", false)] {
      var pair = Pair(server, try certificates.client(), name: name)
      pair.settle()
      #expect(pair.client.isEstablished == established, "\(name)")
    }
  }

  @Test(arguments: [
    ("GET / HTTP/1.1\r\n\r\n", TLSFailure.Kind.plainHTTP), ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", .notTLS),
    ("\u{0}\u{1}\u{2}\u{3}\u{4}\u{5}\u{6}\u{7}", .notTLS),
  ])
  func otherThanTLSIsNamed(bytes: String, kind: TLSFailure.Kind) throws {
    var server = TLSSession(server: try Certificates().server())
    var plain = ByteQueue(capacity: 1 << 16)
    var output = ByteQueue(capacity: 1 << 16)
    let text = Array(bytes.utf8)
    guard case .failed(let failure) = server.receive(text.span.bytes, plaintext: &plain, output: &output) else {
      Issue.record("must fail")
      return
    }
    #expect(failure.kind == kind, "\(failure)")
  }

  @Test func changedCiphertextIsAViolation() throws {
    let certificates = try Certificates()
    var pair = Pair(try certificates.server(), try certificates.client(), name: "gateway.test")
    pair.settle()
    pair.sendFromClient(Array("hello".utf8))
    var record = pair.toServer.bytes.array
    record[record.count - 1] ^= 1
    guard case .failed(let failure) = pair.server.receive(record.span.bytes, plaintext: &pair.serverPlain, output: &pair.toClient)
    else {
      Issue.record("must fail")
      return
    }
    #expect(failure.kind == .protocolViolation && pair.serverPlain.isEmpty)
    #expect(pair.toClient.count > 0, "an alert is owed to the peer")
  }

  @Test func closeNotifyEndsThePeer() throws {
    let certificates = try Certificates()
    var pair = Pair(try certificates.server(), try certificates.client(), name: "gateway.test")
    pair.settle()
    pair.sendFromServer(Array("bye".utf8))
    pair.server.close(output: &pair.toClient)
    pair.settle()
    let last = pair.clientPlain.bytes.string
    #expect(pair.clientState == .ended && last == "bye")
  }

  /// Output that lacks room for a record is left for later, and nothing is lost.
  @Test func sendingStopsAtAFullOutput() throws {
    let certificates = try Certificates()
    var pair = Pair(try certificates.server(), try certificates.client(), name: "gateway.test")
    pair.settle()
    var plain = ByteQueue(capacity: 50_000)
    var small = ByteQueue(capacity: 40_000)
    let message = [UInt8](repeating: 7, count: 50_000)
    plain.append(message.span.bytes)
    #expect(pair.server.send(&plain, output: &small) == .open)
    #expect(plain.count == 50_000 - 2 * TLSSession.recordBytesMax)
    pair.toClient.take(from: &small)
    #expect(pair.server.send(&plain, output: &pair.toClient) == .open && plain.isEmpty)
    pair.settle()
    #expect(pair.clientPlain.count == 50_000)
  }

  @Test func buffersMayBeReleasedBetweenMessages() throws {
    let certificates = try Certificates()
    var pair = Pair(try certificates.server(), try certificates.client(), name: "gateway.test")
    pair.settle()
    for _ in 0..<3 {
      pair.server.releaseBuffers()
      pair.client.releaseBuffers()
      pair.sendFromClient(Array("x".utf8))
      pair.settle()
    }
    #expect(pair.serverPlain.count == 3)
  }
}

@Suite("TLS identity") struct TLSIdentityTests {
  @Test func faultsAreNamed() throws {
    let command = try OpenSSLCommand()
    _ = try command.run("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key", "-out", "cert", "-subj", "/CN=a", "-days", "1")
    _ = try command.run("pkey", "-in", "key", "-aes128", "-passout", "pass:x", "-out", "locked")
    _ = try command.run("genpkey", "-algorithm", "ed25519", "-out", "other")
    let certificate = try command.text("cert")
    _ = try TLSIdentity(certificatePEM: certificate, keyPEM: command.text("key"))
    func fault(_ certificate: String, _ key: String) -> CryptoError? {
      do throws(CryptoError) {
        _ = try TLSIdentity(certificatePEM: certificate, keyPEM: key)
        return nil
      } catch { return error }
    }
    #expect(fault("", try command.text("key"))?.kind == .unreadable)
    #expect(fault(certificate, certificate)?.kind == .unreadable)
    #expect(fault(certificate, try command.text("locked"))?.kind == .encrypted)
    #expect(fault(certificate, try command.text("other"))?.message == "the private key is not the one of the first certificate")
  }

  @Test func aClientWithoutAuthoritiesIsAnError() {
    #expect(throws: CryptoError.self) { try TLSContext.client(.authorities(pem: "nothing here"), protocols: [.http2]) }
  }
}
