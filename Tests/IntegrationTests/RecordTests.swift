import Foundation
import Primitives
import Testing

@Suite("Recording", .processes) struct RecordTests {
  /// What is on disk when the recorder is killed is a recording, and so is what is left of it when its last line is cut off.
  @Test func aRecorderIsKilled() async throws {
    let folder = try Folder()
    let path = folder.path("killed.ndjson")
    let dev = try await Deployment.start(["dev"])
    let recorder = try await dev.record(to: path)
    let token = newToken()
    try await dev.register(token, RegistrationBody.widgets(minimumInterval: 0))
    for _ in 0..<3 { _ = try await dev.send(.widgets(token)) }
    try await eventually("all is written") { try recordedLines(path).count { $0["outcome"]["disposition"].string == "applied" } == 3 }
    recorder.signal(SIGKILL)
    _ = try await recorder.waitForExit()
    let killed = try await dev.replay(path)
    #expect(killed.status == 0 && killed.standardError.contains("ended by force"), "\(killed.standardError)")
    #expect(try killed.counts("replayed") == ["applied (reloaded)": 3])
    var bytes = try #require(FileManager.default.contents(atPath: path))
    bytes.removeLast(9)
    try bytes.write(to: URL(fileURLWithPath: path))
    let cut = try await dev.replay(path)
    #expect(cut.status == 0 && cut.standardError.contains("is cut off"), "\(cut.standardError)")
    #expect(try cut.counts("replayed") == ["applied (reloaded)": 3])
    #expect(try await dev.control("GET", "/v1/clock").json["frozen"].bool == false, "it runs as it did")
    // A file that is there is not written over.
    let again = try await run([Deployment.executable, "record", "--state-dir", dev.state.path, "--out", path])
    #expect(again.status == 1 && again.standardError.contains("not empty"), "\(again.standardError)")
    try #"{"format":"another"}"#.write(toFile: path, atomically: true, encoding: .utf8)
    let strange = try await dev.replay(path)
    #expect(strange.status == 1 && strange.standardError.contains("line 1"), "\(strange.standardError)")
  }

  /// `--count` ends by itself, once it is known what became of the last push.
  @Test func soManyPushesAreRecorded() async throws {
    let folder = try Folder()
    let path = folder.path("two.ndjson")
    let dev = try await SharedDev.deployment()
    let token = newToken()
    try await dev.register(token, RegistrationBody.widgets(minimumInterval: 0))
    let recorder = try await dev.record(to: path, ["--count", "2", "--json", "--bundle-id", "com.example.app"])
    try await eventually(within: .seconds(30), "it ends") {
      _ = try await dev.send(.widgets(token))
      return recorder.exitStatus != nil
    }
    #expect(try await recorder.waitForExit() == 0)
    #expect(try recordedLines(path).count { $0["push"]["id"].string != nil } == 2)
    #expect(recorder.errors.text.contains(#""pushes":2"#), "\(recorder.errors.text)")
  }

  /// `--for` ends by itself, and says in the file how long nothing came.
  @Test func soLongIsRecorded() async throws {
    let folder = try Folder()
    let path = folder.path("nothing.ndjson")
    let dev = try await SharedDev.deployment()
    let recorder = try await dev.record(to: path, ["--for", "1s", "--bundle-id", "com.example.nobody"])
    #expect(try await recorder.waitForExit() == 0)
    let all = try recordedLines(path)
    #expect(all.first?["recording"]["bundleID"].string == "com.example.nobody" && all.last?["end"]["pushes"].int == 0)
    let times = all.compactMap { $0["at"].string.flatMap { Instant(rfc3339: $0) } }
    #expect(try #require(times.last) - #require(times.first) >= .milliseconds(500))
    let empty = try await dev.replay(path, ["--real-time", "--speed", "max"])
    #expect(try empty.status == 0 && Document(empty.standardOutput)["pushes"].int == 0, "\(empty.standardError)")
  }

