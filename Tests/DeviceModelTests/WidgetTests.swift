import DeviceModel
import JSON
import Primitives
import Push
import Testing

@Suite("Widgets and controls on a device") struct WidgetTests {
  /// Acceptance vector 1 of the widget reference: all push-enabled instances reload, others do not.
  @Test func oneWidgetsPushReloadsEveryPushEnabledWidgetOfTheApp() throws {
    var manifest = AppManifest()
    manifest.widgets = [
      AppManifest.WidgetKind(kind: "Orders"), AppManifest.WidgetKind(kind: "Clock", pushEnabled: false),
    ]
    var fleet = try phone(manifest)
    _ = try fleet.install("com.example.other", AppManifest(), on: "phone", at: noon)
    let token = try #require(
      try fleet.placeWidget(kind: "Orders", family: .systemSmall, id: nil, of: app, on: "phone", at: noon).token)
    _ = try fleet.placeWidget(kind: "Orders", family: .systemLarge, id: "big", of: app, on: "phone", at: noon)
    #expect(try fleet.placeWidget(kind: "Clock", family: .systemSmall, id: nil, of: app, on: "phone", at: noon).token == nil)
    _ = try fleet.placeWidget(
      kind: "Other", family: .systemSmall, id: nil, of: "com.example.other", on: "phone", at: noon)

    #expect(fleet.push(contentChanged, to: token, .widgets, id: 9) == .applied(.reloaded, detail: "2 widgets"))

