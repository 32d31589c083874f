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
