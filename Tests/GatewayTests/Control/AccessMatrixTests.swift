import Control
import Gateway
import JSON
import Primitives
import Testing

@Suite("Control API: who may do what") struct AccessMatrixTests {
  /// What each route asks, written down once more: a change of a route's access must be meant.
  private static let expected: [String: String] = [
    "PUT /v1/registrations/{token}": "register", "GET /v1/registrations/{token}": "read",
    "DELETE /v1/registrations/{token}": "register", "GET /v1/registrations": "read", "GET /v1/pushes/{id}": "read",
    "GET /v1/pushes": "read", "POST /v1/pushes/{id}/outcome": "register", "GET /v1/budgets/{token}": "read",
    "PUT /v1/budgets/{token}": "admin", "DELETE /v1/budgets/{token}": "admin", "GET /": "open", "GET /livez": "open", "GET /readyz": "open",
    "GET /openapi.yaml": "open", "GET /version": "open", "GET /metrics": "read", "GET /dev/ca.pem": "localhost",
    "GET /dev/credentials.json": "localhost",
    "GET /dev/AuthKey.p8": "localhost", "GET /v1/channels/{bundleID}/{channelID}/message": "register", "GET /v1/broadcasts": "read",
    "POST /v1/faults": "admin", "GET /v1/faults": "admin", "DELETE /v1/faults": "admin", "GET /v1/faults/{id}": "admin",
    "DELETE /v1/faults/{id}": "admin", "POST /v1/what-if": "read", "POST /v1/registrations": "register", "POST /v1/reset": "admin",
    "POST /v1/reloads": "reload", "GET /v1/reloads": "reload", "GET /v1/reloads/{id}": "reload", "DELETE /v1/reloads/{id}": "reload",
    "GET /v1/clock": "read", "PUT /v1/clock": "admin", "POST /v1/clock/advance": "admin", "GET /v1/events": "read",
    "GET /v1/recording": "admin",
    "GET /v1/activities": "read", "PUT /v1/activities/{bundleID}/{name}": "reload",
    "GET /v1/activities/{bundleID}/{name}": "read", "DELETE /v1/activities/{bundleID}/{name}": "reload",
  ]

  /// Every scope, and none, on every route.
  @Test func everyScopeOnEveryRoute() async throws {
    let stage = try APIStage()
    #expect(Set(stage.api.routes.map { "\($0.method) \($0.pattern)" }) == Set(Self.expected.keys))
    for route in stage.api.routes {
      let asked = Self.expected["\(route.method) \(route.pattern)"]
      let target = route.pattern.replacing("{token}", with: APIStage.token(1)).replacing("{id}", with: APIStage.id(1).description)
        .replacing("{bundleID}", with: APIStage.bundle).replacing("{channelID}", with: "aMs2y8fFEe8AAPIAM4gHog==")
        .replacing("{name}", with: "order")
      for scope in AccessScope.allCases.map(\.rawValue) + [nil] {
        let status = try await stage.call(route.method, target, as: scope).status
        let wanted: Int? =
          switch (asked, scope) {
          case ("open", _): nil
          case ("localhost", _): 403
          case (_, nil): 401
          case (_, let scope?): scope == asked || scope == "admin" ? nil : 403
          }
        if let wanted {
          #expect(status == wanted, "\(route.method) \(target) as \(scope ?? "nobody")")
        } else {
          #expect(status != 401 && status != 403, "\(route.method) \(target) as \(scope ?? "nobody")")
        }
      }
    }
  }

