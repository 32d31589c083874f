import Foundation
import Testing

/// When a port is given up, and when a connection ends.
@Suite("Ports and connections at their end", .processes) struct PortTests {
  /// While a request keeps a server from ending, nobody connects to it any more: its ports are free, and who is connected is served. That
  /// its own control API says so is seen on a connection that was there before.
  @Test(arguments: [["dev"], ["gateway", "--loops", "3"]]) func portsAreGivenUpWhenDrainingBegins(command: [String]) async throws {
    let server = try await Deployment.start(command)
    let fields = try await server.fields(to: newToken())
    let underWay = server.state.path("under-way")
    let ended = server.state.path("ended")
    async let talk = server.converse([
      .preface(), .headers(fields, stream: 1), .data(#"{"aps":{"content-"#, stream: 1, end: false), .ping("read"), .receive(frames: 4),
      .mark(underWay), .receive(frames: 1, seconds: 60), .mark(ended), .receive(frames: 1, seconds: 1),
      .data(#"changed":true}}"#, stream: 1), .receive(ends: 1, seconds: 5),
    ])
    let asked = server.state.path("asked")
    let get: [(String, String)] = [(":method", "GET"), (":scheme", "https"), (":path", "/readyz"), (":authority", "localhost")]
    async let health = server.converse(
      [.preface(), .ping("read"), .receive(frames: 3), .mark(asked)]
        + (0..<200).flatMap {
          [Step.headers(get, stream: 2 * $0 + 1, end: true), .receive(ends: 1, seconds: 5), .receive(frames: 1, seconds: 0.01)]
        },
      face: "control")
    try await eventually("both are connected") { [underWay, asked].allSatisfy { FileManager.default.fileExists(atPath: $0) } }
    let ports = try server.faces.keys.map { try server.port($0) }
    server.process.signal(SIGTERM)
    try await eventually("GOAWAY was said") { FileManager.default.fileExists(atPath: ended) }
    for port in ports {
      try await eventually(within: .milliseconds(900), "port \(port) is free") { (try? OpenConnection(port: port)) == nil }
    }
    #expect(try await talk.frames(of: 1).contains { $0.type == "HEADERS" })
    #expect(try await health.frames.contains { $0.text.contains("The gateway is shutting down.") })
    #expect(try await server.process.waitForExit() == 0)
  }

  /// The next process has the ports while the one before answers what it had begun: who comes back finds it.
  @Test func theNextProcessListensWhileTheLastOneDrains() async throws {
    let before = try await Deployment.start(["device"])
    let port = try before.port("device")
    let underWay = before.state.path("under-way")
    let post: [(String, String)] = [(":method", "POST"), (":scheme", "https"), (":path", "/3/device/aa"), (":authority", "localhost")]
    async let talk = before.converse(
      [.preface(), .headers(post, stream: 1), .ping("read"), .receive(frames: 3), .mark(underWay), .receive(ends: 1, seconds: 20)],
      face: "device")
    try await eventually("a request is open") { FileManager.default.fileExists(atPath: underWay) }
    before.process.signal(SIGTERM)
    try await eventually(within: .seconds(3), "the port is free") { (try? OpenConnection(port: port)) == nil }
    #expect(before.process.exitStatus == nil)
    let next = try await Deployment.start(["device"], ports: ["--device-port", "\(port)"])
    #expect(try next.port("device") == port)
    #expect(try await before.process.waitForExit() == 0)
    #expect(try await next.terminate() == 0)
    _ = try await talk
  }

  /// At rest a server ends at once, whoever is connected: within 0.2 s on a quiet machine, and here within less than any time-out of its own.
  @Test(arguments: [["dev"], ["gateway"], ["device"]], [SIGTERM, SIGINT]) func aServerAtRestEndsAtOnce(command: [String], signal: Int32)
    async throws
  {
    let server = try await Deployment.start(command)
    let face = command == ["device"] ? "device" : "provider"
    let connected = server.state.path("connected")
    // It reads the end and does not close.
    async let talk = server.converse(
      [.preface(), .ping("read"), .receive(frames: 3), .mark(connected), .receive(frames: 2, seconds: 60)], face: face)
    let silent = try OpenConnection(port: server.port(face))
    try await eventually("the client is connected") { FileManager.default.fileExists(atPath: connected) }
    let start = ContinuousClock.now
    server.process.signal(signal)
    #expect(try await server.process.waitForExit() == 0)
    #expect(ContinuousClock.now - start < .milliseconds(1500), "\(ContinuousClock.now - start)")
    _ = try await talk
    withExtendedLifetime(silent) {}
  }

  /// `dev` ends with its command.
  @Test func devEndsWithItsCommand() async throws {
    let folder = try Folder()
    let process = try Deployment.launch(["dev", "--", "true"], in: folder)
    try await eventually("its command ran") { process.exitStatus != nil }
    #expect(process.exitStatus == 0)
  }

  /// A client that says GOAWAY on a connection without streams is closed at once, on each port.
  @Test(arguments: ["provider", "control", "device"]) func aClientsGoAwayEndsItsConnection(face: String) async throws {
    let dev = try await SharedDev.deployment()
    let goAway = "\u{0}\u{0}\u{8}\u{7}" + String(repeating: "\u{0}", count: 13)
    let talk = try await dev.converse([.preface(), .ping("read"), .receive(frames: 3), .raw(goAway), .receive(seconds: 60)], face: face)
    #expect(talk.isClosed && talk.error == nil, "\(talk.document)")
  }

  /// What is open is answered before.
  @Test func aClientsGoAwayWaitsForItsAnswer() async throws {
    let dev = try await SharedDev.deployment()
    let fields = try await dev.fields(to: newToken())
    let goAway = "\u{0}\u{0}\u{8}\u{7}" + String(repeating: "\u{0}", count: 13)
    let talk = try await dev.converse([
      .preface(), .headers(fields, stream: 1), .ping("read"), .receive(frames: 4), .raw(goAway), .data("{}", stream: 1),
      .receive(seconds: 60),
    ])
    #expect(talk.isClosed && talk.status(of: 1) == "400", "\(talk.document)")
  }
}
