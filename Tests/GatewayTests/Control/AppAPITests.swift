import Configuration
import Control
import JSON
import Primitives
import Push
import Security
import Testing

@testable import Gateway

/// What is left out of a change of an app's settings: it stays, or the answer says that it went.
@Suite("Control API: an app's settings") struct AppAPITests {
  private let stage: APIStage
  private let table: RouteTable
  private static let target = "/v1/apps/com.example.app"

  /// - Parameter anyApp: Whether apps are taken that are not listed.
  init() throws { try self.init(anyApp: false) }

  private init(anyApp: Bool) throws {
    let now = Instant(unixSeconds: 1_800_000_000)
    var configuration = GatewayConfiguration()
    let leaf = try CertificateAuthority.make(commonName: "test", now: now, days: 10).issue(names: ["localhost"], now: now, days: 1)
    configuration.identity = ServerIdentity(certificatePEM: try leaf.certificate.pem(), keyPEM: try leaf.key.pem())
    configuration.signingKeys = [SigningKey(teamID: "TEAM000001", keyID: "KEY0000001", keyPEM: try P256PrivateKey.generate().pem())]
    configuration.upstreams = [UpstreamSettings(name: "device", host: "h", port: 1)]
    configuration.apps = [AppDirectory.App(bundleID: "com.example.app", developmentUpstream: "device", productionUpstream: "device")]
    if anyApp { configuration.anyApp = AppDirectory.App(bundleID: "", developmentUpstream: "device", productionUpstream: "device") }
    stage = try APIStage()
    var parts = stage.parts
    parts.settings = try LiveSettings(configuration, storage: nil, identityForName: nil)
    var tokens = AccessScope.allCases.map { AccessToken(name: $0.rawValue, scopes: [$0], secret: $0.rawValue) }
    for bundleID in ["com.example.other", "com.example.ap"] {
      tokens.append(AccessToken(name: bundleID, scopes: [.admin], bundleIDs: [bundleID], secret: bundleID))
    }
    table = RouteTable(ControlAPI(parts).routes, authorizer: Authorizer(AccessTokens(tokens)), now: { now })
  }

  private func call(
    _ method: HTTPMethod, _ body: JSONValue? = nil, _ target: String = Self.target, as secret: String = "admin"
  ) async throws -> (status: Int, json: JSONValue) {
    let request = try HTTPRequest(
      method: method, target: target, fields: ["authorization": "Bearer \(secret)"], body: Array((body?.serialized() ?? "").utf8))
    let response = await table.respond(to: request)
    return (response.status, response.body.isEmpty ? .null : try JSONValue.parse(response.body))
  }

  private static let all: JSONValue = [
    "validation": "apple", "coalesceSeconds": 2, "budgets": ["widgets": ["allowance": 9, "burst": 3], "controls": ["burst": 1]],
    "contentStates": ["Ride": ["properties": ["eta": ["format": "date2001"]]], "Game": ["type": "object"]],
  ]

