import DeviceModel
import JSON
import Primitives
import Push
import Testing

@Suite("What is pushed to tokens that the gateway describes") struct DescribedTests {
  private let delivery: AppManifest = {
    var manifest = AppManifest()
    manifest.activities = [
      .init(
        attributesType: "DeliveryAttributes",
        schemas: try? ActivitySchemas(
          "DeliveryAttributes",
          contentState: ["type": "object", "required": ["stops"], "properties": ["stops": ["type": "integer"]]], at: "schema"))
    ]
    return manifest
  }()

  private func registration(_ kind: TokenKind) throws -> Registration {
    Registration(token: try token([0x5E, 0xC2]), kind: kind, bundleID: app, environment: .development)
  }

  private func update(_ state: String, _ timestamp: Int64 = noon.unixSeconds) -> String {
    #"{"aps":{"timestamp":\#(timestamp),"event":"update","content-state":\#(state)}}"#
  }

  @Test func anActivityHasTheIDAndTheTypeItWasRegisteredWith() throws {
    var fleet = try phone(delivery)
    var known = try registration(.liveactivity)
    known.activity = .init(id: "Delivery-9", attributesType: "DeliveryAttributes")
    fleet.learn(known, at: noon)
    let outcome = fleet.push(update(#"{"places":2}"#), to: known.token, .liveactivity)
    #expect(outcome.cause == .contentStateNotDecodable, "what phone's app declares holds for every device: \(outcome)")
    #expect(fleet.push(update(#"{"stops":2}"#), to: known.token, .liveactivity) == .applied(.updated, detail: "activity Delivery-9"))
    let activity = try fleet.appState(known.token.hex)["activities"]?[0]
    #expect(activity?["id"] == "Delivery-9" && activity?["attributesType"] == "DeliveryAttributes")
  }

  @Test func aControlHasTheKindItWasRegisteredWith() throws {
    var fleet = try phone()
    var known = try registration(.controls)
    known.controlKind = "Lamp"
    fleet.learn(known, at: noon)
    #expect(fleet.push(contentChanged, to: known.token, .controls).disposition == .applied)
    #expect(try fleet.appState(known.token.hex)["controls"]?[0]?["kind"] == "Lamp")
  }

  @Test func anUncheckedContentStateIsSaidToBeSo() throws {
    var fleet = try phone()
    let undescribed = try token([7])
    let outcome = fleet.push(update(#"{"stops":2}"#), to: undescribed, .liveactivity)
    #expect(outcome.detail == "activity activity-1; the type of its attributes is not known, so its content-state was not checked")
    var known = try registration(.liveactivity)
    known.activity = .init(id: "9", attributesType: "DeliveryAttributes")
    fleet.learn(known, at: noon)
    let detail = "activity 9; no schema is known for DeliveryAttributes, so its content-state was not checked"
    #expect(fleet.push(update(#"{"stops":2}"#), to: known.token, .liveactivity).detail == detail)
    #expect(fleet.push(update("{}", noon.unixSeconds + 1), to: known.token, .liveactivity).detail == "activity 9")
  }

  /// A gateway that does not answer may know what is not known here: what hangs on it is not said to be so, and the rest is.
  @Test func whatASilentGatewayMayKnowIsNotSaidToBeUnknown() throws {
    var fleet = try phone()
    fleet.gatewaySilence = "the gateway did not answer"
    let (activity, widget) = (try token([7]), try token([8]))
    let both = "what its token was registered as and its app's schemas were not checked, since the gateway did not answer"
    #expect(fleet.push(update(#"{"stops":2}"#), to: activity, .liveactivity) == .applied(.updated, detail: "activity activity-1; \(both)"))
    let other = "what its token was registered as was not checked, since the gateway did not answer"
    #expect(fleet.push(contentChanged, to: widget, .widgets) == .applied(.reloaded, detail: other))
    #expect(fleet.push(#"{"aps":{"timestamp":1}}"#, to: activity, .liveactivity).detail?.contains("not checked") == false)
    #expect(fleet.push(#"{"aps":{}}"#, to: widget, .widgets).detail?.contains("not checked") == false)
    let placed = try fleet.placeWidget(kind: "Orders", family: .systemSmall, id: nil, of: app, on: "phone", at: noon)
    let own = try #require(placed.token)
    #expect(fleet.push(contentChanged, to: own, .widgets).detail?.contains("not checked") == false, "the device's own token is known to it")
    var known = try registration(.liveactivity)
    known.activity = .init(id: "9", attributesType: "DeliveryAttributes")
    fleet.learn(known, at: noon)
    let schemas = fleet.push(update(#"{"stops":2}"#), to: known.token, .liveactivity)
    #expect(schemas == .applied(.updated, detail: "activity 9; \(both)"), "it may have been registered anew meanwhile")
    fleet.gatewaySilence = nil
    let told = "activity 9; no schema is known for DeliveryAttributes, so its content-state was not checked"
    #expect(fleet.push(update(#"{"stops":2}"#, noon.unixSeconds + 1), to: known.token, .liveactivity).detail == told)
  }

  @Test func whatAnAppDeclaresGoesWithTheLastDeviceThatHasIt() throws {
    var fleet = try phone(delivery)
    var known = try registration(.liveactivity)
    known.activity = .init(id: "9", attributesType: "DeliveryAttributes")
    fleet.learn(known, at: noon)
    #expect(try fleet.setDevice("tablet", DeviceSettings(), at: noon))
    #expect(try fleet.install(app, delivery, on: "tablet", at: noon))
    try fleet.removeDevice("tablet", forgetting: false, at: noon)
    #expect(fleet.push(update(#"{"x":1}"#), to: known.token, .liveactivity).cause == .contentStateNotDecodable)
    try fleet.removeApp(app, from: "phone", at: noon)
    #expect(fleet.push(update(#"{"x":1}"#), to: known.token, .liveactivity).cause == .updated)
  }

  /// An app that is there for a token alone is updated like any other: from what it declares elsewhere, and its token stays.
  @Test func anAppThatARegistrationBroughtIsUpdated() throws {
    var fleet = try phone(AppManifest())
    let other = "com.example.other"
    #expect(try fleet.setDevice("tablet", DeviceSettings(), at: noon))
    #expect(try fleet.install(other, delivery, on: "tablet", at: noon))
    var known = Registration(token: try token([0x5E, 0xC3]), kind: .controls, bundleID: other, environment: .development)
    (known.device, known.controlKind) = ("phone", "Lamp")
    fleet.learn(known, at: noon)
    func update(_ patch: JSONValue) throws -> (isNew: Bool, dropped: [String]) {
      let made = try fleet.update(other, ManifestUpdate(patch, isPatch: true), on: known.token.hex, at: noon)
      #expect(made.device == "phone")
      return (made.isNew, made.dropped)
    }
    #expect(try update([:]) == (false, []))
    #expect(try !fleet.hasApp(other, on: "phone"), "nothing was said of it")
    #expect(try update(["frequentUpdates": true, "controls": [["kind": "Lamp"]]]) == (true, []))
    let state = try fleet.state(of: "phone", at: noon)["apps"]?[1]
    #expect(state?["frequentUpdates"] == true && state?["controls"]?[0]?["token"] == .string(known.token.hex), "\(state ?? nil)")
    #expect(state?["app"]?["token"] != nil, "it asks for the tokens that every app has")
    #expect(try update(["activities": nil, "frequentUpdates": nil]) == (false, ["activities.DeliveryAttributes", "frequentUpdates"]))
    #expect(throws: DeviceError.self) { try fleet.update("com.example.othe", .nothing, on: "phone", at: noon) }
  }
}
