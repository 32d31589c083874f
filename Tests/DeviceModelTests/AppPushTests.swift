import JSON
import Primitives
import Push
import Testing

@testable import DeviceModel

@Suite("Pushes to the app") struct AppPushTests {
  static let handled: [(kind: TokenKind, payload: String, cause: Cause, detail: String?)] = [
    (.voip, #"{"caller":"Ann","aps":{}}"#, .callReported, "with caller, aps"),
    (.voip, "{}", .callReported, nil),
    (.complication, #"{"steps":4}"#, .complicationUpdated, "with steps"),
    (.fileprovider, #"{"container-identifier":"Root","domain":"d"}"#, .filesSignaled, "Root"),
    (.location, "{}", .locationQueried, nil),
    (.mdm, #"{"mdm":"magic"}"#, .checkedIn, nil),
    (.pushtotalk, #"{"speaker":"Ann"}"#, .speakerAnnounced, "with speaker"),
  ]

  private static func handler(_ kind: TokenKind, of fleet: DeviceFleet) throws -> JSONValue {
    let list = try #require(fleet.appState()["pushes"]?.arrayValue)
    return try #require(list.first { $0["type"]?.stringValue == kind.name })
  }

  private static func token(_ kind: TokenKind, of fleet: DeviceFleet) throws -> DeviceToken {
    try #require(DeviceToken(hex: try handler(kind, of: fleet)["token"]?.stringValue ?? ""))
  }

  @Test(arguments: handled.indices) func theAppsCodeTakesIt(index: Int) throws {
    let (kind, payload, cause, detail) = Self.handled[index]
    var manifest = AppManifest()
    manifest.pushes = [kind]
    var fleet = try phone(manifest)
    let token = try Self.token(kind, of: fleet)
    #expect(fleet.takeEffects().contains { if case .register(let registration) = $0 { registration.kind == kind } else { false } })
    #expect(fleet.push(payload, to: token, kind.pushType) == .applied(cause, detail: detail))
    #expect(try Self.handler(kind, of: fleet)["pushes"] == 1)
    #expect(fleet.events(of: "phone", after: 0, limit: 10) { $0.what.name == cause.name }.events.map(\.cause) == [cause])
    // A token that nobody named gets an app that takes it.
    let foreign = try DeviceModelTests.token([7, 7])
    #expect(fleet.push(payload, to: foreign, kind.pushType).cause == cause)
    _ = try fleet.placeControl(kind: "Lamp", id: nil, of: app, on: "0707", at: noon)
    #expect(fleet.push(payload, to: foreign, kind.pushType, id: 2).cause == cause)
    #expect(try fleet.appState("0707")["pushes"]?[0]?["pushes"] == 2)
  }

  /// Alerts with one collapse id are one notification, which the newest replaces; on a token that stands for itself as well.
  @Test func alertsWithOneCollapseIDAreOneNotification() throws {
    var fleet = try phone(AppManifest())
    let foreign = try DeviceModelTests.token([7, 7])
    for (token, device) in [(try fleet.token("app"), "phone"), (foreign, "0707")] {
      func alert(_ title: String, _ id: UInt64, _ collapseID: String?) -> PushOutcome {
        fleet.push(#"{"aps":{"alert":{"title":"\#(title)"}}}"#, to: token, .alert, id: id, collapseID: collapseID)
      }
      #expect(alert("1:0", 1, "score") == .applied(.alertShown, detail: "1:0"))
      #expect(alert("News", 2, nil) == .applied(.alertShown, detail: "News"))
      #expect(alert("News", 3, nil) == .applied(.alertShown, detail: "News"))
      #expect(alert("Rain", 4, "weather") == .applied(.alertShown, detail: "Rain"))
      let first = PushID(high: 0, low: 1)
      #expect(alert("2:0", 5, "score") == .applied(.alertShown, detail: "2:0, in place of the notification of push \(first)"))
      let state = try fleet.appState(device)["app"]
      #expect(state?["alerts"] == 5)
      #expect(state?["notifications"]?.arrayValue?.compactMap { $0["title"]?.stringValue } == ["2:0", "Rain", "News", "News"])
      #expect(state?["notifications"]?[0]?["collapseID"] == "score")
    }
    _ = fleet.reset(nil)
    #expect(try fleet.appState()["app"]?["notifications"] == [])
  }

  @Test func everyKindIsInTheTable() { #expect(Set(Self.handled.map(\.kind)) == Set(AppManifest.pushKinds)) }

  @Test(arguments: AppManifest.pushKinds) func anAppThatNoLongerAsksIgnoresIt(kind: TokenKind) throws {
    var manifest = AppManifest()
    manifest.pushes = [kind]
    var fleet = try phone(manifest)
    let token = try Self.token(kind, of: fleet)
    _ = fleet.takeEffects()
    _ = try fleet.install(app, AppManifest(), on: "phone", at: noon)
    #expect(fleet.takeEffects().contains(.unregister(token)))
    let payload = #"{"mdm":"magic"}"#
    #expect(fleet.push(payload, to: token, kind.pushType) == .ignored(.noSuchHandler, detail: nil))
    #expect(try fleet.appState()["pushes"] == nil)
  }

  @Test func tokensRotate() throws {
    var manifest = AppManifest()
    manifest.pushes = [.voip, .location]
    var fleet = try phone(manifest)
    let old = try Self.token(.voip, of: fleet)
    let rotated = try fleet.rotateTokens(of: "phone", bundleID: nil, kind: .voip, id: nil, at: noon)
    #expect(rotated.map(\.old) == [old])
    #expect(try Self.token(.voip, of: fleet) == rotated[0].new)
    #expect(fleet.push("{}", to: old, .voip) == .refused(.unregistered, since: noon, detail: nil))
    #expect(fleet.push("{}", to: rotated[0].new, .voip).cause == .callReported)
  }

  @Test func backgroundPushesWakeTheApp() throws {
    var fleet = try phone()
    let token = try fleet.token("app")
    #expect(fleet.push(#"{"aps":{"content-available":1}}"#, to: token, .background) == .applied(.appWoken, detail: nil))
    #expect(fleet.push(#"{"aps":{}}"#, to: token, .background).cause == .payloadNotUnderstood)
    #expect(fleet.push(#"{"aps":{"alert":"Hi"}}"#, to: token, .alert) == .applied(.alertShown, detail: "Hi"))
    let state = try #require(fleet.appState()["app"])
    #expect(state["wakes"] == 1 && state["alerts"] == 1)
  }

  /// Words count most, then a sound, then the number on the icon.
  @Test(arguments: [
    (#"{"badge":3}"#, PushOutcome.applied(.badgeSet, detail: "3")), (#"{"badge":0,"alert":{}}"#, .applied(.badgeSet, detail: "0")),
    (#"{"sound":"default","badge":1}"#, .applied(.soundPlayed, detail: "default")),
    (#"{"sound":{"critical":1,"name":"siren.caf"}}"#, .applied(.soundPlayed, detail: "siren.caf")),
    (#"{"alert":{"body":"Hi"},"sound":"default","badge":1}"#, .applied(.alertShown, detail: "Hi")),
  ])
  func anAlertNeedsNoWords(aps: String, outcome: PushOutcome) throws {
    var fleet = try phone()
    #expect(fleet.push("{\"aps\":\(aps)}", to: try fleet.token("app"), .alert) == outcome)
    #expect(fleet.events(of: "phone", after: 0, limit: 10) { $0.what.name == outcome.cause.name }.events.map(\.cause) == [outcome.cause])
    #expect(try fleet.appState()["app"]?["alerts"] == 1)
  }

  @Test(arguments: [#"{"alert":{}}"#, #"{"badge":"3"}"#, #"{"sound":true}"#, #"{"alert":null,"thread-id":"x"}"#])
  func anAlertThatSaysNothingDoesNothing(aps: String) throws {
    var fleet = try phone()
    #expect(fleet.push("{\"aps\":\(aps)}", to: try fleet.token("app"), .alert).cause == .payloadNotUnderstood)
    #expect(try fleet.appState()["app"]?["alerts"] == 0)
  }

  @Test func aPassIsFetched() throws {
    var fleet = DeviceFleet(seed: "test", hashSeed: 3)
    let token = try DeviceModelTests.token([1])
    for type in [PushType.alert, .background] {
      #expect(
        fleet.push("{}", to: token, type, bundleID: "pass.com.example.card") == .applied(.passUpdated, detail: "pass.com.example.card"))
      #expect(fleet.push("[]", to: token, type, bundleID: "pass.com.example.card").cause == .payloadNotUnderstood)
    }
  }

  /// A device that misses a key says where it may be hidden, as the gateway's strict validation does.
  @Test(arguments: [
    (
      TokenKind.app, PushType.background, #"{"aps":{"content_available":1}}"#,
      "; aps has content_available, did you mean content-available?"
    ),
    (.app, .background, #"{"aps":{}}"#, "must be the number 1, and is missing"),
    (.app, .alert, #"{"aps":{},"alert":"x"}"#, "; alert stands beside aps, put it into aps"),
    (.app, .alert, #"{"APS":{"alert":"x"}}"#, "; there is APS, did you mean aps?"),
    (.mdm, .mdm, #"{"MDM":"magic"}"#, "; there is MDM, did you mean mdm?"),
    (.mdm, .mdm, #"{"aps":{"mdm":"x"}}"#, "; mdm stands in aps, put it beside aps"),
    (.pushToStart, .liveactivity, #"{"aps":{"timestamp":1,"events":"start"}}"#, "; aps has events, did you mean event?"),
    (.pushToStart, .liveactivity, #"{"aps":{"event":"start"},"timestamp":1}"#, "; timestamp stands beside aps, put it into aps"),
  ]) func aMissingKeyIsLookedFor(kind: TokenKind, type: PushType, payload: String, end: String) throws {
    var manifest = AppManifest()
    manifest.pushes = AppManifest.pushKinds
    var fleet = try phone(manifest)
    let name = kind == .pushToStart ? "pushToStart" : "app"
    let token = kind == .mdm ? try Self.token(kind, of: fleet) : try fleet.token(name)
    let outcome = fleet.push(payload, to: token, type)
    #expect(outcome.disposition == .ignored && outcome.detail?.hasSuffix(end) == true, "\(outcome)")
  }

  @Test(arguments: ["[]", "no JSON", "{\"mdm\":1}"]) func whatIsNoPayloadDoesNothing(payload: String) throws {
    var manifest = AppManifest()
    manifest.pushes = AppManifest.pushKinds
    var fleet = try phone(manifest)
    for kind in payload.hasPrefix("{") ? [.mdm] : AppManifest.pushKinds {
      #expect(fleet.push(payload, to: try Self.token(kind, of: fleet), kind.pushType).cause == .payloadNotUnderstood)
    }
  }

  @Test func aManifestNamesWhatTheAppAsksFor() throws {
    var reader = try JSONReader(try JSONValue.parse(#"{"pushes":["voip","mdm","voip"]}"#), at: "manifest")
    #expect(try AppManifest(&reader).pushes == [.voip, .mdm])
    var wrong = try JSONReader(try JSONValue.parse(#"{"pushes":["alert"]}"#), at: "manifest")
    #expect(throws: FieldError.self) { try AppManifest(&wrong) }
  }
}
