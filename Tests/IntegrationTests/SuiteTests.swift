import Foundation
import Testing

/// What test suites of backends lean on: the environment, resets beside each other, one `dev` a folder.
@Suite("For test suites", .processes) struct SuiteTests {
  /// `env` says what a command beside `dev` finds in its environment, in each format as its readers read it.
  @Test(arguments: ["widgetpush state", "it's $HOME \"here\""]) func envSaysWhatACommandIsGiven(name: String) async throws {
    let folder = try Folder()
    let state = folder.path(name)
    let script = """
      set -eu
      env | grep ^WIDGETPUSH_ | sort >"$1/given"
      "$0" env >"$1/sh"; "$0" env --format dotenv >"$1/dotenv"; "$0" env --format github >"$1/github"; "$0" env --json >"$1/json"
      env -i PATH="$PATH" sh -c 'eval "$(cat "$1/sh")"; env | grep ^WIDGETPUSH_ | sort' sh "$1" >"$1/from-sh"
      env -i PATH="$PATH" sh -c 'set -a; . "$1/dotenv"; env | grep ^WIDGETPUSH_ | sort' sh "$1" >"$1/from-dotenv"
      """
    let ports = ["provider", "control", "device", "plain"].flatMap { ["--\($0)-port", "0"] }
    let result = try await run(
      [Deployment.executable, "dev", "--state-dir", state] + ports + ["--", "sh", "-c", script, Deployment.executable, folder.path])
    #expect(result.status == 0, "\(result.text)\(result.standardError)")
    let given = try String(decoding: folder.read("given"), as: UTF8.self)
    #expect(given.contains("WIDGETPUSH_STATE_DIR=\(state)\n") && given.split(separator: "\n").count == 13, "\(given)")
    for file in ["from-sh", "from-dotenv"] { #expect(try String(decoding: folder.read(file), as: UTF8.self) == given, "\(file)") }
    #expect(
      try String(decoding: folder.read("github"), as: UTF8.self).split(separator: "\n").sorted() == given.split(separator: "\n").sorted())
    let json = try JSONSerialization.jsonObject(with: folder.read("json")) as? [String: String] ?? [:]
    #expect(json.map { "\($0)=\($1)" }.sorted() == given.split(separator: "\n").map(String.init).sorted())
  }

  @Test func envFindsNothingWhereNothingRuns() async throws {
    let folder = try Folder()
    let never = try await run([Deployment.executable, "env", "--state-dir", folder.path("none")])
    #expect(never.status == 1 && never.text.isEmpty && never.standardError.contains("widgetpush dev"), "\(never.standardError)")
    let dev = try await Deployment.start(["dev"])
    try await dev.crash()
    let gone = try await run([Deployment.executable, "env", "--state-dir", dev.state.path])
    #expect(gone.status == 1 && gone.text.isEmpty && gone.standardError.contains("does not run"), "\(gone.standardError)")
    let wrong = try await run([Deployment.executable, "env", "--format", "shell", "--state-dir", dev.state.path])
    #expect(wrong.status == 2 && wrong.standardError.contains("sh, github, dotenv"), "\(wrong.standardError)")
  }

  /// Two workers, each with an app of its own, at once: a reset of one leaves the other as it is, whatever is going on there.
  @Test func twoAppsAtOnceDoNotMeet() async throws {
    let dev = try await Deployment.start(["dev", "--any-app"])
    async let first: Void = worker(dev, "com.example.first", rounds: 8, resets: true)
    async let second: Void = worker(dev, "com.example.second", rounds: 8, resets: false)
    _ = try await (first, second)
    #expect(try await dev.terminate() == 0)
  }

