import Foundation
import Testing

/// What waits for an app or an upstream that the configuration does not have any more.
@Suite("Apps that are gone", .processes) struct UnconfiguredTests {
  private func widgetpush(_ dev: Deployment, _ arguments: String...) async throws -> String {
    let result = try await run([Deployment.executable] + arguments + ["--state-dir", dev.state.path])
    #expect(result.status == 0, "\(arguments): \(result.text)\(result.standardError)")
    return result.text
  }

  @Test func aPushOfAnAppThatIsGoneSaysSoAndGoesWhenItIsBack() async throws {
    let dev = ["dev", "--app", "com.acme.shop"]
    let first = try await Deployment.start(dev)
    let token = newToken()
    _ = try await widgetpush(first, "register", token, "--bundle-id", "com.acme.shop")
    _ = try await widgetpush(first, "send", token)
    let sent = try await widgetpush(first, "send", token, "--json")
    let id = try #require(try Document(Data(sent.utf8))["apnsID"].string)
    #expect(try await first.record(id)["cause"].string == "minimumInterval")
    #expect(try await first.terminate() == 0)

    let second = try await Deployment.start(["dev"], in: first.state)
    let clock = try await widgetpush(second, "clock", "advance", "10m", "--json")
    #expect(try Document(Data(clock.utf8))["complete"].bool == true, "nothing is waited for that does not come: \(clock)")
    let record = try await second.record(id)
    #expect(record["disposition"].string == "waiting" && record["cause"].string == "appNotConfigured", "\(record)")
    let story = try await widgetpush(second, "explain", id)
    #expect(story.contains("Name the app again") && !story.contains("Start the upstream"), "\(story)")
    #expect(try await second.terminate() == 0)

    let third = try await Deployment.start(dev, in: first.state)
    _ = try await widgetpush(third, "clock", "advance", "10m")
    try await third.settled(id, as: "applied")
    #expect(try await third.terminate() == 0)
  }

  /// The same without a restart: what waits says so at its next attempt, and goes on as soon as the app is back.
  @Test func anAppThatAReloadTakesAwayIsMissedUntilAnotherBringsItBack() async throws {
    let state = try await Deployment.newState()
    func apps(_ bundleID: String) throws -> String { try state.write("gateway.yaml", "apps:\n  - {bundleID: \(bundleID)}\n") }
    // In front of nothing.
    let gateway = try await Deployment.start(["gateway", "--config", apps("com.example.app")], in: state)
    let token = newToken()
    try await gateway.register(token, RegistrationBody.widgets)
    let id = try #require(try await gateway.send(.widgets(token))["apns-id"])
    func isWaiting(for cause: String) async throws -> Bool { try await gateway.record(id)["cause"].string == cause }
    try await eventually("there is no upstream") { try await isWaiting(for: "upstreamUnavailable") }
    for (bundleID, cause) in [("org.example.other", "appNotConfigured"), ("com.example.app", "upstreamUnavailable")] {
      _ = try apps(bundleID)
      gateway.process.signal(SIGHUP)
      try await eventually("with \(bundleID) it is \(cause)") { try await isWaiting(for: cause) }
    }
    #expect(try await gateway.terminate() == 0)
  }
}
