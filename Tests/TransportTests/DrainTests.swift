import HTTP2
import Primitives
import Reactor
import Testing
import Transport

@Suite("Drain") struct DrainTests {
  /// SIGTERM's way: GOAWAY with the last stream and Apple's words, open requests answered, connections closed.
  @Test func openRequestsAreAnswered() throws {
    let stage = try Stage()
    stage.handler.answersAtOnce = false
    let client = stage.makeClient()
    client.request("/1")
    client.request("/2")
    #expect(stage.wait { stage.handler.kept.count == 2 })
    var isDrained = false
    stage.server.drain(within: .seconds(60)) { isDrained = true }
    #expect(stage.wait { client.goAway != nil })
    #expect(client.goAway == PeerGoAway(lastStream: 3, code: 0, debug: #"{"reason":"Shutdown"}"#))
    #expect(client.client.availableStreams == 0 && !isDrained)
    #expect(stage.handler.answerKept() == 2)
    #expect(stage.wait { isDrained && client.end != nil })
    #expect(client.responses.count == 2 && client.responses.values.allSatisfy { $0.status == 200 })
    #expect(client.end?.isRegular == true && stage.handler.failures.isEmpty)
  }

  @Test func idleConnectionsEndAtOnceAndNobodyConnectsAnyMore() throws {
    let stage = try Stage()
    let client = stage.makeClient()
    client.request("/1")
    #expect(stage.wait { client.responses.count == 1 })
    let address = stage.server.address
    var isDrained = false
    stage.server.drain(within: .seconds(60)) { isDrained = true }
    #expect(stage.wait { isDrained && client.end != nil })
    let late = RecordingClient(HTTP2Client(on: stage.transport, .init(host: "127.0.0.1", port: address.port, tls: nil)))
    #expect(stage.wait { late.end != nil })
    guard case .connectFailed? = late.end else {
      Issue.record("\(String(describing: late.end))")
      return
    }
  }

  @Test func whoeverIsNotDoneInTimeIsClosed() throws {
    let stage = try Stage()
    stage.handler.answersAtOnce = false
    let client = stage.makeClient()
    client.request("/1")
    #expect(stage.wait { stage.handler.kept.count == 1 })
    var isDrained = false
    stage.server.drain(within: .seconds(5)) { isDrained = true }
    #expect(stage.wait { client.goAway != nil })
    #expect(!isDrained)
    stage.clock.advance(.seconds(6))
    #expect(stage.wait { isDrained && client.end != nil })
    #expect(client.responses[0]?.failure == .connectionLost)
  }

  @Test func aServerWithoutConnectionsIsDrainedAtOnce() throws {
    let stage = try Stage()
    var isDrained = false
    stage.server.drain(within: .seconds(5)) { isDrained = true }
    #expect(isDrained)
  }

  /// Connections that the kernel holds in its queue are taken in and told; then the port is free, whoever still holds the socket.
  @Test func whoeverWaitsInTheQueueIsToldAndThePortIsGivenUp() throws {
    let stage = try Stage(tls: nil)
    let address = stage.server.address
    let waiting = try (0..<20).map { _ in try stage.makeSocket() }
    for peer in waiting { peer.send(clientPreface()) }
    // The loop has not run: nobody has accepted them.
    var isDrained = false
    stage.server.drain(within: .seconds(60)) { isDrained = true }
    let next = try ListeningSocket.bind(address)[0]
    #expect(stage.wait { waiting.allSatisfy { peer in frames(peer.received).contains { $0.type == 7 } } })
    for peer in waiting { peer.forget() }
    #expect(waiting.allSatisfy { !$0.isBroken } && stage.wait { isDrained })
    withExtendedLifetime(next) {}
  }

  /// While it only has given up its port, a server serves those who are there.
  @Test func aServerThatListensNoMoreServes() throws {
    let stage = try Stage()
    let client = stage.makeClient()
    client.request("/1")
    #expect(stage.wait { client.responses.count == 1 })
    stage.server.stopListening()
    _ = try ListeningSocket.bind(stage.server.address)
    client.request("/2")
    #expect(stage.wait { client.responses.count == 2 })
    #expect(client.goAway == nil && client.end == nil)
    var isDrained = false
    stage.server.drain(within: .seconds(60)) { isDrained = true }
    #expect(stage.wait { isDrained })
  }

  /// Clients that read the end and do not close, and one that has connected and says nothing, hold a drain up for a tenth of a second.
  @Test(arguments: [true, false]) func whoeverDoesNotCloseIsNotWaitedFor(encrypted: Bool) throws {
    let stage = try Stage(tls: encrypted ? TestCertificates.server : nil)
    let peer = try stage.makeSocket()
    if !encrypted { peer.send(clientPreface()) }
    #expect(stage.wait { stage.server.connectionCount == 1 && (encrypted || !peer.received.isEmpty) })
    var isDrained = false
    let start = stage.clock.uptime
    stage.server.drain(within: .seconds(60)) { isDrained = true }
    #expect(stage.wait { isDrained })
    #expect(stage.clock.uptime - start < .seconds(2))
  }
}
