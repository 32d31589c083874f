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
}
