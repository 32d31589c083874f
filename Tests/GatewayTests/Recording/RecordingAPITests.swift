import Control
import JSON
import Primitives
import Push
import Reactor
import Testing

@testable import Gateway

@Suite("Control API: recording", .timeLimit(.minutes(10))) struct RecordingAPITests {
  private func open(_ stage: APIStage, _ query: String = "", as secret: String = "admin", _ table: RouteTable? = nil) async throws
    -> HTTPResponse
  {
    await (table ?? stage.table).respond(
      to: try HTTPRequest(
        method: .get, target: "/v1/recording\(query)", fields: ["authorization": "Bearer \(secret)"], authority: "gateway", body: [],
        peer: SocketAddress("127.0.0.1:5000"), face: .tls))
  }

  /// A push as a loop tells of it, before the store has it.
  private func come(_ stage: APIStage, _ id: Int, to token: Int = 1, bundle: String = APIStage.bundle) {
    come(stage.parts.recordings, id, to: token, bundle: bundle, payload: Array("{}".utf8), at: stage.now.value)
  }

  private func come(
    _ desk: RecordingDesk, _ id: Int, to token: Int = 1, bundle: String = APIStage.bundle, payload: [UInt8],
    at: Instant = Instant(unixSeconds: 1_800_000_000)
  ) {
    desk.take(
      RecordedPush(
        id: APIStage.id(id), sent: at, path: "/3/device/\(APIStage.token(token))",
        fields: [.init("apns-topic", "\(bundle).push-type.widgets")], payload: payload), bundleID: bundle, at: at)
  }

  private func lines(_ call: StreamedCall) throws -> [RecordingLine.Content] {
    try call.text.value.split(separator: "\n").map { try RecordingLine(JSONValue.parse(String($0))).content }
  }

  /// What each line is, with the number of its push or token.
  private func names(_ call: StreamedCall) throws -> [String] {
    try lines(call).map { content in
      switch content {
      case .beginning: "beginning"
      case .app(let bundleID, _): "app \(bundleID)"
      case .registration(let registration): "registration \(registration["token"]?.stringValue?.suffix(1) ?? "")"
      case .unregistered(let token): "unregistered \(token.suffix(1))"
      case .push(let push): "push \(push.id.low)"
      case .outcome(let id, let outcome): "\(outcome) \(id.low)"
      case .lost(let lost): "lost \(lost.pushes > 0)"
      case .end: "end"
      case .nothing: "nothing"
      }
    }
  }

  /// Registrations come before the first push that needs them, changes of them in their turn, outcomes after their pushes.
  @Test func whatIsToldAndInWhichOrder() async throws {
    let stage = try APIStage()
    for token in 1...3 { try await stage.register(token) }
    let response = try await open(stage)
    #expect(response.status == 200 && response.fields["content-type"] == "application/x-ndjson")
    #expect(response.fields["cache-control"] == "no-store")
    let call = try StreamedCall(response)
    come(stage, 1)
    try await stage.push(1)
    try await call.until { call.text.value.contains("forwarding") || call.text.value.contains("push") }
    come(stage, 2)
    try await stage.push(2)
    try await call.until { call.text.value.contains("waiting") }
    stage.now.value = stage.now.value + .seconds(1)
    try await stage.register(4)
    come(stage, 4, to: 4)
    _ = try await stage.call(.delete, "/v1/registrations/\(APIStage.token(4))")
    _ = try await stage.call(
      .post, "/v1/registrations",
      text: #"{"token":"\#(APIStage.token(5))","type":"app","bundleID":"\#(APIStage.bundle)","environment":"development"}"#)
    try await stage.refuse(6, .badTopic)
    try await call.until { call.text.value.contains("BadTopic") }
    #expect(
      try names(call) == [
        "beginning", "registration 1", "push 1", "push 2", "waiting (minimumInterval) 2", "registration 4", "push 4", "unregistered 4",
        "registration 5", "refused BadTopic 6",
      ])
    call.task.cancel()
    await call.task.value
    #expect(!stage.parts.recordings.isArmed)
  }

  /// A token that was registered after its push came is not told before it: the push was refused for want of it.
  @Test func whatWasNotThereIsNotTold() async throws {
    let stage = try APIStage()
    let call = try StreamedCall(try await open(stage))
    come(stage, 1)
    try await call.until { call.text.value.contains("\"push\"") }
    stage.now.value = stage.now.value + .seconds(1)
    try await stage.register(1)
    come(stage, 2)
    try await call.until { call.text.value.split(separator: "\n").count == 4 }
    #expect(try names(call) == ["beginning", "push 1", "registration 1", "push 2"])
    call.task.cancel()
  }

  @Test func appsAreApart() async throws {
    let stage = try APIStage()
    try await stage.register(1)
    try await stage.register(2, bundle: APIStage.other)
    let own = try StreamedCall(try await open(stage, as: APIStage.bundle))
    let chosen = try StreamedCall(try await open(stage, "?bundleID=\(APIStage.other)"))
    for call in [own, chosen] { try await call.until { !call.text.value.isEmpty } }
    for (id, token, bundle) in [(1, 1, APIStage.bundle), (2, 2, APIStage.other), (3, 1, "")] {
      come(stage, id, to: token, bundle: bundle)
      if !bundle.isEmpty { try await stage.push(id, to: token, bundle: bundle) }
    }
    // A push of the one app to the other's token tells nothing of that.
    come(stage, 4, to: 2, bundle: APIStage.bundle)
    try await stage.register(5, bundle: APIStage.other)
    try await stage.register(6)
    come(stage, 7, to: 2, bundle: APIStage.other)
    try await own.until { own.text.value.contains(APIStage.token(6)) }
    try await chosen.until { chosen.text.value.contains(APIStage.id(7).description) }
    #expect(try names(own) == ["beginning", "registration 1", "push 1", "push 4", "registration 6"])
    #expect(try names(chosen) == ["beginning", "registration 2", "push 2", "registration 5", "push 7"])
    let foreign = try await open(stage, "?bundleID=\(APIStage.bundle)", as: APIStage.other)
    #expect(foreign.status == 403 && foreign.stream == nil)
    for call in [own, chosen] { call.task.cancel() }
  }

  /// One that never reads keeps nobody waiting, holds no more than it may, and is told how much it has missed once it reads.
  @Test func aRecorderThatDoesNotReadIsToldWhatItLost() async throws {
    let (stage, bytesMax) = (try APIStage(), 1 << 18)
    var parts = stage.parts
    parts.recordings = RecordingDesk(bytesMax: bytesMax)
    let call = try StreamedCall(
      try await open(
        stage, "", as: "admin", RouteTable(ControlAPI(parts).routes, authorizer: stage.authorizer, now: { stage.now.value })))
    try await call.until { !call.text.value.isEmpty }
    call.outcome.value = .full
    let payload = [UInt8](repeating: 0x20, count: 4096)
    // What it was given already is on its way, and as much again may wait.
    let sent = 4 * bytesMax / payload.count
    for id in 1...sent { come(parts.recordings, id, payload: payload) }
    call.outcome.value = .taken
    try await call.until { call.text.value.contains("\"lost\"") && call.text.value.hasSuffix("\n") }
    let told = try lines(call)
    let pushes = told.filter { if case .push = $0 { true } else { false } }.count
    let lost = told.reduce(0) { if case .lost(let lost) = $1 { $0 + Int(lost.pushes) } else { $0 } }
    #expect(pushes + lost == sent && lost > 0)
    #expect(pushes * payload.count <= 2 * bytesMax)
    call.task.cancel()
  }

  @Test func heartbeatsAndTheEnd() async throws {
    let stage = try APIStage()
    var parts = stage.parts
    parts.heartbeat = .milliseconds(1)
    let route = try #require(ControlAPI(parts).routes.first { $0.pattern == "/v1/recording" })
    let call = try StreamedCall(
      try await open(stage, "", as: "admin", RouteTable([route], authorizer: stage.authorizer, now: { stage.now.value })))
    try await call.until { call.text.value.split(separator: "\n").count > 3 }
    #expect(try names(call).prefix(3) == ["beginning", "nothing", "nothing"])
    call.outcome.value = .gone
    await call.task.value
    #expect(!stage.parts.recordings.isArmed)
  }

  @Test func soManyMayRecord() async throws {
    let stage = try APIStage()
    #expect(!stage.parts.recordings.isArmed)
    var responses: [HTTPResponse] = []
    for _ in 0..<(Limits.recorders / Limits.shareOfToken) { responses.append(try await open(stage)) }
    #expect(responses.allSatisfy { $0.status == 200 } && stage.parts.recordings.isArmed)
    let full = try await open(stage)
    #expect(full.status == 429 && String(decoding: full.body, as: UTF8.self).contains("has its share of calls that record"))
    // A call that ends makes room for another, also one whose body nobody has asked for.
    responses.removeAll()
    #expect(!stage.parts.recordings.isArmed)
    #expect(try await open(stage).status == 200)
  }

  @Test(arguments: [("?token=aa", "token"), ("?bundleID=a%20b", "bundleID")]) func malformedCalls(query: String, field: String) async throws
  {
    let stage = try APIStage()
    let response = try await open(stage, query)
    #expect(response.status == 400 && response.stream == nil)
    #expect(try JSONValue.parse(response.body)["error"]?["field"]?.stringValue == field)
  }
}