  private func worker(_ dev: Deployment, _ app: String, rounds: Int, resets: Bool) async throws {
    let token = newToken()
    let body = #"{"type":"widgets","bundleID":"\#(app)","environment":"development"}"#
    try await dev.register(token, body)
    for round in 1...rounds {
      let id = try #require(
        try await dev.send(.widgets(token).with("apns-topic", "\(app).push-type.widgets"))["apns-id"])
      // Where nothing is reset the interval of the first push holds the others back.
      let isFirst = resets || round == 1
      let record = try await dev.settled(id, as: isFirst ? "applied" : round == 2 ? "waiting" : "merged")
      #expect(record["bundleID"].string == app)
      let pushes = try await dev.control("GET", "/v1/pushes?bundleID=\(app)").json["pushes"]
      #expect(pushes.array.count == (resets ? 1 : round), "\(app), round \(round): \(pushes)")
      let remaining = try await dev.control("GET", "/v1/budgets/\(token)").json["budgets"][0]["remaining"].int
      #expect(remaining == 11, "\(app), round \(round)")
      let events = try await reloads(dev, app)
      #expect(events == 1, "\(app), round \(round): \(events) reloads")
      guard resets else { continue }
      let reset = try await run([Deployment.executable, "reset", "--bundle-id", app, "--state-dir", dev.state.path])
      #expect(reset.status == 0 && reset.text.contains("pushes 1"), "\(reset.text)\(reset.standardError)")
      #expect(try await dev.control("GET", "/v1/pushes/\(id)").status == 404)
      #expect(try await dev.control("GET", "/v1/registrations/\(token)").status == 200)
      #expect(try await reloads(dev, app) == 0)
    }
  }

  private func reloads(_ dev: Deployment, _ app: String) async throws -> Int {
    let events = try await dev.control("GET", "/v1/events?event=widgetsReloaded&limit=1000", face: "device").json["events"].array
    return events.filter { $0["bundleID"].string == app }.count
  }

  /// What was reset stays so after the end of the process, however it ends.
  @Test func aResetSurvivesACrash() async throws {
    let dev = try await Deployment.start(["dev"])
    let token = newToken()
    try await dev.register(token, RegistrationBody.widgets)
    let id = try #require(try await dev.send(.widgets(token))["apns-id"])
    try await dev.settled(id, as: "applied")
    let waiting = try #require(try await dev.send(.widgets(token))["apns-id"])
    #expect(try await dev.control("POST", "/v1/reset?bundleID=com.example.app").status == 200)
    try await dev.crash()
    let again = try await Deployment.start(["dev"], in: dev.state)
    for id in [id, waiting] { #expect(try await again.control("GET", "/v1/pushes/\(id)").status == 404) }
    #expect(try await again.control("GET", "/v1/budgets/\(token)").json["budgets"][0]["remaining"].int == 12)
    #expect(try await again.control("GET", "/v1/registrations/\(token)").json["waiting"].int == 0)
    #expect(try await again.terminate() == 0)
  }

  @Test func aSecondDevOfTheFolderIsToldWhoRuns() async throws {
    let dev = try await Deployment.start(["dev"])
    let second = try Deployment.launch(["dev"], in: dev.state)
    #expect(try await second.waitForExit() == 1)
    let said = second.errors.text
    #expect(said.contains("runs with the state folder \(dev.state.path) already (process \(dev.process.pid))"), "\(said)")
    #expect(said.contains("widgetpush env") && said.contains("kill \(dev.process.pid)"), "\(said)")
    // It has changed nothing of what the first one has told.
    #expect(try dev.credentials()["control"].string == dev.url("control"))
    #expect(try await dev.terminate() == 0)
    let third = try await Deployment.start(["dev"], in: dev.state)
    #expect(try await third.terminate() == 0)
  }

  @Test func credentialsThatWereRemovedAreMadeAnewWithTheAddresses() async throws {
    let dev = try await Deployment.start(["dev"])
    try FileManager.default.removeItem(atPath: dev.state.path("credentials.json"))
    dev.process.signal(SIGHUP)
    try await eventually("credentials.json is there again, with the addresses") {
      (try? dev.credentials()["control"].string) == (try? dev.url("control"))
    }
    for face in ["provider", "device", "plain"] { #expect(try dev.credentials()[face].string == dev.url(face), "\(face)") }
    // The gateway knows the new access tokens.
    #expect(try await dev.control("GET", "/v1/registrations", as: "read").status == 200)
    #expect(try await dev.terminate() == 0)
  }

  /// The command's end is the end, by itself, by a signal, or by one that `dev` was sent and passed on.
  @Test(
    arguments: [
      ("exit 0", nil, 0), ("exit 255", nil, 255), ("kill -KILL $$", nil, 137), ("kill -TERM $$", nil, 143),
      ("trap 'exit 9' TERM; echo waits; while :; do sleep 0.05; done", SIGTERM, 9), ("echo waits; exec sleep 60", SIGTERM, 143),
    ] as [(String, Int32?, Int32)])
  func theEndOfACommand(script: String, signal: Int32?, status: Int32) async throws {
    let folder = try Folder()
    let process = try Deployment.launch(["dev", "--", "sh", "-c", script], in: folder)
    if let signal {
      try await eventually("the command runs: \(process.errors.text)") { process.output.text.contains("waits") }
      process.signal(signal)
    }
    #expect(try await process.waitForExit() == status, "\(process.output.text)\(process.errors.text)")
    let credentials = try Document(folder.read("credentials.json"))
    #expect(credentials["control"].string == nil, "the addresses are gone with it")
  }

  @Test func aCommandThatIsNotThereIsNamed() async throws {
    let process = try Deployment.launch(["dev", "--", "no-such-command"], in: try Folder())
    #expect(try await process.waitForExit() == 1)
    #expect(process.errors.text.contains("no-such-command"), "\(process.errors.text)")
  }
}