  /// An access token of one app sees nothing of another: neither that it is there, nor that it is not.
  @Test func appsAreApart() async throws {
    let stage = try APIStage()
    try await stage.register(1)
    try await stage.register(2, bundle: APIStage.other)
    try await stage.push(1, to: 1)
    try await stage.push(2, to: 2, bundle: APIStage.other)
    try await stage.refuse(3, .badTopic, token: 1)
    let stranger = APIStage.other
    let (token, id) = (APIStage.token(1), APIStage.id(1))
    let absent = (APIStage.token(9), APIStage.id(9))
    for (method, target, missing) in [
      (HTTPMethod.get, "/v1/registrations/\(token)", "/v1/registrations/\(absent.0)"),
      (.delete, "/v1/registrations/\(token)", "/v1/registrations/\(absent.0)"),
      (.get, "/v1/budgets/\(token)", "/v1/budgets/\(absent.0)"), (.delete, "/v1/budgets/\(token)", "/v1/budgets/\(absent.0)"),
      (.get, "/v1/pushes/\(id)", "/v1/pushes/\(absent.1)"), (.get, "/v1/pushes/\(id)?all=1", "/v1/pushes/\(absent.1)?all=1"),
      (.get, "/v1/pushes/\(APIStage.id(3))", "/v1/pushes/\(absent.1)"),
    ] {
      let seen = try await stage.call(method, target, as: stranger)
      let nothing = try await stage.call(method, missing, as: stranger)
      #expect(seen.status == 404 && nothing.status == 404, "\(method) \(target)")
      // Its own app sees it.
      #expect(try await stage.call(.get, target, as: APIStage.bundle).status == 200)
    }
    let outcome = try await stage.call(.post, "/v1/pushes/\(id)/outcome", as: stranger, ["disposition": "applied"])
    #expect(outcome.status == 404)
    let budget = try await stage.call(.put, "/v1/budgets/\(token)", as: stranger, ["remaining": 0])
    #expect(budget.status == 404)
    let registrations = try await stage.call(.get, "/v1/registrations", as: stranger).json["registrations"]?.arrayValue
    #expect(registrations?.compactMap { $0["bundleID"]?.stringValue } == [APIStage.other])
    let pushes = try await stage.call(.get, "/v1/pushes", as: stranger).json["pushes"]?.arrayValue
    #expect(pushes?.compactMap { $0["bundleID"]?.stringValue } == [APIStage.other])
    #expect(try await stage.call(.get, "/v1/pushes?bundleID=\(APIStage.bundle)", as: stranger).json["pushes"]?.arrayValue == [])
    #expect(try await stage.call(.get, "/metrics", as: stranger).status == 403)
  }

  /// A push id that two apps have used belongs to neither alone: an outcome could hit the other's push.
  @Test func anOutcomeOfASharedIDIsRefused() async throws {
    let stage = try APIStage()
    try await stage.register(1)
    try await stage.register(2, bundle: APIStage.other)
    try await stage.push(1, to: 1)
    try await stage.push(1, to: 2, bundle: APIStage.other)
    let answer = try await stage.call(.post, "/v1/pushes/\(APIStage.id(1))/outcome", as: APIStage.bundle, ["disposition": "ignored"])
    #expect(answer.status == 404)
    #expect(try await stage.call(.get, "/v1/pushes/\(APIStage.id(1))", as: APIStage.bundle).json["bundleID"] == .string(APIStage.bundle))
    let all = try await stage.call(.get, "/v1/pushes/\(APIStage.id(1))?all=1").json["pushes"]?.arrayValue
    #expect(all?.compactMap { $0["bundleID"]?.stringValue } == [APIStage.other, APIStage.bundle])
  }

  /// A token that another app has is no more to be replaced than one that nobody has, and nothing tells which it is.
  @Test func replacesTellsNothingOfOthers() async throws {
    let stage = try APIStage()
    try await stage.register(1, bundle: APIStage.other)
    func replacing(_ old: Int, by new: Int) async throws -> APIStage.Answer {
      try await stage.call(
        .put, "/v1/registrations/\(APIStage.token(new))", as: APIStage.bundle,
        [
          "type": "widgets", "bundleID": .string(APIStage.bundle), "environment": "development", "replaces": .string(APIStage.token(old)),
        ])
    }
    let (foreign, absent) = (try await replacing(1, by: 2), try await replacing(9, by: 3))
    #expect(foreign.status == 201 && absent.status == 201)
    #expect(foreign.text.replacing(APIStage.token(2), with: "") == absent.text.replacing(APIStage.token(3), with: ""))
    #expect(try await stage.call(.get, "/v1/registrations/\(APIStage.token(1))").json["bundleID"] == .string(APIStage.other))
    // One's own of another type is told.
    try await stage.register(4, "controls")
    #expect(try await replacing(4, by: 5).status == 409)
  }

