import HTTP2
import Primitives
import Reactor
import Testing
import Transport

/// How connections begin: what the first frames say, before the client has sent anything.
@Suite("Beginnings of connections") struct WelcomeTests {
  /// The frames that a silent client gets.
  private func begin(_ welcome: ConnectionWelcome, sending bytes: [UInt8] = []) throws -> (frames: [Frame], stage: Stage, peer: RawPeer) {
    let stage = try Stage(tls: nil, concurrentStreams: 1)
    stage.handler.welcome = welcome
    let peer = try stage.makeSocket()
    peer.send(bytes)
    #expect(stage.wait { !frames(peer.received).isEmpty })
    return (frames(peer.received), stage, peer)
  }

  /// MAX_CONCURRENT_STREAMS of the first SETTINGS.
  private func streams(_ frame: Frame) -> Int { Int(frame.payload[10]) << 8 | Int(frame.payload[11]) }

  @Test(arguments: [(ConnectionWelcome.standard, 1), (.trusted, 1000)]) func theFirstSettingsSayHowManyStreams(
    welcome: ConnectionWelcome, expected: Int
  ) throws {
    let (found, stage, peer) = try begin(welcome, sending: clientPreface())
    #expect(found[0].type == 4 && found[0].payload.count == 24 && streams(found[0]) == expected)
    #expect(stage.server.connectionCount == 1 && !peer.hasEnded)
    peer.forget()
  }

  /// A request that comes with the preface is not looked at: no acknowledgement, no answer, and nothing to tell the handler.
  @Test func whoIsTurnedAwayIsToldAndNotHeard() throws {

    let (_, stage, peer) = try begin(.refused(debug: "no"), sending: clientPreface() + emptyRequest)
    #expect(stage.wait { peer.hasEnded })
    let found = frames(peer.received)
    #expect(found.map(\.type) == [4, 7])
    #expect(streams(found[0]) == 1000)
    #expect(found[1].payload == [0, 0, 0, 0, 0, 0, 0, 0] + Array("no".utf8))
    #expect(stage.handler.paths.isEmpty && stage.handler.failures.isEmpty)
    peer.forget()
    #expect(stage.wait { stage.server.connectionCount == 0 })
  }
}
