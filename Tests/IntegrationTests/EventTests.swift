import Foundation
import Testing

@Suite("Events and tail", .processes) struct EventTests {
  private func follow(_ dev: Deployment, _ query: String, _ options: [String], headers: [String] = []) throws -> ChildProcess {
    let token = try #require(try dev.credentials()["read"].string)
    let all = headers + ["authorization: Bearer \(token)"]
    return try ChildProcess(
      ["curl", "-sSN", "-D", "-", "--max-time", "60", "--cacert", dev.state.path("ca.pem")] + options + all.flatMap { ["-H", $0] }
        + [dev.url("control") + "/v1/events" + query])
  }

  private func pushes(_ process: ChildProcess) throws -> [Document] {
    try process.output.lines.filter { $0.hasPrefix("data: ") }.map { try Document(Data($0.dropFirst(6).utf8)) }
  }

  @Test(arguments: [["--http1.1"], ["--http2"]]) func curlSeesAPushesLife(options: [String]) async throws {
    let dev = try await SharedDev.deployment()
    let token = newToken()
    try await dev.register(token, RegistrationBody.widgets)
    let curl = try follow(dev, "?token=\(token)", options)
    try await eventually("the stream has begun") { curl.output.text.contains("retry: 1000") }
    let head = curl.output.text.lowercased()
    #expect(head.contains("content-type: text/event-stream"))
    #expect(head.contains("transfer-encoding: chunked") == (options == ["--http1.1"]), "\(head)")
    let id = try #require(try await dev.send(.widgets(token))["apns-id"])
    try await eventually("the push was applied") { try pushes(curl).last?["disposition"].string == "applied" }
    #expect(try pushes(curl).allSatisfy { $0["id"].string?.lowercased() == id.lowercased() })
    #expect(try pushes(curl).map { $0["disposition"].string }.first == "forwarding")
    // A second call goes on from the first event.
    let first = try #require(curl.output.lines.first { $0.hasPrefix("id: ") }?.dropFirst(4))
    let again = try follow(dev, "?token=\(token)", options, headers: ["last-event-id: \(first)"])
    try await eventually("what came after the first event comes again") { try pushes(again).last?["disposition"].string == "applied" }
    for process in [curl, again] { process.signal(SIGKILL) }
  }

  private func tail(_ dev: Deployment, _ more: [String]) throws -> ChildProcess {
    try ChildProcess([Deployment.executable, "tail", "--state-dir", dev.state.path] + more)
  }

  /// Lines and JSON, the filter, no colours in a pipe; Ctrl-C and SIGTERM end it with the status 0 and nothing on standard error.
  @Test(arguments: [SIGINT, SIGTERM]) func tailUntilItIsEnded(signal: Int32) async throws {
    let dev = try await SharedDev.deployment()
    let (token, other) = (newToken(), newToken())
    for token in [token, other] { try await dev.register(token, RegistrationBody.widgets) }
    let (lines, objects) = (try tail(dev, ["--token", token]), try tail(dev, ["--token", token, "--json", "--disposition", "applied"]))
    // Until both follow, pushes are sent.
    var sent: [String] = []
    try await eventually("both have told of a push") {
      _ = try await dev.control("DELETE", "/v1/budgets/\(token)")
      let id = try #require(try await dev.send(.widgets(token))["apns-id"])
      sent.append(id.lowercased())
      _ = try await dev.send(.widgets(other))
      try await dev.settled(id, as: "applied")
      return lines.output.text.contains("applied") && !objects.output.lines.isEmpty
    }
    #expect(!lines.output.text.contains("\u{1B}"))
    #expect(lines.output.lines.allSatisfy { $0.contains("\(token.prefix(8))…") }, "\(lines.output.text)")
    let object = try Document(Data(objects.output.lines[0].utf8))
    #expect(object["disposition"].string == "applied" && sent.contains(object["id"].string?.lowercased() ?? ""))
    for process in [lines, objects] {
      process.signal(signal)
      #expect(try await process.waitForExit() == 0)
      #expect(process.errors.text.isEmpty, "\(process.errors.text)")
    }
  }

  /// The gateway goes away and comes back at another port: nothing of what happens afterwards is missed or told twice.
  @Test func tailComesBackAfterARestart() async throws {
    let folder = try Folder()
    var dev = try await Deployment.start(["dev"], in: folder)
    let token = newToken()
    try await dev.register(token, RegistrationBody.widgets(minimumInterval: 0))
    let tail = try tail(dev, ["--json", "--disposition", "applied"])
    try await eventually("it follows") {
      try await dev.settled(try #require(try await dev.send(.widgets(token))["apns-id"]), as: "applied")
      return !tail.output.lines.isEmpty
    }
    _ = try await dev.terminate()
    try await eventually("it says that the gateway is away") { tail.errors.text.contains("away") }
    dev = try await Deployment.start(["dev"], in: folder)
    let id = try #require(try await dev.send(.widgets(token))["apns-id"])
    try await dev.settled(id, as: "applied")
    try await eventually("it tells of what came while it was not there") { tail.output.text.lowercased().contains(id.lowercased()) }
    let ids = try tail.output.lines.map { try Document(Data($0.utf8))["id"].string }
    #expect(Set(ids).count == ids.count, "\(ids)")
    #expect(tail.errors.text.contains("back"))
    tail.signal(SIGINT)
    #expect(try await tail.waitForExit() == 0)
  }

  @Test func tailOfNothing() async throws {
    let folder = try Folder()
    let never = try await run([Deployment.executable, "tail", "--state-dir", folder.path])
    #expect(never.status == 1 && never.standardError.contains("widgetpush dev"), "\(never.standardError)")
    let dev = try await Deployment.start(["dev"], in: folder)
    try await dev.crash()
    let gone = try await run([Deployment.executable, "tail", "--state-dir", folder.path])
    #expect(gone.status == 1 && gone.standardError.contains("widgetpush dev"), "\(gone.standardError)")
  }
}
