import HTTP2
import Primitives
import Reactor
import Security
import Testing
import Transport

@Suite("HTTP/2 over TLS and TCP") struct ExchangeTests {
  @Test(arguments: [true, false]) func requestAndAnswer(encrypted: Bool) throws {
    let stage = try Stage(tls: encrypted ? TestCertificates.server : nil)
    let client = stage.makeClient(tls: encrypted ? TestCertificates.client : nil)
    client.request("/3/device/aa", body: "hello")
    client.request("/3/device/bb", body: "")
    #expect(stage.wait { client.responses.count == 2 })
    #expect(client.responses[0] == .init(status: 200, id: "id-0", body: "hello", failure: nil))
    #expect(client.responses[1] == .init(status: 400, id: "id-1", body: "", failure: nil))
    #expect(stage.handler.paths.sorted() == ["/3/device/aa", "/3/device/bb"])
    #expect(stage.handler.lastConnection?.requests == 2 && stage.handler.lastConnection?.peer.isLoopback == true)
    #expect(stage.handler.lastConnection?.isSecure == encrypted)
    client.client.close()
    #expect(stage.wait { stage.transport.connectionCount == 0 })
    #expect(client.end?.isRegular == true && stage.handler.failures.isEmpty)
  }

  /// Four clients with 2000 requests each, 1000 streams at once: everything is answered, nothing is mixed up.
  @Test func manyAtOnce() throws {
    let stage = try Stage()
    let clients = (0..<4).map { _ in stage.makeClient() }
    for (number, client) in clients.enumerated() {
      for request in 0..<2000 { client.request("/\(number)/\(request)", body: "body \(number) \(request)") }
    }
    #expect(stage.wait { clients.allSatisfy { $0.responses.count == 2000 } })
    for (number, client) in clients.enumerated() {
      for request in 0..<2000 {
        let expected = RecordingClient.Response(status: 200, id: "id-\(request)", body: "body \(number) \(request)", failure: nil)
        #expect(client.responses[UInt64(request)] == expected)
      }
    }
    #expect(stage.transport.exchanges.openExchanges == 0)
  }

  /// After the most requests that a connection may have open, a thousand more, a quarter as many at once, ask the system for no memory:
  /// neither nghttp2's allocations nor blocks grow.
  @Test func steadyStateAllocatesNothing() throws {
    // A sweep that comes upon a quiet moment gives memory back, and the next request asks for it again.
    let stage = try Stage(sweepInterval: .seconds(3600))
    let client = stage.makeClient()
    func run(_ count: Int, answersTogether: Bool) {
      stage.handler.answersAtOnce = !answersTogether
      for request in 0..<count { client.request("/\(request % 10)") }
      #expect(!answersTogether || stage.wait { stage.handler.kept.count == count })
      #expect(stage.handler.answerKept() == (answersTogether ? count : 0))
      #expect(stage.wait { client.unsent.isEmpty && client.client.openStreams == 0 })
    }
    // How many requests meet on the way is the scheduler's choice, so the peak is made: every stream open, then all answered together.
    for _ in 0..<3 { run(1000, answersTogether: true) }
    let (allocations, growths) = (stage.transport.memory.allocations, stage.transport.memory.blocks.growths)
    for _ in 0..<4 { run(250, answersTogether: false) }
    #expect(stage.transport.memory.allocations == allocations && stage.transport.memory.blocks.growths == growths)
  }

