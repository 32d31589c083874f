import Foundation
import Testing

/// What the README, the pages of docs and the demo tell people to type.
@Suite("README, docs and demo", .processes) struct DocumentationTests {
  /// A page, and what a reader sees who pastes its commands.
  struct Page: Sendable, CustomTestStringConvertible {
    let name: String
    let signs: [String]
    var testDescription: String { name }
  }

  private static let readme = Page(
    name: "README.md",
    signs: [
      "applied (reloaded)", "widget Steps-1", "waiting (minimumInterval)", "1 registration matches", "control Lamp-1", "HTTP/2 200",
      "activity Delivery-9; no schema is known for DeliveryAttributes, so its content-state was not checked", "contentStateNotDecodable",
      "refused: contentStateNotDecodable", "timestampInMilliseconds", "send 817692800", "not worth sending", "\"complete\":true",
    ])

  /// Every page of docs with commands that need nothing from outside.
  private static let pages = [
    Page(name: "docs/activities.md", signs: [#""state":"ended""#, #""cause":"ended""#]),
    Page(name: "docs/api.md", signs: [#""event":"widgetsReloaded""#, #""device":"desk""#]),
    Page(name: "docs/broadcasts.md", signs: ["applied (updated)", "It reached 1 running activity"]),
    Page(name: "docs/budgets.md", signs: ["registered"]),
    Page(name: "docs/clients.md", signs: ["HTTP/2 200"]),
    Page(name: "docs/clock.md", signs: ["2031-01-31T08:00:00Z"]),
    Page(name: "docs/content-states.md", signs: ["set DeliveryAttributes", #""origin": "api""#]),
    Page(name: "docs/credentials.md", signs: ["ABCDE12345", "registered"]),
    Page(name: "docs/delivery.md", signs: [#""disposition":"failed""#]),
    Page(name: "docs/faults.md", signs: ["503", "2 of 2", "removed 1 fault"]),
    Page(name: "docs/record-and-replay.md", signs: ["recorded", "became the same"]),
    Page(name: "docs/reloads.md", signs: ["registrations match; nothing was sent", "finished", #"{"pushes":[]}"#]),
  ]

  /// Programs with a test of their own, and what needs containers, a checkout or somebody's test suite.
  private static let outside = ["; run by: widgetpush dev", "docker ", "scripts/", "npm test", "docs/scripted-day.sh"]

  /// The shell blocks of a page, one after another, but for those that need something from outside.
  private static func commands(of page: String) throws -> String {
    let text = try String(contentsOfFile: repository + "/" + page, encoding: .utf8)
    return text.matches(of: #/(?s)```sh\n(.*?)```/#).map { String($0.1) }.filter { block in !outside.contains { block.contains($0) } }
      .joined()
  }

  /// Pastes commands as a reader would, in a folder with a built binary and a running `dev`, on this `dev`'s ports.
  private func paste(_ commands: String, beside dev: Deployment) async throws -> CommandResult {
    let folder = try Folder()
    let manager = FileManager.default
    try manager.createDirectory(atPath: folder.path(".build/release"), withIntermediateDirectories: true)
    try manager.createSymbolicLink(atPath: folder.path(".build/release/widgetpush"), withDestinationPath: Deployment.executable)
    try manager.createSymbolicLink(atPath: folder.path(".widgetpush"), withDestinationPath: dev.state.path)
    try manager.createSymbolicLink(atPath: folder.path("Config"), withDestinationPath: repository + "/Config")
    let script = try commands.replacingOccurrences(of: "localhost:2197", with: "localhost:\(dev.port("provider"))")
      .replacingOccurrences(of: "localhost:8443", with: "localhost:\(dev.port("control"))")
      .replacingOccurrences(of: "localhost:8444", with: "localhost:\(dev.port("device"))")
    return try await run(
      ["bash", "-euc", "cd \(folder.path)\nexport WIDGETPUSH_STATE_DIR=\(dev.state.path)\nPATH=$PWD/.build/release:$PATH\n\(script)"],
      within: .seconds(120))
  }

  private func expect(_ result: CommandResult, hasSignsOf page: Page) {
    #expect(result.status == 0, "\(page.name): \(result.text)\(result.standardError)")
    #expect(!result.text.contains(#""error":{"#), "\(page.name): a call was refused: \(result.text)")
    for sign in page.signs { #expect(result.text.contains(sign), "\(page.name), \(sign): \(result.text)\(result.standardError)") }
  }

  @Test func theReadmeIsPastedFromTopToBottom() async throws {
    let dev = try await Deployment.start(["dev"])
    expect(try await paste(Self.commands(of: "README.md"), beside: dev), hasSignsOf: Self.readme)
    #expect(try await dev.terminate() == 0)
  }

  /// Each page by itself, and after the README beside the same `dev`.
  @Test(arguments: pages, [false, true]) func everyPageIsPasted(page: Page, isAfterReadme: Bool) async throws {
    let dev = try await Deployment.start(["dev"])
    if isAfterReadme { _ = try await paste(Self.commands(of: "README.md"), beside: dev) }
    expect(try await paste(Self.commands(of: page.name), beside: dev), hasSignsOf: page)
    #expect(try await dev.terminate() == 0)
  }

  @Test func everyPageWithCommandsIsAmongThem() throws {
    let files = try FileManager.default.contentsOfDirectory(atPath: repository + "/docs").filter { $0.hasSuffix(".md") }.map {
      "docs/\($0)"
    }
    #expect(try files.filter { try !Self.commands(of: $0).isEmpty }.sorted() == Self.pages.map(\.name))
  }

  @Test func theCertificateOfThePageIsGood() async throws {
    let dev = try await Deployment.start(["dev"])
    let after = "\nopenssl verify -purpose sslclient -CAfile office.pem push.pem\n"
    let result = try await paste(Self.commands(of: "docs/clients.md") + after, beside: dev)
    #expect(result.status == 0 && result.text.contains("push.pem: OK"), "\(result.text) \(result.standardError)")
    #expect(try dev.credentials()["keyFile"].string?.hasPrefix(dev.state.path) == true, "what dev wrote stays as it was")
    #expect(try await dev.terminate() == 0)
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
    _ = try await process.waitForExit()
    #expect(try await run(["pgrep", "-f", "--", "--state-dir \(folder.path)"]).status == 1, "something is left running")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
  }
}
