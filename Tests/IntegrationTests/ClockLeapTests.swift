import Foundation
import Testing

/// Somebody sets the machine's clock while an upstream is down.
@Suite("A machine's clock that is set", .processes) struct ClockLeapTests {
  /// The upstream is found when it comes back, and not an hour later; what happened to the clock is told.
  @Test(arguments: [-3600, 3600]) func anUpstreamThatComesBackIsFound(seconds: Int) async throws {
    let state = try await Deployment.newState()
    // Finds a port that is free.
    let first = try await FakeUpstream.start(["200"], state: state)
    let port = first.port
    first.process.signal(SIGKILL)
    _ = try await first.process.waitForExit(within: .seconds(20))
    let clock = try await Preloaded("clock", "CLOCK_OFFSET_FILE")
    let options = try GatewayConfiguration(upstream: "https://localhost:\(port)").options(in: state)
    let gateway = try await Deployment.start(["gateway"] + options, in: state, environment: clock.environment)
    let token = newToken()
    try await gateway.register(token, RegistrationBody.app)
    let answer = try await gateway.send(PushRequest("alert", to: token))
    #expect(answer.status == 200)
    let id = try #require(answer["apns-id"])
    try await gateway.settled(id, as: "waiting")

    try clock.set("\(seconds)")
    let text = seconds < 0 ? "set back by 3600 s" : "set ahead by 3600 s"
    try await eventually("a line: \(gateway.process.errors.text)") {
      gateway.process.errors.text.contains("the machine's clock was \(text)")
    }
    let upstream = try await FakeUpstream.start(["200"], state: state, port: port)
    try await gateway.settled(id, as: "accepted", within: .seconds(60))
    #expect(upstream.requestCount == 1)
    #expect(try await gateway.terminate() == 0)
  }
}
