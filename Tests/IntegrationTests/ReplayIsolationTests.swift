import Foundation
import Primitives
import Testing

/// What a replay must not touch: it asks what would become of pushes, and whoever asks must not change what is asked about.
@Suite("What a replay leaves alone", .processes) struct ReplayIsolationTests {
  /// Everything of others that the control API tells, but for the clock's time.
  private func everything(_ dev: Deployment, _ tokens: [String]) async throws -> [String] {
    var all: [String] = []
    for path in ["/v1/apps/com.example.app", "/v1/apps/com.example.other", "/v1/registrations?limit=1000", "/v1/faults"] {
      all.append("\(path) \(try await dev.control("GET", path).text)")
    }
    for token in tokens {
      let budgets = try await dev.control("GET", "/v1/budgets/\(token)")
      // A full budget can pay now, whenever that is.
      all.append(budgets.text.replacingOccurrences(of: try #require(budgets.json["now"].string), with: "now"))
      all.append(try await dev.control("GET", "/v1/pushes?token=\(token)").text)
    }
    let clock = try await dev.control("GET", "/v1/clock").json
    all.append("frozen \(clock["frozen"].bool ?? false), permitted \(clock["permitted"].bool ?? false)")
    return all
  }

  /// A recording by hand of an app's settings, a widget, an app with a device, and something that starts an activity.
  private func write(_ path: String, widget: String, start: String) throws {
    func at(_ second: Int) -> String { Instant(unixSeconds: 1_800_000_000 + Int64(second)).description }
    func push(_ number: Int, _ second: Int, _ token: String, _ type: String, _ payload: String) -> String {
      #"{"at":"\#(at(second))","push":{"id":"\#(UUID(number: number))","token":"\#(token)","headers":{"apns-topic":"com.example.app.push-type.\#(type)","apns-push-type":"\#(type)"},"payload":\#(payload)}}"#
    }
    let reload = #"{"aps":{"content-changed":true}}"#
    let begin =
      #"{"aps":{"timestamp":1800000001,"event":"start","attributes-type":"Ride","attributes":{},"content-state":{},"alert":{"title":"a","body":"b"}}}"#
    let lines = [
      #"{"at":"\#(at(0))","recording":{"version":1,"gateway":"0"}}"#,
      #"{"at":"\#(at(0))","app":{"bundleID":"com.example.app","settings":{"budgetMode":"enforce","budgets":{"widgets":{"burst":3}}}}}"#,
      #"{"at":"\#(at(0))","registration":{"token":"\#(widget)","type":"widgets","bundleID":"com.example.app","environment":"development","device":"phone"}}"#,
      #"{"at":"\#(at(0))","registration":{"token":"\#(start)","type":"pushToStart","bundleID":"com.example.app","environment":"development","device":"phone"}}"#,
      push(1, 0, widget, "widgets", reload), push(2, 1, start, "liveactivity", begin), push(3, 1, widget, "widgets", reload),
      push(4, 1, newToken(), "widgets", reload), push(5, 2, widget, "widgets", reload), #"{"at":"\#(at(2))","end":{"pushes":5}}"#,
    ]
    try (lines.joined(separator: "\n") + "\n").write(toFile: path, atomically: true, encoding: .utf8)
  }

  @Test func aReplayTouchesNothingOfAnybodyElse() async throws {
    let folder = try Folder()
    let path = folder.path("day.ndjson")
    let dev = try await Deployment.start(["dev"])
    _ = try await dev.control("PUT", "/v1/clock", #"{"frozen":true}"#)
    let (widget, waiting, start, activity) = (newToken(), newToken(), newToken(), newToken())
    try write(path, widget: widget, start: start)
    _ = try await dev.control(
      "PUT", "/v1/apps/com.example.app", #"{"budgets":{"widgets":{"allowance":40,"burst":12}},"unknownTokens":"adopt"}"#)
    _ = try await dev.control("PUT", "/v1/apps/com.example.other", #"{"budgetMode":"observe"}"#)
    _ = try await dev.control("POST", "/v1/faults", #"{"match":{"bundleID":"com.example.other"},"then":{"close":true}}"#)
    let phone = #","device":"phone","user":"kate"}"#
    for token in [widget, waiting] { try await dev.register(token, RegistrationBody.widgets.dropLast() + phone) }
    try await dev.register(start, RegistrationBody.pushToStart.dropLast() + phone)
    try await dev.register(activity, RegistrationBody.activity.dropLast() + phone)
    // 11 of 12 are left, and one more waits: what a smaller burst would cut for good.
    for token in [widget, waiting, waiting] { #expect(try await dev.send(.widgets(token)).status == 200) }
    try await eventually("it was delivered") {
      try await dev.control("GET", "/v1/pushes?token=\(widget)").json["pushes"].array.first?["disposition"].string == "applied"
    }
    let tokens = [widget, waiting, start, activity]
    let before = try await everything(dev, tokens)
    #expect(try await dev.control("GET", "/v1/budgets/\(widget)").json["budgets"].array.first?["remaining"].int == 11)

    try #"{"budgetMode":"observe","unknownTokens":"refuse","budgets":{"widgets":{"allowance":2,"burst":1,"windowSeconds":60}}}"#
      .write(toFile: folder.path("budgets.json"), atomically: true, encoding: .utf8)
    let everyOption = [
      [], ["--budget", "widgets.burst=2"], ["--budget", "widgets.allowance=1", "--budget", "widgets.interval=0"],
      ["--budget-mode", "reject"],
      ["--budget-mode", "observe"], ["--budgets", folder.path("budgets.json")], ["--developer-mode"], ["--server-settings"],
      ["--real-time", "--speed", "1000"], ["--speed", "max"], ["--to", "1s"], ["--bundle-id", "com.example.app"],
      ["--bundle-id", "com.example.other"],
    ]
    for options in everyOption {
      let result = try await dev.replay(path, options)
      #expect(result.status == 0, "\(options): \(result.text) \(result.standardError)")
      #expect(try await everything(dev, tokens) == before, "\(options)")
    }
    // What cannot be played leaves nothing behind either.
    #expect(try await dev.replay(path, ["--budget", "widgets.burst=9", "--budget", "widgets.allowance=3"]).status == 1)
    #expect(try await everything(dev, tokens) == before)
    #expect(try await dev.control("GET", "/v1/apps/replay.com.example.app").json["origins"]["unknownTokens"].string != "api")
    // The questions that are no replay.
    let draft =
      #"{"token":"\#(widget)","type":"widgets","topic":"com.example.app.push-type.widgets","payload":{"aps":{"content-changed":true}}}"#
    #expect(try await dev.control("POST", "/v1/what-if", draft).status == 200)
    let send = [Deployment.executable, "send", widget, "--what-if", "--state-dir", dev.state.path]
    #expect(try await run(send).status == 0)
    try #"curl -d '{"aps":{"content-changed":true}}' https://api.push.apple.com/3/device/\#(widget)"#
      .write(toFile: folder.path("push.sh"), atomically: true, encoding: .utf8)
    _ = try await run([Deployment.executable, "lint", folder.path("push.sh")])
    #expect(try await everything(dev, tokens) == before)
  }
}
