import Configuration
import JSON
import Primitives
import Push
import Testing

@testable import Gateway

/// The schemas of apps in a gateway that runs: how many there may be, whose come first, and what of them is there after a restart.
@Suite("Schemas in live settings") struct SchemaSettingsTests {
  private static func types(_ prefix: String, _ count: Int) -> JSONObject {
    JSONObject((0..<count).map { ("\(prefix)\($0)", ["contentState": [:]] as JSONValue) })
  }

  private static func states(_ prefix: String, _ count: Int) -> JSONObject {
    JSONObject((0..<count).map { ("\(prefix)\($0)", [:] as JSONValue) })
  }

  /// Gateways with schemas in the configuration, of "a.b" and of every app that is not listed.
  private static func live(_ configured: Int = 0, anyApp: Int = 0, _ shelf: SettingsTests.Shelf? = nil) throws -> LiveSettings {
    try SettingsTests.live(configuration(configured, anyApp: anyApp), shelf?.storage)
  }

  private static func configuration(_ configured: Int, anyApp: Int) throws -> GatewayConfiguration {
    try SettingsTests.configuration {
      $0.contentStates = [
        "a.b": try ActivitySchemas.list(.object(types("Configured", configured)), at: "", max: configured),
        "": try ActivitySchemas.list(.object(types("Any", anyApp)), at: "", max: anyApp),
      ]
      $0.anyApp = AppDirectory.App(bundleID: "", developmentUpstream: "device", productionUpstream: "device")
    }
  }

  private static func change(
    _ live: LiveSettings, _ type: String, of bundleID: String = "a.b", as origin: KnownSchemas.Origin,
    _ source: JSONValue? = ["contentState": [:]]
  ) throws -> LiveSettings.Change {
    let schemas = try source.map { try ActivitySchemas(type, $0, at: "") }
    return live.setSchemas(schemas, of: type, app: bundleID, as: origin) { _ throws(Never) in }
  }

  private static func isMade(_ change: LiveSettings.Change) -> Bool { if case .made = change { true } else { false } }
  private static func isWithoutRoom(_ change: LiveSettings.Change) -> Bool { if case .noRoom = change { true } else { false } }

