import Foundation
import Testing

/// One upstream is down until what waits for it is all that there is room for: pushes to another are taken as ever.
@Suite("Shares of upstreams", .processes) struct UpstreamShareTests {
  /// A gateway with two upstreams: `down`, where nothing listens, and `up`.
  private func start(waitingMegabytes: Int, in state: Folder, _ upstream: CountingUpstream) async throws -> Deployment {
    let configuration = """
      store: {waitingMegabytes: \(waitingMegabytes)}
      upstreams:
        down: {url: "https://localhost:9", ca: ca.pem}
        up: {url: "https://localhost:\(upstream.port)", ca: ca.pem}
      apps:
        - bundleID: com.example.app
          upstream: {development: up, production: up}
      """
    let path = try state.write("gateway.yaml", configuration + "\n")
    return try await Deployment.start(["gateway", "--config", path], in: state)
  }

  private func registrations(_ numbers: Range<Int>, at upstream: String) -> String {
    numbers.map { number in
      #"{"token":"\#(CountingUpstream.token(number))","type":"app","bundleID":"com.example.app","environment":"development","upstream":"\#(upstream)"}"#
    }.joined(separator: "\n")
  }

  private func register(_ numbers: Range<Int>, at upstream: String, _ gateway: Deployment) async throws {
    let answer = try await gateway.control(
      "POST", "/v1/registrations", registrations(numbers, at: upstream), headers: ["content-type: application/x-ndjson"])
    #expect(answer.status == 200, "\(answer)")
  }

  /// Alerts of 4090 bytes, which take 8 KB, to each of the tokens, `rounds` times.
  private func send(_ numbers: Range<Int>, rounds: Int, _ gateway: Deployment, bytes: Int = 4090) async throws -> [Int] {
    let text = String(repeating: "x", count: bytes - PushContent.alert("").body.utf8.count)
    let pushes = (0..<rounds).flatMap { _ in numbers.map { (token: CountingUpstream.token($0), id: newID()) } }
    return try await gateway.sendAll(pushes, .alert(text), parallel: 500).map(\.status)
  }

  private func gauge(_ name: String, _ gateway: Deployment) async throws -> Double {
    let text = try await gateway.control("GET", "/metrics").text
    let line = text.split(separator: "\n").first { $0.hasPrefix(name + " ") }
    return try #require(line?.split(separator: " ").last.flatMap { Double($0) }, "\(name) in \(text.prefix(2000))")
  }

  private func residentKilobytes(_ gateway: Deployment) throws -> Int {
    let status = try String(contentsOfFile: "/proc/\(gateway.process.pid)/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
    return try #require(line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) })
  }

  @Test func nothingToAnotherUpstreamIsRefused() async throws {
    let state = try await Deployment.newState()
    let upstream = try CountingUpstream(count: 1000, state: state)
    let gateway = try await start(waitingMegabytes: 4, in: state, upstream)
    try await register(0..<60, at: "down", gateway)
    try await register(500..<1000, at: "up", gateway)

    // Of 4 MB a quarter is kept for the other: 3 MB hold some 400 of these.
    let down = try await send(0..<60, rounds: 10, gateway)
    #expect(down.filter { $0 == 200 }.count < 450 && down.contains(503))
    let refused = try await gateway.send(
      PushRequest("alert", to: CountingUpstream.token(1)).with("widgetpush-explain", "1"))
    #expect(refused.status == 503)
    #expect(refused["widgetpush-detail"]?.contains("pushes for the upstream down hold") == true, "\(refused)")

    let up = try await send(500..<1000, rounds: 10, gateway, bytes: 200)
    #expect(up.count == 5000 && up.allSatisfy { $0 == 200 }, "\(up.filter { $0 != 200 }.count) of \(up.count) refused")
    try await eventually("all arrive") { upstream.total >= 5000 }

    let readiness = try await gateway.control("GET", "/readyz")
    #expect(readiness.status == 200, "the others are served")
    let warnings = try readiness.json["warnings"].array.compactMap(\.string)
    #expect(warnings.filter { $0.hasPrefix("The upstream down takes no pushes") }.count == 1, "\(warnings)")
    #expect(warnings.allSatisfy { $0.hasPrefix("The upstream down ") }, "\(warnings)")
    #expect(try await gauge(#"widgetpush_upstream_full{upstream="down"}"#, gateway) == 1)
    #expect(try await gauge(#"widgetpush_upstream_full{upstream="up"}"#, gateway) == 0)
    #expect(try await gauge(#"widgetpush_upstream_waiting_bytes{upstream="down"}"#, gateway) > 2_900_000)
    #expect(gateway.process.errors.text.contains("the store warns"))

    // Over a restart too, from the first answer on.
    try await gateway.crash()
    let again = try await start(waitingMegabytes: 4, in: state, upstream)
    #expect(try await gauge("widgetpush_registrations", again) == 560)
    #expect(try await gauge("widgetpush_pushes_waiting", again) + gauge("widgetpush_pushes_in_flight", again) >= 300)
    #expect(try await gauge(#"widgetpush_upstream_waiting_bytes{upstream="down"}"#, again) > 2_900_000)
    #expect(try await again.terminate() == 0)
  }

  /// A backlog that is gone leaves no memory behind.
  @Test func memoryComesBack() async throws {
    let state = try await Deployment.newState()
    let upstream = try CountingUpstream(count: 1000, state: state)
    let gateway = try await start(waitingMegabytes: 256, in: state, upstream)
    try await register(0..<600, at: "down", gateway)
    let answers = try await send(0..<600, rounds: 16, gateway)
    #expect(answers.filter { $0 == 200 }.count == 9600)
    let peak = try residentKilobytes(gateway)
    #expect(try await gauge("widgetpush_waiting_bytes", gateway) > 70_000_000)

    #expect(try await gateway.control("POST", "/v1/reset?bundleID=com.example.app").status == 200)
    #expect(try await gauge("widgetpush_waiting_bytes", gateway) == 0)
    // A generous bound: most of the 75 MB that waited.
    try await eventually(within: .seconds(30), "memory comes back: \(peak) KB at the peak") {
      try residentKilobytes(gateway) < peak - 50_000
    }
    #expect(try await gateway.terminate() == 0)
  }
}
