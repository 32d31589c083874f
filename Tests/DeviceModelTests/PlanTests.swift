import DeviceModel
import JSON
import Primitives
import Push
import Testing

@Suite("Device plans") struct PlanTests {
  @Test func planIsReadAsItIsWritten() throws {
    let json = try JSONValue.parse(
      """
      [{"name":"phone","platform":"iPadOS","environment":"production","user":"alice","developerMode":true,
        "apps":[{"bundleID":"com.example.app",
                 "manifest":{"widgets":[{"kind":"Orders","families":["systemSmall"],"push":false}],"controls":[{"kind":"Lamp"}],
                             "activities":[{"attributesType":"T","contentState":{"type":"object","properties":{"n":{"type":"integer"}}}}],
                             "frequentUpdates":true},
                 "widgets":[{"kind":"Orders"}],"controls":[{"kind":"Lamp","id":"lamp"}],
                 "activities":[{"attributesType":"T","attributes":{"id":1},"contentState":{"n":2},"id":"first"}]}]}]
      """)
    let plan = try DevicePlan(seed: "s", devices: json)
    var fleet = DeviceFleet(seed: plan.seed, hashSeed: 1)
    try fleet.apply(plan, at: noon)
    let state = try fleet.state(of: "phone", at: noon)
    #expect(state["platform"] == "iPadOS")
    #expect(state["environment"] == "production")
    #expect(state["user"] == "alice")
    #expect(state["developerMode"] == true)
    let app = try fleet.appState()
    #expect(app["frequentUpdates"] == true)
    #expect(app["widgets"]?[0]?["pushEnabled"] == false)
    #expect(app["controls"]?[0]?["id"] == "lamp")
    #expect(app["activities"]?[0]?["contentState"] == ["n": 2])
    #expect(fleet.takeEffects().count == 5, "app, push to start, control, activity and schemas; the widget takes no pushes")
  }

  @Test(arguments: [
    (#"{}"#, "devices must be a list, not an object"),
    (#"[{}]"#, "devices[0].name is missing; it must be a string"),
    (#"[{"name":"a","plattform":"iOS"}]"#, #"devices[0].plattform is not a known field; did you mean "platform"?"#),
    (
      #"[{"name":"a","environment":"sandbox"}]"#,
      #"devices[0].environment must be "development" or "production", not "sandbox""#
    ),
    (#"[{"name":"a","apps":[{"bundle":"x"}]}]"#, "devices[0].apps[0].bundleID is missing; it must be a string"),
    (
      #"[{"name":"a","apps":[{"bundleID":"x","widgets":[{"kind":"k","family":"small"}]}]}]"#,
      "devices[0].apps[0].widgets[0].family must be one of systemSmall, systemMedium, systemLarge, systemExtraLarge, "
        + "systemExtraLargePortrait, accessoryCircular, accessoryRectangular, accessoryInline, accessoryCorner, not \"small\""
    ),
    (
      #"[{"name":"a","apps":[{"bundleID":"x","manifest":{"activities":[{"attributesType":"T","contentState":{"type":"int"}}]}}]}]"#,
      "devices[0].apps[0].manifest.activities[0].contentState.type must be"
    ),
    (
      #"[{"name":"a","apps":[{"bundleID":"x","activities":[{"attributesType":"T","attributes":[]}]}]}]"#,
      "devices[0].apps[0].activities[0].attributes must be an object, not an array"
    ),
    (#"[{"name":"a"},{"name":"a"}]"#, #"devices[1].name must be another than "a", which an earlier device has"#),
  ])
  func mistakesAreNamed(json: String, sentence: String) throws {
    let value = try JSONValue.parse(json)
    do {
      _ = try DevicePlan(seed: "s", devices: value)
      Issue.record("\(json) must not be read")
    } catch {
      #expect(error.message.hasPrefix(sentence), "\(error.message)")
    }
  }

  @Test func whatCannotBePlacedNamesItsDevice() throws {
    var fleet = DeviceFleet(seed: "s", hashSeed: 1)
    let widget = DevicePlan.Widget(kind: "Orders", id: "same")
    let plan = DevicePlan(
      devices: [DevicePlan.Device(name: "phone", apps: [DevicePlan.App(bundleID: app, widgets: [widget, widget])])])
    #expect(throws: DeviceError(.conflict, "device phone: phone has an item with the id same already", field: "id")) {
      try fleet.apply(plan, at: noon)
    }
  }

  @Test(arguments: ["", "com example", "com/example", "com.ex\u{E9}mple", String(repeating: "a", count: 156)])
  func bundleIDsAreChecked(bundleID: String) throws {
    var fleet = try phone()
    #expect(throws: DeviceError.self) { try fleet.install(bundleID, AppManifest(), on: "phone", at: noon) }
  }

  @Test(arguments: ["", "a/b", "a\nb", String(repeating: "a", count: 129)]) func namesAreChecked(name: String) throws {
    var fleet = try phone()
    #expect(throws: DeviceError.self) { try fleet.setDevice(name, DeviceSettings(), at: noon) }
    #expect(throws: DeviceError.self) {
      try fleet.placeWidget(kind: "Orders", family: .systemSmall, id: name, of: app, on: "phone", at: noon)
    }
  }

  /// What would steer a terminal is no name.
  @Test(arguments: ["\u{1B}[2J", "a\nb", "\u{9B}", "a\u{202E}b", "\u{7F}"]) func namesAreOfCharactersThatAreSeen(name: String) throws {
    var fleet = try phone()
    #expect(throws: DeviceError.self) { try fleet.setDevice(name, DeviceSettings(), at: noon) }
    #expect(throws: DeviceError.self) {
      try fleet.placeWidget(kind: "Steps", family: .systemSmall, id: name, of: app, on: "phone", at: noon)
    }
    for field in ["name", "user"] {
      let device = JSONValue.object(field == "name" ? ["name": .string(name)] : ["name": "other", "user": .string(name)])
      #expect(throws: (any Error).self) {
        var fresh = DeviceFleet(seed: "s", hashSeed: 1)
        try fresh.apply(try DevicePlan(seed: "s", devices: [device]), at: noon)
      }
    }
  }

  /// The device tells of no time before what it says of it has happened.
  @Test func endsAreToldRoundedUp() throws {
    var fleet = try phone()
    let start = noon + TimeSpan(nanoseconds: 1)
    _ = try fleet.startActivity(
      attributesType: "Ride", attributes: [:], contentState: [:], staleDate: nil, relevanceScore: nil, id: "a", channel: nil, of: app,
      on: "phone", at: start)
    let text = try #require(fleet.appState(at: start)["activities"]?[0]?["endsAt"]?.stringValue)
    let ends = try #require(Instant(rfc3339: text))
    #expect(try fleet.appState(at: ends)["activities"]?[0]?["state"] == "ended")
  }
}
