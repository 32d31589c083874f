import Foundation
import Testing

@Suite("lint and expect", .processes) struct LintAndExpectTests {
  @Test func aCurlCommandIsJudgedWithoutBeingSent() async throws {
    let folder = try Folder()
    let path = try folder.write(
      "push.sh",
      """
      curl --http2 -H "authorization: bearer $TOKEN" -H 'apns-push-type: widgets' -H 'apns-topic: com.example.app' -H 'apns-priority: 5' \\
        -H 'apns-collapse-id: x' -d '{"aps":{"content-changed":"true"}}' https://localhost:2197/3/device/aa11
      """)
    let result = try await run([Deployment.executable, "lint", path, "--format", "github"])
    #expect(result.status == 1)
    #expect(result.text.contains(",line=1,title=InvalidPushType::"), "\(result.text)")
    #expect(result.text.contains(",line=2,title=contentChangedNotTrue::"), "\(result.text)")
    let right = try await run([Deployment.executable, "lint", "-", "--json"], input: Data(#"{"aps":{"content-changed":true}}"#.utf8))
    #expect(right.status == 2, "lint has --format json, and says so")
    let good = try await run([Deployment.executable, "lint", "-"], input: Data(#"{"aps":{"content-changed":true}}"#.utf8))
    #expect(good.status == 0 && good.text.contains("nothing found"), "\(good.text)")
  }

  @Test func eachCurlCommandOfAScriptIsJudgedByItself() async throws {
    let folder = try Folder()
    let path = try folder.write(
      "v.sh",
      """
      curl -sS https://example.com/health
      curl --http2 -H "authorization: bearer $(widgetpush token)" -H 'apns-push-type: widgets' -H 'apns-topic: com.example.app' -H 'apns-priority: 7' -d '{}' "https://localhost:2197/3/device/$token"
      curl --http2 -H "authorization: bearer $(widgetpush token)" -H 'apns-topic: com.example.app' -H 'apns-priority: 5' -d '{"aps":{"alert":"x"}}' https://localhost:2197/3/device/aa
      """)
    let result = try await run([Deployment.executable, "lint", path, "--format", "json"])
    #expect(result.status == 1)
    let told = try Document(result.standardOutput).array.map { "\($0["line"].int ?? 0) \($0["rule"].string ?? "")" }
    for finding in ["2 BadPriority", "2 InvalidPushType", "2 apsMissing", "3 pushTypeMissing"] {
      #expect(told.contains(finding), "\(finding) in \(told)")
    }
    #expect(!told.contains { $0.hasPrefix("1 ") || $0.contains(" Missing") }, "\(told)")
    let day = try await run([Deployment.executable, "lint", repository + "/docs/scripted-day.sh"])
    #expect(day.status == 1 && day.text.contains("no push to judge"), "\(day.text)")
    #expect(result.standardError.contains("v.sh: 2 commands judged, 1 not a push"), "\(result.standardError)")
    // Among others that have one, it is not at fault.
    let payload = try folder.write("p.json", #"{"aps":{"content-changed":true}}"#)
    #expect(try await run([Deployment.executable, "lint", repository + "/docs/scripted-day.sh", payload]).status == 0)
  }

  @Test func broadcastsOfAScriptAreJudgedAndCounted() async throws {
    let folder = try Folder()
    let path = try folder.write(
      "b.sh",
      """
      curl -sS https://example.com/health
      id=$(curl -sS -H "authorization: bearer $t" -d '{"message-storage-policy":2,"push-type":"LiveActivity"}' "https://$host/1/apps/com.example.app/channels")
      curl -H "authorization: bearer $t" -H "apns-channel-id: $id" -H 'apns-push-type: liveactivity' -H 'apns-priority: 5' \\
        -d '{"aps":{"timestamp":'$(date +%s)',"event":"update","contentState":{"score":1}}}' https://localhost:2197/4/broadcasts/apps/com.example.app
      """)
    let result = try await run([Deployment.executable, "lint", path])
    #expect(result.status == 1)
    for line in [
      "b.sh:2: refused: message-storage-policy must be 0 or 1, not 2 [BadRequestParams]",
      "b.sh:3: refused: apns-expiration must be there in a broadcast; 0 stores nothing [BadExpirationDate]",
      "aps has contentState, did you mean content-state? [contentStateMissing]", "b.sh: 2 commands judged, 1 not a push",
    ] {
      #expect(result.text.contains(line), "\(line) in \(result.text)")
    }
  }

  @Test func expectFailsWithWhatNearlyMatched() async throws {
    let dev = try await SharedDev.deployment()
    let token = newToken()
    try await dev.register(token, RegistrationBody.widgets)
    let id = try #require(try await dev.send(.widgets(token))["apns-id"])
    try await dev.settled(id, as: "applied")
    let expect = [Deployment.executable, "expect", "--state-dir", dev.state.path, "--token", token]
    let met = try await run(expect + ["--disposition", "applied", "--type", "widgets"])
    #expect(met.status == 0 && met.text.lowercased().contains(id.lowercased()), "\(met.text)")
    let missed = try await run(expect + ["--disposition", "ignored", "--timeout", "100ms"])
    #expect(missed.status == 1 && missed.text.contains("0 of 1 came within 0.1 s"), "\(missed.text)")
    #expect(missed.text.contains("but its disposition differs"), "\(missed.text)")
    let more = try await run(expect + ["--count", "2", "--timeout", "100ms", "--json"])
    #expect(more.status == 1)
    let page = try Document(more.standardOutput)
    #expect(page["matched"].int == 1)
  }

  /// A push whose topic names its app by a wrong suffix, by a mistyped name, or not at all, is found under its app all the same.
  @Test(arguments: ["com.example.app.push-type.widget", "com.example.ap.push-type.widgets", nil])
  func aPushWithAWrongTopicIsFoundUnderItsApp(topic: String?) async throws {
    let dev = try await SharedDev.deployment()
    let token = newToken()
    try await dev.register(token, RegistrationBody.widgets)
    let id = try #require(try await dev.send(.widgets(token).with("apns-topic", topic))["apns-id"])
    let expect = [Deployment.executable, "expect", "--state-dir", dev.state.path, "--bundle-id", "com.example.app", "--token", token]
    let met = try await run(expect + ["--disposition", "refused", "--timeout", "2s"])
    #expect(met.status == 0 && met.text.lowercased().contains(id.lowercased()), "\(met.text)")
  }

  @Test func whatIfSendsNothing() async throws {
    let dev = try await SharedDev.deployment()
    let token = newToken()
    try await dev.register(token, RegistrationBody.widgets)
    let send = [Deployment.executable, "send", "--state-dir", dev.state.path, token, "--what-if"]
    let result = try await run(send)
    #expect(result.status == 0 && result.text.contains("would be answered 200: forwarding"), "\(result.text)\(result.standardError)")
    #expect(result.text.contains("budget widgets: 12 before, 11 after"), "\(result.text)")
    #expect(try await dev.control("GET", "/v1/pushes?token=\(token)", as: "read").json["pushes"].array.isEmpty)
    let wrong = try await run(send + ["--payload", #"{"aps":{"content-changed":1}}"#])
    #expect(wrong.status == 1 && wrong.text.contains("would be answered 400 BadPayload"), "\(wrong.text)")
  }
}
