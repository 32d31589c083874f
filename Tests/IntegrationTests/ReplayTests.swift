import Foundation
import Primitives
import Testing

@Suite("Replaying", .processes) struct ReplayTests {
  private func update(_ token: String) -> PushRequest {
    PushRequest(
      "liveactivity", to: token,
      body: #"{"aps":{"timestamp":\#(Int(Date().timeIntervalSince1970)),"event":"update","content-state":{"stops":2}}}"#
    ).with("apns-priority", "10")
  }

  /// A burst of 50 minutes, over all budgets, and what is wrong in several ways: under the same budgets the same becomes of it, under others
  /// what they say, and each time the server is afterwards what it was.
  @Test func aBurstIsPlayedAgain() async throws {
    let folder = try Folder()
    let path = folder.path("burst.ndjson")
    let dev = try await Deployment.start(["dev"])
    _ = try await dev.control("PUT", "/v1/clock", #"{"frozen":true}"#)
    let recorder = try await dev.record(to: path)
    let (widget, control, activity, late) = (newToken(), newToken(), newToken(), newToken())
    try await dev.register(widget, RegistrationBody.widgets)
    try await dev.register(control, RegistrationBody.controls)
    try await dev.register(activity, RegistrationBody.activity)
    try await dev.register(late, RegistrationBody.widgets)
    let rounds = 30
    for round in 0..<rounds {
      for push in [.widgets(widget), PushRequest("controls", to: control), update(activity)] {
        #expect(try await dev.send(push).status == 200)
      }
      if round < 2 {
        let soon = "\(Int(Date().timeIntervalSince1970) + 60)"
        #expect(try await dev.send(.widgets(late).with("apns-expiration", soon)).status == 200)
      }
      if round == 3 {
        for push in [
          .widgets(newToken()), .widgets(widget).with("apns-priority", "7"), .widgets(widget).with("apns-id", "seven"),
          .widgets(widget).body(#"{"aps":{"content-changed":1}}"#), .widgets(widget).with("apns-topic", "com.example.app"),
        ] as [PushRequest] {
          #expect(try await dev.send(push).status == 400)
        }
      }
      _ = try await dev.control("POST", "/v1/clock/advance", #"{"by":"100s"}"#)
    }
    recorder.signal(SIGINT)
    #expect(try await recorder.waitForExit() == 0)
    let total = 3 * rounds + 7
    #expect(recorder.errors.text == "\(total) pushes recorded\n")

    let text = try String(contentsOfFile: path, encoding: .utf8)
    let token = try await ProviderToken.of(dev)
    #expect(!text.contains("bearer") && !text.contains("authorization") && !text.contains(token))
    #expect((try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int) == 0o600)
    #expect(try recordedLines(path).last?["end"]["pushes"].int == total)

    let app = try await dev.control("GET", "/v1/apps/com.example.app").text
    let registrations = try await dev.control("GET", "/v1/registrations").json["registrations"].array.count
    let same = try await dev.replay(path)
    #expect(same.status == 0 && same.standardError.isEmpty, "\(same.standardError)")
    let recorded = try same.counts("recorded")
    #expect(try same.counts("replayed") == recorded)
    #expect(try Document(same.standardOutput)["same"].int == total && recorded.values.reduce(0, +) == total, "\(same.text)")
    // A widget: the first, and one each 300 s. A control: 12, the next after 51 min. An activity: 5, and one each 6 min.
    #expect(recorded["applied (reloaded)"] == 1 + 10 + 12 + 1, "\(recorded)")
    #expect(recorded["applied (updated)"] == 5 + 8 && recorded["applied (updated) at priority 5"] == rounds - 13, "\(recorded)")
    #expect(recorded["expired (expirationPassed)"] == 1, "\(recorded)")
    for reason in ["BadDeviceToken", "BadPriority", "BadMessageId", "BadPayload", "InvalidPushType"] {
      #expect(recorded.filter { $0.key.hasPrefix("refused \(reason)") }.values.reduce(0, +) == 1, "\(reason): \(recorded)")
    }

    // Twice the same, byte for byte, but for what differs in any two runs.
    let profile = ["--budget-mode", "reject", "--budget", "widgets.allowance=5", "--budget", "widgets.interval=0"]
    let (first, second) = (try await dev.replay(path, profile), try await dev.replay(path, profile + ["--speed", "max"]))
    #expect(first.status == 0 && second.status == 0, "\(first.standardError) \(second.standardError)")
    let rejected = try first.counts("replayed")
    #expect(try second.counts("replayed") == rejected && first.counts("recorded") == recorded)
    #expect(rejected["applied (reloaded)"] == 5 + 12 + 2 && rejected["applied (updated)"] == 13, "\(rejected)")
    #expect(rejected["refused TooManyRequests (budgetSpent)"] == (rounds - 5) + (rounds - 12) + (rounds - 13), "\(rejected)")

    let observed = try await dev.replay(path, ["--budget-mode", "observe"]).counts("replayed")
    #expect(observed["applied (reloaded)"] == 2 * rounds + 2 && observed["applied (updated)"] == rounds, "\(observed)")
    let developer = try await dev.replay(path, ["--developer-mode"]).counts("replayed")
    #expect(developer["applied (reloaded)"] == 2 * rounds + 2 && developer["applied (updated)"] == rounds, "\(developer)")

    #expect(try await dev.control("GET", "/v1/apps/com.example.app").text == app)
    #expect(try await dev.control("GET", "/v1/registrations").json["registrations"].array.count == registrations)
    #expect(try await dev.control("GET", "/v1/clock").json["frozen"].bool == true)
    #expect(try await dev.terminate() == 0)
  }

  /// A recording by hand: a registered widget's pushes at these seconds.
  private func write(_ path: String, _ seconds: [Int], bundle: String = "com.example.app") throws {
    func at(_ second: Int) -> String { Instant(unixSeconds: 1_800_000_000 + Int64(second)).description }
    let token = newToken()
    var lines = [
      #"{"at":"\#(at(0))","recording":{"version":1,"gateway":"0"}}"#,
      #"{"at":"\#(at(0))","registration":{"token":"\#(token)","type":"widgets","bundleID":"\#(bundle)","environment":"development"}}"#,
    ]
    for (number, second) in seconds.enumerated() {
      lines.append(
        #"{"at":"\#(at(second))","push":{"id":"\#(UUID(number: number))","token":"\#(token)","headers":{"apns-topic":"\#(bundle).push-type.widgets","apns-push-type":"widgets"},"payload":{"aps":{"content-changed":true}}}}"#
      )
    }
    lines.append(#"{"at":"\#(at(seconds.last ?? 0))","end":{"pushes":\#(seconds.count)}}"#)
    try (lines.joined(separator: "\n") + "\n").write(toFile: path, atomically: true, encoding: .utf8)
  }

  /// Ctrl-C in the middle: what was sent is told, and the server is as it was, settings that somebody had made included.
  @Test func aReplayIsEndedEarly() async throws {
    let folder = try Folder()
    let path = folder.path("hour.ndjson")
    try write(path, [0, 3600])
    let dev = try await Deployment.start(["dev"])
    _ = try await dev.control("PUT", "/v1/apps/com.example.app", #"{"budgetMode":"observe","budgets":{"widgets":{"allowance":7}}}"#)
    let before = try await dev.control("GET", "/v1/apps/com.example.app").text
    let process = try ChildProcess([
      Deployment.executable, "replay", path, "--json", "--speed", "1", "--budget-mode", "reject", "--state-dir", dev.state.path,
    ])
    try await eventually("the first is sent") { try await dev.control("GET", "/v1/pushes").json["pushes"].array.count == 1 }
    #expect(try await dev.control("GET", "/v1/apps/replay.com.example.app").json["budgetMode"].string == "reject")
    #expect(try await dev.control("GET", "/v1/apps/com.example.app").text == before, "while it is played as well")
    #expect(try await dev.control("GET", "/v1/clock").json["frozen"].bool == true)
    process.signal(SIGINT)
    #expect(try await process.waitForExit() == 1)
    let report = try Document(process.output.data)
    #expect(report["interrupted"].bool == true && report["pushes"].int == 1, "\(process.output.text)")
    #expect(try await dev.control("GET", "/v1/apps/com.example.app").text == before)
    #expect(try await dev.control("GET", "/v1/clock").json["frozen"].bool == false)
    #expect(try await dev.control("GET", "/v1/registrations?type=widgets").json["registrations"].array.isEmpty)
    // Without settings of its own an app has none afterwards.
    _ = try await dev.control("DELETE", "/v1/apps/com.example.app")
    #expect(try await dev.replay(path, ["--budget", "widgets.interval=0"]).status == 0)
    // Nor is more sent than what came by a time that was given.
    for end in ["30m", Instant(unixSeconds: 1_800_001_800).description] {
      let part = try await dev.replay(path, ["--to", end])
      #expect(part.status == 0 && part.standardError.isEmpty, "\(part.standardError)")
      #expect(try Document(part.standardOutput)["pushes"].int == 1 && Document(part.standardOutput)["spanSeconds"].double == 1800)
    }
    for (end, sign) in [("soon", "2027-01-31T12:00:00Z"), ("2001-01-01", "begins only at")] {
      let wrong = try await dev.replay(path, ["--to", end])
      #expect(wrong.status != 0 && wrong.standardError.contains(sign), "\(wrong.standardError)")
    }
    #expect(try await dev.control("DELETE", "/v1/apps/com.example.app").status == 404)
  }

  /// An app that the server does not know is there while it is played, and gone afterwards; one app alone can be chosen.
  @Test func appsOfTheServer() async throws {
    let folder = try Folder()
    let path = folder.path("elsewhere.ndjson")
    try write(path, [0, 1, 2], bundle: "com.example.elsewhere")
    let dev = try await Deployment.start(["dev"])
    let played = try await dev.replay(path, ["--budget-mode", "observe"])
    #expect(played.status == 0, "\(played.standardError)")
    #expect(try played.counts("replayed") == ["applied (reloaded)": 3] && played.counts("recorded") == ["not known": 3])
    #expect(try await dev.control("GET", "/v1/apps/com.example.elsewhere").status == 404)
    let wrong = try await dev.replay(path, ["--budget", "widgets.burst=9", "--budget", "widgets.allowance=3"])
    #expect(wrong.status == 1 && wrong.standardError.contains("budgets.widgets.burst must not be more"), "\(wrong.standardError)")
    #expect(try await dev.control("GET", "/v1/clock").json["frozen"].bool == false, "it runs again")
    let none = try await dev.replay(path, ["--bundle-id", "com.example.app"])
    #expect(none.status == 0, "\(none.standardError)")
    #expect(try Document(none.standardOutput)["pushes"].int == 0)
  }

  /// Without a clock that may be moved, pushes keep their distances.
  @Test func inRealTime() async throws {
    let folder = try Folder()
    let path = folder.path("real.ndjson")
    let dev = try await Deployment.start(["dev"])
    let recorder = try await dev.record(to: path)
    let token = newToken()
    try await dev.register(token, RegistrationBody.widgets(minimumInterval: 0))
    _ = try await dev.send(.widgets(token))
    _ = try await dev.control("POST", "/v1/clock/advance", #"{"by":"20s"}"#)
    _ = try await dev.send(.widgets(token))
    recorder.signal(SIGINT)
    _ = try await recorder.waitForExit()
    let before = try await dev.control("GET", "/v1/clock").json["offsetSeconds"].double
    let start = ContinuousClock.now
    let result = try await dev.replay(path, ["--real-time", "--speed", "10"])
    let elapsed = ContinuousClock.now - start
    #expect(result.status == 0 && elapsed >= .seconds(2), "\(elapsed) \(result.standardError)")
    #expect(result.standardError.contains("clock is not moved"), "\(result.standardError)")
    #expect(try result.counts("replayed") == ["applied (reloaded)": 2])
    #expect(try await dev.control("GET", "/v1/clock").json["offsetSeconds"].double == before)
  }

  /// The example of the documentation, with what it says of it.
  @Test func asDocumented() async throws {
    let text = try String(contentsOfFile: repository + "/docs/record-and-replay.md", encoding: .utf8)
    let block = try #require(text.firstMatch(of: #/(?s)```sh\n(.*?)```/#)).1
    let dev = try await Deployment.start(["dev"])
    let folder = try Folder()
    try FileManager.default.createSymbolicLink(atPath: folder.path(".widgetpush"), withDestinationPath: dev.state.path)
    let path = URL(fileURLWithPath: Deployment.executable).deletingLastPathComponent().path
    let result = try await run(["bash", "-euc", "PATH=\(path):$PATH; cd \(folder.path)\n\(block)"])
    #expect(result.status == 0, "\(result.text) \(result.standardError)")
    #expect(result.text.contains("4 of 4 became the same"), "\(result.text)")
    let said = try #require(text.firstMatch(of: #/(?s)```\n( +recorded.*?)1: merged/#)).1
    #expect(result.text.contains(said), "\(result.text)")
    #expect(result.text.contains(#""outcome": "applied (reloaded)""#))
  }
}
