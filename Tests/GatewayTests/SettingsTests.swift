import Configuration
import JSON
import Primitives
import Push
import Security
import Synchronization
import Testing

@testable import Gateway

/// What can be changed while a gateway runs.
@Suite("Live settings") struct SettingsTests {
  private static let authority = try! CertificateAuthority.make(commonName: "test", now: .init(unixSeconds: 1_700_000_000), days: 10_000)

  static func configuration(_ change: (inout GatewayConfiguration) throws -> Void = { _ in }) throws -> GatewayConfiguration {
    var configuration = GatewayConfiguration()
    let leaf = try authority.issue(names: ["localhost"], now: .init(unixSeconds: 1_700_000_000), days: 397)
    configuration.identity = ServerIdentity(certificatePEM: try leaf.certificate.pem(), keyPEM: try leaf.key.pem())
    configuration.providers = [ProviderKey(keyID: "KEY0000001", teamID: "TEAM000001", keyPEM: try key())]
    configuration.signingKeys = [SigningKey(teamID: "TEAM000001", keyID: "KEY0000002", keyPEM: try key())]
    configuration.upstreams = [
      UpstreamSettings(name: "device", host: "h", port: 1, authorityPEM: try authority.certificate.pem()),
      UpstreamSettings(name: "apple", host: "api.push.apple.com", port: 443, isApple: true),
    ]
    configuration.apps = [AppDirectory.App(bundleID: "a.b", developmentUpstream: "device", productionUpstream: "device")]
    configuration.appFields = ["a.b": ["upstream.development", "upstream.production", "validation"]]
    try change(&configuration)
    return configuration
  }

  private static func key() throws -> String { try P256PrivateKey.generate().pem() }

  static func settings(_ json: JSONValue) throws(FieldError) -> AppSettings {
    var reader = try JSONReader(json)
    return try AppSettings(&reader)
  }

  static func live(_ configuration: GatewayConfiguration? = nil, _ storage: AppStorage? = nil) throws -> LiveSettings {
    try LiveSettings(configuration ?? Self.configuration(), storage: storage, identityForName: nil)
  }

  private static func policy(_ live: LiveSettings, _ bundleID: String) throws -> AppPolicy {
    live.parts.apps.policy(at: try #require(live.parts.apps.index(of: bundleID)))
  }

  /// A text in memory that can be made to fail.
  final class Shelf: Sendable {
    let text = Mutex<String?>(nil)
    let fails = Mutex(false)
    var storage: AppStorage {
      AppStorage(
        load: { self.text.withLock { $0 } },
        save: { new in
          if self.fails.withLock({ $0 }) { throw FieldError(field: "disk", message: "the disk is full") }
          self.text.withLock { $0 = new }
        })
    }
  }

  @Test func whatIsSetWinsAndComesBackAfterARestart() throws {
    let shelf = Shelf()
    let live = try Self.live(nil, shelf.storage)
    #expect(try Self.policy(live, "a.b").validation == .strict)
    guard
      case .made(isNew: false) = live.set(
        "a.b", try Self.settings(["validation": "apple", "budgets": ["widgets": ["allowance": 5]]]))
    else { throw FieldError(field: "", message: "not made") }
    #expect(try Self.policy(live, "a.b").validation == .apple)
    #expect(try Self.policy(live, "a.b").widgets.allowance == 5)
    #expect(try Self.policy(live, "a.b").widgets.burst == 5)
    let view = try #require(try live.view("a.b"))
    #expect(view["origins"]?["validation"] == "api" && view["origins"]?["budgets.widgets.allowance"] == "api")
    #expect(view["origins"]?["upstream.production"] == "configuration" && view["origins"]?["budgetMode"] == "default")

    let again = try Self.live(nil, shelf.storage)
    #expect(try Self.policy(again, "a.b").validation == .apple)
    guard case .made(isNew: false) = again.set("a.b", nil) else { throw FieldError(field: "", message: "not taken back") }
    #expect(try Self.policy(again, "a.b").validation == .strict)
    #expect(!again.hasSet("a.b"))
  }

  private static func dictionary(_ type: String) -> JSONValue { ["additionalProperties": ["type": .string(type)]] }

  /// A content-state that is set takes the place of the configured one of its name, and of no other; an app that is not listed has those of "*".
  @Test func contentStatesAreSetByTheirNames() throws {
    func types(_ json: JSONValue) throws -> [ActivitySchemas] { try ActivitySchemas.list(json, at: "", max: 9, contentStatesOnly: true) }
    let live = try Self.live(
      Self.configuration {
        $0.contentStates = [
          "a.b": try types(["Ride": Self.dictionary("string"), "Game": Self.dictionary("integer")]), "": try types(["Any": [:]]),
        ]
        $0.appFields["a.b"]?.insert("contentStates.Ride")
        $0.anyApp = AppDirectory.App(bundleID: "", developmentUpstream: "device", productionUpstream: "device")
      })
    _ = live.set("a.b", try Self.settings(["contentStates": ["Game": Self.dictionary("boolean"), "New": [:]]]))
    _ = live.set("x.y", try Self.settings(["contentStates": ["Own": [:]]]))
    #expect(live.parts.contentStates["a.b"]?.map(\.attributesType) == ["Game", "New", "Ride"])
    #expect(
      live.parts.contentStates["a.b"]?.map(\.contentState) == [.dictionary(.strings, .boolean), .anything, .dictionary(.strings, .string)])
    #expect(live.parts.contentStates["x.y"]?.map(\.attributesType) == ["Any", "Own"])
    #expect(live.parts.contentStates[""]?.map(\.attributesType) == ["Any"])
    let view = try #require(try live.view("a.b"))
    #expect(view["contentStates"] == ["Ride": Self.dictionary("string"), "Game": Self.dictionary("boolean"), "New": [:]])
    #expect(view["origins"]?["contentStates.Ride"] == "configuration" && view["origins"]?["contentStates.Game"] == "api")
    #expect(try live.view("q.q")?["contentStates"] == ["Any": [:]])
    _ = live.set("a.b", nil)
    #expect(live.parts.contentStates["a.b"]?.map(\.attributesType) == ["Ride", "Game"])
  }

