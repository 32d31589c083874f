import JSON
import Primitives
import Push
import Testing

@testable import DeviceModel

@Suite("Push tokens of devices") struct TokenTests {
  @Test func tokensAreAFunctionOfSeedAndNames() throws {
    func tokens(seed: String) throws -> [DeviceToken] {
      var fleet = DeviceFleet(seed: seed, hashSeed: .random(in: 0 ... .max))
      let plan = DevicePlan(
        seed: seed,
        devices: [
          DevicePlan.Device(
            name: "phone",
            apps: [
              DevicePlan.App(
                bundleID: app, widgets: [DevicePlan.Widget(kind: "Orders")],
                controls: [DevicePlan.Control(kind: "Lamp"), DevicePlan.Control(kind: "Lamp")],
                activities: [DevicePlan.Activity(attributesType: "OrderAttributes", contentState: ["stage": "packed"])])
            ])
        ])
      try fleet.apply(plan, at: noon)
      return fleet.takeEffects().map(\.token)
    }
    let first = try tokens(seed: "one")
    #expect(first.count == 6)
    #expect(Set(first).count == 6)
    #expect(try tokens(seed: "one") == first)
    #expect(Set(try tokens(seed: "two")).isDisjoint(with: first))
  }

  @Test func aTokenThatNobodyNamedGetsADeviceOfItsOwn() throws {
    var fleet = DeviceFleet(seed: "test", hashSeed: 3)
    let widgets = try token([1, 2, 3])
    #expect(fleet.push(contentChanged, to: widgets, .widgets) == .applied(.reloaded, detail: nil))
    #expect(fleet.push(contentChanged, to: widgets, .widgets, id: 2) == .applied(.reloaded, detail: nil))
    #expect(fleet.devices(after: "", limit: 10, sees: { _ in true }).names == ["010203"])
    let state = try fleet.state(of: "010203", at: noon)
    #expect(state["adopted"] == true)
    #expect(state["apps"]?[0]?["bundleID"]?.stringValue == app)
    #expect(state["apps"]?[0]?["widgets"]?[0]?["reloads"] == 2)
    #expect(fleet.events(of: "010203", after: 0, limit: 10) { $0.what == .widgetsReloaded }.events.map(\.push?.low) == [1, 2])
    #expect(fleet.takeEffects().isEmpty, "whoever registered it by hand keeps the registration")

    // A person touches it: it becomes a device like any other, with its history, and only its own new tokens are registered.
    let control = try fleet.placeControl(kind: "Lamp", id: nil, of: app, on: "010203", at: noon)
    #expect(fleet.takeEffects().map(\.token) == [control.token])
    #expect(fleet.push(contentChanged, to: widgets, .widgets, id: 3) == .applied(.reloaded, detail: "widget widget-1"))
    #expect(try fleet.state(of: "010203", at: noon)["apps"]?[0]?["widgets"]?[0]?["reloads"] == 3)
    #expect(fleet.devices(after: "", limit: 10, sees: { _ in true }).names == ["010203"])
  }

  @Test func adoptedActivitiesRunLikeOthers() throws {
    var fleet = DeviceFleet(seed: "test", hashSeed: 3)
    let update = try token([9])
    let push = #"{"aps":{"timestamp":\#(noon.unixSeconds),"event":"update","content-state":{"n":1}}}"#
    #expect(fleet.push(push, to: update, .liveactivity).cause == .updated)
    #expect(try fleet.appState("09")["activities"]?[0]?["contentState"] == ["n": 1])
    #expect(fleet.push(#"{"aps":{"timestamp":1,"event":"end"}}"#, to: update, .liveactivity).cause == .ended)
    #expect(fleet.push(push, to: update, .liveactivity).cause == .activityEnded)

    let pushToStart = try token([10])
    let start =
      #"{"aps":{"timestamp":1,"event":"start","content-state":{},"attributes-type":"T","attributes":{},"alert":{"title":"x"}}}"#
    #expect(fleet.push(start, to: pushToStart, .liveactivity).cause == .started)
    guard case .register(let registration)? = fleet.takeEffects().first else {
      Issue.record("the update token of the started activity must be registered")
      return
    }
    #expect(fleet.push(push, to: registration.token, .liveactivity).cause == .updated)
  }