  @Test func bothListsOfABodyCountTogether() throws {
    let error = #expect(throws: FieldError.self) {
      try SettingsTests.settings([
        "contentStates": .object(Self.states("A", 32)), "schemas": .object(Self.types("B", 1)),
      ])
    }
    #expect(error?.message == "schemas and contentStates together must have at most 32 attributes types, not 33")
    // One that stands in both is one.
    let same = try SettingsTests.settings(["contentStates": .object(Self.states("A", 32)), "schemas": .object(Self.types("A", 1))])
    #expect(same.schemas.count == 32)
  }

  @Test func whatIsSetNeedsRoomBesideWhatIsConfigured() throws {
    let live = try Self.live(30)
    #expect(Self.isMade(live.set("a.b", try SettingsTests.settings(["schemas": .object(Self.types("Set", 2))]))))
    guard case .refused(let error) = live.set("a.b", try SettingsTests.settings(["schemas": .object(Self.types("Set", 3))])) else {
      throw FieldError(field: "", message: "made")
    }
    #expect(error.message == "schemas must have at most 32 attributes types with the 30 that the configuration alone has, not 33")
    #expect(Self.isWithoutRoom(try Self.change(live, "More", as: .api)))
    #expect(Self.isMade(try Self.change(live, "Configured7", as: .api)))
  }

  /// By name, those that the app brought along would stand before the others.
  @Test func whatAnAppBroughtAlongGivesWay() throws {
    let shelf = SettingsTests.Shelf()
    let live = try Self.live(4, shelf)
    for number in 0..<28 { #expect(Self.isMade(try Self.change(live, "App\(number)", as: .app))) }
    #expect(Self.isWithoutRoom(try Self.change(live, "App28", as: .app)))
    #expect(Self.isMade(try Self.change(live, "Zebra", as: .api)))
    let known = live.parts.contentStates["a.b"]?.map(\.attributesType) ?? []
    #expect(known.count == 32 && known.contains("Zebra") && known.contains("Configured3") && !known.contains("App27"), "\(known)")
    #expect(live.leftOut(of: "a.b").map(\.schemas.attributesType) == ["App27"])
    // The app is told what is not taken, and not what is.
    #expect(Self.isWithoutRoom(try Self.change(live, "App27", as: .app, ["contentState": ["type": "object"]])))
    #expect(Self.isMade(try Self.change(live, "App26", as: .app, ["contentState": ["type": "object"]])))
    #expect(try Self.live(4, shelf).leftOut(of: "a.b").map(\.schemas.attributesType) == ["App27"])
  }

  /// A configuration that has more than before leaves no gateway that cannot start, or whose settings nobody may change.
  @Test func aFullerConfigurationLeavesSomeOut() throws {
    let shelf = SettingsTests.Shelf()
    let before = try Self.live(0, shelf)
    for number in 0..<10 { _ = try Self.change(before, "Set\(number)", as: .api) }
    let live = try Self.live(32, shelf)
    #expect(live.parts.contentStates["a.b"]?.count == 32)
    #expect(live.schemas(of: "a.b")?.count { $0.origin == .api } == 10 && live.leftOut(of: "a.b").count == 10)
    #expect(Self.isMade(live.set("a.b", try SettingsTests.settings(["validation": "apple", "schemas": .object(Self.types("Set", 10))]))))
    #expect(Self.isWithoutRoom(try Self.change(live, "More", as: .api)))
  }

  /// Whatever was accepted, the next start has the same.
  @Test(arguments: UInt64(0)..<12) func whatIsAcceptedIsThereAfterARestart(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let shelf = SettingsTests.Shelf()
    let (configured, anyApp) = (Int.random(in: 0...32, using: &random), Int.random(in: 0...32, using: &random))
    let configuration = try Self.configuration(configured, anyApp: anyApp)
    let live = try SettingsTests.live(configuration, shelf.storage)
    let apps = ["a.b", "c.d", "e.f"]
    var accepted = 0
    for step in 0..<120 {
      let bundleID = apps.randomElement(using: &random)!
      let name = ["Any", "Configured", "App", "Set"].randomElement(using: &random)!
      let type = "\(name)\(Int.random(in: 0..<40, using: &random))"
      let change: LiveSettings.Change
      switch Int.random(in: 0..<10, using: &random) {
      case 0:
        change = live.set(bundleID, nil)
      case 1, 2:
        let (states, both) = (Int.random(in: 0...20, using: &random), Int.random(in: 0...20, using: &random))
        guard
          let settings = try? SettingsTests.settings([
            "upstream": "device", "contentStates": .object(Self.states(name, states)), "schemas": .object(Self.types("Set", both)),
          ])
        else { continue }
        change = live.set(bundleID, settings)
      case 3: change = try Self.change(live, type, of: bundleID, as: .api, nil)
      case 4: change = try Self.change(live, type, of: bundleID, as: .app, nil)
      case 5, 6: change = try Self.change(live, type, of: bundleID, as: .api)
      default: change = try Self.change(live, type, of: bundleID, as: .app)
      }
      guard Self.isMade(change) else { continue }
      accepted += 1
      guard step % 4 == 0 else { continue }
      let again = AppBook(configuration, try shelf.storage.saved())
      for bundleID in apps {
        #expect(try again.view(bundleID) == live.view(bundleID), "seed \(seed), step \(step), \(bundleID)")
        #expect(again.schemas(of: bundleID) == live.schemas(of: bundleID) && again.leftOut(of: bundleID) == live.leftOut(of: bundleID))
      }
      #expect(again.contentStates == live.parts.contentStates)
      #expect(live.parts.contentStates.values.allSatisfy { $0.count <= Limits.contentStatesPerApp })
    }
    #expect(accepted > 20)
    #expect(try SettingsTests.live(configuration, shelf.storage).parts.contentStates == live.parts.contentStates)
  }
}
