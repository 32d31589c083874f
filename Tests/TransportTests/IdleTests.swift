import HTTP2
import Primitives
import Reactor
import Testing
import Transport

/// Apple keeps connections open for hours to days (apns.md section 1.3): nothing here ends one that only rests.
@Suite("Idle connections") struct IdleTests {
  /// Rests for ten days, an hour at a time, each long enough for several looks for what takes too long.
  private func rest(_ stage: Stage) {
    for _ in 0..<240 {
      stage.clock.advance(.seconds(3600))
      for _ in 0..<3 {
        stage.clock.advance(stage.transport.sweepInterval)
        stage.loop.turn(waitingAtMost: .zero)
      }
    }
  }

  @Test(arguments: [true, false]) func aConnectionThatWasServedStaysAndServes(isSecure: Bool) throws {
    let stage = isSecure ? try Stage() : try Stage(tls: nil)
    let client = stage.makeClient(tls: isSecure ? TestCertificates.client : nil)
    client.request("/before")
    #expect(stage.wait { client.responses.count == 1 })
    rest(stage)
    #expect(client.end == nil && client.goAway == nil && stage.server.connectionCount == 1)
    client.request("/after")
    #expect(stage.wait { client.responses.count == 2 })
    #expect(client.responses[1]?.status == 200 && stage.handler.paths == ["/before", "/after"] && stage.handler.failures.isEmpty)
  }

  /// Both prefaces, and no request for days; then a PING is still answered.
  @Test func aConnectionThatNeverAskedStaysAndAnswersPings() throws {
    let stage = try Stage(tls: nil)
    let peer = try stage.makeSocket()
    peer.send(clientPreface())
    #expect(stage.wait { frames(peer.received).contains { $0.type == 4 && $0.flags == 1 } })
    rest(stage)
    #expect(!peer.hasEnded && !peer.isBroken && !frames(peer.received).contains { $0.type == 7 })
    peer.received = []
    peer.send([0, 0, 8, 6, 0, 0, 0, 0, 0] + Array("stillup?".utf8))
    #expect(stage.wait { frames(peer.received) == [Frame(type: 6, flags: 1, stream: 0, payload: Array("stillup?".utf8))] })
  }

  /// What ends a connection is a phase that lasts too long: the same clock ends one that never said its preface.
  @Test func aConnectionWithoutAPrefaceDoesNotStay() throws {
    let stage = try Stage(tls: nil)
    let peer = try stage.makeSocket()
    peer.send(Array(clientPreface().prefix(10)))
    #expect(stage.wait { stage.server.connectionCount == 1 && !peer.received.isEmpty })
    rest(stage)
    #expect(stage.wait { stage.server.connectionCount == 0 })
  }
}
