import Foundation
import Testing

/// What a push's warnings are about, wherever a push is told of.
@Suite("Details of warnings", .processes) struct WarningTests {
  private func widgetpush(_ dev: Deployment, _ arguments: [String]) async throws -> CommandResult {
    try await run([Deployment.executable] + arguments + ["--state-dir", dev.state.path])
  }

  private var seconds: Int { Int(Date().timeIntervalSince1970) }

  private func update(_ members: String) -> String {
    #"{"aps":{"timestamp":\#(seconds),"event":"update","content-state":{"stops":1}\#(members)}}"#
  }

  /// The sound of an activity's alert stands in the alert. That is told in the API, by the commands and by `dev`, with payloads kept and
  /// without, and after a restart.
  @Test(arguments: [[], ["--push-log-payloads", "false", "--validation", "apple"]]) func aMisplacedKeyIsNamedEverywhere(
    options: [String]
  ) async throws {
    let state = try Folder()
    let token = newToken()
    let dev = try await Deployment.start(["dev"] + options, in: state)
    try await dev.register(token, RegistrationBody.activity)
    let body = update(#","alert":{"title":"t","boddy":"b"},"sound":"chime.aiff","relevanceScore":5"#)
    let sound = #"sound "chime.aiff" (put it at aps.alert.sound), relevanceScore 5 (did you mean relevance-score?)"#
    let id = try #require(
      try await dev.send(PushRequest("liveactivity", to: token, body: body).with("apns-priority", "5").with("apns-expiration", "45"))[
        "apns-id"])
    try await eventually("dev tells it: \(dev.process.output.text)") {
      let said = dev.process.output.text
      return said.contains("warning  apns-id \(id)  liveactivity  token \(token.prefix(8))") && said.contains("\(sound) [unusedAPSKeys]")
    }
    func check(_ dev: Deployment) async throws {
      let warnings = try await dev.record(id)["warnings"].array
      func told(_ code: String) -> Document? { warnings.first { $0["code"].string == code } }
      #expect(told("unusedAPSKeys")?["field"].string == "aps.sound", "\(warnings)")
      #expect(told("unusedAPSKeys")?["detail"].string?.hasSuffix(sound) == true, "\(warnings)")
      #expect(told("unusedAlertKeys")?["detail"].string?.hasSuffix(#"boddy "b" (did you mean body?)"#) == true)
      #expect(told("alertInUpdate")?["field"].string == "aps.alert" && told("alertInUpdate")?["message"].string != nil)
      #expect(told("expirationRelative")?["detail"].string?.contains("45 is 1970-01-01T00:00:45Z, long past") == true)
      #expect(told("collapseIDMissing") == nil && warnings.count == 4, "\(warnings)")
      let list = try await dev.control("GET", "/v1/pushes?token=\(token)", as: "read").json["pushes"]
      #expect(list.array.first { $0["id"].string == id }?["warnings"].array.count == 4)
      let story = try await widgetpush(dev, ["explain", id])
      #expect(story.text.contains("warnings\n") && story.text.contains("\(sound).\n"), "\(story.text)")
      #expect(try await widgetpush(dev, ["explain", id, "--json"]).text.contains("put it at aps.alert.sound"))
    }
    try await check(dev)
    for format in [[], ["--json"]] {
      let forecast = try await widgetpush(dev, ["send", token, "--what-if", "--payload", body] + format)
      #expect(forecast.text.contains("put it at aps.alert.sound"), "\(forecast.text) \(forecast.standardError)")
    }
    let sent = try await widgetpush(dev, ["send", token, "--payload", body])
    #expect(sent.text.contains("warning: ") && sent.text.contains(sound), "\(sent.text) \(sent.standardError)")
    try await dev.crash()
    let again = try await Deployment.start(["dev"] + options, in: state)
    try await check(again)
    #expect(try await again.terminate() == 0)
  }

