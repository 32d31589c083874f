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

  private static func large(_ bytes: Int) -> JSONValue {
    ["contentState": ["properties": .object(JSONObject((0..<bytes / 10).map { ("p\($0)", [:] as JSONValue) }))]]
  }

  /// Whoever may register tokens leaves half of what is kept, and of the apps that there may be, to those who may change settings.
  @Test func whatAppsBringAlongIsBounded() throws {
    let live = try Self.live()
    let source = Self.large(50_000)
    var ofApp = 0
    while Self.isMade(try Self.change(live, "T\(ofApp)", of: "com.a0", as: .app, source)) { ofApp += 1 }
    #expect((5...10).contains(ofApp), "\(ofApp)")
    guard case .broughtTooMuch(let one) = try Self.change(live, "T\(ofApp)", of: "com.a0", as: .app, source) else {
      throw FieldError(field: "", message: "made")
    }
    #expect(one.contains("\(Limits.broughtSchemaBytesOfApp) of each app's own are kept"), "\(one)")
    var apps = 1
    apps: while true {
      for number in 0..<ofApp {
        guard case .made = try Self.change(live, "T\(number)", of: "com.a\(apps)", as: .app, source) else { break apps }
      }
      apps += 1
    }
    #expect((6...12).contains(apps), "\(apps)")
    guard case .broughtTooMuch(let all) = try Self.change(live, "Last", of: "com.a\(apps)", as: .app, source) else {
      throw FieldError(field: "", message: "made")
    }
    #expect(all.contains("\(Limits.broughtSchemaBytes) of apps' own are kept"), "\(all)")
    #expect(Self.isMade(try Self.change(live, "Mine", as: .api, source)))
    #expect(Self.isMade(live.set("c.d", try SettingsTests.settings(["upstream": "device", "schemas": ["Mine": source]]))))
    // What is removed makes room.
    #expect(Self.isMade(try Self.change(live, "T0", of: "com.a0", as: .app, nil)))
    #expect(Self.isMade(try Self.change(live, "Last", of: "com.a\(apps)", as: .app)))
  }

  @Test func appsKnownBySchemasAloneAreCounted() throws {
    var book = AppBook(try Self.configuration(0, anyApp: 0), SavedApps())
    let schemas = try ActivitySchemas("T", ["contentState": [:]], at: "")
    let before = book.count
    for number in 0...Limits.broughtApps {
      #expect(book.excess(broughtBy: "com.a0") == nil)
      book.taught["com.a\(number)"] = [schemas]
    }
    #expect(book.count == before + Limits.broughtApps + 1)
    #expect(book.excess(broughtBy: "com.a0")?.contains("\(Limits.broughtApps) apps are known only by what they have brought along") == true)
    #expect(book.excess(broughtBy: "a.b") == nil)
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
