import JSON
import Push
import Testing

@testable import DeviceModel

/// What the gateway is told of an app's schemas, and what the device goes by.
@Suite("Schemas that an app brings along") struct TeachingTests {
  private static func manifest(_ type: String = "Ride", title: String? = nil, property: String = "stops") throws -> AppManifest {
    var schema: JSONObject = ["required": [.string(property)], "properties": [property: ["type": "integer"]]]
    schema["title"] = title.map(JSONValue.string)
    var manifest = AppManifest()
    let schemas = try ActivitySchemas(type, contentState: .object(schema), at: "")
    manifest.activities = [AppManifest.ActivityType(attributesType: type, schemas: schemas)]
    return manifest
  }

  /// The types that are taught since the last call.
  private static func taught(_ fleet: inout DeviceFleet) -> [String] {
    fleet.takeEffects().compactMap { if case .teach(_, _, let schemas) = $0 { schemas.attributesType } else { nil } }
  }

  private static func schemas(_ fleet: DeviceFleet, _ type: String = "Ride") -> ActivitySchemas? {
    fleet.schemas(of: type, at: AppPlace(device: "phone", app: 0))
  }

  /// What the gateway took and has no more was removed there; the device shows it as little as it goes by it.
  @Test func whatIsRemovedAtTheGatewayIsGoneHere() throws {
    let manifest = try Self.manifest()
    let own = try #require(manifest.activities[0].schemas)
    var fleet = try phone(manifest)
    #expect(Self.taught(&fleet) == ["Ride"])
    // A gateway that has not taken it yet removes nothing.
    fleet.learn([], of: app)
    #expect(Self.schemas(fleet) == own)
    fleet.noteTeaching(bundleID: app, own, refusal: nil, at: noon)
    #expect(Self.schemas(fleet) == own)
    fleet.learn([own], of: app)
    #expect(try fleet.appState()["schemas"]?[0]?["origin"] == "gateway")
    fleet.learn([], of: app)
    #expect(Self.schemas(fleet) == nil)
    #expect(try fleet.appState()["schemas"] == [])
    // The same manifest teaches nothing, and a new one does.
    _ = try fleet.install(app, manifest, on: "phone", at: noon)
    #expect(Self.taught(&fleet) == [] && Self.schemas(fleet) == nil)
    _ = try fleet.install(app, Self.manifest(property: "goals"), on: "phone", at: noon)
    #expect(Self.taught(&fleet) == ["Ride"] && Self.schemas(fleet) != nil)
  }

  /// Where the gateway has refused it, the app's own is all that is known once the other is gone.
  @Test func whatWasRefusedIsTheDevicesOwn() throws {
    let manifest = try Self.manifest()
    let own = try #require(manifest.activities[0].schemas)
    var fleet = try phone(manifest)
    fleet.noteTeaching(bundleID: app, own, refusal: "somebody has set others", at: noon)
    fleet.learn([], of: app)
    #expect(Self.schemas(fleet) == own)
    #expect(try fleet.appState()["schemas"]?[0]?["notTaken"] == "somebody has set others")
  }

  @Test func whatIsKnownOfTeachingGoesWithTheApp() throws {
    var fleet = try phone(Self.manifest())
    _ = try fleet.setDevice("tablet", DeviceSettings(), at: noon)
    _ = try fleet.install(app, Self.manifest(), on: "tablet", at: noon)
    fleet.learn([], of: app)
    try fleet.removeApp(app, from: "phone", at: noon)
    #expect(fleet.teachings[app] != nil)
    try fleet.removeDevice("tablet", forgetting: false, at: noon)
    #expect(fleet.teachings.isEmpty && fleet.learnedSchemas.isEmpty)
    // What becomes of a call that was under way then makes nothing anew.
    fleet.noteTeaching(bundleID: app, try #require(Self.manifest().activities[0].schemas), refusal: nil, at: noon)
    #expect(fleet.teachings.isEmpty)
    // Nor do types that come and go add up.
    _ = try fleet.install(app, Self.manifest(), on: "phone", at: noon)
    for number in 0..<(3 * Limits.activitiesPerApp) { _ = try fleet.install(app, Self.manifest("T\(number)"), on: "phone", at: noon) }
    #expect(fleet.teachings[app]?.count ?? 0 <= Limits.activitiesPerApp + 1)
  }

  /// Another way to write the same is no change of the app, and is told to the gateway all the same.
  @Test func aManifestThatMeansTheSameChangesNothing() throws {
    var fleet = try phone(Self.manifest())
    _ = fleet.takeEffects()
    let newest = fleet.newestEvent
    _ = try fleet.install(app, Self.manifest(title: "A ride"), on: "phone", at: noon)
    #expect(fleet.newestEvent == newest)
    let effects = fleet.takeEffects()
    #expect(effects.count == 1 && effects[0].registration == nil)
    #expect(Self.schemas(fleet)?.source["contentState"]?["title"] == "A ride")
    _ = try fleet.install(app, Self.manifest(property: "goals"), on: "phone", at: noon)
    #expect(fleet.newestEvent > newest && fleet.takeEffects().contains { $0.registration != nil })
  }
}