  /// What is recorded of a push is told once, also where a fault has held it back; and its topic, also where a certificate tells it.
  @Test func whatFaultsAndCertificatesDoToARecording() async throws {
    let folder = try Folder()
    let path = folder.path("held.ndjson")
    let dev = try await Deployment.start(["dev"])
    let token = newToken()
    try await dev.register(token, RegistrationBody.app)
    _ = try await run([Deployment.executable, "keys", "certificate", "com.example.app", "--state-dir", dev.state.path])
    let recorder = try await dev.record(to: path)
    let fault = #"{"match":{"token":"\#(token)"},"then":{"delayMilliseconds":50},"times":1}"#
    #expect(try await dev.control("POST", "/v1/faults", fault).status == 201)
    #expect(try await dev.send(PushRequest("alert", to: token)).status == 200)
    #expect(try await dev.control("POST", "/v1/faults", #"{"match":{"token":"\#(token)"},"then":{"status":503},"times":1}"#).status == 201)
    #expect(try await dev.send(PushRequest("alert", to: token)).status == 503)
    let shown = try await run([
      "curl", "-sS", "--http2", "--cacert", dev.state.path("ca.pem"), "--cert", dev.state.path("Push_com.example.app.pem"), "-H",
      "apns-push-type: alert", "-H", "apns-topic: com.example.app", "-d", #"{"aps":{"alert":"Hello"}}"#, "-o", "/dev/null", "-w",
      "%{http_code}",
      try dev.url("provider") + "/3/device/\(token)",
    ])
    #expect(shown.text == "200", "\(shown.text) \(shown.standardError)")
    func of(_ name: String) throws -> [Document] { try recordedLines(path).map { $0[name] }.filter { $0["id"].string != nil } }
    try await eventually("all have come to an end") { try of("outcome").count { $0["disposition"].string != "waiting" } == 3 }
    recorder.signal(SIGINT)
    _ = try await recorder.waitForExit()
    let pushes = try of("push")
    #expect(pushes.count == 3 && pushes.allSatisfy { $0["headers"]["apns-topic"].string == "com.example.app" }, "\(pushes)")
    #expect(Set(try of("outcome").map { $0["id"].string }) == Set(pushes.map { $0["id"].string }))
    // Faults are not recorded: played again, all three are done.
    let played = try await dev.replay(path)
    #expect(try played.counts("replayed").values.reduce(0, +) == 3 && !played.counts("replayed").keys.contains { $0.contains("fault") })
    #expect(try played.counts("recorded").contains { $0.key.contains("fault") }, "\(played.text)")
  }

  /// The gateway goes away and comes back: the recorder goes on, and the file says that something may be missing.
  @Test func theGatewayWasAway() async throws {
    let folder = try Folder()
    let path = folder.path("away.ndjson")
    var dev = try await Deployment.start(["dev"], in: folder)
    let recorder = try await dev.record(to: path)
    _ = try await dev.terminate()
    try await eventually("it says that the gateway is away") { recorder.errors.text.contains("away") }
    dev = try await Deployment.start(["dev"], in: folder)
    try await eventually("it goes on") { try recordedLines(path).count { $0["recording"]["version"].int == 1 } == 2 }
    recorder.signal(SIGTERM)
    #expect(try await recorder.waitForExit() == 0)
    #expect(recorder.errors.text.contains("it was interrupted once"), "\(recorder.errors.text)")
    let result = try await dev.replay(path)
    #expect(result.status == 0 && result.standardError.contains("nothing was recorded"), "\(result.standardError)")
  }

  /// A recorder that takes nothing keeps no push waiting.
  @Test func aRecorderThatNeverReads() async throws {
    let dev = try await Deployment.start(["dev"])
    let secret = try #require(try dev.credentials()["admin"].string)
    let curl = try ChildProcess([
      "curl", "-sSN", "--cacert", dev.state.path("ca.pem"), "-H", "authorization: Bearer \(secret)",
      try dev.url("control") + "/v1/recording",
    ])
    try await eventually("the stream has begun") { curl.output.text.contains("recording") }
    curl.signal(SIGSTOP)
    let token = newToken()
    try await dev.register(token, RegistrationBody.widgets)
    for batch in 0..<4 {
      let answers = try await dev.sendAll((0..<250).map { (token, UUID(number: batch * 250 + $0).uuidString) })
      #expect(answers.allSatisfy { $0.status == 200 } && answers.count == 250)
    }
    curl.signal(SIGCONT)
    try await eventually("it is told of all, or of how many it has missed") {
      let told = curl.output.text.split(separator: "\n").dropLast().compactMap { try? Document(Data($0.utf8)) }
      return told.count { $0["push"]["id"].string != nil } + told.reduce(0) { $0 + ($1["lost"]["pushes"].int ?? 0) } == 1000
    }
    curl.signal(SIGKILL)
    #expect(try await dev.terminate() == 0)
  }
}