  /// A gateway's log tells a mistake once, however often it is made.
  @Test func theLogNamesTheKeyOnce() async throws {
    let gateway = try await Deployment.behind(["200"])
    let token = newToken()
    try await gateway.register(token, RegistrationBody.app)
    for _ in 0..<3 {
      let push = PushRequest("alert", to: token, body: #"{"aps":{"alert":{"title":"t"},"body":"b"}}"#)
      #expect(try await gateway.send(push).status == 200)
    }
    func lines() -> [String] { gateway.process.errors.lines.filter { $0.contains("warning=unusedAPSKeys") } }
    try await eventually("the log tells it: \(gateway.process.errors.text)") { !lines().isEmpty }
    #expect(try await gateway.terminate() == 0)
    #expect(lines().count == 1 && lines()[0].contains("field=aps.body") && lines()[0].contains("put it at aps.alert.body"), "\(lines())")
  }

  @Test func aBroadcastsWarningNamesItsKey() async throws {
    let dev = try await SharedDev.deployment()
    let channel = try #require(try await dev.send(.createChannel(policy: 0))["apns-channel-id"])
    let id = newID()
    let body = update(#","alert":{"title":"t","sound":"nil"},"staleDate":\#(seconds)"#)
    let request = PushRequest.broadcast(to: channel).body(body).with("apns-request-id", id).with("apns-priority", "10")
    #expect(try await dev.send(request).status == 200)
    let warnings = try await dev.record(id)["warnings"].array
    #expect(warnings.map { $0["field"].string } == ["aps.staleDate", "aps.alert", "aps.alert.sound"], "\(warnings)")
    #expect(warnings.last?["detail"].string?.hasPrefix(#"aps.alert.sound is "nil", which is taken for the name of a sound file"#) == true)
    try await eventually("dev tells it: \(dev.process.output.text)") {
      dev.process.output.text.contains("warning  a broadcast  apns-request-id \(id)  liveactivity")
    }
    #expect(try await widgetpush(dev, ["explain", id]).text.contains("(did you mean stale-date?)"))
  }

  /// With `BadPayload`, a broadcast's answer says why, as a push's does.
  @Test func aBroadcastsRefusalSaysWhy() async throws {
    let dev = try await SharedDev.deployment()
    let channel = try #require(try await dev.send(.createChannel(policy: 0))["apns-channel-id"])
    let request = PushRequest.broadcast(to: channel)
    let answer = try await dev.send(request.body(#"{"aps":{"timestamp":\#(seconds),"event":"update","contentState":{}}}"#))
    let detail = try #require(try answer.json["detail"].string)
    #expect(try answer.status == 400 && answer.json["reason"].string == "BadPayload" && answer.json["origin"].string == "widgetpush")
    #expect(detail.hasSuffix("aps has contentState, did you mean content-state?"), "\(detail)")
    #expect(answer["widgetpush-detail"] == nil, "only a request that asks for it has headers of ours")
    #expect(try await dev.send(request.with("apns-expiration", "x")).text == #"{"reason":"BadExpirationDate"}"#)
  }

  /// With validation `apple` the push passes, and the device, the warning and `what-if` tell the near miss that strict validation tells.
  @Test(arguments: [
    ("background", "app", #"{"aps":{"content_available":1}}"#, "aps has content_available, did you mean content-available?"),
    ("widgets", "widgets", #"{"aps":{},"content-changed":true}"#, "content-changed stands beside aps, put it into aps"),
    ("controls", "controls", #"{"Aps":{"content-changed":true}}"#, "there is Aps, did you mean aps?"),
    ("liveactivity", "liveactivity", #"{"aps":{"evnt":"end","timestamp":NOW}}"#, "aps has evnt, did you mean event?"),
    ("alert", "app", #"{"aps":{"alrt":"x"}}"#, "aps has alrt, did you mean alert?"),
  ]) func appleTellsTheNearMissOfStrict(type: String, kind: String, payload: String, hint: String) async throws {
    let (strict, apple) = (try await SharedDev.deployment(), try await Self.apple())
    let registration =
      ["app": RegistrationBody.app, "widgets": RegistrationBody.widgets, "controls": RegistrationBody.controls][kind]
      ?? RegistrationBody.activity
    let token = newToken()
    let push = PushRequest(type, to: token, body: payload.replacingOccurrences(of: "NOW", with: "\(seconds)")).with("apns-priority", "5")
    try await strict.register(token, registration)
    let refused = try await strict.send(push)
    #expect(try refused.status == 400 && (refused.json["detail"].string?.hasSuffix(hint)) == true, "\(refused)")
    try await apple.register(token, registration)
    let id = try #require(try await apple.send(push)["apns-id"])
    let record = try await apple.settled(id, as: "ignored")
    #expect(record["detail"].string?.hasSuffix(hint) == true, "what the device says: \(record)")
    #expect(record["warnings"].array.contains { $0["detail"].string == (try? refused.json["detail"].string) }, "\(record["warnings"])")
    let story = try await widgetpush(apple, ["explain", id]).text
    #expect(story.contains(hint), "\(story)")
  }

  private static let running = Task { try await Deployment.start(["dev", "--validation", "apple"]) }
  private static func apple() async throws -> Deployment { try await running.value }

  @Test func aBackgroundPushAtTenIsAnErrorInStrictAlone() async throws {
    let (strict, apple) = (try await SharedDev.deployment(), try await Self.apple())
    let token = newToken()
    let push = PushRequest("background", to: token, body: #"{"aps":{"content-available":1}}"#)
    for dev in [strict, apple] { try await dev.register(token, RegistrationBody.app) }
    let refused = try await strict.send(push.with("apns-priority", "10"))
    #expect(refused.status == 400 && refused.text == #"{"reason":"BadPriority"}"#)
    #expect(try await strict.send(push).status == 200, "an absent priority is no 10")
    let id = try #require(try await apple.send(push.with("apns-priority", "10"))["apns-id"])
    #expect(try await apple.record(id)["warnings"].array.map { $0["code"].string } == ["backgroundAtTen"])
    let closed = try await Deployment.behind(
      ["200"], app: ["validation: apple"], environment: ["WIDGETPUSH_PROVIDER_ANSWERS_BACKGROUND_AT_TEN": "refuse"])
    try await closed.register(token, RegistrationBody.app)
    #expect(try await closed.send(push.with("apns-priority", "10")).text == #"{"reason":"BadPriority"}"#)
    #expect(try await closed.terminate() == 0)
  }

  /// Like Apple's present certificates, one lists the app, its `.voip` and its `.complication`.
  @Test func aCertificateListsWhatApplesDo() async throws {
    let dev = try await SharedDev.deployment()
    let made = try await widgetpush(dev, ["keys", "certificate", "com.example.app", "--json"])
    #expect(made.status == 0, "\(made.standardError)")
    let topics = try Document(made.standardOutput)["topics"].array.map { $0.string }
    #expect(topics == ["com.example.app", "com.example.app.voip", "com.example.app.complication"])
    let token = newToken()
    try await dev.register(token, RegistrationBody.app)
    func send(_ topic: String?) async throws -> Answer {
      var push = PushRequest("alert", to: token).with("authorization", nil).with("apns-topic", topic)
      push.options = ["--cert", dev.state.path("Push_com.example.app.pem")]
      return try await dev.send(push)
    }
    #expect(try await send(nil).text == #"{"reason":"MissingTopic"}"#)
    #expect(try await send("com.example.app").status == 200)
    #expect(try await send("com.example.app.push-type.widgets").text == #"{"reason":"TopicDisallowed"}"#)
    let more = try await widgetpush(dev, ["keys", "certificate", "com.example.app", "--topic", "com.example.app.push-type.widgets"])
    #expect(more.text.contains("com.example.app.complication, com.example.app.push-type.widgets and its key"), "\(more.text)")
  }

  /// A key id and a team id that are swapped are told so.
  @Test func swappedIDsAreNamed() async throws {
    let dev = try await SharedDev.deployment()
    let credentials = try dev.credentials()
    let (kid, team) = (try #require(credentials["keyID"].string), try #require(credentials["teamID"].string))
    let jwt = try await ProviderToken.make(
      dev, header: #"{"alg":"ES256","kid":"\#(team)"}"#, claims: #"{"iss":"\#(kid)","iat":\#(seconds)}"#)
    let push = PushRequest.widgets(newToken()).with("authorization", "bearer \(jwt)").with("widgetpush-explain", "1")
    let answer = try await dev.send(push)
    #expect(try answer.status == 403 && answer.json["reason"].string == "InvalidProviderToken")
    #expect(answer["widgetpush-detail"]?.contains("key id is your team id: they are swapped; kid must be \"\(kid)\"") == true, "\(answer)")
  }

  /// A token that was printed is put right where that can be, at the provider API, in the control API and by the commands.
  @Test func aPrintedTokenIsPutRight() async throws {
    let dev = try await SharedDev.deployment()
    let whole = newToken()
    let groups = stride(from: 0, to: 64, by: 8).map { String(whole.dropFirst($0).prefix(8)) }
    let cut = "{length = 32, bytes = 0x\(groups[0]) \(groups[1]) ... \(groups[7]) }"
    for (printed, told) in [("<\(groups.joined(separator: " "))>", ": \(whole)"), (cut, "its middle is cut: print the token whole")] {
      let path = try #require(printed.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
      let answer = try await dev.send(PushRequest.widgets(whole).at("/3/device/\(path)").with("widgetpush-explain", "1"))
      #expect(answer.status == 400 && answer["widgetpush-detail"]?.contains(told) == true, "\(answer)")
      let registered = try await dev.control("PUT", "/v1/registrations/\(path)", RegistrationBody.widgets)
      #expect(registered.status == 400 && registered.text.contains(told), "\(registered)")
      for command in [["register", printed, "--bundle-id", "com.example.app"], ["explain", printed], ["send", printed]] {
        let result = try await widgetpush(dev, command)
        #expect(result.status != 0 && result.standardError.contains(told), "\(command[0]): \(result.text)\(result.standardError)")
      }
    }
  }
}