  @Test func anAdoptedTokenFollowsItsRegistration() throws {
    var fleet = DeviceFleet(seed: "test", hashSeed: 3)
    let token = try token([5])
    _ = fleet.push(contentChanged, to: token, .widgets)
    #expect(fleet.push(contentChanged, to: token, .controls, bundleID: "com.example.two").cause == .reloaded)
    #expect(try fleet.appState("05")["controls"]?[0]?["reloads"] == 1)
    _ = try fleet.placeWidget(kind: "Orders", family: .systemSmall, id: nil, of: "com.example.two", on: "05", at: noon)
    #expect(fleet.push(contentChanged, to: token, .widgets).cause == .reloaded)
    #expect(try fleet.appState("05")["bundleID"]?.stringValue == app)
  }

  @Test func aTokenOfAnotherAppOrKindIsRefusedAsAppleDoes() throws {
    var fleet = try phone()
    let lamp = try fleet.placeControl(kind: "Lamp", id: nil, of: app, on: "phone", at: noon)
    for (type, bundleID) in [(PushType.widgets, app), (.alert, app), (.controls, "com.example.ap"), (.controls, app + "p")] {
      let outcome = fleet.push(contentChanged, to: lamp.token, type, bundleID: bundleID)
      guard case .refused(.deviceTokenNotForTopic, nil, let detail) = outcome else {
        Issue.record("\(type) for \(bundleID): \(outcome)")
        continue
      }
      #expect(detail?.isEmpty == false)
    }
  }