  @Test func appsAreSuggestedToThoseWhoSeeThem() async throws {
    let stage = try APIStage()
    let tokens = AccessTokens([AccessToken(name: "t", scopes: [.admin], bundleIDs: ["com.example.othe", "com.example.ap"], secret: "t")])
    let table = RouteTable(stage.api.routes, authorizer: Authorizer(tokens), now: { stage.now.value })
    for (name, near) in [("com.example.othe", APIStage.other), ("com.example.ap", APIStage.bundle)] {
      let body: JSONValue = ["type": "app", "bundleID": .string(name), "environment": "development"]
      for secret in ["t", "admin"] {
        let request = try HTTPRequest(
          method: .put, target: "/v1/registrations/\(APIStage.token(1))", fields: ["authorization": "Bearer \(secret)"],
          authority: "gateway",
          body: Array(body.serialized().utf8))
        let answer = String(decoding: await (secret == "t" ? table : stage.table).respond(to: request).body, as: UTF8.self)
        #expect(answer.contains("is not an app of this gateway") && answer.contains("\(near)\\\"?") == (secret == "admin"), "\(answer)")
      }
    }
  }

  /// Ids and cursors have to be in some order, and must not tell how much comes for others.
  @Test func cursorsCountNothing() async throws {
    var cursors: Set<String> = []
    for _ in 0..<2 {
      let stage = try APIStage()
      try await stage.register(1)
      for number in 1...3 { try await stage.push(number, to: 1) }
      let next = try #require(try await stage.call(.get, "/v1/pushes?limit=2", as: APIStage.bundle).json["next"]?.stringValue)
      #expect(next.wholeMatch(of: /[0-9a-f]{16}\.[0-9a-f]{16}/) != nil, "\(next)")
      let rest = try await stage.call(.get, "/v1/pushes?limit=2&after=\(next)", as: APIStage.bundle).json["pushes"]?.arrayValue
      #expect(rest?.map { $0["id"] } == [.string(APIStage.id(1).description)])
      cursors.insert(next)
    }
    #expect(cursors.count == 2, "the same place in another gateway is written in another way")
  }

  /// Whatever is sent comes back so that a terminal shows it.
  @Test func whatSteersIsEscapedInAnswers() async throws {
    let stage = try APIStage()
    let answer = try await stage.call(.get, "/v1/pushes?type=%C2%9B31m%E2%80%AE")
    #expect(answer.status == 400 && answer.text.contains(#"\u009b31m\u202e"#), "\(answer.text)")
    #expect(!answer.text.unicodeScalars.dropLast().contains { $0.value != 0x0A && $0.isSteering })
  }

  @Test func aTokenOfOneAppRegistersOnlyForIt() async throws {
    let stage = try APIStage()
    let body: (String) -> JSONValue = { ["type": "app", "bundleID": .string($0), "environment": "development"] }
    let foreign = try await stage.call(.put, "/v1/registrations/\(APIStage.token(1))", as: APIStage.bundle, body(APIStage.other))
    #expect(foreign.status == 403 && foreign.field == "bundleID")
    #expect(try await stage.call(.put, "/v1/registrations/\(APIStage.token(1))", as: APIStage.bundle, body(APIStage.bundle)).status == 201)
    let taken = try await stage.call(.put, "/v1/registrations/\(APIStage.token(1))", as: APIStage.other, body(APIStage.other))
    #expect(taken.status == 409)
    #expect(try await stage.call(.get, "/v1/registrations/\(APIStage.token(1))").json["bundleID"] == .string(APIStage.bundle))
  }