  @Test func anAppCanBeAddedAndGoes() throws {
    let live = try Self.live()
    #expect(try live.view("c.d") == nil)
    guard case .refused(let error) = live.set("c.d", try Self.settings([:])) else { throw FieldError(field: "", message: "made") }
    #expect(error.field == "upstream")
    guard case .made(isNew: true) = live.set("c.d", try Self.settings(["upstream": "device"])) else {
      throw FieldError(field: "", message: "not made")
    }
    #expect(live.parts.apps.index(of: "c.d") != nil)
    _ = live.set("c.d", nil)
    #expect(live.parts.apps.index(of: "c.d") == nil)
  }

  @Test func anAppForAppleNeedsATeamAndHasApplesDefaults() throws {
    let live = try Self.live()
    guard case .refused(let error) = live.set("c.d", try Self.settings(["upstream": "apple"])) else {
      throw FieldError(field: "", message: "made")
    }
    #expect(error.field == "team")
    guard case .made = live.set("c.d", try Self.settings(["upstream": "apple", "team": "TEAM000001"])) else {
      throw FieldError(field: "", message: "not made")
    }
    #expect(try Self.policy(live, "c.d") == .apple)
  }

  @Test func whatCannotBeKeptIsNotMade() throws {
    let shelf = Shelf()
    let live = try Self.live(nil, shelf.storage)
    shelf.fails.withLock { $0 = true }
    guard case .notKept = live.set("a.b", try Self.settings(["validation": "apple"])) else {
      throw FieldError(field: "", message: "made")
    }
    #expect(try Self.policy(live, "a.b").validation == .strict)
  }

