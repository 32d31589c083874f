import JSON
import Primitives
import Push
import Testing

@testable import DeviceModel

@Suite("Broadcasts on a device") struct BroadcastTests {
  private let channel = ChannelID(high: 0x68cb_36cb_c7c5_11ef, low: 7)
  private let start = noon.unixSeconds

  /// Starts an activity that follows `channel`.
  private func follow(_ fleet: inout DeviceFleet, _ channel: ChannelID, on device: String = "phone", at now: Instant = noon) throws
    -> String
  {
    try fleet.startActivity(
      attributesType: "Match", attributes: [:], contentState: ["goals": 0], id: nil, channel: channel, of: app, on: device, at: now
    ).id
  }

  private func broadcast(
    _ fleet: inout DeviceFleet, _ event: String = "update", timestamp: Int64? = nil, goals: Int = 1, bundleID: String = app,
    at now: Instant = noon
  ) -> BroadcastOutcome {
    let payload =
      Array(
        #"{"aps":{"event":"\#(event)","timestamp":\#(timestamp ?? start),"content-state":{"goals":\#(goals)},"#.utf8)
      + Array(#""attributes-type":"Match","attributes":{},"alert":{"title":"x"}}}"#.utf8)
    return fleet.receiveBroadcast(
      PushID(high: 0, low: 1), channel: channel, bundleID: bundleID, payload: payload.span.bytes, at: now)
  }

  private func goals(_ fleet: DeviceFleet, _ device: String = "phone") throws -> [JSONValue?] {
    try #require(fleet.appState(device)["activities"]?.arrayValue).map { $0["contentState"]?["goals"] }
  }

  @Test func aBroadcastReachesEveryFollowerAndNobodyElse() throws {
    var fleet = try phone()
    _ = try fleet.setDevice("watch", DeviceSettings(), at: noon)
    _ = try fleet.install(app, AppManifest(), on: "watch", at: noon)
    _ = try follow(&fleet, channel)
    _ = try follow(&fleet, ChannelID(high: 1, low: 1))
    _ = try follow(&fleet, channel, on: "watch")
    let outcome = broadcast(&fleet)
    #expect(outcome == BroadcastOutcome(outcome: .applied(.updated, detail: nil), reached: 2, applied: 2))
    #expect(outcome.detail == "reached=2 applied=2")
    #expect(try goals(fleet) == [1, 0])
    #expect(try goals(fleet, "watch") == [1])
    #expect(fleet.events(of: nil, after: 0, limit: 100).events.count { $0.what == .activityUpdated } == 2)
    // Another app's broadcast on the same channel is nobody's.
    #expect(broadcast(&fleet, bundleID: "com.example.other").outcome.cause == .noSubscribers)
  }

  @Test func itsActivityHasNoTokenToRegisterAndAsksForWhatCameBefore() throws {
    var fleet = try phone()
    _ = fleet.takeEffects()
    _ = try follow(&fleet, channel)
    let effects = fleet.takeEffects()
    guard case .fetchMessage(let token, app, channel, .development)? = effects.first, effects.count == 1 else {
      Issue.record("\(effects)")
      return
    }
    let activity = try #require(fleet.appState()["activities"]?[0])
    #expect(activity["channelID"] == .string(channel.description))
    #expect(activity["token"] == nil)
    let payload = Array(#"{"aps":{"event":"update","timestamp":\#(start),"content-state":{"goals":5}}}"#.utf8)
    fleet.receiveStoredMessage(PushID(high: 0, low: 2), for: token, payload: payload.span.bytes, at: noon)
    #expect(try goals(fleet) == [5])
    // A broadcast that is older than the stored message changes nothing.
    let late = broadcast(&fleet, timestamp: start - 60)
    #expect(late.outcome.cause == .staleTimestamp && late.reached == 1 && late.applied == 0)
    #expect(late.detail.hasPrefix("reached=1 applied=0 "))
  }

  /// The gateway has no such channel: the activity has not begun, and nobody follows.
  @Test func anActivityWithoutItsChannelDoesNotRun() throws {
    var fleet = try phone()
    let id = try follow(&fleet, channel)
    let kept = try follow(&fleet, ChannelID(high: 1, low: 1))
    let tokens = fleet.takeEffects().compactMap { effect in if case .fetchMessage(let token, _, _, _) = effect { token } else { nil } }
    #expect(tokens.map { fleet.channelCheck(of: $0) } == [.pending, .pending])
    fleet.noteChannel(.unknown("there is none"), of: tokens[0], at: noon)
    fleet.noteChannel(.known, of: tokens[1], at: noon)
    #expect(tokens.map { fleet.channelCheck(of: $0) } == [.unknown("there is none"), .known])
    let activities = try #require(fleet.appState()["activities"]?.arrayValue)
    #expect(activities.map { $0["id"] } == [.string(kept)] && activities[0]["channel"] == "known")
    let event = try #require(fleet.events(of: "phone", after: 0, limit: 100).events.last)
    #expect(event.what == .activityEnded && event.cause == .channelUnknown && event.items == [id] && event.detail == "there is none")
    #expect(broadcast(&fleet).outcome.cause == .noSubscribers)
  }

  @Test func anEndEndsThemAndThenNobodyFollows() throws {
    var fleet = try phone()
    _ = try follow(&fleet, channel)
    #expect(broadcast(&fleet, "end").outcome.cause == .ended)
    #expect(try fleet.appState()["activities"]?[0]?["state"] == "ended")
    let after = broadcast(&fleet)
    #expect(after.outcome == .ignored(.noSubscribers, detail: "channel \(channel)") && after.reached == 0)
    #expect(fleet.followers.isEmpty)
  }

  @Test func anActivityThatIsOverFollowsNoMore() throws {
    var fleet = try phone()
    let id = try follow(&fleet, channel)
    _ = try follow(&fleet, channel)
    try fleet.dismissActivity(id, on: "phone", at: noon)
    #expect(broadcast(&fleet).reached == 1)
    try fleet.removeApp(app, from: "phone", at: noon)
    #expect(broadcast(&fleet).reached == 0)
    _ = try fleet.install(app, AppManifest(), on: "phone", at: noon)
    _ = try follow(&fleet, channel)
    #expect(broadcast(&fleet, at: noon + seconds(8 * 3600)).reached == 0)
  }

  @Test func aStartOrNonsenseDoesNothing() throws {
    var fleet = try phone()
    _ = try follow(&fleet, channel)
    #expect(broadcast(&fleet, "start").outcome.cause == .tokenKindMismatch)
    let nonsense = Array("{}".utf8)
    let outcome = fleet.receiveBroadcast(
      PushID(high: 0, low: 1), channel: channel, bundleID: app, payload: nonsense.span.bytes, at: noon)
    #expect(outcome.outcome.cause == .payloadNotUnderstood && outcome.reached == 1)
    #expect(try goals(fleet) == [0])
  }

  @Test(arguments: [("channel", true), ("aMs2", false)]) func aStartPushNamesTheChannel(text: String, isRight: Bool) throws {
    var fleet = try phone()
    let name = isRight ? channel.description : text
    let payload =
      #"{"aps":{"timestamp":1,"event":"start","content-state":{"goals":0},"attributes-type":"Match","attributes":{},"#
      + #""alert":{"title":"x"},"input-push-channel":"\#(name)"}}"#
    let outcome = fleet.push(payload, to: try fleet.token("pushToStart"), .liveactivity)
    #expect(outcome.disposition == (isRight ? .applied : .ignored))
    #expect(broadcast(&fleet).applied == (isRight ? 1 : 0))
  }

  @Test(arguments: [
    (#"{"attributesType":"A","pushType":"channel"}"#, false), (#"{"attributesType":"A","channelID":"x"}"#, false),
    (#"{"attributesType":"A","pushType":"token","channelID":"aMs2y8fFEe8AAPIAM4gHog=="}"#, false),
    (#"{"attributesType":"A","pushType":"channel","channelID":"aMs2y8fFEe8AAPIAM4gHog=="}"#, true),
    (#"{"attributesType":"A","channelID":"aMs2y8fFEe8AAPIAM4gHog=="}"#, true), (#"{"attributesType":"A","pushType":"token"}"#, true),
  ]) func readsAPlan(text: String, isRight: Bool) throws {
    func read() throws(FieldError) -> DevicePlan.Activity {
      var reader = try JSONReader((try? JSONValue.parse(text)) ?? .null, at: "body")
      let activity = try DevicePlan.Activity(&reader)
      try reader.finish()
      return activity
    }
    if isRight {
      #expect(try read().channel?.description ?? "none" == (text.contains("channelID") ? "aMs2y8fFEe8AAPIAM4gHog==" : "none"))
    } else {
      #expect(throws: FieldError.self) { try read() }
    }
  }
}
