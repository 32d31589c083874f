import Foundation
import Synchronization
import Testing

/// Failures that people had in the field (Tests/failures.md), each made with curl against a running `dev`, and told by name by `explain`.
@Suite("Failures of the field, explained", .processes) struct FailureTests {
  private static let task = Mutex<Task<Deployment, any Error>?>(nil)
  private static let schema = #"{"required":["stops"],"properties":{"stops":{"type":"integer"},"eta":{"format":"date2001"}}}"#

  /// One `dev` for the suite, whose device and gateway know a content-state each: Ride the gateway, Match and Order the device.
  private static func deployment() async throws -> Deployment {
    let running = task.withLock { task in
      let running =
        task
        ?? Task {
          let dev = try await Deployment.start(["dev"])
          let set = try await dev.control("PUT", "/v1/apps/com.example.app", #"{"contentStates":{"Ride":\#(schema)}}"#)
          guard set.status == 200 else { throw HarnessError("\(set)") }
          let admin = try dev.credentials()["admin"].string ?? ""
          let manifest =
            #"{"activities":[{"attributesType":"Ride"},{"attributesType":"Match"},{"attributesType":"Order","contentState":\#(schema)}]}"#
          let taught = try await curl(
            "PUT", dev.url("device") + "/v1/devices/phone/apps/com.example.app", ca: dev.state.path("ca.pem"),
            headers: ["authorization: Bearer \(admin)"], body: Data(manifest.utf8))
          guard taught.status < 300 else { throw HarnessError("\(taught)") }
          return dev
        }
      task = running
      return running
    }
    return try await running.value
  }

  private var now: Int { Int(Date().timeIntervalSince1970) }

  /// What `explain` says of an apns-id or a token.
  private func explain(_ dev: Deployment, _ name: String) async throws -> String {
    let result = try await run([Deployment.executable, "explain", name, "--state-dir", dev.state.path])
    guard result.status == 0 else { throw HarnessError(result.standardError) }
    return result.text
  }

  /// Sends a push with curl, and expects its answer and what `explain` then says.
  private func expect(
    _ push: PushRequest, at base: String? = nil, _ status: Int, _ reason: String? = nil, says words: String...,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let dev = try await Self.deployment()
    let answer = try await dev.send(push, at: base)
    #expect(answer.status == status, "\(answer)", sourceLocation: sourceLocation)
    if let reason { #expect(try answer.json["reason"].string == reason, "\(answer)", sourceLocation: sourceLocation) }
    let id = try #require(answer["apns-id"], sourceLocation: sourceLocation)
    _ = try await dev.control("GET", "/v1/pushes/\(id)?wait=\(status == 200 ? "5s" : "0s")", as: "read")
    let text = try await explain(dev, id)
    for word in words { #expect(text.contains(word), "\(word) is not in:\n\(text)", sourceLocation: sourceLocation) }
  }

  private func registered(_ body: String) async throws -> String {
    let token = newToken()
    try await Self.deployment().register(token, body)
    return token
  }

  private func activity(_ type: String) -> String { RegistrationBody.activity.replacing("Ride", with: type) }

  private func update(_ token: String, _ aps: String, at timestamp: Int? = nil) -> PushRequest {
    PushRequest("liveactivity", to: token, body: "{\"aps\":{\"timestamp\":\(timestamp ?? now),\"event\":\"update\",\(aps)}}")
  }

  private func start(_ token: String, type: String = "Match", _ state: String = "{}", without key: String = "") -> PushRequest {
    let parts = [
      "timestamp": "\(now)", "event": "\"start\"", "attributes-type": "\"\(type)\"", "attributes": "{}", "content-state": state,
      "alert": #"{"title":"Ride","body":"On its way"}"#,
    ]
    let aps = parts.filter { $0.key != key }.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",")
    return PushRequest("liveactivity", to: token, body: "{\"aps\":{\(aps)}}")
  }

  // MARK: Topics, tokens, credentials

  @Test func anotherKindsTopicIsNamed() async throws {
    let widgets = try await registered(RegistrationBody.widgets)
    try await expect(
      PushRequest("controls", to: widgets), 400, "DeviceTokenNotForTopic",
      says: "refused (otherKind)",
      "This token is a widgets token of com.example.app: topic com.example.app.push-type.widgets and push type widgets, not com.example.app.push-type.controls"
    )
  }

  @Test func anActivityUnderTheBareBundleIDIsNamed() async throws {
    let token = try await registered(RegistrationBody.activity)
    try await expect(
      PushRequest("alert", to: token), 400, "DeviceTokenNotForTopic",
      says: "This token is a liveactivity token of com.example.app: topic com.example.app.push-type.liveactivity")
    try await expect(
      update(token, #""content-state":{"stops":1}"#).with("apns-topic", "com.example.app"), 400, "InvalidPushType",
      says: "answered 400 InvalidPushType", "push-type.liveactivity")
  }

  @Test func aCertificateBesideTheTokenIsNamed() async throws {
    let dev = try await Self.deployment()
    let made = try await run([Deployment.executable, "keys", "certificate", "com.example.other", "--state-dir", dev.state.path])
    #expect(made.status == 0, "\(made.standardError)")
    var push = PushRequest.widgets(try await registered(RegistrationBody.widgets))
    push.options = ["--cert", dev.state.path("Push_com.example.other.pem")]
    try await expect(push, 400, "TopicDisallowed", says: "TopicDisallowed", "certificate")
  }

  @Test func aSuffixThatStandsTwiceIsNamed() async throws {
    let token = try await registered(RegistrationBody.widgets)
    let push = PushRequest.widgets(token).with("apns-topic", "com.example.app.push-type.widgets.push-type.widgets")
    try await expect(push, 400, "TopicDisallowed", says: "answered 400 TopicDisallowed", "stands twice")
  }

  @Test func theOtherEnvironmentIsNamed() async throws {
    let dev = try await Self.deployment()
    var push = PushRequest.widgets(try await registered(RegistrationBody.widgets))
    let port = try dev.port("provider")
    push.options = ["--connect-to", "api.push.apple.com:\(port):127.0.0.1:\(port)"]
    try await expect(
      push, at: "https://api.push.apple.com:\(port)", 400, "BadDeviceToken", says: "refused (otherEnvironment)",
      "api.sandbox.push.apple.com")
  }

  @Test func aDeadTokenIsNamed() async throws {
    let dev = try await Self.deployment()
    let token = try await registered(activity("Match"))
    let fault = try await dev.control(
      "POST", "/v1/faults", #"{"match":{"token":"\#(token)"},"then":{"status":410,"reason":"Unregistered"},"times":1}"#, face: "device")
    #expect(fault.status == 201 || fault.status == 200, "\(fault)")
    try await expect(update(token, #""content-state":{"goals":1}"#), 200, says: "failed (", "410 Unregistered")
    try await expect(update(token, #""content-state":{"goals":2}"#), 410, "Unregistered", says: "(unregistered)", "Delete the token")
    #expect(try await explain(dev, token).contains("retired since"))
  }

  // MARK: Payloads

  @Test func eventsForEventIsNamed() async throws {
    let token = try await registered(activity("Match"))
    let body = #"{"aps":{"timestamp":\#(now),"events":"end"}}"#
    try await expect(PushRequest("liveactivity", to: token, body: body), 400, "BadPayload", says: "aps.event", "events")
  }

  @Test func aKeyThatDoesNotDecodeIsNamed() async throws {
    let token = try await registered(RegistrationBody.activity)
    try await expect(
      update(token, #""content-state":{"A1_stops":3}"#), 400, "BadPayload", says: "refused (contentStateNotDecodable)",
      "aps.content-state.stops is missing")
    try await expect(
      update(token, #""content-state":{"stops":3.5}"#), 400, "BadPayload",
      says: "aps.content-state.stops must be an integer that fits Swift's Int, without a fraction, not 3.5")
    try await expect(
      update(token, #""content-state":{"stops":3,"eta":\#(now)}"#), 400, "BadPayload",
      says: "aps.content-state.eta is a Unix time; Swift's Date shows 20",
      "send \(now - 978_307_200)")
    try await expect(update(token, #""content-state":{"stops":3}"#), 200, says: "applied (updated)")
    // What the app on the device declares is known at the gateway, too.
    try await expect(
      update(try await registered(activity("Order")), #""content-state":{}"#), 400, "BadPayload",
      says: "refused (contentStateNotDecodable)",
      "aps.content-state.stops is missing")
  }

  @Test func timestampsOfThePastAndTheFutureAreNamed() async throws {
    let token = try await registered(activity("Match"))
    try await expect(update(token, #""content-state":{"goals":1}"#), 200, says: "applied (updated)")
    try await expect(
      update(token, #""content-state":{"goals":2}"#, at: now - 60), 200, says: "ignored (staleTimestamp)", "current Unix time")
    try await expect(
      update(token, #""content-state":{"goals":2}"#, at: now * 1000), 400, "BadPayload", says: "milliseconds", "aps.timestamp")
    try await expect(update(token, #""content-state":{"goals":2}"#, at: now + 30_000), 400, "BadPayload", says: "aps.timestamp", "8 hours")
  }

  @Test func anAlertInEachUpdateIsWarnedOf() async throws {
    let token = try await registered(activity("Match"))
    try await expect(
      update(token, #""content-state":{},"alert":{"title":"Goal","body":"1:0"}"#).with("apns-priority", "5"), 200,
      says: "applied (updated)",
      "aps.alert lights the screen up with every update that has it")
  }

  @Test func startsThatStartNothingAreNamed() async throws {
    let dev = try await Self.deployment()
    let token = try await registered(RegistrationBody.pushToStart)
    try await expect(
      start(token, type: "match"), 200, says: "ignored (attributesTypeUnknown)", "is Match meant?", "exactly as it is declared")
    try await expect(
      start(token, type: "Ride", #"{"stop":1}"#), 400, "BadPayload",
      says: "aps.content-state.stops is missing; it must be an integer; is stop meant for it?")
    try await expect(start(token, without: "attributes"), 400, "BadPayload", says: "aps.attributes")
    try await expect(start(token, without: "attributes-type"), 400, "BadPayload", says: "aps.attributes-type")
    try await expect(start(token, without: "alert"), 400, "BadPayload", says: "aps.alert")
    _ = try await dev.control("DELETE", "/v1/budgets/\(token)")
    try await expect(start(token), 200, says: "applied (started)")
  }

  @Test func anUpdateToThePushToStartTokenIsNamed() async throws {
    let token = try await registered(RegistrationBody.pushToStart)
    try await expect(
      update(token, #""content-state":{}"#), 400, "BadPayload", says: "refused (tokenKindMismatch)",
      "update and end to the token of the activity")
  }

  @Test func anotherServicesEnvelopeIsNamed() async throws {
    let token = try await registered(RegistrationBody.widgets)
    try await expect(
      PushRequest.widgets(token).body(#"{"message":{"token":"x","apns":{"payload":{"aps":{"content-changed":true}}}}}"#), 400, "BadPayload",
      says: "answered 400 BadPayload", "aps")
  }

  @Test func contentAvailableReloadsNothing() async throws {
    let token = try await registered(RegistrationBody.widgets)
    try await expect(
      PushRequest.widgets(token).body(#"{"aps":{"content-available":1}}"#), 400, "BadPayload",
      says: "aps.content-changed is missing; it must be the JSON value true")
    try await expect(
      PushRequest.widgets(token).body(#"{"aps":{"content-changed":true,"content-available":1}}"#), 200,
      says: "aps has keys that do nothing in a reload push", "content-available 1")
  }

  // MARK: Budgets

  @Test func anActivitysBudgetIsNamed() async throws {
    let token = try await registered(activity("Match"))
    for goal in 0..<5 { try await expect(update(token, #""content-state":{"goals":\#(goal)}"#, at: now + goal), 200, says: "applied") }
    try await expect(
      update(token, #""content-state":{"goals":6}"#, at: now + 6), 200, says: "priorityLowered, attempt 1, budget 0", "applied (updated)")
  }

  @Test func theBudgetOfStartsIsNamed() async throws {
    let token = try await registered(RegistrationBody.pushToStart)
    let dev = try await Self.deployment()
    #expect(try await dev.control("PUT", "/v1/budgets/\(token)", #"{"remaining":0}"#).status == 200)
    try await expect(start(token), 200, says: "ignored (startBudgetSpent)", "budget 0 → -1", "each further start push is charged as well")
    try await expect(start(token), 200, says: "ignored (startBudgetSpent)", "budget -1 → -2")
  }

  @Test func aWidgetsBudgetIsNamed() async throws {
    let dev = try await Self.deployment()
    let token = try await registered(RegistrationBody.widgets)
    try await expect(.widgets(token), 200, says: "applied (reloaded)", "budget 12 → 11")
    let waiting = try await dev.send(.widgets(token))
    let text = try await explain(dev, waiting["apns-id"] ?? "")
    #expect(
      text.contains(/waiting 4 min \d+ s for Steps's minimum interval \(minimumInterval\)/) || text.contains("waiting 5 min for Steps's"),
      "\(text)")
    try await expect(.widgets(token), 200, says: "merged (mergedIntoWaiting)", "Follow that push")
    let spent = try await registered(RegistrationBody.widgets(minimumInterval: 0))
    #expect(try await dev.control("PUT", "/v1/budgets/\(spent)", #"{"remaining":0}"#).status == 200)
    let answer = try await dev.send(.widgets(spent))
    let story = try await explain(dev, answer["apns-id"] ?? "")
    #expect(story.contains(/waiting \d+ min.* for Steps's budget \(waitingForBudget\)/), "\(story)")
  }

  // MARK: Nothing came

  @Test func aTokenThatNoPushReachedIsToldWhatCameNearest() async throws {
    let dev = try await Self.deployment()
    let token = try await registered(RegistrationBody.controls)
    let mistyped = (token.first == "0" ? "1" : "0") + token.dropFirst()
    #expect(try await dev.send(PushRequest("controls", to: mistyped)).status == 400)
    let text = try await explain(dev, token)
    #expect(text.contains("no push reached us for this token"), "\(text)")
    #expect(text.contains("controls refused (400 BadDeviceToken), to \(mistyped.prefix(16))…, which differs in 1 digit"), "\(text)")
    // And the other way round: whoever asks for the token that was sent to learns that another is registered.
    let story = try await explain(dev, newTokenLike(token))
    #expect(
      story.contains("is not registered") && story.contains("the token \(token.prefix(16))… is registered, which differs in"), "\(story)")
  }

  private func newTokenLike(_ token: String) -> String { token.dropLast() + (token.last == "0" ? "1" : "0") }
}