  @Test func answersMayComeRoundsLater() throws {
    let stage = try Stage()
    stage.handler.answersAtOnce = false
    let client = stage.makeClient()
    for request in 0..<100 { client.request("/\(request)") }
    #expect(stage.wait { stage.handler.kept.count == 100 })
    stage.loop.turn(waitingAtMost: .zero)
    #expect(client.responses.isEmpty)
    // From a mailbox, as a batch comes back from the store.
    let mailbox = stage.loop.makeMailbox(capacity: 1, of: Int.self) { _ in #expect(stage.handler.answerKept() == 100) }
    mailbox.post(1)
    #expect(stage.wait { client.responses.count == 100 })
  }

  /// Bodies larger than every buffer on the way arrive whole, in both directions.
  @Test(arguments: [100_000, 3_000_000]) func largeBodies(bytes: Int) throws {
    let stage = try Stage(bodyBytesMax: 1 << 22)
    let body = String(repeating: "0123456789", count: bytes / 10)
    stage.handler.answerBody = Array(body.utf8)
    let client = stage.makeClient()
    for request in 0..<5 { client.request("/\(request)", body: body) }
    #expect(stage.wait { client.responses.count == 5 })
    // The client keeps the first 4096 bytes only (ClientSettings.bodyBytesMax).
    #expect(client.responses.values.allSatisfy { $0.status == 200 && $0.body == body.prefix(4096) })
  }

  /// A peer that resets the connection mid-request takes its exchanges with it.
  @Test func requestsOfALostConnectionAreForgotten() throws {
    let stage = try Stage(tls: nil)
    stage.handler.answersAtOnce = false
    var peer: RawPeer? = try stage.makeSocket()
    peer?.reads = false
    peer?.send(clientPreface() + emptyRequest)
    #expect(stage.wait { stage.handler.kept.count == 1 })
    // Closing with unread bytes is a reset.
    peer?.forget()
    peer = nil
    #expect(stage.wait { stage.transport.connectionCount == 0 })
    stage.handler.lastConnection = nil
    #expect(stage.handler.answerKept() == 0, "the key finds nothing")
    #expect(stage.transport.exchanges.openExchanges == 0)
    guard case .lost? = stage.handler.failures.first?.end else {
      Issue.record("a lost connection is reported")
      return
    }
    #expect(stage.handler.failures.first?.requests == 1)
  }

  @Test func aBodyCutOffByTheEndIsForgotten() throws {
    let stage = try Stage(tls: nil)
    let peer = try stage.makeSocket()
    peer.send(clientPreface() + unfinishedRequest)
    #expect(stage.wait { stage.transport.exchanges.openExchanges == 1 })
    peer.socket.shutdownSending()
    #expect(stage.wait { peer.hasEnded && stage.transport.connectionCount == 0 })
    #expect(stage.transport.exchanges.openExchanges == 0 && stage.handler.paths.isEmpty)
  }

  /// A body that never ends is answered after the request timeout, and its slot is free again.
  @Test func aRequestThatNeverEndsIsStalled() throws {
    let stage = try Stage(tls: nil)
    let peer = try stage.makeSocket()
    peer.send(clientPreface() + unfinishedRequest)
    #expect(stage.wait { stage.transport.exchanges.openExchanges == 1 })
    for _ in 0..<5 { stage.loop.turn(waitingAtMost: .milliseconds(50)) }
    #expect(stage.handler.stalled == 0)
    stage.clock.advance(.seconds(31))
    #expect(stage.wait { stage.handler.stalled == 1 && stage.transport.exchanges.openExchanges == 0 })
  }

  /// Neither rest nor age ends a connection: after a day without a byte, and after a year, it serves as before.
  @Test func restAndAgeEndNoConnection() throws {
    let stage = try Stage(tls: nil)
    let peer = try stage.makeSocket()
    peer.send(clientPreface())
    #expect(stage.wait { !peer.received.isEmpty })
    let before = frames(peer.received).count
    for span in [TimeSpan.seconds(86_400), .seconds(365 * 86_400)] {
      stage.clock.advance(span)
      for _ in 0..<5 { stage.loop.turn(waitingAtMost: .milliseconds(50)) }
      #expect(!peer.hasEnded && stage.transport.connectionCount == 1)
    }
    // Nor does the server ask whether anybody is there.
    #expect(frames(peer.received).dropFirst(before).allSatisfy { $0.type != 6 })
    peer.send(emptyRequest)
    #expect(stage.wait { frames(peer.received).contains { $0.type == 1 && $0.stream == 1 } })
  }

  @Test func halfClosedClientsGetTheirAnswer() throws {
    let stage = try Stage(tls: nil)
    stage.handler.answersAtOnce = false
    let peer = try stage.makeSocket()
    peer.send(clientPreface() + emptyRequest)
    peer.socket.shutdownSending()
    #expect(stage.wait { stage.handler.kept.count == 1 })
    stage.loop.turn(waitingAtMost: .zero)
    #expect(!peer.hasEnded)
    #expect(stage.handler.answerKept() == 1)
    #expect(stage.wait { peer.hasEnded && stage.transport.connectionCount == 0 })
    #expect(frames(peer.received).contains { $0.type == 1 && $0.flags & 1 == 1 && $0.stream == 1 }, "HEADERS with END_STREAM")
  }

  /// What waits for the window of a client that has closed its side waits for ever: nothing of it is kept.
  @Test(arguments: [true, false]) func aClientThatHasEndedOpensNoWindow(bodyGoesOn: Bool) throws {
    let stage = try Stage(tls: nil)
    stage.handler.answerBody = Array("an answer".utf8)
    let peer = try stage.makeSocket()
    peer.send(clientPreface() + settingsOfNoWindow + emptyRequest)
    #expect(stage.wait { frames(peer.received).contains { $0.type == 1 && $0.stream == 1 } })
    #expect(stage.transport.connectionCount == 1 && stage.transport.exchanges.openExchanges == 1)
    if bodyGoesOn { peer.send(windowOfNine) }
    peer.socket.shutdownSending()
    #expect(stage.wait { stage.transport.connectionCount == 0 })
    #expect(stage.transport.exchanges.openExchanges == 0)
    #expect(stage.wait { peer.hasEnded })
    #expect(frames(peer.received).contains { $0.type == 0 && $0.payload == Array("an answer".utf8) } == bodyGoesOn)
  }
}

/// SETTINGS_INITIAL_WINDOW_SIZE of 0.
private let settingsOfNoWindow: [UInt8] = [0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0]
/// WINDOW_UPDATE of 9 bytes for the stream 1.
private let windowOfNine: [UInt8] = [0, 0, 4, 8, 0, 0, 0, 0, 1, 0, 0, 0, 9]