    let widgets = try #require(fleet.appState()["widgets"]?.arrayValue)
    #expect(widgets.map { $0["id"] } == ["Orders-1", "big", "Clock-1"])
    #expect(widgets.map { $0["reloads"] } == [1, 1, 0])
    #expect(widgets[0]["lastPush"]?.stringValue == PushID(high: 0, low: 9).description)
    #expect(try fleet.state(of: "phone", at: noon)["apps"]?[1]?["widgets"]?[0]?["reloads"] == 0)
    let event = try #require(fleet.events(of: "phone", after: 0, limit: 10) { $0.what == .widgetsReloaded }.events.first)
    #expect(event.items == ["Orders-1", "big"])
    #expect(event.push == PushID(high: 0, low: 9))
  }

  /// Acceptance vector 2, seen from the device: a payload that is not exactly right is ignored, and says how it would be.
  @Test(arguments: [
    (#"{"aps":{"content-changed":1}}"#, "aps.content-changed must be the JSON value true, not a number"),
    (#"{"aps":{"content-changed":"true"}}"#, "aps.content-changed must be the JSON value true, not a string"),
    (#"{"aps":{"content-changed":false}}"#, "aps.content-changed must be the JSON value true, not false"),
    (#"{"aps":{"content-available":1}}"#, "aps.content-changed must be the JSON value true, and is missing"),
    (#"{"content-changed":true}"#, "aps must be a JSON object, and is missing"),
    (#"[true]"#, "the payload must be a JSON object, not an array"),
  ])
  func payloadThatReloadsNothing(payload: String, sentence: String) throws {
    var fleet = try phone()
    let placed = try fleet.placeWidget(kind: "Orders", family: .systemSmall, id: nil, of: app, on: "phone", at: noon)
    let token = try #require(placed.token)
    #expect(fleet.push(payload, to: token, .widgets) == .ignored(.payloadNotUnderstood, detail: sentence))
    #expect(try fleet.appState()["widgets"]?[0]?["reloads"] == 0)
  }

  @Test func payloadMayBeWrittenWithSpacesAndCustomKeys() throws {
    var fleet = try phone()
    let placed = try fleet.placeWidget(kind: "Orders", family: .systemSmall, id: nil, of: app, on: "phone", at: noon)
    let token = try #require(placed.token)
    let outcome = fleet.push(#"{ "aps" : { "content-changed" : true }, "why" : "order 7" }"#, to: token, .widgets)
    #expect(outcome == .applied(.reloaded, detail: "widget Orders-1"))
  }

  /// Acceptance vector 7: a controls push reloads exactly its control; removing one leaves the other registered.
  @Test func aControlsPushReloadsExactlyItsControl() throws {
    var fleet = try phone()
    let lamp = try fleet.placeControl(kind: "Lamp", id: "A", of: app, on: "phone", at: noon)
    let door = try fleet.placeControl(kind: "Door", id: "B", of: app, on: "phone", at: noon)
    #expect(lamp.token != door.token)
    #expect(fleet.push(contentChanged, to: lamp.token, .controls) == .applied(.reloaded, detail: "control A"))
    let controls = try #require(fleet.appState()["controls"]?.arrayValue)
    #expect(controls.map { $0["reloads"] } == [1, 0])

    let registered = fleet.takeEffects()
    #expect(registered.map(\.token).contains(lamp.token))
    try fleet.removeControl("B", from: "phone", at: noon)
    #expect(fleet.takeEffects() == [.unregister(door.token)])
    #expect(fleet.push(contentChanged, to: door.token, .controls) == .ignored(.noSuchControl, detail: nil))
    #expect(fleet.push(contentChanged, to: lamp.token, .controls) == .applied(.reloaded, detail: "control A"))
  }

  @Test func placingRegistersTheWholeListAndRemovingTheLastTakesItBack() throws {
    var fleet = try phone()
    let kinds = fleet.takeEffects().compactMap { effect -> TokenKind? in
      if case .register(let registration) = effect { registration.kind } else { nil }
    }
    #expect(kinds == [.app, .pushToStart])

    for family in [WidgetFamily.systemSmall, .accessoryCircular] {
      _ = try fleet.placeWidget(kind: "Orders", family: family, id: nil, of: app, on: "phone", at: noon)
    }
    guard case .register(let registration)? = fleet.takeEffects().last else {
      Issue.record("placing a widget must register its token")
      return
    }
    #expect(registration.kind == .widgets)
    #expect(registration.device == "phone")
    #expect(
      registration.widgets == [
        Registration.Widget(id: "Orders-1", kind: "Orders", family: "systemSmall"),
        Registration.Widget(id: "Orders-2", kind: "Orders", family: "accessoryCircular"),
      ])

    try fleet.removeWidget("Orders-1", from: "phone", at: noon)
    guard case .register(let shorter)? = fleet.takeEffects().last else {
      Issue.record("the list of widgets must be registered again")
      return
    }
    #expect(shorter.widgets.map(\.id) == ["Orders-2"])
    try fleet.removeWidget("Orders-2", from: "phone", at: noon)
    #expect(fleet.takeEffects() == [.unregister(registration.token)])
    #expect(
      fleet.push(contentChanged, to: registration.token, .widgets)
        == .ignored(.noSuchWidget, detail: "com.example.app has no push-enabled widget placed on phone"))
  }

  @Test func manifestDecidesWhatMayBePlaced() throws {
    var manifest = AppManifest()
    manifest.widgets = [AppManifest.WidgetKind(kind: "Orders", families: [.systemSmall])]
    manifest.controls = [AppManifest.ControlKind(kind: "Lamp")]
    var fleet = try phone(manifest)
    #expect(throws: DeviceError(.invalid, "the app declares no widget kind Order, only Orders; did you mean Orders?", field: "kind")) {
      try fleet.placeWidget(kind: "Order", family: .systemSmall, id: nil, of: app, on: "phone", at: noon)
    }
    #expect(throws: DeviceError.self) {
      try fleet.placeWidget(kind: "Orders", family: .systemLarge, id: nil, of: app, on: "phone", at: noon)
    }
    #expect(throws: DeviceError.self) { try fleet.placeControl(kind: "Door", id: nil, of: app, on: "phone", at: noon) }
    _ = try fleet.placeWidget(kind: "Orders", family: .systemSmall, id: "one", of: app, on: "phone", at: noon)
    #expect(throws: DeviceError(.conflict, "phone has an item with the id one already", field: "id")) {
      try fleet.placeControl(kind: "Lamp", id: "one", of: app, on: "phone", at: noon)
    }
    #expect(throws: DeviceError(.notFound, "there is no device phon; did you mean phone?", field: "device")) {
      try fleet.removeWidget("one", from: "phon", at: noon)
    }
  }
}
