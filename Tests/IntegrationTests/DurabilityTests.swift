import Foundation
import Testing

/// 200 means durable: nothing that was accepted is lost, whatever dies.
@Suite("Durability", .processes) struct DurabilityTests {
  @Test func aThousandPushesOutliveTheGatewayAndReachTheDevice() async throws {
    // A first device finds a port that the second can have again.
    let state = try await Deployment.newState()
    let device = try await Deployment.start(["device"], in: state)
    let port = try device.port("device")
    try await device.crash()
    let options = try GatewayConfiguration(upstream: "https://localhost:\(port)").options(in: state)
    let gateway = try await Deployment.start(["gateway"] + options, in: state)
    let pushes = (0..<1000).map { _ in (token: newToken(), id: newID()) }
    try await gateway.registerAll(pushes.map(\.token))

    let answers = try await gateway.sendAll(pushes)
    #expect(answers.filter { $0.status == 200 }.count == 1000)
    try await gateway.crash()

    let again = try await Deployment.start(["gateway"] + options, in: state)
    let deviceAgain = try await Deployment.start(["device"], in: state, ports: ["--device-port", "\(port)"])
    let list = try await again.control("GET", "/v1/pushes?disposition=applied&wait=60s&count=1000&limit=1000", as: "read").json
    #expect(list["complete"].bool == true, "matched \(list["matched"])")
    // A page is bounded in bytes as well.
    var (ids, next) = (list["pushes"].array.compactMap { $0["id"].string?.lowercased() }, list["next"].string)
    while let after = next {
      let page = try await again.control("GET", "/v1/pushes?disposition=applied&limit=1000&after=\(after)", as: "read").json
      ids += page["pushes"].array.compactMap { $0["id"].string?.lowercased() }
      next = page["next"].string
    }
    #expect(ids.count == 1000 && Set(ids) == Set(pushes.map(\.id)))
    for push in pushes.shuffled().prefix(50) { #expect(try await again.record(push.id)["token"].string == push.token) }
    #expect(try await again.terminate() == 0)
    #expect(try await deviceAgain.terminate() == 0)
  }

  @Test func budgetsOutliveACrash() async throws {
    let state = try Folder()
    let token = newToken()
    let first = try await Deployment.start(["dev"], in: state)
    try await first.register(token, RegistrationBody.widgets)
    let answer = try await first.send(.widgets(token))
    let id = try #require(answer["apns-id"])
    try await first.settled(id, as: "applied")
    let before = try await first.control("GET", "/v1/budgets/\(token)", as: "read").json["budgets"][0]["remaining"].int
    try await first.crash()

    let second = try await Deployment.start(["dev"], in: state)

    #expect(try await second.control("GET", "/v1/budgets/\(token)", as: "read").json["budgets"][0]["remaining"].int == before)
    #expect(try await second.record(id)["token"].string == token)
    let next = try await second.send(.widgets(token))
    #expect(try await second.record(try #require(next["apns-id"]))["disposition"].string == "waiting")
    #expect(try await second.terminate() == 0)
  }

  /// Requests that were answered with an error are known as before, after a stop and after a crash.
  @Test func whatWasRefusedIsExplainedAfterARestart() async throws {
    let state = try Folder()
    let token = newToken()
    let first = try await Deployment.start(["dev"], in: state)
    let answers = [
      try await first.send(.widgets(token)), try await first.send(.widgets(token).with("authorization", nil)),
      try await first.send(.widgets("zz")),
    ]
    #expect(answers.map(\.status) == [400, 403, 400])
    let ids = try answers.map { try #require($0["apns-id"]) }
    let before = try await first.control("GET", "/v1/pushes?disposition=refused", as: "read").json
    #expect(before["pushes"].array.compactMap { $0["id"].string } == ids.reversed())
    #expect(try await first.terminate() == 0)

    let second = try await Deployment.start(["dev"], in: state)
    #expect(try await second.control("GET", "/v1/pushes?disposition=refused", as: "read").json.description == before.description)
    #expect(try await second.record(ids[1])["reason"].string == "MissingProviderToken")
    let story = try await run([Deployment.executable, "explain", ids[0], "--state-dir", state.path])
    #expect(story.status == 0 && story.text.contains("tokenUnknown"))
    let last = try await second.send(.widgets(token))
    _ = try await second.record(try #require(last["apns-id"]))
    try await second.crash()

    let third = try await Deployment.start(["dev"], in: state)
    let found = try await third.control("GET", "/v1/pushes?token=\(token)", as: "read").json["pushes"]
    #expect(found.array.compactMap { $0["id"].string } == [last["apns-id"], ids[1], ids[0]])
    #expect(try await third.terminate() == 0)
  }
}

extension Deployment {
  /// Registers many widgets tokens over one connection with one curl.
  func registerAll(_ tokens: [String]) async throws {
    let admin = try credentials()["admin"].string ?? ""
    let base = try url("control")
    let body = RegistrationBody.widgets.replacingOccurrences(of: "\"", with: "\\\"")
    let sections = tokens.map { token in
      """
      url = "\(base)/v1/registrations/\(token)"
      http2
      request = "PUT"
      cacert = "\(state.path("ca.pem"))"
      header = "authorization: Bearer \(admin)"
      data = "\(body)"
      output = "/dev/null"
      write-out = "%{http_code}\\n"
      """
    }
    let result = try await run(
      ["curl", "-sS", "-K", "-"], input: Data(sections.joined(separator: "\nnext\n").utf8), within: .seconds(120))
    let created = result.text.split(separator: "\n").filter { $0 == "201" }.count
    guard created == tokens.count else { throw HarnessError("\(created) of \(tokens.count) registered: \(result.standardError)") }
  }
}
