import Foundation
import Push
import Testing

@Suite("Malformed requests of senders", .processes) struct MalformedTests {
  /// README's curl command where the command that should print the token fails: nobody answers it, and it is told all the same.
  @Test func anEmptyTokenIsToldWithItsRemedy() async throws {
    let dev = try await Deployment.start(["dev"])
    func curl(_ face: String, _ path: String) async throws -> [String] {
      [
        "curl", "-sS", "--http2", "--max-time", "10", "--cacert", dev.state.path("ca.pem"), "-H", "authorization: bearer ", "-d", "{}",
        try dev.url(face) + path,
      ]
    }
    #expect(try await run(curl("provider", "/3/device/\(newToken())")).status == 92)
    let sentence = "authorization ends with white space"
    func told() -> Int { dev.process.output.text.components(separatedBy: sentence).count - 1 }
    try await eventually("dev tells it: \(dev.process.output.text)") {
      told() == 1 && dev.process.output.text.contains("Is your token empty?")
    }
    #expect(!dev.process.output.text.contains("bearer \n"))
    #expect(try await run(curl("control", "/v1/pushes")).status == 92)
    try await eventually("the control API's are told too: \(dev.process.output.text)") { told() == 2 }
    // Of a flood each is counted, and a few are told.
    let flood = 2 * Limits.malformedTold.burst
    let start = ContinuousClock.now
    for _ in 0..<flood { _ = try await run(curl("provider", "/3/device/\(newToken())")) }
    let metrics = try await dev.control("GET", "/metrics", as: "read").text
    #expect(metrics.contains("widgetpush_requests_malformed_total{fault=\"trailing_space\"} \(flood + 1)"), "\(metrics)")
    let seconds = Int((ContinuousClock.now - start).components.seconds) + 1
    #expect(told() <= 2 + Limits.malformedTold.burst + seconds * Limits.malformedTold.perSecond)
  }
}
