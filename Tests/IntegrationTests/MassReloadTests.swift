import Foundation
import Testing

/// A reload of very many widgets, of which nothing is lost and nothing is sent beyond a budget, whatever dies meanwhile.
@Suite("Reloads of many", .processes) struct MassReloadTests {
  /// 20,000 registered widgets, and a million with WIDGETPUSH_LONG.
  private static let count = ProcessInfo.processInfo.environment["WIDGETPUSH_LONG"] == nil ? 20_000 : 1_000_000
  /// Of so many, one has spent its budget.
  private static let spentEvery = 200

  /// Killed in the middle, with as many pushes on their way as may be, it goes on where it was. What came is told by who received it.
  @Test(.timeLimit(.minutes(30))) func aKillInTheMiddleLosesNothing() async throws {
    let state = try await Deployment.newState()
    let upstream = try CountingUpstream(count: Self.count, state: state)
    let options = try GatewayConfiguration(upstream: "https://localhost:\(upstream.port)").options(in: state)
    let gateway = try await Deployment.start(["gateway"] + options, in: state)
    let clock = ContinuousClock()
    let began = clock.now
    try await importTokens(gateway)
    let registered = clock.now
    let spent = Array(stride(from: 0, to: Self.count, by: Self.spentEvery).prefix(1000))
    let answers = try await gateway.sendAll(spent.map { (CountingUpstream.token($0), newID()) })
    #expect(answers.allSatisfy { $0.status == 200 })
    try await eventually("what spends the budgets has come") { upstream.total == spent.count }

    // It falls silent with a third behind it, so that the kill hits a reload that is under way.
    upstream.answer(Self.count / 3)
    let asked = try await gateway.control("POST", "/v1/reloads", #"{"bundleID":"com.example.app","all":true}"#, as: "reload")
    #expect(asked.status == 202, "\(asked)")
    let id = try #require(try asked.json["id"].string)
    try await eventually(within: .seconds(600), "the upstream is silent") { upstream.total >= spent.count + Self.count / 3 + 1000 }
    let peakBefore = try gateway.peakMegabytes()
    let halfway = try await gateway.control("GET", "/v1/reloads/\(id)", as: "reload").json
    try await gateway.crash()
    #expect(halfway["state"].string == "running" && (halfway["visited"].int ?? 0) < Self.count, "\(halfway)")

    upstream.answer(.max)
    let again = try await Deployment.start(["gateway"] + options, in: state, within: .seconds(120))
    var reload = halfway
    try await eventually(within: .seconds(1200), "the reload is finished: \(reload)") {
      reload = try await again.control("GET", "/v1/reloads/\(id)", as: "reload").json
      return reload["state"].string == "finished" && reload["dispositions"]["forwarding"].int == 0
        && reload["dispositions"]["waiting"].int == spent.count
    }
    let peak = max(peakBefore, try again.peakMegabytes())
    print("\(Self.count) widgets: registered in \(registered - began), reloaded in \(clock.now - registered), at most \(peak) MB resident")
    #expect(reload["matches"].int == Self.count && reload["visited"].int == Self.count && reload["skipped"].int == 0, "\(reload)")
    #expect(reload["dispositions"]["accepted"].int == Self.count - spent.count, "\(reload)")

    let seen = upstream.seen
    #expect(upstream.strange == 0)
    #expect(seen.count { $0.requests == 0 } == 0, "each token was forwarded to at least once")
    #expect(seen.count { $0.others > 0 } == 0, "no token got a second push: those whose budget was spent wait")
    // What was in flight at the kill may have come twice, and nothing else.
    #expect(seen.reduce(0) { $0 + Int($1.requests) - 1 } <= 4096)
    #expect(peak < 400, "\(peak) MB resident")
    let token = CountingUpstream.token(0)
    #expect(try await again.control("GET", "/v1/registrations/\(token)", as: "read").json["waiting"].int == 1)
    // The log keeps the newest 200,000.
    guard Self.count < 200_000 else { return #expect(try await again.terminate() == 0) }
    let waiting = try await again.control("GET", "/v1/pushes?token=\(token)", as: "read").json["pushes"][0]
    #expect(waiting["disposition"].string == "waiting" && waiting["cause"].string == "waitingForBudget", "\(waiting)")
    #expect(waiting["reload"].string == id)
    #expect(try await again.terminate() == 0)
  }

  /// Registers all tokens as an administrator would, some with a budget of one push.
  private func importTokens(_ gateway: Deployment) async throws {
    let path = gateway.state.path("tokens.ndjson")
    #expect(FileManager.default.createFile(atPath: path, contents: nil))
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    var lines = Data()
    for number in 0..<Self.count {
      let budget = number % Self.spentEvery == 0 ? #","budget":{"allowance":1,"burst":1},"minimumIntervalSeconds":0"# : ""
      lines += Data(
        #"{"token":"\#(CountingUpstream.token(number))","type":"widgets","bundleID":"com.example.app","environment":"development","widgets":[{"kind":"Steps","family":"systemSmall"}]\#(budget)}"#
          .utf8)
      lines.append(UInt8(ascii: "\n"))
      guard lines.count > 1 << 20 || number == Self.count - 1 else { continue }
      try file.write(contentsOf: lines)
      lines.removeAll(keepingCapacity: true)
    }
    try file.close()
    let result = try await run([Deployment.executable, "import", "--state-dir", gateway.state.path, path], within: .seconds(900))
    #expect(result.status == 0 && result.text.contains("\(Self.count) registered"), "\(result.text)\(result.standardError)")
  }

  /// The command: what it would do, what it does, and what it says of it.
  @Test func theCommandTellsWhatItDoes() async throws {
    let dev = try await Deployment.start(["dev", "--app", "com.example.empty"])
    for number in 0..<5 {
      let body = RegistrationBody.widgets.dropLast() + #","user":"\#(number < 3 ? "alice" : "bob")"}"#
      try await dev.register(newToken(), String(body))
    }
    func reload(_ words: String...) async throws -> CommandResult {
      try await run([Deployment.executable, "reload", "--state-dir", dev.state.path] + words)
    }
    let dry = try await reload("--all", "--dry-run")
    #expect(dry.status == 0 && dry.text.hasPrefix("5 registrations match; nothing was sent, and 5 would go now"), "\(dry)")
    let done = try await reload("--user", "alice", "--kind", "Steps", "--wait", "--json")
    let json = try Document(done.standardOutput)
    #expect(json["state"].string == "finished" && json["matches"].int == 3, "\(json)")
    #expect(json["dispositions"]["applied"].int == 3, "\(json)")
    #expect(done.standardError.isEmpty, "no progress in a pipe: \(done.standardError)")
    let list = try await dev.control("GET", "/v1/pushes?disposition=applied", as: "read").json["pushes"].array
    #expect(list.count == 3 && list.allSatisfy { $0["reload"].string == json["id"].string })
    let story = try await run([Deployment.executable, "explain", "--state-dir", dev.state.path, list[0]["id"].string ?? ""])
    #expect(story.text.contains("made by the gateway for the reload \(json["id"].string ?? "?")"), "\(story.text)")
    let shown = try await reload(json["id"].string ?? "")
    #expect(shown.text.contains("finished, 3 of 3 done: 3 applied"), "\(shown.text)")

    for (words, what) in [
      (["--kind", "Step"], "kind Step of com.example.app"),
      (["--kind", "Steps", "--user", "eve", "--user", "mallory"], "kind Steps, user eve or mallory of com.example.app"),
      (["--all", "--bundle-id", "com.example.empty"], "any widget or control of com.example.empty"),
    ] {
      for mode in [[], ["--dry-run"], ["--wait"]] {
        let none = try await run([Deployment.executable, "reload", "--state-dir", dev.state.path] + words + mode)
        #expect(none.status == 0 && none.text == "0 registrations match \(what): nothing is sent\n", "\(words + mode): \(none)")
      }
    }

    let slow = try await reload("--all", "--spread", "1h", "--key", "slow", "--json")
    let id = try Document(slow.standardOutput)["id"].string ?? ""
    #expect(try await Document(reload("--all", "--spread", "1h", "--key", "slow", "--json").standardOutput)["id"].string == id)
    #expect(try await reload(id, "--stop").text.contains(" stopped"))
    for words in [[], ["--all", "--user", "alice"], ["--stop"], [id, "--all"]] {
      let refused = try await run([Deployment.executable, "reload", "--state-dir", dev.state.path] + words)
      #expect(refused.status == 2, "\(words): \(refused.standardError)")
    }
    #expect(try await dev.terminate() == 0)
  }
}

extension Deployment {
  /// The most memory that the process has had resident.
  func peakMegabytes() throws -> Int {
    let status = try String(contentsOfFile: "/proc/\(process.pid)/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
    return Int(line.split(whereSeparator: { !$0.isNumber }).first ?? "").map { $0 / 1024 } ?? 0
  }
}
