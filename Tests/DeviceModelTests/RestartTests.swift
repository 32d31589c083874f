import JSON
import Primitives
import Push
import Testing

@testable import DeviceModel

/// The gateway keeps registrations across a restart of the devices, and these are made of them again.
@Suite("Devices after a restart") struct RestartTests {
  /// A phone with everything that can be placed, and what the gateway has been told of it.
  private func before() throws -> (fleet: DeviceFleet, gateway: [Registration]) {
    var fleet = try phone()
    var settings = DeviceSettings()
    settings.user = "alice"
    _ = try fleet.setDevice("phone", settings, at: noon)
    for family in [WidgetFamily.systemSmall, .systemLarge] {
      _ = try fleet.placeWidget(kind: "Orders", family: family, id: nil, of: app, on: "phone", at: noon)
    }
    _ = try fleet.placeControl(kind: "Lamp", id: nil, of: app, on: "phone", at: noon)
    _ = try fleet.startActivity(attributesType: "T", attributes: [:], contentState: ["n": 1], id: nil, of: app, on: "phone", at: noon)
    return (fleet, gateway(fleet.takeEffects()))
  }

  private func gateway(_ effects: [DeviceEffect]) -> [Registration] {
    var known: [DeviceToken: Registration] = [:]
    for case .register(let registration) in effects { known[registration.token] = registration }
    return known.values.sorted { $0.token.hex < $1.token.hex }
  }