  /// What would be too much for the next start to read, or nested too deep, does not get so far as to be kept.
  @Test func whatIsTakenCanBeReadAtTheNextStart() throws {
    let shelf = Shelf()
    let live = try Self.live(nil, shelf.storage)
    // As deep as a body may be: its object, contentStates, an object and its properties thirty times, the property and its choices.
    var schema: JSONValue = ["enum": ["a"]]
    for _ in 0..<30 { schema = ["properties": ["p": schema]] }
    let deep: JSONValue = ["contentStates": ["D": schema]]
    #expect(throws: Never.self) { try JSONValue.parse(deep.serialized()) }
    guard case .made = live.set("a.b", try Self.settings(deep)) else { throw FieldError(field: "", message: "not made") }
    #expect(try Self.live(nil, shelf.storage).hasSet("a.b"))

    let names = (0..<20_000).map { ("key\($0)", ["type": "string"] as JSONValue) }
    let wide: JSONValue = ["upstream": "device", "contentStates": ["D": ["properties": .object(JSONObject(names))]]]
    var made = 0
    while case .made = live.set("w.w\(made)", try Self.settings(wide)) { made += 1 }
    guard case .tooMuch(let bytes) = live.set("w.x", try Self.settings(wide)) else { throw FieldError(field: "", message: "made") }
    #expect(made > 5 && bytes > Limits.savedAppsBytes)
    let again = try Self.live(nil, shelf.storage)
    #expect(again.hasSet("a.b") && again.hasSet("w.w\(made - 1)") && !again.hasSet("w.x"))
    // What makes it less is never refused.
    guard case .made = again.set("w.w0", nil) else { throw FieldError(field: "", message: "not taken back") }
  }

  @Test(
    arguments: [
      (["validaton": "apple"], "validaton"), (["validation": "lax"], "validation"),
      (["budgets": ["widgets": ["allowance": 0]]], "budgets.widgets.allowance"),
      (["budgets": ["widget": [:]]], "budgets.widget"), (["upstream": 3], "upstream"), (["upstream": ["staging": "x"]], "upstream.staging"),
      (["answer": "apple"], "answer"), (["answerTimeoutMilliseconds": 0], "answerTimeoutMilliseconds"),
      (["batchSeconds": 3601], "batchSeconds"), (["coalesceSeconds": -1], "coalesceSeconds"), (["team": "a b"], "team"),
      (["contentStates": ["Ride": 1]], "contentStates.Ride"),
      (["contentStates": ["Ride": ["minimum": 1]]], "contentStates.Ride.minimum"), (["contentStates": []], "contentStates"),
    ] as [(JSONValue, String)]) func aWrongFieldIsNamed(body: JSONValue, field: String) throws
  {
    do throws(FieldError) {
      _ = try Self.settings(body)
      Issue.record("taken: \(body)")
    } catch {
      #expect(error.field == field)
    }
  }

  @Test func everySettingComesBackFromItsJSON() throws {
    let body: JSONValue = [
      "team": "TEAM000001", "upstream": ["development": "device", "production": "apple"], "validation": "apple", "budgetMode": "reject",
      "unknownTokens": "adopt", "expirationZero": "drop", "coalesceSeconds": 1.5, "batchSeconds": 10.0, "answer": "upstream",
      "answerTimeoutMilliseconds": 500, "broadcast": false,
      "contentStates": ["Ride": ["properties": ["eta": ["format": "date2001"]]]],
      "budgets": [
        "widgets": ["allowance": 3, "burst": 2, "windowSeconds": 60.0, "minimumIntervalSeconds": 1.0], "controls": ["burst": 1],
      ],
    ]
    let settings = try Self.settings(body)
    #expect(settings.fields.count == 18)
    #expect(try Self.settings(.object(settings.json)) == settings)
  }

  @Test func aReloadChangesWhatMayAndTellsTheRest() throws {
    let live = try Self.live()
    let told = Mutex<[Int]>([])
    live.whenChanged { parts in told.withLock { $0.append(parts.apps.count) } }
    let old = try Self.configuration()
    _ = try live.reload(old)
    let next = try Self.configuration {
      $0.identity = old.identity
      var limited = ProviderKey(keyID: "KEY0000009", teamID: "TEAM000001", keyPEM: try Self.key())
      limited.requestsPerSecond = 5
      $0.providers = old.providers + [limited]
      $0.signingKeys = old.signingKeys
      $0.apps.append(AppDirectory.App(bundleID: "n.e.w", developmentUpstream: "device"))
      $0.providerPorts = [1]
    }
    let report = try live.reload(next)
    #expect(report.changed == ["providers: + KEY0000009", "apps: + n.e.w"])
    #expect(report.needRestart == ["provider.ports"])
    #expect(told.withLock { $0 } == [1, 2])
    #expect(live.parts.provider.keys.count == 2)
  }

