import Foundation
import Testing

/// What is said where a command or a push is nearly right: what would be.
@Suite("Advice", .processes) struct AdviceTests {
  private func widgetpush(_ dev: Deployment, _ arguments: String...) async throws -> CommandResult {
    try await run([Deployment.executable] + arguments + ["--state-dir", dev.state.path])
  }

  @Test func anOptionOfActivitiesForAnUnknownTokenSaysThatItIsUnknown() async throws {
    let dev = try await SharedDev.deployment()
    let result = try await widgetpush(dev, "send", "77ab", "--event", "update")
    #expect(result.status == 1 && result.standardError.contains("no registered token begins with 77ab"), "\(result.standardError)")
    let typed = try await widgetpush(dev, "send", "77ab", "--event", "update", "--type", "liveactivity")
    #expect(typed.text.contains("BadDeviceToken"), "\(typed.text)\(typed.standardError)")
  }

  @Test func aKeyThatIsThereNamesTheWayOut() async throws {
    let dev = try await SharedDev.deployment()
    let key = try await widgetpush(dev, "keys", "new", "--use", "signing", "--team", "TEAMOFKEYS", "--key-id", "KEYOFKEYS1")
    #expect(key.status == 0, "\(key.standardError)")
    let again = try await widgetpush(dev, "keys", "new", "--key-id", "KEYOFKEYS1")
    #expect(again.status == 1 && again.standardError.contains("widgetpush keys remove KEYOFKEYS1"), "\(again.standardError)")
    #expect(again.standardError.contains("signing key of team TEAMOFKEYS"), "\(again.standardError)")
    let other = try await widgetpush(dev, "keys", "new", "--use", "signing", "--team", "TEAMOFKEYS", "--key-id", "KEYOFKEYS2")
    #expect(other.status == 1 && other.standardError.contains("widgetpush keys remove KEYOFKEYS1"), "\(other.standardError)")
    #expect(try await widgetpush(dev, "keys", "remove", "KEYOFKEYS1").status == 0)
  }

  /// What strict validation refuses for the kind of its token names the field, and what to do about it.
  @Test func aStartToAnUpdateTokenNamesTheField() async throws {
    let dev = try await Deployment.start(["dev"])
    let token = newToken()
    try await dev.register(token, RegistrationBody.activity)
    let body =
      #"{"aps":{"timestamp":\#(Int(Date().timeIntervalSince1970)),"event":"start","attributes-type":"Ride","attributes":{},"content-state":{},"alert":{"title":"t","body":"b"}}}"#
    let answer = try await dev.send(PushRequest("liveactivity", to: token, body: body).with("apns-priority", "10"))
    #expect(answer.status == 400 && answer.text.contains("aps.event is \\\"start\\\""), "\(answer)")
    try await eventually("dev says what to do: \(dev.process.output.text)") {
      dev.process.output.text.contains("aps.event is \"start\"")
        && dev.process.output.text.contains("Send start to the push-to-start token")
    }
    #expect(!dev.process.output.text.contains("Correct the field that detail names"))
  }

  @Test func whatADeviceDropsIsForeseen() async throws {
    let dev = try await Deployment.start(["dev", "--validation", "apple"])
    let token = newToken()
    try await dev.register(token, RegistrationBody.widgets)
    let result = try await widgetpush(dev, "send", token, "--what-if", "--payload", #"{"aps":{}}"#)
    #expect(result.status == 1 && result.text.contains("would be answered 200: forwarding, and ignored by the device"), "\(result.text)")
    #expect(result.text.contains("aps.content-changed is not the JSON value true"), "\(result.text)")
    #expect(try await widgetpush(dev, "send", token, "--what-if").status == 0)
  }

  /// What is to be sent comes first, what would have told it sooner behind it, and nothing twice.
  @Test func whatADeviceDropsIsExplainedByWhatToSend() async throws {
    let dev = try await Deployment.start(["dev", "--validation", "apple"])
    let token = newToken()
    try await dev.register(token, RegistrationBody.widgets)
    let id = try #require(try await dev.send(.widgets(token).body(#"{"aps":{"content-changed":1}}"#))["apns-id"])
    try await dev.settled(id, as: "ignored")
    let story = try await widgetpush(dev, "explain", id).text
    #expect(story.contains("what to do\n  aps.content-changed is not the JSON value true, so nothing reloads; send true"), "\(story)")
    #expect(story.contains("With the app's validation set to strict"), "\(story)")
    #expect(story.components(separatedBy: "aps.content-changed is not the JSON value true").count == 2, "\(story)")
  }

  @Test func whatIsLeftOutIsNotCountedAsNothing() async throws {
    let checked = try await run([Deployment.executable, "config", "check"])
    #expect(
      checked.status == 0 && checked.text.contains("apps by default") && checked.text.contains("upstreams by default"), "\(checked.text)")
    #expect(!checked.text.contains(" 0 "), "\(checked.text)")
    #expect(try await run([Deployment.executable, "token", "--help"]).text.contains("with --key there is none"))
  }
}
