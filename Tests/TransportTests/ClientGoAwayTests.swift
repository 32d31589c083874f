import HTTP2
import Primitives
import Reactor
import Testing
import Transport

/// Clients that say that they have finished: by GOAWAY, or by the end of what they send.
@Suite("Clients that finish") struct ClientGoAwayTests {
  private static let goAway: [UInt8] = [0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
  private static let ping: [UInt8] = [0, 0, 8, 6, 0, 0, 0, 0, 0] + Array("stillup?".utf8)

  /// A peer that has shaken hands; the server has read all that it has sent.
  private func peer(_ stage: Stage, _ bytes: [UInt8] = []) throws -> RawPeer {
    let peer = try stage.makeSocket()
    peer.send(clientPreface() + bytes + Self.ping)
    #expect(stage.wait { frames(peer.received).contains { $0.type == 6 } })
    return peer
  }

  @Test func goAwayWithoutStreamsClosesAtOnce() throws {
    let stage = try Stage(tls: nil)
    let peer = try peer(stage)
    peer.send(Self.goAway)
    #expect(stage.wait { peer.hasEnded })
    peer.socket.shutdownSending()
    #expect(stage.wait { stage.server.connectionCount == 0 })
    #expect(stage.handler.failures.isEmpty)
  }

  @Test func goAwayAfterAnAnswerClosesAtOnce() throws {
    let stage = try Stage(tls: nil)
    let peer = try peer(stage, emptyRequest)
    #expect(stage.wait { frames(peer.received).contains { $0.type == 1 } })
    peer.send(Self.goAway)
    #expect(stage.wait { peer.hasEnded })
  }

  /// What is open is answered first, and PING meanwhile.
  @Test func goAwayWithAStreamOpenClosesAfterItsAnswer() throws {
    let stage = try Stage(tls: nil)
    stage.handler.answersAtOnce = false
    let peer = try peer(stage, emptyRequest)
    peer.received = []
    peer.send(Self.goAway + Self.ping)
    #expect(stage.wait { frames(peer.received).contains { $0.type == 6 } })
    #expect(!peer.hasEnded && stage.handler.answerKept() == 1)
    #expect(stage.wait { peer.hasEnded })
    #expect(frames(peer.received).contains { $0.type == 1 && $0.stream == 1 })
  }

  /// The last stream may end by the client's RST_STREAM, too.
  @Test func goAwayAndThenAResetCloses() throws {
    let stage = try Stage(tls: nil)
    stage.handler.answersAtOnce = false
    let peer = try peer(stage, unfinishedRequest + Self.goAway)
    #expect(!peer.hasEnded)
    peer.send([0, 0, 4, 3, 0, 0, 0, 0, 1, 0, 0, 0, 8])
    #expect(stage.wait { peer.hasEnded })
  }

  /// Who says GOAWAY in the middle of a request and nothing more has the time that a request has.
  @Test func goAwayAndSilenceIsTimedOut() throws {
    let stage = try Stage(tls: nil)
    let peer = try peer(stage, unfinishedRequest + Self.goAway)
    for _ in 0..<10 where stage.handler.stalled == 0 {
      stage.clock.advance(.seconds(31))
      stage.loop.turn(waitingAtMost: .milliseconds(10))
    }
    #expect(stage.handler.stalled == 1 && stage.wait { peer.hasEnded })
  }

  @Test func aHalfClosedSocketEndsAfterItsAnswers() throws {
    let stage = try Stage(tls: nil)
    stage.handler.answersAtOnce = false
    let resting = try peer(stage)
    resting.socket.shutdownSending()
    #expect(stage.wait { resting.hasEnded })
    let asking = try peer(stage, emptyRequest)
    asking.socket.shutdownSending()
    #expect(stage.wait { stage.handler.lastConnection?.hasPeerEnded == true })
    #expect(!asking.hasEnded && stage.handler.answerKept() == 1)
    #expect(stage.wait { asking.hasEnded })
    #expect(frames(asking.received).contains { $0.type == 1 })
  }
}

/// A handler that has enough to do.
@Suite("Requests that are not read") struct UnreadRequestTests {
  /// Nothing of it is read or acknowledged, the window is not opened, and nothing times out; then all is served.
  @Test func clientsWaitUntilRequestsAreWanted() throws {
    let stage = try Stage(tls: nil)
    let peer = try stage.makeSocket()
    peer.send(clientPreface() + emptyRequest)
    #expect(stage.wait { frames(peer.received).contains { $0.type == 1 } })
    stage.handler.wantsRequests = false
    peer.received = []
    let late = try stage.makeSocket()
    late.send(clientPreface())
    let second = emptyRequest.enumerated().map { $0.offset == 8 ? 3 : $0.element }
    peer.send(second)
    for _ in 0..<10 {
      stage.clock.advance(.seconds(31))
      stage.loop.turn(waitingAtMost: .milliseconds(10))
    }
    #expect(peer.received.isEmpty && stage.handler.paths.count == 1 && stage.handler.stalled == 0)
    #expect(!peer.hasEnded && !late.hasEnded)
    stage.handler.wantsRequests = true
    stage.server.resumeReading()
    #expect(stage.wait { frames(peer.received).contains { $0.type == 1 && $0.stream == 3 } })
    #expect(stage.wait { frames(late.received).contains { $0.type == 4 && $0.flags == 1 } })
  }
}
