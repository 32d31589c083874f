import HTTP2
import Primitives
import Reactor
import Testing
import Transport

/// What a connection that sends much leaves to the others.
@Suite("Turns of connections") struct ConnectionTurnTests {
  /// GET, https, / on `stream`, with END_STREAM and a field x of 50 bytes.
  private static func get(_ stream: Int) -> [UInt8] {
    [0, 0, 57, 1, 5, 0, 0, UInt8(stream >> 8), UInt8(stream & 255), 0x82, 0x87, 0x84, 0, 1, 0x78, 50] + [UInt8](repeating: 0x61, count: 50)
  }

  /// The requests of one read are cut into turns of bounded work, and all are answered.
  @Test(arguments: [true, false]) func aFloodOfRequestsIsCut(encrypted: Bool) throws {
    let stage = try Stage(tls: encrypted ? TestCertificates.server : nil)
    let requests = (0..<900).map { Self.get(2 * $0 + 1) }
    if encrypted {
      let client = stage.makeClient()
      for _ in 0..<900 { client.request("/") }
      var most = 0
      #expect(
        stage.wait {
          let before = stage.handler.paths.count
          stage.loop.turn(waitingAtMost: .milliseconds(5))
          most = max(most, stage.handler.paths.count - before)
          return client.responses.count == 900
        })
      #expect(most > 0 && most < 400)
      return
    }
    let greedy = try stage.makeSocket()
    let other = try stage.makeSocket()
    greedy.send(clientPreface())
    other.send(clientPreface())
    #expect(stage.wait { !greedy.received.isEmpty && !other.received.isEmpty })
    greedy.send(requests.flatMap { $0 })
    var most = 0
    #expect(
      stage.wait {
        let before = stage.handler.paths.count
        stage.loop.turn(waitingAtMost: .milliseconds(5))
        let count = stage.handler.paths.count - before
        most = max(most, count)
        return stage.handler.paths.count >= 100
      })
    #expect(most < 250)
    // In the middle of it, another's request has its turn in the next round.
    let (before, unanswered) = (stage.handler.paths.count, other.received.count)
    #expect(before < 900)
    other.send(emptyRequest)
    for _ in 0..<3 { stage.loop.turn(waitingAtMost: .zero) }
    #expect(other.received.count > unanswered && stage.handler.paths.count < 900)
    #expect(stage.wait { stage.handler.paths.count == 901 })
    let answered = { frames(greedy.received).count { $0.type == 1 } }
    #expect(stage.wait { answered() == 900 })
  }

  /// The end of the stream behind a flood is the end of what is answered, and not of what was asked before it.
  @Test func anEndWaitsForWhatWasHeld() throws {
    let stage = try Stage(tls: nil)
    let peer = try stage.makeSocket()
    peer.send(clientPreface() + (0..<900).flatMap { Self.get(2 * $0 + 1) })
    peer.socket.shutdownSending()
    #expect(stage.wait { peer.hasEnded })
    #expect(stage.handler.paths.count == 900 && frames(peer.received).count { $0.type == 1 } == 900)
    #expect(stage.wait { stage.transport.connectionCount == 0 })
  }

  /// Whoever goes on sending after the end is not listened to for ever.
  @Test func lingeringEndsListening() throws {
    let stage = try Stage(tls: nil)
    let peer = try stage.makeSocket()
    peer.send("this is not HTTP/2 at all, by no means")
    #expect(stage.wait { peer.hasEnded })
    peer.send([UInt8](repeating: 0, count: 16 << 20))
    for _ in 0..<200 { stage.loop.turn(waitingAtMost: .milliseconds(1)) }
    #expect(peer.unsentCount > 0 && stage.transport.connectionCount == 1)
    stage.clock.advance(.seconds(3))
    #expect(stage.wait { stage.transport.connectionCount == 0 })
  }

  /// A client that leaves an answer no window is gone when a writer that is stuck would be.
  @Test func aWindowOfZeroEndsInTime() throws {
    let stage = try Stage(tls: nil)
    stage.handler.answerBody = Array("no window for this".utf8)
    let peer = try stage.makeSocket()
    peer.send(clientPreface() + [0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0] + emptyRequest)
    #expect(stage.wait { frames(peer.received).contains { $0.type == 1 } })
    // As many sweeps as 30 seconds have, but for the bound of 254.
    #expect(
      stage.wait {
        stage.clock.advance(.milliseconds(20))
        return stage.transport.connectionCount == 0
      })
    guard case .stalledWrite? = stage.handler.failures.first?.end else {
      Issue.record("\(stage.handler.failures)")
      return
    }
  }
}
