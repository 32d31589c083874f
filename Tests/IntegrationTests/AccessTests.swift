import Foundation
import Testing

@Suite("Access tokens", .processes) struct AccessTests {
  @Test(arguments: [
    ("GET", "/v1/registrations/T"), ("PUT", "/v1/registrations/T"), ("DELETE", "/v1/registrations/T"), ("GET", "/v1/pushes"),
    ("GET", "/v1/budgets/T"), ("PUT", "/v1/budgets/T"), ("GET", "/metrics"),
  ])
  func withoutOneACallIsUnauthorized(method: String, path: String) async throws {
    let dev = try await SharedDev.deployment()
    let path = path.replacingOccurrences(of: "T", with: newToken())
    let answer = try await dev.control(method, path, method == "PUT" ? RegistrationBody.widgets : nil, as: nil)
    #expect(answer.status == 401, "\(answer)")
    #expect(try answer.json["error"]["code"].string != nil)
    let wrong = try await dev.control(
      method, path, method == "PUT" ? RegistrationBody.widgets : nil, as: nil, headers: ["authorization: Bearer wrong"])
    #expect(wrong.status == 401, "\(wrong)")
  }

  @Test func aScopeAllowsItsOwnCallsOnly() async throws {
    let dev = try await SharedDev.deployment()
    let token = newToken()
    let registration = "/v1/registrations/\(token)"
    #expect(try await dev.control("PUT", registration, RegistrationBody.widgets, as: "register").status == 201)
    #expect(try await dev.control("GET", registration, as: "register").status == 403)
    #expect(try await dev.control("GET", "/metrics", as: "register").status == 403)
    #expect(try await dev.control("GET", registration, as: "read").status == 200)
    let forbidden = try await dev.control("PUT", registration, RegistrationBody.widgets, as: "read")
    #expect(forbidden.status == 403)
    #expect(try forbidden.json["error"]["message"].string?.contains("register") == true, "\(forbidden)")
    #expect(try await dev.control("PUT", "/v1/budgets/\(token)", #"{"remaining":2}"#, as: "read").status == 403)
    #expect(try await dev.control("PUT", "/v1/budgets/\(token)", #"{"remaining":2}"#, as: "admin").status == 200)
  }

  @Test func onlyAdminShortensTheMinimumInterval() async throws {
    let dev = try await SharedDev.deployment()
    let token = newToken()
    let answer = try await dev.control("PUT", "/v1/registrations/\(token)", RegistrationBody.widgets(minimumInterval: 1), as: "register")
    #expect(answer.status == 403, "\(answer)")
    let allowed = try await dev.control("PUT", "/v1/registrations/\(token)", RegistrationBody.widgets(minimumInterval: 1), as: "admin")
    #expect(allowed.status == 201, "\(allowed)")
  }

  @Test func credentialsAreReadableByTheirOwnerOnly() async throws {
    let dev = try await SharedDev.deployment()
    let credentials = try dev.credentials()
    #expect(
      credentials.keys.isSuperset(of: [
        "teamID", "keyID", "keyFile", "caFile", "register", "reload", "read", "admin", "provider", "control", "device", "plain",
      ]))
    let keyFile = try #require(credentials["keyFile"].string)
    for name in ["credentials.json", "server.key", URL(fileURLWithPath: keyFile).lastPathComponent] {
      let mode = try FileManager.default.attributesOfItem(atPath: dev.state.path(name))[.posixPermissions] as? Int
      #expect((mode ?? 0o777) & 0o077 == 0, "\(name) has mode \(String(mode ?? 0, radix: 8))")
    }
    #expect(String(decoding: try dev.state.read(".gitignore"), as: UTF8.self) == "*\n")
  }
}

@Suite("Access tokens of one app", .processes) struct AppAccessTests {
  /// A gateway with two apps, and an access token that sees only one of them.
  private func gateway() async throws -> Deployment {
    let state = try await Deployment.newState()
    let configuration = """
      upstreams: {here: {url: "https://localhost:9"}}
      apps: [{bundleID: com.example.app}, {bundleID: com.example.other}]
      accessTokens:
        - {name: everything, scopes: [admin], secret: everything-secret-1}
        - {name: other, scopes: [admin], bundleIDs: [com.example.other], secret: other-secret-0001}
        - {name: past, scopes: [admin], expires: 2020-01-01, secret: past-secret-00001}
      """
    let file = try state.write("gateway.yaml", configuration)
    return try await Deployment.start(["gateway", "--config", file], in: state)
  }

  private func call(_ gateway: Deployment, _ method: String, _ path: String, _ json: String? = nil, secret: String) async throws -> Answer {
    try await gateway.control(method, path, json, as: nil, headers: ["authorization: Bearer \(secret)"])
  }

  @Test func seesNothingOfAnother() async throws {
    let gateway = try await gateway()
    let token = newToken()
    let mine = try await call(gateway, "PUT", "/v1/registrations/\(token)", RegistrationBody.app, secret: "everything-secret-1")
    #expect(mine.status == 201, "\(mine)")
    let push = try await gateway.send(PushRequest("alert", to: token))
    let id = try #require(push["apns-id"])
    #expect(try await call(gateway, "GET", "/v1/pushes/\(id)", secret: "everything-secret-1").status == 200)

    for path in ["/v1/registrations/\(token)", "/v1/pushes/\(id)", "/v1/budgets/\(token)"] {
      #expect(try await call(gateway, "GET", path, secret: "other-secret-0001").status == 404, "\(path)")
    }
    #expect(try await call(gateway, "DELETE", "/v1/registrations/\(token)", secret: "other-secret-0001").status == 404)
    #expect(try await call(gateway, "GET", "/v1/registrations", secret: "other-secret-0001").json["registrations"].array.isEmpty)
    #expect(try await call(gateway, "GET", "/v1/pushes", secret: "other-secret-0001").json["pushes"].array.isEmpty)
    let foreign = try await call(gateway, "PUT", "/v1/registrations/\(newToken())", RegistrationBody.app, secret: "other-secret-0001")
    #expect(foreign.status == 403, "\(foreign)")
    #expect(try await call(gateway, "GET", "/metrics", secret: "other-secret-0001").status == 403)
    #expect(try await gateway.terminate() == 0)
  }

  @Test func endsWhenItSays() async throws {
    let gateway = try await gateway()
    #expect(try await call(gateway, "GET", "/v1/registrations", secret: "past-secret-00001").status == 401)
    #expect(try await call(gateway, "GET", "/v1/registrations", secret: "everything-secret-1").status == 200)
    #expect(try await gateway.terminate() == 0)
  }
}