  @Test func removingAnAppKillsItsTokensAndInstallingItAgainMakesNewOnes() throws {
    var fleet = try phone()
    let before = try fleet.token("app")
    let removed = noon + seconds(5)
    try fleet.removeApp(app, from: "phone", at: removed)
    #expect(fleet.takeEffects().contains { if case .unregister = $0 { true } else { false } } == false)
    let alert = #"{"aps":{"alert":"hi"}}"#
    #expect(
      fleet.push(alert, to: before, .alert, at: removed + seconds(1)) == .refused(.unregistered, since: removed, detail: nil))
    #expect(try fleet.install(app, AppManifest(), on: "phone", at: removed))
    let after = try fleet.token("app")
    #expect(after != before)
    #expect(fleet.push(alert, to: after, .alert).cause == .alertShown)
    try fleet.removeDevice("phone", forgetting: false, at: removed)
    #expect(fleet.push(alert, to: after, .alert).disposition == .refused)
  }

  @Test func forgottenDevicesBeginAgain() throws {
    var fleet = try phone()
    let named = try fleet.token("app")
    let adopted = try token([7])
    let end = #"{"aps":{"timestamp":1,"event":"end"}}"#
    #expect(fleet.push(end, to: adopted, .liveactivity).cause == .ended)
    #expect(fleet.push(end, to: adopted, .liveactivity).cause == .activityEnded)
    try fleet.removeDevice("07", forgetting: true, at: noon)
    #expect(fleet.push(end, to: adopted, .liveactivity).cause == .ended, "the same token serves the next run of a test")
    try fleet.removeDevice("phone", forgetting: true, at: noon)
    #expect(fleet.push(#"{"aps":{"alert":"hi"}}"#, to: named, .alert) == .applied(.alertShown, detail: "hi"))
    #expect(try fleet.state(of: named.hex, at: noon)["adopted"] == true)
    #expect(fleet.pendingRegistrations == 0)
  }

  @Test func rotationReplacesTokensEverywhere() throws {
    var fleet = try phone()
    let placed = try fleet.placeWidget(kind: "Orders", family: .systemSmall, id: nil, of: app, on: "phone", at: noon)
    let old = try #require(placed.token)
    let control = try fleet.placeControl(kind: "Lamp", id: nil, of: app, on: "phone", at: noon)
    _ = fleet.takeEffects()
    let rotated = try fleet.rotateTokens(of: "phone", bundleID: app, kind: .widgets, id: nil, at: noon)
    #expect(rotated.map(\.old) == [old])
    let new = try #require(rotated.first?.new)
    let effects = fleet.takeEffects()
    #expect(effects.map(\.token) == [new, old])
    guard case .replace(old, let registration) = effects[0] else {
      Issue.record("the new token must be registered in place of the old one: \(effects)")
      return
    }
    #expect(registration.widgets.map(\.id) == ["Orders-1"])
    #expect(effects.last == .unregister(old))
    #expect(fleet.push(contentChanged, to: new, .widgets).cause == .reloaded)
    #expect(fleet.push(contentChanged, to: old, .widgets) == .refused(.unregistered, since: noon, detail: nil))
    #expect(fleet.push(contentChanged, to: control.token, .controls).cause == .reloaded)
    #expect(try fleet.rotateTokens(of: "phone", bundleID: nil, kind: nil, id: "Lamp-1", at: noon).map(\.old) == [control.token])
    #expect(try fleet.rotateTokens(of: new.hex, bundleID: nil, kind: nil, id: nil, at: noon).count == 4)
    #expect(throws: DeviceError.self) { try fleet.rotateTokens(of: "phone", bundleID: nil, kind: nil, id: "nothing", at: noon) }
    // A token that the gateway would not have has nothing to give to its successor.
    let refused = try fleet.token("app")
    let entry = fleet.tokens[try #require(fleet.tokens.find(refused))]
    fleet.noteRegistration(.register(try #require(fleet.registration(of: entry))), .refused, detail: "no", at: noon)
    _ = fleet.takeEffects()
    _ = try fleet.rotateTokens(of: "phone", bundleID: nil, kind: .app, id: nil, at: noon)
    guard case .register? = fleet.takeEffects().first else {
      Issue.record("it must be registered without the old one")
      return
    }
  }

  @Test(arguments: [1, 2, 3] as [UInt64]) func tableAgreesWithADictionary(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var table = TokenTable(seed: seed, capacity: 300)
    var expected: [DeviceToken: Int] = [:]
    for step in 0..<4000 {
      let token = try token([UInt8(truncatingIfNeeded: random.next() & 3), UInt8(truncatingIfNeeded: random.next())])
      let found = table.find(token)
      #expect(found == nil || expected[token] == found, "seed \(seed), step \(step)")
      if found == nil {
        // A quarter of the entries are in use and must never be forgotten.
        let owner: TokenEntry.Owner = token[1] < 60 ? .app(device: "d") : .adopted
        let entry = TokenEntry(token: token, kind: .widgets, bundleID: app, owner: owner, foreign: true)
        expected[token] = table.insert(entry)
        #expect(expected[token] != nil)
      }
      #expect(table.count <= 300)
    }
    var seen: Set<DeviceToken> = []
    table.forEach { #expect(seen.insert($0.token).inserted) }
    #expect(seen.count == table.count)
    for token in expected.keys where token[1] < 60 { #expect(table.find(token) != nil, "\(token) was in use") }
    for token in seen { #expect(table.find(token).map { table[$0].token } == token) }
  }

  @Test func aTableFullOfTokensInUseRefusesMore() throws {
    var table = TokenTable(seed: 1, capacity: 2)
    for byte in [1, 2] as [UInt8] {
      #expect(
        table.insert(
          TokenEntry(token: try token([byte]), kind: .app, bundleID: app, owner: .app(device: "d"), foreign: false)) != nil)
    }
    let third = TokenEntry(token: try token([3]), kind: .app, bundleID: app, owner: .adopted, foreign: true)
    #expect(table.insert(third) == nil)
    table[0].owner = .gone(.noSuchApp)
    #expect(table.insert(third) != nil)
    #expect(table.find(try token([1])) == nil)
  }
}
