import Foundation
import Push
import Testing

@Suite("Malformed requests of senders", .processes) struct MalformedTests {
  /// Nobody answers what breaks HTTP/2, and it is told all the same: a space behind a field's value, such as that of a command which should
  /// have printed a token and failed.
  @Test func anEmptyTokenIsToldWithItsRemedy() async throws {
    let dev = try await Deployment.start(["dev"])
    func curl(_ face: String, _ path: String, _ field: String) async throws -> [String] {
      [
        "curl", "-sS", "--http2", "--max-time", "10", "--cacert", dev.state.path("ca.pem"), "-H", field, "-d", "{}",
        try dev.url(face) + path,
      ]
    }
    func told(_ sentence: String) -> Int { dev.process.output.text.components(separatedBy: sentence).count - 1 }
    // APNs trims its own fields, and so does the provider API.
    #expect(try await run(curl("provider", "/3/device/\(newToken())", "authorization: bearer ")).status == 0)
    let note = "x-note ends with white space"
    #expect(try await run(curl("provider", "/3/device/\(newToken())", "x-note: a ")).status == 92)
    try await eventually("dev tells it: \(dev.process.output.text)") { told(note) == 1 }
    #expect(try await run(curl("control", "/v1/pushes", "authorization: bearer ")).status == 92)
    try await eventually("the control API's are told too: \(dev.process.output.text)") {
      told("authorization ends with white space") == 1 && told("Is your token empty?") == 1
    }
    #expect(!dev.process.output.text.contains("bearer \n"))
    // Of a flood each is counted, and a few are told.
    let flood = 2 * Limits.malformedTold.burst
    let start = ContinuousClock.now
    for _ in 0..<flood { _ = try await run(curl("provider", "/3/device/\(newToken())", "x-note: a ")) }
    let metrics = try await dev.control("GET", "/metrics", as: "read").text
    #expect(metrics.contains("widgetpush_requests_malformed_total{fault=\"trailing_space\"} \(flood + 1)"), "\(metrics)")
    let seconds = Int((ContinuousClock.now - start).components.seconds) + 1
    #expect(told(note) <= 1 + Limits.malformedTold.burst + seconds * Limits.malformedTold.perSecond)
  }
}