  /// The certificate of `dev` is for all of this machine.
  @Test(arguments: [
    (HTTPRequest.Face.plain, "localhost:8025", "127.0.0.1:5000", 200), (.plain, "127.0.0.1", "127.0.0.1:5000", 200),
    (.plain, "[::1]:8025", "[::1]:5000", 200), (.tls, "localhost", "127.0.0.1:5000", 403),
    (.plain, "evil.example", "127.0.0.1:5000", 403), (.plain, "localhost", "10.1.2.3:5000", 403),
  ])
  func devFilesAreForThisMachine(face: HTTPRequest.Face, host: String, peer: String, status: Int) async throws {
    let stage = try APIStage()
    for (path, text, secret) in [
      ("/dev/ca.pem", "CA", nil), ("/dev/credentials.json", "{}", "admin"), ("/dev/AuthKey.p8", "KEY", "admin"),
    ] as [(String, String, String?)] {
      let answer = try await stage.call(.get, path, as: secret, face: face, host: host, peer: peer)
      #expect(answer.status == status)
      #expect((answer.text == text) == (status == 200))
      if status == 200 { #expect(answer.fields["cache-control"] == "no-store") }
    }
  }

  /// The access tokens and the private key of `dev` are for an administrator of all apps, not for every user of the machine.
  @Test(arguments: ["/dev/credentials.json", "/dev/AuthKey.p8"]) func devSecretsAskForAnAdministrator(path: String) async throws {
    let stage = try APIStage()
    for (secret, status) in [
      (nil, 401), ("nonsense", 401), ("register", 403), ("read", 403), ("reload", 403), (APIStage.bundle, 403), ("admin", 200),
    ] as [(String?, Int)] {
      let answer = try await stage.call(.get, path, as: secret, face: .plain, host: "localhost")
      #expect(answer.status == status, "\(secret ?? "nobody")")
      #expect((answer.fields["cache-control"] == "no-store") == (status == 200))
    }
    #expect(try await stage.call(.get, "/dev/ca.pem", as: nil, face: .plain, host: "localhost").text == "CA")
  }

  /// A page of another server has a browser make calls with what the browser knows; none of them is carried out or tells anything.
  @Test func pagesOfOtherServersGetNothing() async throws {
    let stage = try APIStage()
    let body: JSONValue = ["type": "app", "bundleID": .string(APIStage.bundle), "environment": "development"]
    let own = "/v1/registrations/\(APIStage.token(1))"
    for origin in ["https://evil.example", "null", "http://gateway", "https://gateway:1", "https://gateway.evil.example", ""] {
      let fields = ["origin": origin]
      #expect(try await stage.call(.put, own, body, fields: fields).field == "origin")
      for route in stage.api.routes where route.access != .open && route.access != .localhost {
        let target = route.pattern.replacing("{token}", with: APIStage.token(1)).replacing("{id}", with: APIStage.id(1).description)
        let answer = try await stage.call(route.method, target, face: .plain, host: "localhost:8025", fields: fields)
        #expect(answer.status == 403, "\(route.method) \(target) of \(origin)")
      }
    }
    #expect(try await stage.call(.get, own).status == 404, "nothing was registered")
    #expect(try await stage.call(.put, own, body, fields: ["origin": "HTTPS://Gateway"]).status == 201, "a page of its own")
    let plain = try await stage.call(.get, own, face: .plain, host: "localhost:8025", fields: ["origin": "http://localhost:8025"])
    #expect(plain.status == 200)
    // A page of a name that leads to loopback is of the origin that it asks, and still none of ours.
    let rebound = try await stage.call(.get, own, face: .plain, host: "evil.example", fields: ["origin": "http://evil.example"])
    #expect(rebound.status == 403)
  }

  @Test func outsideDevThereAreNoSuchFiles() async throws {
    let stage = try APIStage(devFiles: nil)
    #expect(try await stage.call(.get, "/dev/ca.pem", as: nil, face: .plain, host: "localhost").status == 404)
  }
}
