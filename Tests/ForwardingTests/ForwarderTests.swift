import Delivery
import Forwarding
import Primitives
import Push
import Testing

@Suite("Forwarder") struct ForwarderTests {
  @Test func aPushKeepsEverythingButItsAuthorization() throws {
    let stage = try Stage()
    stage.upstream.behaviour = .answer(status: 200, body: "", outcome: "applied reloaded two widgets")
    stage.send(1, payload: #"{"aps":{"content-changed":true},"x":1}"#, expiration: .at(Instant(unixSeconds: 1_800_000_000)))
    #expect(stage.wait { stage.recorder.count == 1 })
    #expect(stage.recorder.outcomes[1] == [.finished(.applied, .reloaded)])
    #expect(stage.recorder.details == ["two widgets"])
    let request = try #require(stage.upstream.requests.first)
    #expect(request.path == "/3/device/" + String(repeating: "ab", count: 32))
    #expect(request.body == #"{"aps":{"content-changed":true},"x":1}"#)
    #expect(request.fields["apns-id"] == "00000000-0000-0001-0000-000000000007")
    #expect(request.fields["apns-topic"] == "com.example.app.push-type.widgets")
    #expect(request.fields["apns-push-type"] == "widgets")
    #expect(request.fields["apns-priority"] == "5")
    #expect(request.fields["apns-expiration"] == "1800000000")
    #expect(request.fields["apns-collapse-id"] == nil)
    #expect(request.fields["authorization"]?.hasPrefix("bearer ey") == true)
  }

  /// Where none of the gateway's keys may sign for a push, it goes nowhere, and says so.
  @Test func aPushThatNoKeyMaySignForGoesNowhere() throws {
    let stage = try Stage()
    stage.send(1, signer: PushSigners.none)
    stage.broadcast(2, signer: PushSigners.none)
    #expect(stage.recorder.outcomes == [1: [.notAttempted(.noSigningKey)]])
    #expect(stage.recorder.broadcasts.map(\.outcome) == [.notAttempted(.noSigningKey)])
    stage.send(3, signer: 1)
    #expect(stage.wait { stage.recorder.count == 2 })
    #expect(stage.upstream.requests.count == 1 && stage.recorder.outcomes[3] == [.accepted])
  }

  @Test func aBroadcastIsSentAsApplesServersTakeIt() throws {
    let stage = try Stage()
    stage.upstream.behaviour = .answer(status: 200, body: "", outcome: "applied updated reached=3 applied=2")
    stage.broadcast(1, expiration: .at(Instant(unixSeconds: 1_800_000_000)), priority: .considerate)
    #expect(stage.wait { stage.recorder.broadcasts.count == 1 })
    #expect(stage.recorder.broadcasts.first?.ticket == BroadcastTicket(sequence: 1, upstream: 0))
    #expect(stage.recorder.broadcasts.first?.outcome == .finished(.applied, .updated))
    #expect(stage.recorder.broadcasts.first?.detail == "reached=3 applied=2")
    let request = try #require(stage.upstream.requests.first)
    #expect(request.path == "/4/broadcasts/apps/com.example.app")
    #expect(request.body == #"{"aps":{"event":"update"}}"#)
    #expect(request.fields["apns-channel-id"] == "aMs2y8fFEe8AAPIAM4gHog==")
    #expect(request.fields["apns-push-type"] == "liveactivity")
    #expect(request.fields["apns-request-id"] == "00000000-0000-0001-0000-000000000007")
    #expect(request.fields["apns-expiration"] == "1800000000")
    #expect(request.fields["apns-priority"] == "5")
    #expect(request.fields["apns-topic"] == nil)
    #expect(request.fields["authorization"]?.hasPrefix("bearer ey") == true)
    stage.upstream.behaviour = .answer(status: 400, body: #"{"reason":"BadChannelId"}"#, outcome: nil)
    stage.broadcast(2)
    #expect(stage.wait { stage.recorder.broadcasts.count == 2 })
    #expect(stage.recorder.broadcasts.last?.outcome == .refused(status: 400, .badChannelID))
    #expect(stage.upstream.requests.last?.fields["apns-expiration"] == "0")
    #expect(stage.upstream.requests.last?.fields["apns-priority"] == nil)
    stage.upstream.behaviour = .answer(status: 413, body: "", outcome: "refused fault fault 1: answered 413")
    stage.broadcast(3)
    #expect(stage.wait { stage.recorder.broadcasts.count == 3 })
    #expect(stage.recorder.broadcasts.last?.answer?.cause == .fault && stage.recorder.broadcasts.last?.detail == "fault 1: answered 413")
  }

  @Test func aBroadcastForAnUpstreamThatIsDownComesBack() throws {
    let stage = try Stage(isUp: false)
    for number in 1...5 { stage.broadcast(number) }
    #expect(stage.wait { stage.recorder.broadcasts.count == 5 })
    #expect(stage.recorder.broadcasts.allSatisfy { $0.outcome == .notAttempted(.upstreamUnavailable) })
    #expect(stage.forwarder.load.queued == 0)
  }

  @Test(arguments: [
    (400, #"{"reason":"BadDeviceToken"}"#, UpstreamOutcome.suspect),
    (400, #"{"reason":"BadTopic"}"#, .refused(status: 400, .badTopic)), (413, "", .refused(status: 413, nil)),
    (410, #"{"reason":"ExpiredToken","timestamp":1454948015990}"#, .expired(Instant(unixMilliseconds: 1_454_948_015_990))),
    (410, #"{"reason":"Unregistered","timestamp":1454948015990}"#, .unregistered(Instant(unixMilliseconds: 1_454_948_015_990))),
    (429, #"{"reason":"TooManyRequests"}"#, .retry(.upstreamBusy)), (500, "not JSON", .retry(.upstreamFailed)),
    (503, #"{"reason":"ServiceUnavailable"}"#, .retry(.upstreamFailed)),
    (403, #"{"reason":"Forbidden"}"#, .refused(status: 403, .forbidden)),
  ]) func errorsAreUnderstood(status: Int, body: String, outcome: UpstreamOutcome) throws {
    let stage = try Stage()
    stage.upstream.behaviour = .answer(status: status, body: body, outcome: nil)
    stage.send(1)
    #expect(stage.wait { stage.recorder.count == 1 })
    #expect(stage.recorder.outcomes[1] == [outcome])
  }

  @Test func aRefusedCredentialPausesTheUpstreamAndFailsNoToken() throws {
    let stage = try Stage()
    stage.upstream.behaviour = .answer(status: 403, body: #"{"reason":"InvalidProviderToken"}"#, outcome: nil)
    stage.send(1)
    #expect(stage.wait { stage.recorder.count == 1 })
    stage.send(2)
    #expect(stage.recorder.outcomes == [1: [.retry(.upstreamPaused)], 2: [.notAttempted(.upstreamPaused)]])
    #expect(stage.upstream.requests.count == 1 && stage.recorder.refusesCredentials == [true])
    stage.upstream.behaviour = .answer(status: 200, body: "", outcome: nil)
    stage.clock.now = Stage.now + .milliseconds(Limits.upstreamPauseMilliseconds)
    #expect(stage.wait { stage.loop.now == stage.clock.now })
    stage.send(3)
    #expect(stage.wait { stage.recorder.outcomes[3] == [.accepted] })
    #expect(stage.recorder.refusesCredentials == [true, false])
  }

  /// What the configuration does not know any more comes back at once, and says which of the two it is.
  @Test(arguments: [(UInt16(1), Cause.upstreamNotConfigured), (ForwardedPush.upstreamOfNoApp, .appNotConfigured)])
  func whatIsNotConfiguredIsTold(upstream: UInt16, cause: Cause) throws {
    let stage = try Stage()
    stage.send(1, upstream: upstream)
    stage.broadcast(2, upstream: upstream)
    #expect(stage.recorder.outcomes == [1: [.notAttempted(cause)]])
    #expect(stage.recorder.broadcasts.map(\.outcome) == [.notAttempted(cause)])
  }

  @Test func anUpstreamThatIsDownCostsOneAttemptAndItsReturnIsTold() throws {
    let stage = try Stage(isUp: false)
    for number in 1...50 { stage.send(number) }
    #expect(stage.wait { stage.recorder.count == 50 })
    #expect(stage.recorder.outcomes.values.allSatisfy { $0 == [.notAttempted(.upstreamUnavailable)] })
    #expect(stage.recorder.failed == 1, "one attempt serves all fifty")
    stage.send(51)
    #expect(stage.recorder.outcomes[51] == [.notAttempted(.upstreamUnavailable)], "before the delay is over nothing is tried")
    try stage.start()
    stage.clock.now = Stage.now + .milliseconds(Limits.reconnectLongestMilliseconds)
    #expect(stage.wait { stage.loop.now == stage.clock.now })
    stage.send(52)
    #expect(stage.wait { stage.recorder.outcomes[52] == [.accepted] })
    #expect(stage.recorder.opened == 1)
  }

  @Test func thePeersStreamLimitIsKept() throws {
    let stage = try Stage(concurrentStreams: 1)
    stage.upstream.behaviour = .keep
    for number in 1...20 { stage.send(number) }
    #expect(stage.wait { stage.upstream.kept.count == Limits.upstreamConnections })
    #expect(stage.upstream.mostOpen == Limits.upstreamConnections, "one stream on each connection")
    for _ in 0..<20 where stage.recorder.count < 20 {
      let before = stage.recorder.count
      stage.upstream.release()
      #expect(stage.wait { stage.recorder.count > before })
      #expect(stage.wait { stage.recorder.count == 20 || !stage.upstream.kept.isEmpty })
    }
    #expect(stage.recorder.outcomes.count == 20 && stage.recorder.outcomes.values.allSatisfy { $0 == [.accepted] })
  }

  @Test func aResetStreamMayHaveBeenActedOn() throws {
    let stage = try Stage()
    stage.upstream.behaviour = .reset(2)
    stage.send(1)
    #expect(stage.wait { stage.recorder.count == 1 })
    #expect(stage.recorder.outcomes[1] == [.retry(.upstreamUnavailable)])
  }

  @Test func aRefusedStreamWasNotAttempted() throws {
    let stage = try Stage()
    stage.upstream.behaviour = .reset(7)
    stage.send(1)
    #expect(stage.wait { stage.recorder.count == 1 })
    #expect(stage.recorder.outcomes[1] == [.notAttempted(.upstreamBusy)])
  }

  @Test func afterGOAWAYOpenPushesAreAnsweredAndTheNextConnects() throws {
    let stage = try Stage()
    stage.upstream.behaviour = .keep
    stage.send(1)
    #expect(stage.wait { stage.upstream.kept.count == 1 })
    stage.drainUpstream()
    stage.upstream.release()
    #expect(stage.wait { stage.recorder.outcomes[1] == [.accepted] })
    try stage.start()
    stage.upstream.behaviour = .answer(status: 200, body: "", outcome: nil)
    #expect(stage.wait { stage.transport.connectionCount == 0 })
    stage.send(2)
    #expect(stage.wait { stage.recorder.outcomes[2] == [.accepted] })
  }

  @Test func everyPushGetsOneOutcomeWhenTheForwarderIsDrained() throws {
    let stage = try Stage(concurrentStreams: 2)
    stage.upstream.behaviour = .keep
    for number in 1...40 { stage.send(number) }
    #expect(stage.wait { stage.upstream.kept.count == 2 * Limits.upstreamConnections })
    stage.forwarder.drain()
    stage.upstream.release()
    #expect(stage.wait { stage.recorder.count == 40 })
    #expect(stage.recorder.outcomes.values.allSatisfy { $0.count == 1 })
    let accepted = stage.recorder.outcomes.values.count { $0 == [.accepted] }
    #expect(accepted == 2 * Limits.upstreamConnections, "what was written is answered, the rest goes back to the store")
  }

  @Test func theProviderTokenIsRenewedAtFortyMinutes() throws {
    let stage = try Stage()
    var tokens: [String?] = []
    for (number, minutes) in [0, 39, 40, 79, 80].enumerated() {
      stage.clock.now = Stage.now + .seconds(Int64(60 * minutes))
      #expect(stage.wait { stage.loop.now == stage.clock.now })
      stage.send(number)
      #expect(stage.wait { stage.upstream.requests.count == number + 1 })
      tokens.append(stage.upstream.requests[number].fields["authorization"])
    }
    #expect(tokens[0] == tokens[1] && tokens[2] == tokens[3])
    #expect(Set(tokens).count == 3)
  }

  /// Apple's servers take the tokens of one team on a connection; and one key that is refused says nothing about another.
  @Test func eachKeyHasConnectionsOfItsOwn() throws {
    let stage = try Stage()
    for number in 0..<6 {
      stage.send(number, signer: number % 2)
      #expect(stage.wait { stage.recorder.count == number + 1 })
    }
    #expect(stage.recorder.outcomes.values.allSatisfy { $0 == [.accepted] })
    let connections = Dictionary(grouping: zip(stage.upstream.peers, stage.upstream.requests), by: \.0)
    #expect(connections.count == 2)
    for requests in connections.values { #expect(Set(requests.map { $0.1.fields["authorization"] }).count == 1) }

    stage.upstream.behaviour = .answer(status: 403, body: #"{"reason":"InvalidProviderToken"}"#, outcome: nil)
    stage.send(10, signer: 0)
    #expect(stage.wait { stage.recorder.outcomes[10] == [.retry(.upstreamPaused)] })
    stage.upstream.behaviour = .answer(status: 200, body: "", outcome: nil)
    stage.send(11, signer: 0)
    stage.send(12, signer: 1)
    #expect(stage.wait { stage.recorder.outcomes[12] == [.accepted] })
    #expect(stage.recorder.outcomes[11] == [.notAttempted(.upstreamPaused)])
  }

  @Test func anUpstreamThatOnlyFailsIsLeftAloneAndTriedWithOnePush() throws {
    let stage = try Stage()
    stage.upstream.behaviour = .answer(status: 503, body: #"{"reason":"ServiceUnavailable"}"#, outcome: nil)
    for number in 0..<Limits.serverErrorsInARow {
      stage.send(number)
      #expect(stage.wait { stage.recorder.count == number + 1 })
    }
    stage.send(100)
    #expect(stage.recorder.outcomes[100] == [.notAttempted(.upstreamFailed)])
    let before = stage.upstream.requests.count
    stage.clock.now = Stage.now + .milliseconds(Limits.upstreamRestMilliseconds.first)
    #expect(stage.wait { stage.loop.now == stage.clock.now })
    for number in 200..<210 { stage.send(number) }
    #expect(stage.wait { stage.recorder.outcomes[200] == [.retry(.upstreamFailed)] })
    #expect((201..<210).allSatisfy { stage.recorder.outcomes[$0] == [.notAttempted(.upstreamFailed)] })
    #expect(stage.upstream.requests.count == before + 1, "one push is tried, and the next rest is longer")
    stage.clock.now = stage.clock.now + .milliseconds(2 * Limits.upstreamRestMilliseconds.first - 1)
    #expect(stage.wait { stage.loop.now == stage.clock.now })
    stage.send(300)
    #expect(stage.recorder.outcomes[300] == [.notAttempted(.upstreamFailed)])
    stage.upstream.behaviour = .answer(status: 200, body: "", outcome: nil)
    stage.clock.now = stage.clock.now + .milliseconds(1)
    #expect(stage.wait { stage.loop.now == stage.clock.now })
    let opened = stage.recorder.opened
    stage.send(400)
    #expect(stage.wait { stage.recorder.outcomes[400] == [.accepted] })
    #expect(stage.recorder.opened == opened + 1, "what waits is told that it may go")
    for number in 500..<510 { stage.send(number) }
    #expect(stage.wait { (500..<510).allSatisfy { stage.recorder.outcomes[$0] == [.accepted] } })
  }

  @Test func whatWaitsForAStreamGoesBackWhenTheUpstreamIsLeftAlone() throws {
    let stage = try Stage(concurrentStreams: 1)
    stage.upstream.behaviour = .keep
    for number in 0..<20 { stage.send(number) }
    #expect(stage.wait { stage.upstream.kept.count == Limits.upstreamConnections })
    stage.upstream.behaviour = .answer(status: 403, body: #"{"reason":"InvalidProviderToken"}"#, outcome: nil)
    stage.upstream.release()
    #expect(stage.wait { stage.recorder.count == 20 })
    #expect(stage.recorder.outcomes.values.contains([.notAttempted(.upstreamPaused)]))
    #expect(stage.forwarder.load.queued == 0)
  }

  /// A connection that has seen an expired token refuses the next one too.
  @Test func anExpiredProviderTokenIsReplacedAndItsConnectionToo() throws {
    let stage = try Stage()
    stage.upstream.behaviour = .answer(status: 403, body: #"{"reason":"ExpiredProviderToken"}"#, outcome: nil)
    stage.send(1)
    #expect(stage.wait { stage.recorder.outcomes[1] == [.retry(.upstreamPaused)] })
    stage.upstream.behaviour = .answer(status: 200, body: "", outcome: nil)
    stage.clock.now = Stage.now + .milliseconds(Limits.upstreamPauseMilliseconds)
    #expect(stage.wait { stage.loop.now == stage.clock.now })
    stage.send(2)
    #expect(stage.wait { stage.recorder.outcomes[2] == [.accepted] })
    #expect(Set(stage.upstream.peers).count == 2)
    #expect(Set(stage.upstream.requests.map { $0.fields["authorization"] }).count == 2)
  }
}
