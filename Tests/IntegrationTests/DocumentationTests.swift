import Foundation
import Testing

/// What the README and the demo tell people to type.
@Suite("README and demo", .processes) struct DocumentationTests {
  /// The shell blocks below a heading of the README, one after another.
  private func commands(below heading: String) throws -> String {
    let text = try String(contentsOfFile: repository + "/README.md", encoding: .utf8)
    guard let start = text.range(of: "\n## \(heading)\n") else { throw HarnessError("the README has no heading \(heading)") }
    let section = text[start.upperBound...].range(of: "\n## ").map { text[start.upperBound..<$0.lowerBound] } ?? text[start.upperBound...]
    let blocks = section.matches(of: #/(?s)```sh\n(.*?)```/#).map { String($0.1) }
    guard !blocks.isEmpty else { throw HarnessError("the README has no shell block below \(heading)") }
    return blocks.joined()
  }

  /// Runs commands as a reader would, in a folder with a built binary and a running `dev`, on this `dev`'s ports.
  private func asAReader(_ commands: String, of dev: Deployment) async throws -> CommandResult {
    let folder = try Folder()
    let manager = FileManager.default
    try manager.createDirectory(atPath: folder.path(".build/release"), withIntermediateDirectories: true)
    try manager.createSymbolicLink(atPath: folder.path(".build/release/widgetpush"), withDestinationPath: Deployment.executable)
    try manager.createSymbolicLink(atPath: folder.path(".widgetpush"), withDestinationPath: dev.state.path)
    let script = try commands.replacingOccurrences(of: "localhost:2197", with: "localhost:\(dev.port("provider"))")
      .replacingOccurrences(of: "localhost:8443", with: "localhost:\(dev.port("control"))")
      .replacingOccurrences(of: "localhost:8444", with: "localhost:\(dev.port("device"))")
    return try await run(["bash", "-euc", "cd \(folder.path)\n\(script)"])
  }

  @Test func theFirstPushIsSentAndExplained() async throws {
    // explain --last: no other test's push may be the last.
    let dev = try await Deployment.start(["dev"])
    let result = try await asAReader(commands(below: "A first push"), of: dev)
    #expect(result.status == 0, "\(result.standardError)")
    #expect(result.text.contains("widgets"), "\(result.text)")
    #expect(result.text.contains("applied") || result.text.contains("forwarding"), "\(result.text)")
    #expect(try await dev.terminate() == 0)
  }

  @Test func aBroadcastUpdatesTheActivitiesThatFollow() async throws {
    let dev = try await Deployment.start(["dev"])
    let result = try await asAReader(commands(below: "Broadcasts"), of: dev)
    #expect(result.status == 0, "\(result.standardError)")
    #expect(result.text.contains("applied (updated)") && result.text.contains("It reached 1 running activity"), "\(result.text)")
    #expect(try await dev.terminate() == 0)
  }

  @Test func aLiveActivityAndAControlArePushedToAndTheDeviceIsTaughtAContentState() async throws {
    // What the app declares would hold for other tests' activities too.
    let dev = try await Deployment.start(["dev"])
    let path = "PATH=$PWD/.build/release:$PATH\n"
    let result = try await asAReader(path + commands(below: "Live Activities and controls"), of: dev)
    #expect(result.status == 0, "\(result.standardError)")
    for sign in [
      "activity Delivery-9; no schema is known for DeliveryAttributes, so its content-state was not checked", "HTTP/2 200",
      "contentStateNotDecodable", "accepted, and ignored",
    ] {
      #expect(result.text.contains(sign), "\(sign): \(result.text)")
    }
    #expect(try await dev.terminate() == 0)
  }

  @Test func aClientCertificateIsMadeAndShown() async throws {
    let dev = try await SharedDev.deployment()
    let token = newToken()
    try await dev.register(token, RegistrationBody.app)
    let before = "PATH=$PWD/.build/release:$PATH\ntoken=\(token)\n"
    let after = "\nopenssl verify -purpose sslclient -CAfile office.pem push.pem\n"
    let result = try await asAReader(before + commands(below: "Client certificates") + after, of: dev)
    #expect(result.status == 0, "\(result.standardError)")
    #expect(result.text.contains("HTTP/2 200") && result.text.contains("push.pem: OK"), "\(result.text) \(result.standardError)")
    #expect(try dev.credentials()["keyFile"].string?.hasPrefix(dev.state.path) == true, "what dev wrote stays as it was")
  }

  @Test func aTestCanWaitForItsPush() async throws {
    let dev = try await SharedDev.deployment()
    let token = newToken()
    try await dev.register(token, RegistrationBody.widgets)
    let id = try #require(try await dev.send(.widgets(token))["apns-id"])
    let before = "PATH=$PWD/.build/release:$PATH\ntoken=\(token)\n"
    let result = try await asAReader(before + commands(below: "What became of a push"), of: dev)
    #expect(result.status == 0, "\(result.standardError)")
    #expect(result.text.contains("\"complete\":true"), "\(result.text)")
    #expect(result.text.lowercased().contains("\n\(id.lowercased())  widgets"), "\(result.text)")
  }

  @Test func aPayloadIsJudgedBeforeItIsSent() async throws {
    let dev = try await SharedDev.deployment()
    let result = try await asAReader("PATH=$PWD/.build/release:$PATH\n" + commands(below: "Before it is sent"), of: dev)
    #expect(result.status == 0, "\(result.standardError)")
    for sign in ["timestampInMilliseconds", "send 817692800", "not worth sending"] {
      #expect(result.text.contains(sign), "\(sign): \(result.text)")
    }
  }

  @Test func aPersonSleeps() async throws {
    let dev = try await SharedDev.deployment()
    let before = "PATH=$PWD/.build/release:$PATH\ntoken=\(newToken())\n"
    let result = try await asAReader(before + commands(below: "Budgets"), of: dev)
    #expect(result.status == 0 && result.text.contains("registered"), "\(result.text) \(result.standardError)")
  }

  @Test func anAppRegistersAndTheDeviceTellsWhatItDid() async throws {
    let dev = try await SharedDev.deployment()
    let token = newToken()
    try await dev.register(token, RegistrationBody.widgets)
    _ = try await dev.send(.widgets(token))
    // In the same shell: with the variables of the block before.
    let script =
      try "PATH=$PWD/.build/release:$PATH\ntoken=\(token)\n" + commands(below: "What became of a push") + commands(below: "The two APIs")
    let result = try await asAReader(script, of: dev)
    #expect(result.status == 0, "\(result.standardError)")
    #expect(result.text.contains(token) && result.text.contains("\"events\":["), "\(result.text)")
  }

  @Test func theDemoShowsTheWholeWayAndLeavesNothing() async throws {
    let folder = try Folder()
    let result = try await run(
      [repository + "/scripts/demo"], environment: ["WIDGETPUSH": Deployment.executable, "TMPDIR": folder.path], within: .seconds(60))
    #expect(result.status == 0, "\(result.text)\(result.standardError)")
    for sign in [
      "widgetsReloaded", "controlReloaded", "activityUpdated", "BadPayload", "aps.content-changed must be the JSON value true", "ignored",
      "staleTimestamp", "nothing is left running", "$ \(Deployment.executable) explain ", "-H \"$admin\" -d '{\"bundleID\"",
      "bearer $(\(Deployment.executable) token --state-dir $state)", "/3/device/$activity",
    ] {
      #expect(result.text.contains(sign), "\(sign): \(result.text)")
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    #expect(try await run(["pgrep", "-f", "--", "--state-dir \(folder.path)"]).status == 1, "something is left running")
  }

  @Test func theDemoCanStayUp() async throws {
    let folder = try Folder()
    let process = try ChildProcess(
      [repository + "/scripts/demo", "--keep"], environment: ["WIDGETPUSH": Deployment.executable, "TMPDIR": folder.path])
    try await eventually(within: .seconds(60), "it says how to go on: \(process.output.text) \(process.errors.text)") {
      process.output.text.contains("Ctrl-C") && process.output.text.contains("explain --last") || process.exitStatus != nil
    }
    #expect(process.exitStatus == nil)
    process.signal(SIGTERM)
    _ = try await process.waitForExit(within: .seconds(20))
    #expect(try await run(["pgrep", "-f", "--", "--state-dir \(folder.path)"]).status == 1, "something is left running")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
  }
}
