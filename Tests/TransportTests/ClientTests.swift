import HTTP2
import Primitives
import Reactor
import Testing
import Transport

@Suite("HTTP/2 client") struct ClientTests {
  @Test func aNameIsResolvedAndVerified() throws {
    let stage = try Stage()
    let configuration = HTTP2Client.Configuration(host: "localhost", port: stage.server.address.port, tls: TestCertificates.client)
    let client = RecordingClient(HTTP2Client(on: stage.transport, configuration))
    client.request("/")
    #expect(stage.wait { client.responses.count == 1 })
    #expect(stage.handler.lastConnection?.serverName == "localhost")
  }

  @Test func anUnknownNameIsTheEnd() throws {
    let stage = try Stage()
    let client = RecordingClient(HTTP2Client(on: stage.transport, .init(host: "no such host", port: 1, tls: nil)))
    #expect(stage.wait { client.end != nil })
    guard case .notResolved? = client.end else {
      Issue.record("\(String(describing: client.end))")
      return
    }
  }

  @Test func aServerThatSaysNothingIsGivenUp() throws {
    let stage = try Stage()
    let silent = try ListeningSocket.bind(SocketAddress("127.0.0.1:0")!)[0]
    let client = RecordingClient(
      HTTP2Client(on: stage.transport, .init(host: "127.0.0.1", port: silent.address.port, tls: TestCertificates.client)))
    for _ in 0..<3 { stage.loop.turn(waitingAtMost: .milliseconds(20)) }
    #expect(client.end == nil)
    stage.clock.advance(.seconds(6))
    #expect(stage.wait { client.end != nil })
    guard case .handshakeTimeout? = client.end else {
      Issue.record("\(String(describing: client.end))")
      return
    }
    #expect(stage.transport.connectionCount == 0)
  }

  /// A server that answers some requests and not others: those time out alone.
  @Test func oneUnansweredRequestTimesOut() throws {
    let stage = try Stage()
    stage.handler.answersAtOnce = false
    let client = stage.makeClient(answerTimeout: .seconds(5))
    client.request("/never")
    #expect(stage.wait { stage.handler.kept.count == 1 })
    stage.handler.answersAtOnce = true
    stage.clock.advance(.seconds(4))
    client.request("/now")
    #expect(stage.wait { client.responses.count == 1 })
    stage.clock.advance(.seconds(2))
    #expect(stage.wait { client.responses.count == 2 })
    #expect(client.responses[0]?.failure == .cancelled && client.responses[1]?.status == 200)
    #expect(client.end == nil && client.client.availableStreams > 0)
    #expect(stage.wait { stage.transport.exchanges.openExchanges == 0 }, "the server is told")
  }

  @Test func aServerThatHasFallenSilentIsLeft() throws {
    let stage = try Stage()
    stage.handler.answersAtOnce = false
    let client = stage.makeClient(answerTimeout: .seconds(5))
    client.request("/never")
    #expect(stage.wait { stage.handler.kept.count == 1 })
    stage.clock.advance(.seconds(6))
    #expect(stage.wait { client.end != nil })
    guard case .unresponsive? = client.end else {
      Issue.record("\(String(describing: client.end))")
      return
    }
    #expect(client.responses[0]?.failure == .cancelled)
  }

  @Test func closingWaitsForOpenRequests() throws {
    let stage = try Stage()
    stage.handler.answersAtOnce = false
    let client = stage.makeClient()
    client.request("/1")
    #expect(stage.wait { stage.handler.kept.count == 1 })
    client.client.close()
    #expect(client.client.availableStreams == 0)
    stage.loop.turn(waitingAtMost: .zero)
    #expect(client.end == nil)
    #expect(stage.handler.answerKept() == 1)
    #expect(stage.wait { client.end != nil })
    #expect(client.responses[0]?.status == 200 && client.end?.isRegular == true)
  }

  @Test func closingBeforeConnectingIsTheEnd() throws {
    let stage = try Stage()
    let client = stage.makeClient()
    client.client.close()
    #expect(client.end?.isRegular == true)
    for _ in 0..<3 { stage.loop.turn(waitingAtMost: .milliseconds(10)) }
    #expect(stage.server.connectionCount == 0)
  }

  /// A delegate that gives up in the middle of an answer, encrypted or not: every request has one answer, then the end.
  @Test(arguments: [true, false]) func aDelegateMayAbortFromWithinAnAnswer(encrypted: Bool) throws {
    final class Impatient: HTTP2ClientDelegate {
      let recorder: RecordingClient
      init(_ recorder: RecordingClient) { self.recorder = recorder }
      func clientMaySend(_ client: HTTP2Client) { recorder.clientMaySend(client) }
      func clientMayHaveAnswers(_ client: HTTP2Client) {
        while let answer = client.takeAnswer() {
          recorder.record(answer)
          if recorder.responses.count == 1 { client.abort() }
        }
      }
      func client(_ client: HTTP2Client, isGoingAway goAway: PeerGoAway) {}
      func client(_ client: HTTP2Client, ended end: ConnectionEnd) { recorder.client(client, ended: end) }
    }
    let stage = try Stage(tls: encrypted ? TestCertificates.server : nil)
    let client = stage.makeClient(tls: encrypted ? TestCertificates.client : nil)
    let delegate = Impatient(client)
    client.client.delegate = delegate
    for request in 0..<50 { client.request("/\(request)") }
    #expect(stage.wait { client.end != nil })
    let sent = 50 - client.unsent.count
    #expect(client.responses.count == sent && sent > 1)
    let isTaken = client.client.send(FieldList(), body: RawSpan(), tag: 99)
    #expect(!isTaken)
    #expect(stage.wait { stage.server.connectionCount == 0 })
    #expect(stage.transport.exchanges.openExchanges == 0)
  }
}
