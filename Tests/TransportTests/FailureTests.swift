import HTTP2
import Primitives
import Reactor
import Security
import Testing
import Transport

/// A TLS client over a raw socket, for bytes that no HTTP/2 client would send.
private final class RawTLSPeer {
  let peer: RawPeer
  private var session: TLSSession
  private var plain = ByteQueue(capacity: 1 << 20)
  private var output = ByteQueue(capacity: 1 << 20)
  private(set) var state = TLSSession.State.open

  init(_ stage: Stage, _ context: TLSContext) throws {
    peer = try stage.makeSocket()
    session = TLSSession(client: context, name: "127.0.0.1")
    advance()
  }

  /// Takes what came and sends what is due.
  func advance() {
    let bytes = peer.received
    peer.received = []
    state = session.receive(bytes.span.bytes, plaintext: &plain, output: &output)
    flush()
  }

  func send(_ text: String) {
    var queue = ByteQueue(capacity: 4096)
    queue.append(Array(text.utf8).span.bytes)
    _ = session.send(&queue, output: &output)
    flush()
  }

  var isEstablished: Bool { session.isEstablished }
  var received: [UInt8] { Self.array(plain) }

  private func flush() {
    peer.send(Self.array(output))
    output.removeAll()
  }

  private static func array(_ queue: borrowing ByteQueue) -> [UInt8] { queue.bytes.array }
}

