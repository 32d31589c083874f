import Foundation
import Testing

/// What an upstream gets of a broadcast, and what becomes of it when the upstream misbehaves or the gateway dies.
@Suite("Broadcasts and upstreams", .processes) struct BroadcastUpstreamTests {
  private func channel(_ gateway: Deployment, policy: Int) async throws -> String {
    try #require(try await gateway.send(.createChannel(policy: policy))["apns-channel-id"])
  }

  private func life(_ gateway: Deployment, _ id: String) async throws -> Document {
    try await gateway.control("GET", "/v1/pushes/\(id)?wait=20s", as: "read").json
  }

  private var inAnHour: String { "\(Int(Date().timeIntervalSince1970) + 3600)" }

  @Test(arguments: ["1", "3"]) func theForwardedBroadcastIsTheOneThatCame(loops: String) async throws {
    let gateway = try await Deployment.behind(["200"], environment: ["WIDGETPUSH_LOOPS": loops])
    let (channel, id, date) = (try await channel(gateway, policy: 1), newID(), inAnHour)
    let request = PushRequest.broadcast(to: channel).with("apns-request-id", id).with("apns-expiration", date).with("apns-priority", "5")
    #expect(try await gateway.send(request).status == 200)
    let life = try await life(gateway, id)
    #expect(life["disposition"].string == "accepted", "\(life)")
    #expect(life["activities"].isMissing, "an upstream that tells no counts has none")
    try await gateway.upstream?.hasSeen(1)
    let seen = try #require(gateway.upstream?.requests.first)
    #expect(seen["body"].string == request.body)
    for (name, value) in [
      (":method", "POST"), (":path", "/4/broadcasts/apps/com.example.app"), ("apns-request-id", id), ("apns-channel-id", channel),
      ("apns-push-type", "liveactivity"), ("apns-expiration", date), ("apns-priority", "5"),
    ] {
      #expect(seen["fields"][name].string == value, "\(name): \(seen)")
    }
    #expect(seen["fields"].keys.isDisjoint(with: ["apns-topic", "apns-id", "apns-collapse-id"]))
    #expect(try await gateway.terminate() == 0)
  }

  @Test(arguments: [
    ["503:{\"reason\":\"ServiceUnavailable\"}", "200"], ["refuse", "200"], ["goaway", "200"], ["close", "200"],
    ["429:{\"reason\":\"TooManyRequests\"}", "200"],
  ]) func whatMayWorkLaterIsTriedAgain(answers: [String]) async throws {
    let gateway = try await Deployment.behind(answers)
    let (channel, id) = (try await channel(gateway, policy: 1), newID())
    _ = try await gateway.send(.broadcast(to: channel).with("apns-request-id", id).with("apns-expiration", inAnHour))
    let life = try await life(gateway, id)
    #expect(life["disposition"].string == "accepted", "\(life)")
    try await gateway.upstream?.hasSeen(2)
    #expect(try await gateway.terminate() == 0)
  }

  @Test func whatIsRefusedForGoodFails() async throws {
    let gateway = try await Deployment.behind(["400:{\"reason\":\"ChannelNotRegistered\"}"])
    let (channel, id) = (try await channel(gateway, policy: 0), newID())
    _ = try await gateway.send(.broadcast(to: channel).with("apns-request-id", id))
    let life = try await life(gateway, id)
    #expect(life["disposition"].string == "failed" && life["cause"].string == "upstreamRefused", "\(life)")
    #expect(life["upstreams"][0]["detail"].string == "400 ChannelNotRegistered")
    #expect(try await gateway.terminate() == 0)
  }

  /// With expiration 0 a broadcast looks for its upstream for a few seconds and is then given up.
  @Test func withExpirationZeroADeadUpstreamExpiresIt() async throws {
    let gateway = try await Deployment.behind([])
    let (channel, id) = (try await channel(gateway, policy: 0), newID())
    _ = try await gateway.send(.broadcast(to: channel).with("apns-request-id", id))
    let life = try await life(gateway, id)
    #expect(life["disposition"].string == "expired" && life["cause"].string == "upstreamUnavailable", "\(life)")
    #expect(try await gateway.terminate() == 0)
  }

  /// The upstream has the broadcast and has not answered when the gateway is killed: it comes again.
  @Test func aKillDoesNotLoseWhatWasOnItsWay() async throws {
    let state = try await Deployment.newState()
    let upstream = try await FakeUpstream.start(["hang", "200"], state: state)
    let options = try GatewayConfiguration(upstream: "https://localhost:\(upstream.port)").options(in: state)
    var gateway = try await Deployment.start(["gateway"] + options, in: state)
    let (channel, id) = (try await channel(gateway, policy: 1), newID())
    #expect(
      try await gateway.send(.broadcast(to: channel).with("apns-request-id", id).with("apns-expiration", inAnHour)).status == 200)
    try await eventually("the upstream has it") { upstream.requestCount == 1 }
    try await gateway.crash()
    gateway = try await Deployment.start(["gateway"] + options, in: state)
    let life = try await life(gateway, id)
    #expect(life["disposition"].string == "accepted", "\(life)")
    try await upstream.hasSeen(2)
    #expect(Set(upstream.requests.compactMap { $0["fields"]["apns-request-id"].string }) == [id])
    #expect(try await gateway.terminate() == 0)
  }

  /// In front of Apple, channels are Apple's own, made by its tools or elsewhere.
  @Test func aChannelOfApplesIsTakenAsItComes() async throws {
    let gateway = try await Deployment.behind(["200"], app: ["unknownTokens: adopt"])
    let (channel, id) = ("aMs2y8fFEe8AAPIAM4gHog==", newID())
    #expect(try await gateway.send(.broadcast(to: channel).with("apns-request-id", id)).status == 200)
    #expect(try await life(gateway, id)["disposition"].string == "accepted")
    try await gateway.upstream?.hasSeen(1)
    #expect(gateway.upstream?.requests.first?["fields"]["apns-channel-id"].string == channel)
    #expect(try await gateway.terminate() == 0)
  }

  @Test func anAppMayBeKeptFromBroadcasting() async throws {
    let gateway = try await Deployment.behind(["200"], app: ["broadcast: false"])
    for request in [PushRequest.createChannel(policy: 1), .allChannels, .broadcast(to: "aMs2y8fFEe8AAPIAM4gHog==")] {
      #expect(try await gateway.send(request).text == #"{"reason":"BroadcastFeatureNotEnabled"}"#)
    }
    #expect(try await gateway.terminate() == 0)
  }
}