  @Test func whatWasPlacedIsThereAgainAndItsTokensAreTheDevicesOwn() throws {
    let (old, gateway) = try before()
    var fleet = try phone()
    _ = fleet.takeEffects()
    for registration in gateway { fleet.learn(registration, at: noon) }
    #expect(fleet.devices.count == 1)
    let (was, state) = (try old.appState(), try fleet.appState())
    for path in ["app", "pushToStart", "widgetExtension"] { #expect(state[path]?["token"] == was[path]?["token"], "\(path)") }
    #expect(state["widgetExtension"]?["registration"] == "registered")
    for list in ["widgets", "controls", "activities"] {
      for field in ["id", "kind", "family", "token", "attributesType"] {
        #expect(state[list]?.arrayValue?.map { $0[field] } == was[list]?.arrayValue?.map { $0[field] }, "\(list) \(field)")
      }
    }
    #expect(try fleet.state(of: "phone", at: noon)["user"] == "alice")
    for registration in gateway where registration.kind != .app && registration.kind != .pushToStart {
      #expect(!fleet.isWorthAsking(about: fleet.known(registration.token)), "\(registration.kind)")
    }
    _ = fleet.takeEffects()
    let third = try fleet.placeWidget(kind: "Steps", family: .systemSmall, id: nil, of: app, on: "phone", at: noon)
    #expect(self.gateway(fleet.takeEffects()).map(\.widgets.count) == [3], "the registration is theirs to replace")
    #expect(third.token?.hex == state["widgetExtension"]?["token"]?.stringValue)
  }

  /// Settings are there before any push, and before the gateway is told of the tokens again: it hears of nothing else.
  @Test func settingsAreThereAtOnce() throws {
    let (_, gateway) = try before()
    var fleet = try phone()
    fleet.recallSettings(from: gateway, at: noon)
    #expect(try fleet.state(of: "phone", at: noon)["user"] == "alice")
    var told: [Registration] = []
    for case .register(let registration) in fleet.takeEffects() { told.append(registration) }
    #expect(told.count == 2 && told.allSatisfy { $0.user == "alice" && gateway.contains($0) }, "\(told)")
    // What is set afterwards holds, and somebody else's registration says nothing of the phone.
    _ = try fleet.setDevice("phone", DeviceSettings(), at: noon)
    var foreign = try #require(told.first)
    foreign.token = try #require(DeviceToken(hex: String(repeating: "ab", count: 32)))
    fleet.recallSettings(from: [foreign], at: noon)
    #expect(try fleet.state(of: "phone", at: noon)["user"] == nil)
    var settings = DeviceSettings()
    settings.user = "bob"
    _ = try fleet.setDevice("phone", settings, at: noon)
    fleet.recallSettings(from: gateway, at: noon)
    #expect(try fleet.state(of: "phone", at: noon)["user"] == "bob")
  }

  /// The script that had set the phone up is run again: before the first push, after it, or after one for which nobody could be asked.
  @Test(arguments: ["never", "asked", "blind"]) func placingAgainGivesTheSameWheneverPushesCame(pushed: String) throws {
    let (old, gateway) = try before()
    var fleet = try phone()
    for registration in gateway {
      if pushed == "asked" { fleet.learn(registration, at: noon) }
      if pushed == "blind" {
        let type: PushType = [.widgets: .widgets, .controls: .controls, .liveactivity: .liveactivity][registration.kind] ?? .alert
        _ = fleet.push(#"{"aps":{"content-changed":true,"timestamp":1,"event":"end"}}"#, to: registration.token, type)
      }
    }
    for family in [WidgetFamily.systemSmall, .systemLarge] {
      _ = try fleet.placeWidget(kind: "Orders", family: family, id: nil, of: app, on: "phone", at: noon)
    }
    _ = try fleet.placeControl(kind: "Lamp", id: nil, of: app, on: "phone", at: noon)
    _ = try fleet.startActivity(attributesType: "T", attributes: [:], contentState: ["n": 1], id: nil, of: app, on: "phone", at: noon)
    let (was, state) = (try old.appState(), try fleet.appState())
    #expect(state["widgetExtension"]?["token"] == was["widgetExtension"]?["token"])
    for list in ["widgets", "controls", "activities"] {
      #expect(
        state[list]?.arrayValue?.map { [$0["id"], $0["token"]] } == was[list]?.arrayValue?.map { [$0["id"], $0["token"]] }, "\(list)")
    }
    #expect(state["activities"]?[0]?["contentState"] == ["n": 1])
  }

  @Test func namesOfOnesOwnAreTakenAgain() throws {
    var fleet = try phone()
    let lamp = try fleet.placeControl(kind: "Lamp", id: "desk", of: app, on: "phone", at: noon)
    let gateway = gateway(fleet.takeEffects())
    fleet = try phone()
    for registration in gateway { fleet.learn(registration, at: noon) }
    // The registration of a control does not say its id.
    #expect(try fleet.appState()["controls"]?[0]?["kind"] == "Lamp")
    #expect(try fleet.placeControl(kind: "Lamp", id: "desk", of: app, on: "phone", at: noon).token == lamp.token)
    #expect(try fleet.appState()["controls"]?.arrayValue?.map { $0["id"] } == ["desk"])
  }

  @Test func aDeviceOfTheTimeBeforeComesWithItsApp() throws {
    var fleet = try phone()
    _ = try fleet.setDevice("tablet", DeviceSettings(), at: noon)
    _ = try fleet.install(app, AppManifest(), on: "tablet", at: noon)
    let (appToken, startToken) = (try fleet.token("app", "tablet"), try fleet.token("pushToStart", "tablet"))
    let gateway = gateway(fleet.takeEffects())
    fleet = try phone()
    fleet.learn(try #require(gateway.first { $0.token == appToken }), at: noon)
    #expect(fleet.push(#"{"aps":{"alert":"hi"}}"#, to: appToken, .alert).cause == .alertShown)
    #expect(try fleet.token("app", "tablet") == appToken)
    let isNewDevice = try fleet.setDevice("tablet", DeviceSettings(), at: noon)
    let wasInstalled = try fleet.hasApp(app, on: "tablet")
    let isNewApp = try fleet.install(app, AppManifest(), on: "tablet", at: noon)
    #expect(!isNewDevice && !wasInstalled && isNewApp)
    #expect(try fleet.token("app", "tablet") == appToken && fleet.token("pushToStart", "tablet") == startToken)
    #expect(try fleet.state(of: "tablet", at: noon)["adopted"] == false)
  }
}