  @Test func aPutTellsWhatItDropped() async throws {
    let first = try await call(.put, Self.all)
    #expect(first.status == 200 && first.json["dropped"] == [], "\(first)")
    let second = try await call(
      .put, ["validation": "apple", "contentStates": ["Game": ["type": "object"]], "budgets": ["widgets": ["burst": 2]]])
    #expect(
      second.json["dropped"] == ["budgets.controls.burst", "budgets.widgets.allowance", "coalesceSeconds", "contentStates.Ride"],
      "\(second)")
    #expect(second.json["contentStates"]?.objectValue?.keys == ["Game"] && second.json["budgets"]?["widgets"]?["burst"] == 2)
    // What only has another value was not dropped.
    let third = try await call(.put, ["validation": "strict", "contentStates": nil])
    #expect(third.json["dropped"] == ["budgets.widgets.burst"], "\(third)")
    #expect(third.json["contentStates"]?["Game"] == ["type": "object"], "schemas stay where the body has none")
    #expect(try await call(.put, ["validation": "strict", "schemas": [:]]).json["dropped"] == ["contentStates.Game"])
    #expect(try await call(.put, ["validation": "strict"]).json["dropped"] == [])
    #expect(try await call(.get).json["dropped"] == nil, "nothing is dropped by looking")
  }

  @Test func aPutTellsWhichOfATypesSchemasItDropped() async throws {
    _ = try await call(.put, ["schemas": ["Ride": ["contentState": [:], "attributes": [:]], "Game": ["attributes": [:]]]])
    let second = try await call(.put, ["contentStates": ["Ride": [:]]])
    #expect(second.json["dropped"] == ["schemas.Game.attributes", "schemas.Ride.attributes"], "\(second)")
  }

  @Test func aPatchLeavesWhatItDoesNotName() async throws {
    _ = try await call(.put, Self.all)
    let patched = try await call(.patch, ["budgets": ["widgets": ["burst": 4]], "contentStates": ["Order": ["type": "object"]]])
    #expect(patched.status == 200 && patched.json["dropped"] == [], "\(patched)")
    #expect(patched.json["validation"] == "apple" && patched.json["coalesceSeconds"]?.doubleValue == 2)
    #expect(patched.json["budgets"]?["widgets"]?["allowance"] == 9 && patched.json["budgets"]?["widgets"]?["burst"] == 4)
    #expect(patched.json["budgets"]?["controls"]?["burst"] == 1)
    #expect(Set(patched.json["contentStates"]?.objectValue?.keys ?? []) == ["Ride", "Game", "Order"])

    // A schema is merged as well: a property is added to those that it has.
    let deeper = try await call(.patch, ["contentStates": ["Ride": ["properties": ["stops": ["type": "integer"]], "required": ["stops"]]]])
    #expect(
      deeper.json["contentStates"]?["Ride"] == [
        "properties": ["eta": ["format": "date2001"], "stops": ["type": "integer"]], "required": ["stops"],
      ], "\(deeper)")

    // Null takes back, and the answer names it.
    let less = try await call(.patch, ["validation": nil, "budgets": ["widgets": nil], "contentStates": ["Ride": nil]])
    #expect(
      less.json["dropped"] == ["budgets.widgets.allowance", "budgets.widgets.burst", "contentStates.Ride", "validation"], "\(less)")
    #expect(less.json["contentStates"]?["Ride"] == nil && less.json["schemas"]?["Ride"] == nil)
    #expect(less.json["validation"] == "strict" && less.json["origins"]?["validation"] == "default")
    #expect(less.json["origins"]?["budgets.controls.burst"] == "api")
    #expect(try await call(.patch, [:]).json["dropped"] == [])
  }

  /// Each key that can be set is as configured again after a null for it, and the others stay until theirs.
  @Test func aNullTakesBackWhateverCanBeSet() async throws {
    let before = try await call(.get).json
    let all: JSONObject = [
      "team": "TEAM000002", "upstream": "device", "validation": "apple", "budgetMode": "reject", "unknownTokens": "adopt",
      "expirationZero": "drop", "coalesceSeconds": 2, "batchSeconds": 3, "answer": "upstream", "answerTimeoutMilliseconds": 7,
      "broadcast": .bool(before["broadcast"] == false), "contentStates": ["Ride": [:]], "schemas": ["Game": ["attributes": [:]]],
      "budgets": JSONValue.object(JSONObject(BudgetKind.allCases.map { ($0.rawValue, ["allowance": 2, "burst": 1]) })),
    ]
    var view = try await call(.put, .object(all)).json
    for key in all.keys {
      #expect(view[key] != before[key] || key == "upstream", "\(key) was set: \(view)")
      let answer = try await call(.patch, .object([key: nil]))
      #expect(answer.status == 200 && answer.json["dropped"]?.arrayValue?.isEmpty == false, "\(key): \(answer)")
      #expect(key == "contentStates" || answer.json[key] == before[key], "\(key): \(answer)")
      let others = all.keys.drop { $0 != key }.dropFirst().filter { $0 != "schemas" }
      for other in others { #expect(answer.json[other] == view[other], "\(other), after \(key): \(answer)") }
      view = answer.json
    }
    #expect(try await call(.get).json == before)
  }

  /// Both names for schemas say the same thing, whichever was used before.
  @Test func schemasArePatchedByEitherName() async throws {
    let attributes: JSONValue = ["required": ["goal"], "properties": ["goal": [:]]]
    _ = try await call(
      .put, ["schemas": ["Ride": ["contentState": ["type": "object"], "attributes": attributes], "Game": ["contentState": [:]]]])
    let changed = try await call(.patch, ["contentStates": ["Ride": ["properties": ["stops": ["type": "integer"]]], "Game": nil]])
    #expect(changed.json["dropped"] == ["contentStates.Game"], "\(changed)")
    let state: JSONValue = ["type": "object", "properties": ["stops": ["type": "integer"]]]
    #expect(changed.json["schemas"] == ["Ride": ["contentState": state, "attributes": attributes]], "\(changed)")
    // Only the content-state goes; the attributes are another's.
    let stateless = try await call(.patch, ["contentStates": ["Ride": nil]])
    #expect(stateless.json["dropped"] == ["contentStates.Ride"], "\(stateless)")
    #expect(stateless.json["schemas"] == ["Ride": ["attributes": attributes]] && stateless.json["contentStates"] == [:], "\(stateless)")
    let less = try await call(.patch, ["schemas": ["Ride": ["attributes": nil]]])
    #expect(less.json["schemas"] == [:] && less.json["dropped"] == ["schemas.Ride.attributes"], "\(less)")
    let both = try await call(.patch, ["schemas": ["New": ["attributes": [:]]], "contentStates": ["New": [:]]])
    #expect(both.json["schemas"] == ["New": ["contentState": [:], "attributes": [:]]], "\(both)")
    let other = try await call(.patch, ["schemas": nil, "contentStates": ["Last": [:]]])
    #expect(other.json["dropped"] == ["contentStates.New", "schemas.New.attributes"], "\(other)")
    #expect(other.json["schemas"] == ["Last": ["contentState": [:]]], "\(other)")
    #expect(try await call(.patch, ["contentStates": nil]).json["dropped"] == ["contentStates.Last"])
  }

  /// Nobody's change is lost to another's that is made at the same time.
  @Test func patchesAtOnceAreAllKept() async throws {
    _ = try await call(.put, ["validation": "apple"])
    try await withThrowingTaskGroup(of: Int.self) { group in
      for number in 0..<30 {
        group.addTask { try await call(.patch, ["contentStates": ["Type\(number)": ["type": "object"]]]).status }
      }
      for kind in BudgetKind.allCases {
        for field in ["allowance", "windowSeconds"] {
          group.addTask { try await call(.patch, ["budgets": .object([kind.rawValue: .object([field: 100])])]).status }
        }
      }
      for try await status in group { #expect(status == 200) }
    }
    let view = try await call(.get).json
    #expect(view["contentStates"]?.objectValue?.count == 30 && view["validation"] == "apple", "\(view)")
    for kind in BudgetKind.allCases {
      let budget = view["budgets"]?[kind.rawValue]
      #expect(budget?["allowance"] == 100 && budget?["windowSeconds"]?.doubleValue == 100, "\(kind): \(view)")
    }
  }

  /// A patch of an app of which nothing is set sets what it names, or nothing.
  @Test func aPatchMayBeTheFirstThatIsSet() async throws {
    #expect(try await call(.patch, ["validation": nil]).status == 200)
    #expect(try await call(.delete).status == 404, "nothing was set")
    #expect(try await call(.patch, ["validation": "apple"]).json["origins"]?["validation"] == "api")
    #expect(try await call(.delete).status == 204)
    #expect(try await call(.get).json["validation"] == "strict")
  }

  @Test(
    arguments: [
      (["validaton": "apple"], "validaton"), (["validaton": nil], "validaton"), (["budgets": ["widget": nil]], "budgets.widget"),
      (["budgets": ["widgets": ["allowance": 0]]], "budgets.widgets.allowance"),
      (["budgets": ["widgets": ["burst": 10]]], "budgets.widgets.burst"), (["upstream": "devise"], "upstream"),
      (["contentStates": ["Ride": ["minimum": 1]]], "contentStates.Ride.minimum"), (["contentStates": []], "contentStates"), ([], "body"),
      (["schemas": ["Ride": ["contentState": ["minimum": 1]]]], "schemas.Ride.contentState.minimum"),
      (["schemas": ["Ride": ["contentstate": nil]]], "schemas.Ride.contentstate"), (["schemas": ["Ride": 1]], "schemas.Ride"),
    ] as [(JSONValue, String)]) func aPatchNamesItsMistakeAndChangesNothing(body: JSONValue, field: String) async throws
  {
    _ = try await call(.put, Self.all)
    let before = try await call(.get).json
    let answer = try await call(.patch, body)
    #expect(answer.status == 400 && answer.json["error"]?["field"] == .string(field), "\(answer)")
    #expect(try await call(.get).json == before)
  }

  /// What is wrong only beside what was set before says so.
  @Test(arguments: ["contentStates", "schemas"]) func aPatchThatDoesNotFitTheSchemaSaysHowToReplaceIt(list: String) async throws {
    _ = try await call(.put, Self.all)
    let state: JSONValue = ["additionalProperties": ["type": "integer"]]
    let answer = try await call(.patch, [list: ["Ride": list == "schemas" ? ["contentState": state] : state]])
    let message = try #require(answer.json["error"]?["message"]?.stringValue)
    #expect(answer.status == 400 && message.contains("merged with the schema of Ride"), "\(message)")
    #expect(message.contains("PUT …/schemas/Ride replaces"), "\(message)")
  }

  @Test func whoMayPatch() async throws {
    for secret in ["read", "register", "reload", "com.example.other"] {
      #expect(try await call(.patch, ["validation": "apple"], as: secret).status == 403, "\(secret)")
    }
    #expect(try await call(.patch, ["validation": "apple"], as: "nobody").status == 401)
  }

  /// A misspelt bundle id makes no app, and is told the nearest that the caller may see.
  @Test(arguments: [false, true]) func aPatchMakesNoApp(anyApp: Bool) async throws {
    let test = try AppAPITests(anyApp: anyApp)
    let target = "/v1/apps/com.example.ap"
    for body in [["validation": "apple"], [:]] as [JSONValue] {
      let unknown = try await test.call(.patch, body, target)
      #expect(unknown.status == 404, "\(unknown)")
      let message = try #require(unknown.json["error"]?["message"]?.stringValue)
      #expect(message.contains("did you mean \"com.example.app\"?") && message.contains("PUT"), "\(message)")
      let limited = try await test.call(.patch, body, target, as: "com.example.ap")
      #expect(limited.status == 404 && !"\(limited)".contains("com.example.app"), "\(limited)")
    }
    #expect(try await test.call(.delete, nil, target).status == 404, "nothing was set")
    #expect(try await test.call(.put, ["validation": "apple"], target).status == 201)
    #expect(try await test.call(.patch, ["validation": nil], target).json["dropped"] == ["validation"])
  }

  /// An app that nobody has listed is known once a token of it is registered, or a device has brought its schemas along.
  @Test func anAppOfAnyKindIsPatchedOnceItIsKnown() async throws {
    let test = try AppAPITests(anyApp: true)
    func patch(_ bundleID: String) async throws -> (status: Int, json: JSONValue) {
      try await test.call(.patch, ["validation": "apple"], "/v1/apps/\(bundleID)")
    }
    #expect(try await patch("org.free").status == 404)
    let registration: JSONValue = ["type": "widgets", "bundleID": "org.free", "environment": "development"]
    #expect(try await test.call(.put, registration, "/v1/registrations/\(APIStage.token(1))", as: "register").status == 201)
    let patched = try await patch("org.free")
    #expect(patched.status == 200 && patched.json["validation"] == "apple", "\(patched)")

    #expect(try await patch("org.taught").status == 404)
    let schemas = "/v1/apps/org.taught/schemas/Ride"
    #expect(try await test.call(.put, ["contentState": ["type": "object"]], schemas, as: "register").status == 201)
    let taught = try await patch("org.taught")
    #expect(taught.status == 200 && taught.json["contentStates"]?["Ride"] == ["type": "object"], "\(taught)")
  }
}