  @Test func aBadReloadChangesNothing() throws {
    let live = try Self.live()
    for change in [
      { $0.providers[0].keyPEM = "no key" }, { $0.identity?.keyPEM = "" }, { $0.signingKeys = [] },
      { $0.signingKeys[0].keyPEM = "no key" }, { $0.apps[0].productionUpstream = "nowhere" }, { $0.identity = nil },
    ] as [(inout GatewayConfiguration) -> Void] {
      let bad = try Self.configuration {
        $0.apps.append(AppDirectory.App(bundleID: "n.e.w", developmentUpstream: "device"))
        change(&$0)
      }
      #expect(throws: (any Error).self) { try live.reload(bad) }
      #expect(live.parts.apps.index(of: "n.e.w") == nil)
    }
  }

  /// A push that waits was given the number of its key: it must mean the same key for ever.
  @Test func aKeyKeepsItsNumber() throws {
    let live = try Self.live()
    let old = try Self.configuration()
    _ = try live.reload(old)
    let number = live.parts.signers("a.b", .production)[.alert]
    let id = live.signers.all[number].keyID
    let other = try Self.configuration { $0.signingKeys = [SigningKey(teamID: "TEAM000009", keyID: "KEY0000009", keyPEM: try Self.key())] }
    _ = try live.reload(other)
    #expect(live.signers.all[live.parts.signers("a.b", .production)[.alert]].keyID == "KEY0000009")
    #expect(live.signers.all[number].keyID == id)
    _ = try live.reload(old)
    #expect(live.parts.signers("a.b", .production)[.alert] == number)
  }

  /// Of the app's team the key of the very environment signs, else the one for both; without a team, the first that there is.
  @Test func theKeyOfTheEnvironmentSigns() throws {
    let keys = [
      SigningKey(teamID: "TEAM000001", keyID: "BOTH000001", keyPEM: try Self.key()),
      SigningKey(teamID: "TEAM000001", keyID: "PROD000001", keyPEM: try Self.key(), environment: .production),
      SigningKey(teamID: "TEAM000002", keyID: "DEVE000002", keyPEM: try Self.key(), environment: .development),
    ]
    let live = try Self.live(
      try Self.configuration { configuration in
        configuration.signingKeys = keys
        configuration.apps = ["TEAM000001", "TEAM000002", nil].enumerated().map { number, team in
          AppDirectory.App(bundleID: "a.\(number)", teamID: team, developmentUpstream: "device", productionUpstream: "device")
        }
      })
    func signer(_ app: Int, _ environment: PushEnvironment) -> String {
      live.signers.all[live.parts.signers("a.\(app)", environment)[.alert]].keyID
    }
    #expect((0..<3).map { signer($0, .production) } == ["PROD000001", "DEVE000002", "PROD000001"])
    #expect((0..<3).map { signer($0, .development) } == ["BOTH000001", "DEVE000002", "DEVE000002"])
    // One that a restart would refuse is refused at run time too.
    let change = live.set("a.1", try Self.settings(["upstream": ["production": "apple"]]))
    guard case .refused(let error) = change else { return #expect(Bool(false), "\(change)") }
    #expect(error.field == "team" && error.message.contains("in production"), "\(error.message)")
  }

  @Test(arguments: [1, 7, 1000] as [Int64]) func noLongTimeSeesMoreThanTheRate(perSecond: Int64) throws {
    let rates = ProviderRates([nil, perSecond])
    var random = SystemRandomNumberGenerator()
    var now = Instant(unixSeconds: 1_800_000_000)
    let start = now
    var granted: Int64 = 0
    for _ in 0..<20_000 {
      if rates.exceeded(1, at: now) == nil { granted += 1 }
      #expect(rates.exceeded(0, at: now) == nil)
      now = now + TimeSpan(nanoseconds: Int64(random.next(upperBound: UInt64(2_000_000_000 / perSecond / 4))))
    }
    let seconds = (now - start).seconds
    #expect(Double(granted) <= seconds * Double(perSecond) + Double(perSecond) + 1)
    #expect(Double(granted) >= seconds * Double(perSecond) * 0.5)
  }
}
