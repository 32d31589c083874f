import Foundation
import Testing

/// Starting, stopping, and clients that would hold what they should not.
@Suite("Lifecycle", .processes) struct LifecycleTests {
  @Test(arguments: [["dev"], ["gateway"]]) func sigtermDrainsAndExitsWithZero(command: [String]) async throws {
    let server = try await Deployment.start(command)
    let token = newToken()
    let connected = server.state.path("connected")
    async let talk = server.converse([.preface(), .receive(frames: 2), .mark(connected), .receive(seconds: 15)])
    try await server.register(token, RegistrationBody.widgets)
    #expect(try await server.send(.widgets(token)).status == 200)
    try await eventually("the client is connected") { FileManager.default.fileExists(atPath: connected) }

    #expect(try await server.terminate() == 0)

    let frames = try await talk.frames
    #expect(frames.contains { $0.type == "GOAWAY" }, "\(frames)")
    await #expect(throws: (any Error).self) { try await server.send(.widgets(token)) }
  }

  @Test func aRequestThatIsUnderWayIsAnsweredBeforeTheEnd() async throws {
    let server = try await Deployment.start(["dev"])
    let token = newToken()
    try await server.register(token, RegistrationBody.widgets)
    let fields = try await server.fields(to: token)
    let before = server.process
    let underWay = server.state.path("under-way")
    async let talk = server.converse([
      // The answer to the PING shows that what was sent before it has been read.
      .preface(), .headers(fields, stream: 1), .data(#"{"aps":{"content-"#, stream: 1, end: false), .ping("read"), .receive(frames: 4),
      .mark(underWay), .receive(frames: 1, seconds: 15), .data(#"changed":true}}"#, stream: 1), .receive(ends: 1, seconds: 5),
    ])
    try await eventually("the request is under way") { FileManager.default.fileExists(atPath: underWay) }
    before.signal(SIGTERM)
    let result = try await talk
    #expect(try await server.process.waitForExit() == 0)
    #expect(result.status(of: 1) == "200" || result.status(of: 1) == "503", "\(result.document)")
  }

  @Test func aPortThatIsTakenIsAnErrorThatNamesTheFlag() async throws {
    let dev = try await SharedDev.deployment()
    for (face, flag) in [
      ("provider", "--provider-port"), ("control", "--control-port"), ("device", "--device-port"), ("plain", "--plain-port"),
    ] {
      var ports = ["--provider-port", "0", "--control-port", "0", "--device-port", "0", "--plain-port", "0"]
      let place = try #require(ports.firstIndex(of: flag))
      ports[place + 1] = "\(try dev.port(face))"
      let folder = try Folder()
      let process = try Deployment.launch(["dev"], in: folder, ports: ports)
      let status = try await process.waitForExit(within: .seconds(30))
      #expect(status != 0)
      #expect(process.errors.text.contains(flag), "\(process.errors.text)")
      #expect(!process.output.text.contains("ready "))
      withExtendedLifetime(folder) {}
    }
  }

  /// What runs out of descriptors can end a process, so connections never take the last ones.
  @Test(arguments: ["dev", "gateway"]) func connectionsLeaveDescriptorsForHealthChecks(command: String) async throws {
    let server = try await Deployment.start([command], environment: Self.descriptors(64), executable: Self.limited)
    let idle = try (0..<80).map { _ in try OpenConnection(port: server.port("provider")) }
    #expect(try await server.control("GET", "/readyz", as: nil).status == 200)
    #expect(server.process.exitStatus == nil)
    withExtendedLifetime(idle) {}
    #expect(try await server.terminate() == 0)
  }

  /// With fewer than the connections need a server runs, and says so beforehand.
  @Test func aLowLimitOfOpenFilesIsWarnedOf() async throws {
    let gateway = try await Deployment.start(["gateway"], environment: Self.descriptors(1000), executable: Self.limited)
    #expect(gateway.process.errors.text.contains("ulimit -Hn"), "\(gateway.process.errors.text)")
    #expect(try await gateway.terminate() == 0)
    let checked = try await run([Self.limited, "config", "check"], environment: Self.descriptors(1000))
    #expect(checked.status == 0 && checked.standardError.contains("warning: ") && checked.standardError.contains("ulimit -Hn"))
  }

  @Test(arguments: ["dev", "gateway", "device"]) func tooFewDescriptorsAreAnErrorThatNamesTheLimit(command: String) async throws {
    let process = try Deployment.launch([command], in: Folder(), environment: Self.descriptors(28), executable: Self.limited)
    #expect(try await process.waitForExit(within: .seconds(30)) == 1)
    #expect(process.errors.text.contains("28") && process.errors.text.contains("ulimit -n"), "\(process.errors.text)")
  }

  /// Runs the executable with as many descriptors as `descriptors(_:)` says.
  private static let limited = repository + "/Tests/Support/limited.sh"

  private static func descriptors(_ count: Int) -> [String: String] { ["EXECUTABLE": Deployment.executable, "DESCRIPTORS": "\(count)"] }

  @Test func aStateFolderServesOneProcessAtATime() async throws {
    let dev = try await SharedDev.deployment()
    let process = try Deployment.launch(["dev"], in: dev.state)
    let status = try await process.waitForExit(within: .seconds(30))
    #expect(status != 0)
    #expect(process.errors.text.contains(dev.state.path), "\(process.errors.text)")
    #expect(try await dev.control("GET", "/readyz", as: nil).status == 200)
  }

  @Test func aClientThatNeverReadsHoldsNobodyUp() async throws {
    let dev = try await SharedDev.deployment()
    let token = newToken()
    try await dev.register(token, RegistrationBody.widgets)
    let before = try residentMegabytes(dev)

    async let deaf = dev.converse(
      [.preface(), .flood(dev.fields(to: newToken()), data: "{}", count: 30_000, seconds: 4)], receiveBuffer: 4096)
    var served = 0
    for _ in 0..<10 where try await dev.send(.widgets(token)).status == 200 { served += 1 }

    #expect(served == 10)
    let sent = try await deaf.sent
    #expect(sent > 0)
    #expect(try residentMegabytes(dev) - before < 128, "sent \(sent)")
    #expect(try await dev.send(.widgets(token)).status == 200)
  }

  @Test func aClientThatNeverOpensItsWindowHoldsOnlyItsStreams() async throws {
    let dev = try await SharedDev.deployment()
    let fields = try await dev.fields(to: "zz")
    var steps: [Step] = [.preface([4: 0])]
    for index in 0..<1200 {
      steps.append(.headers(fields, stream: 2 * index + 1))
      steps.append(.data("{}", stream: 2 * index + 1))
    }
    let talk = try await dev.converse(steps + [.receive(seconds: 2)])
    #expect(talk.frames.filter { $0.type == "DATA" }.isEmpty)
    #expect(talk.frames.contains { $0.type == "RST_STREAM" && $0.payload == "00000007" } || talk.isClosed, "REFUSED_STREAM past the limit")
    let token = newToken()
    try await dev.register(token, RegistrationBody.widgets)
    #expect(try await dev.send(.widgets(token)).status == 200)
  }

  @Test func aBodyThatNeverEndsIsAnsweredIdleTimeout() async throws {
    let dev = try await SharedDev.deployment()
    let talk = try await dev.converse([
      .preface(), .headers(dev.fields(to: newToken()), stream: 1), .data(#"{"aps""#, stream: 1, end: false), .receive(ends: 1, seconds: 45),
    ])
    #expect(talk.status(of: 1) == "400", "\(talk.document)")
    #expect(talk.frames(of: 1).first { $0.type == "DATA" }?.text == #"{"reason":"IdleTimeout"}"#)
  }

  @Test func aBodyThatNeverEndsMayBeResetInstead() async throws {
    let gateway = try await Deployment.behind(["200"], environment: ["WIDGETPUSH_PROVIDER_ANSWERS_UNFINISHED_REQUEST": "reset"])
    let talk = try await gateway.converse([
      .preface(), .headers(gateway.fields(to: newToken()), stream: 1), .data(#"{"aps""#, stream: 1, end: false),
      .receive(ends: 1, seconds: 45),
    ])
    #expect(talk.frames(of: 1).map(\.type) == ["RST_STREAM"], "\(talk.document)")
    #expect(talk.frames(of: 1).first?.payload == "00000008")
  }

  private func residentMegabytes(_ server: Deployment) throws -> Int {
    let status = try String(contentsOfFile: "/proc/\(server.process.pid)/status", encoding: .utf8)
    guard let match = status.firstMatch(of: /VmRSS:\s+(\d+) kB/), let kilobytes = Int(match.1) else { throw HarnessError("no VmRSS") }
    return kilobytes / 1024
  }
}