@Suite("Connections that fail") struct FailureTests {
  /// The whole answer to an HTTP/1.1 client is SETTINGS, GOAWAY with Apple's words, and the end (apns.md section 1.4).
  @Test func http1WithinTLSIsAnsweredAsAppleDoes() throws {
    let stage = try Stage()
    let client = try RawTLSPeer(stage, TestCertificates.http1Client)
    #expect(
      stage.wait {
        client.advance()
        return client.isEstablished
      })
    client.send("POST /3/device/00aa HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\n{}")
    #expect(
      stage.wait {
        client.advance()
        return client.peer.hasEnded
      })
    let answer = frames(client.received)
    #expect(answer.map(\.type) == [4, 7])
    let payload = Array(try #require(answer.last).payload)
    #expect(payload.prefix(8) == [0, 0, 0, 0, 0, 0, 0, 1], "last stream 0, PROTOCOL_ERROR")
    #expect(String(decoding: payload.dropFirst(8), as: UTF8.self) == "Unexpected HTTP/1.x request: POST /3/device/00aa ")
    #expect(stage.handler.failures.count == 1)
    guard case .http2(.http1Request(let line))? = stage.handler.failures.first?.end else {
      Issue.record("\(stage.handler.failures)")
      return
    }
    #expect(line == "POST /3/device/00aa ")
    #expect(stage.wait { stage.transport.connectionCount == 0 })
  }

  @Test func garbageInsteadOfThePreface() throws {
    let stage = try Stage(tls: nil)
    let peer = try stage.makeSocket()
    peer.send("HELO example.com\r\n")
    #expect(stage.wait { peer.hasEnded })
    let last = try #require(frames(peer.received).last)
    #expect(last.type == 7)
    #expect(String(decoding: last.payload.dropFirst(8), as: UTF8.self).hasPrefix("HTTP/2 client preface string missing or corrupt."))
    #expect(stage.handler.failures.count == 1)
  }

  @Test func plainHTTPToTheTLSPortIsNamed() throws {
    let stage = try Stage()
    let peer = try stage.makeSocket()
    peer.send("GET / HTTP/1.1\r\n\r\n")
    #expect(stage.wait { peer.hasEnded })
    guard case .tls(let failure)? = stage.handler.failures.first?.end else {
      Issue.record("\(stage.handler.failures)")
      return
    }
    #expect(failure.kind == .plainHTTP)
  }

  @Test func distrustIsToldOnBothSides() throws {
    let stage = try Stage()
    let other = try CertificateAuthority.make(commonName: "other", now: Instant(unixSeconds: 1_790_000_000), days: 4000)
    let context = try TLSContext.client(.authorities(pem: other.certificate.pem()), protocols: [.http2])
    let client = stage.makeClient(tls: context)
    client.request("/")
    #expect(stage.wait { client.end != nil && !stage.handler.failures.isEmpty })
    guard case .tls(let seen)? = client.end, case .tls(let told)? = stage.handler.failures.first?.end else {
      Issue.record("\(String(describing: client.end)) \(stage.handler.failures)")
      return
    }
    #expect(seen.kind == .certificateUntrusted)
    #expect(told.kind == .certificateRejected(alert: 48))
    #expect(client.unsent.count == 1, "the request was never taken")
  }

  @Test func handshakesThatDoNotEndAreEnded() throws {
    let stage = try Stage()
    let silent = try stage.makeSocket()
    let halfOpen = try stage.makeSocket()
    // The first bytes of a ClientHello record that never comes whole.
    halfOpen.send([22, 3, 1, 2, 0, 1, 0])
    #expect(stage.wait { stage.server.connectionCount == 2 })
    for _ in 0..<3 { stage.loop.turn(waitingAtMost: .milliseconds(50)) }
    #expect(!silent.hasEnded && !halfOpen.hasEnded)
    stage.clock.advance(.seconds(11))
    #expect(stage.wait { silent.hasEnded && halfOpen.hasEnded && stage.server.connectionCount == 0 })
    #expect(stage.handler.failures.count == 1, "who never said a word was a probe")
    guard case .handshakeTimeout? = stage.handler.failures.first?.end else {
      Issue.record("\(stage.handler.failures)")
      return
    }
  }

  @Test func aClientThatNeverSendsItsSettingsIsEnded() throws {
    let stage = try Stage(tls: nil)
    let peer = try stage.makeSocket()
    peer.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
    #expect(stage.wait { peer.received.count > 0 })
    stage.clock.advance(.seconds(11))
    #expect(stage.wait { peer.hasEnded })
  }

  /// A client that asks for much and reads nothing: writing stops, reading stops, memory stays bounded, and it is closed.
  @Test func aClientThatDoesNotReadIsStoppedAndClosed() throws {
    let stage = try Stage(tls: nil, bodyBytesMax: 100_000)
    stage.handler.answerBody = [UInt8](repeating: 7, count: 1 << 20)
    let peer = try stage.makeSocket()
    peer.reads = false
    // SETTINGS with the largest initial window, and the connection's window opened as far.
    peer.send(Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + [0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 4, 0x7f, 0xff, 0xff, 0xff])
    peer.send([0, 0, 4, 8, 0, 0, 0, 0, 0, 0x7f, 0xff, 0, 0])
    func request(_ stream: UInt32) -> [UInt8] {
      [0, 0, 6, 1, 5, UInt8(stream >> 24), UInt8(stream >> 16 & 255), UInt8(stream >> 8 & 255), UInt8(stream & 255)]
        + [0x83, 0x87, 0x84, 0x41, 0x01, 0x61]
    }
    for stream in stride(from: UInt32(1), to: 60, by: 2) { peer.send(request(stream)) }
    #expect(stage.wait { stage.handler.paths.count == 30 })
    for _ in 0..<10 { stage.loop.turn(waitingAtMost: .milliseconds(5)) }
    // Further requests stay in the kernel: they are read neither now nor later.
    for stream in stride(from: UInt32(61), to: 121, by: 2) { peer.send(request(stream)) }
    for _ in 0..<10 { stage.loop.turn(waitingAtMost: .milliseconds(5)) }
    #expect(stage.handler.paths.count == 30)
    #expect(stage.server.connectionCount == 1)
    stage.clock.advance(.seconds(31))
    #expect(stage.wait { stage.server.connectionCount == 0 })
    guard case .stalledWrite? = stage.handler.failures.first?.end else {
      Issue.record("\(stage.handler.failures)")
      return
    }
    #expect(stage.transport.exchanges.openExchanges == 0)
  }

  /// The same client, reading again before its time is up, gets everything.
  @Test func aSlowClientGetsEverythingWhenItReads() throws {
    let stage = try Stage(tls: nil)
    stage.handler.answerBody = [UInt8](repeating: 7, count: 1 << 20)
    let peer = try stage.makeSocket()
    peer.reads = false
    peer.send(Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + [0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 4, 0x7f, 0xff, 0xff, 0xff])
    peer.send([0, 0, 4, 8, 0, 0, 0, 0, 0, 0x7f, 0xff, 0, 0])
    for stream in stride(from: UInt8(1), to: 40, by: 2) {
      peer.send([0, 0, 6, 1, 5, 0, 0, 0, stream, 0x83, 0x87, 0x84, 0x41, 0x01, 0x61])
    }
    #expect(stage.wait { stage.handler.paths.count == 20 })
    for _ in 0..<10 { stage.loop.turn(waitingAtMost: .milliseconds(5)) }
    peer.reads = true
    peer.ready(.read)
    #expect(stage.wait { stage.transport.exchanges.openExchanges == 0 && peer.received.count > 20 << 20 })
    let bodies = frames(peer.received).filter { $0.type == 0 }.reduce(0) { $0 + $1.payload.count }
    #expect(bodies == 20 << 20)
  }

  @Test func forOneConnectionTooManyTheOldestGivesWay() throws {
    let stage = try Stage(tls: nil, connectionsMax: 2)
    var peers: [RawPeer] = []
    for count in 1...3 {
      peers.append(try stage.makeSocket())
      #expect(stage.wait { stage.server.connectionCount == min(count, 2) && (count < 3 || peers[0].hasEnded || peers[0].isBroken) })
    }
    #expect(!peers.dropFirst().contains { $0.hasEnded || $0.isBroken })
    guard case .gaveWay? = stage.handler.failures.first?.end else {
      Issue.record("\(stage.handler.failures)")
      return
    }
  }

  /// Handshakes that are never finished take all places, again and again: a client in earnest gets through, and stays.
  @Test func halfOpenHandshakesKeepNobodyOut() throws {
    let stage = try Stage(connectionsMax: 4)
    let client = stage.makeClient()
    client.request("/first")
    #expect(stage.wait { client.responses.count == 1 })
    var halves: [RawPeer] = []
    for _ in 0..<40 { halves.append(try stage.makeSocket()) }
    #expect(stage.wait { halves.count { $0.hasEnded || $0.isBroken } >= 37 })
    let other = stage.makeClient()
    other.request("/other")
    #expect(stage.wait { other.responses.count == 1 })
    client.request("/again")
    #expect(stage.wait { client.responses.count == 2 })
    #expect(stage.server.connectionCount == 4)
  }
}
