import Control
import Gateway
import JSON
import Primitives
import Push
import Reactor
import Storage
import Testing

@Suite("Control API: events", .timeLimit(.minutes(10))) struct EventAPITests {
  private func open(_ stage: APIStage, _ query: String = "", as secret: String = "read", after id: String? = nil) async throws
    -> HTTPResponse
  {
    var fields: HTTPFields = ["authorization": "Bearer \(secret)"]
    if let id { fields.append("Last-Event-ID", id) }
    return await stage.table.respond(
      to: try HTTPRequest(
        method: .get, target: "/v1/events\(query)", fields: fields, authority: "gateway", body: [], peer: SocketAddress("127.0.0.1:5000"),
        face: .tls))
  }

  @Test func aPushIsToldAsListsTellIt() async throws {
    let stage = try APIStage()
    try await stage.register(1)
    let response = try await open(stage)
    #expect(
      response.status == 200 && response.fields["content-type"] == "text/event-stream" && response.fields["cache-control"] == "no-store")
    let stream = try StreamedCall(response)
    let batch = try await stage.push(1)
    try await stage.settle {
      $0.completions.append(CompleteOperation(ticket: batch.forwards[0].ticket, outcome: .finished(.ignored, .noSuchWidget)))
    }
    try await stage.refuse(2, .badTopic, detail: "no suffix")
    let told = try await stream.pushes(3)
    #expect(told.map { $0["disposition"]?.stringValue } == ["forwarding", "ignored", "refused"])
    #expect(told[1] == (try await stage.call(.get, "/v1/pushes/\(APIStage.id(1))").json))
    #expect(told[2] == (try await stage.call(.get, "/v1/pushes/\(APIStage.id(2))").json))
    #expect(stream.text.value.hasPrefix(": ") && stream.text.value.contains("\nretry: 1000\n\n"))
    #expect(stream.text.value.contains("\nevent: push\n"))
    #expect(Set(stream.ids).count == 3)
    for id in stream.ids { #expect(id.wholeMatch(of: /[0-9]+\.[ar][0-9a-f]{16}\.[0-9]+\.[a-z]+/) != nil, "\(id) counts the pushes of all") }
    stream.task.cancel()
    await stream.task.value
  }

  @Test(arguments: [
    ("?token=\(APIStage.token(2).prefix(64))", ["2"]), ("?disposition=refused", ["3"]), ("?type=controls", []),
    ("?bundleID=com.example.app", ["1", "2", "3"]), ("?bundleID=com.example.other", ["4"]), ("", ["1", "2", "3", "4"]),
  ])
  func criteria(query: String, expected: [String]) async throws {
    let stage = try APIStage()
    for token in 1...2 { try await stage.register(token) }
    try await stage.register(4, bundle: APIStage.other)
    let stream = try StreamedCall(try await open(stage, query))
    for token in 1...2 { try await stage.push(token, to: token) }
    try await stage.refuse(3, .badTopic)
    try await stage.push(4, to: 4, bundle: APIStage.other)
    let told = try await stream.pushes(expected.count)
    #expect(told.map { $0["id"]?.stringValue } == expected.map { APIStage.id(Int($0)!).description })
    stream.task.cancel()
  }

  @Test func appsAreApart() async throws {
    let stage = try APIStage()
    try await stage.register(1)
    try await stage.register(2, bundle: APIStage.other)
    let own = try StreamedCall(try await open(stage, as: APIStage.bundle))
    let foreign = try StreamedCall(try await open(stage, "?bundleID=\(APIStage.bundle)", as: APIStage.other))
    try await stage.push(1, to: 1)
    try await stage.push(2, to: 2, bundle: APIStage.other)
    try await stage.refuse(3, .badTopic, token: 1, bundle: "")
    #expect(try await own.pushes(1).compactMap { $0["id"]?.stringValue } == [APIStage.id(1).description])
    #expect(foreign.ids.isEmpty)
    let everything = try StreamedCall(try await open(stage, as: APIStage.other, after: "0.a0000000000000000.0.waiting"))
    #expect(try await everything.pushes(1).compactMap { $0["id"]?.stringValue } == [APIStage.id(2).description])
    for stream in [own, foreign, everything] { stream.task.cancel() }
  }

  /// Whoever comes back with the last id it saw misses nothing, and what happened meanwhile comes first.
  @Test func goingOn() async throws {
    let stage = try APIStage()
    try await stage.register(1)
    let first = try StreamedCall(try await open(stage))
    try await stage.push(1)
    _ = try await first.pushes(1)
    let id = try #require(first.ids.first)
    first.task.cancel()
    await first.task.value
    stage.now.value = stage.now.value + .seconds(1)
    try await stage.push(2)
    try await stage.push(3)
    let second = try StreamedCall(try await open(stage, after: id))
    try await stage.push(4)
    #expect(try await second.pushes(3).map { $0["id"]?.stringValue } == [2, 3, 4].map { APIStage.id($0).description })
    second.task.cancel()
  }

  @Test func aSlowCallerIsToldWhatItLost() async throws {
    let stage = try APIStage()
    try await stage.register(1)
    let stream = try StreamedCall(try await open(stage))
    _ = try await stream.pushes(0)
    stream.outcome.value = .full
    for id in 0..<(Limits.eventsQueued / 100 + 3) {
      try await stage.settle { batch in
        for index in 0..<100 {
          batch.refusals.append(
            RefusedOperation(id: APIStage.id(id * 100 + index), token: nil, type: .widgets, reason: .badTopic, received: stage.now.value))
        }
      }
    }
    stream.outcome.value = .taken
    try await stream.until { stream.text.value.hasSuffix("}\n\n") && stream.text.value.suffix(100).contains("event: lost\n") }
    let lost = stream.text.value.components(of: "data: ").compactMap { (try? JSONValue.parse($0))?["lost"]?.intValue }
    #expect(lost.count == 1 && lost[0] > 0)
    stream.task.cancel()
  }

  @Test func heartbeatsAndTheEnd() async throws {
    let stage = try APIStage()
    var parts = stage.parts
    parts.heartbeat = .milliseconds(1)
    let route = try #require(ControlAPI(parts).routes.first { $0.pattern == "/v1/events" })
    let table = RouteTable([route], authorizer: stage.authorizer, now: { stage.now.value })
    let response = await table.respond(
      to: try HTTPRequest(
        method: .get, target: "/v1/events", fields: ["authorization": "Bearer read"], authority: "gateway", body: [],
        peer: SocketAddress("127.0.0.1:5000"), face: .tls))
    let stream = try StreamedCall(response)
    try await stream.until { stream.text.value.contains("\n\n:\n\n:\n\n") }
    stream.outcome.value = .gone
    await stream.task.value
  }

  @Test(
    arguments: [
      ("?disposition=done", nil, "disposition"), ("?tokens=aa", nil, "tokens"), ("?token=xyz", nil, "token"), ("?wait=10s", nil, "wait"),
      ("", "seven", "last-event-id"),
    ] as [(String, String?, String)])
  func malformedCalls(query: String, after: String?, field: String) async throws {
    let stage = try APIStage()
    let response = try await open(stage, query, after: after)
    let json = try JSONValue.parse(response.body)
    #expect(response.status == 400 && json["error"]?["field"]?.stringValue == field && response.stream == nil)
  }

  @Test func soManyMayFollow() async throws {
    let stage = try APIStage()
    var responses: [HTTPResponse] = []
    for _ in 0..<(Limits.eventFollowers / Limits.shareOfToken) { responses.append(try await open(stage)) }
    #expect(responses.allSatisfy { $0.status == 200 })
    let full = try await open(stage)
    #expect(full.status == 429 && String(decoding: full.body, as: UTF8.self).contains(#"access token \"read\" has its share of calls"#))
    // A call that ends makes room for another.
    responses.removeAll()
    #expect(try await open(stage).status == 200)
  }
}

extension StreamedCall {
  /// The pushes of the events so far, once there are `count`.
  fileprivate func pushes(_ count: Int) async throws -> [JSONValue] {
    try await until { text.value.components(of: "data: ").count >= count }
    return try text.value.components(of: "data: ").map { try JSONValue.parse($0) }
  }

  fileprivate var ids: [String] { text.value.components(of: "id: ") }
}

extension String {
  /// What stands behind `start` in each line that begins so.
  fileprivate func components(of start: String) -> [String] {
    split(separator: "\n").filter { $0.hasPrefix(start) }.map { String($0.dropFirst(start.count)) }
  }
}
