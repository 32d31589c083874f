import Foundation
import Testing

/// `access`, `keys` and `config`, as a person at a terminal uses them.
@Suite("Credential commands", .processes) struct CredentialCommandTests {
  private func widgetpush(_ arguments: [String], in state: Folder? = nil, environment: [String: String] = [:]) async throws -> CommandResult
  {
    try await run(
      [Deployment.executable] + arguments + (state.map { ["--state-dir", $0.path] } ?? []), environment: environment)
  }

  private func call(_ dev: Deployment, _ secret: String, _ path: String = "/v1/registrations") async throws -> Int {
    try await curl("GET", dev.url("control") + path, ca: dev.state.path("ca.pem"), headers: ["authorization: Bearer \(secret)"]).status
  }

  @Test func aRunningGatewayTakesAndLosesAnAccessToken() async throws {
    let dev = try await SharedDev.deployment()
    let name = "ci-\(newToken(4))"
    let made = try await widgetpush(["access", "new", name, "--scope", "read", "--bundle-id", "com.example.app"], in: dev.state)
    #expect(made.status == 0, "\(made.standardError)")
    let secret = made.text.trimmingCharacters(in: .whitespacesAndNewlines)
    #expect(secret.hasPrefix("wp_"))
    #expect(try !String(decoding: dev.state.read("access.json"), as: UTF8.self).contains(secret))
    #expect(try await call(dev, secret) == 200)
    #expect(try await call(dev, secret, "/metrics") == 403)

    let list = try await widgetpush(["access", "list"], in: dev.state)
    #expect(list.text.contains(name) && list.text.contains("com.example.app") && !list.text.contains(secret), "\(list.text)")
    #expect(try await widgetpush(["access", "new", name, "--scope", "read"], in: dev.state).status == 1)
    #expect(try await widgetpush(["access", "revoke", name], in: dev.state).status == 0)
    #expect(try await call(dev, secret) == 401)
    let again = try await widgetpush(["access", "revoke", name], in: dev.state)
    #expect(again.status == 1 && again.standardError.contains(name), "\(again.standardError)")
  }

  @Test func anAccessTokenAsConfigurationIsKeptNowhere() async throws {
    let state = try Folder()
    let made = try await widgetpush(["access", "new", "ci", "--scope", "admin", "--expires", "90d", "--yaml"], in: state)
    #expect(made.status == 0, "\(made.standardError)")
    #expect(made.text.contains("sha256: ") && !made.text.contains("wp_") && made.standardError.contains("wp_"))
    #expect(!FileManager.default.fileExists(atPath: state.path("access.json")))
    let file = try state.write("gateway.yaml", made.text)
    let checked = try await widgetpush(["config", "check", "--config", file])
    #expect(checked.text.contains("1 access token"), "\(checked.text)\(checked.standardError)")
  }

  @Test(arguments: [
    (["access", "new", "x"], "--scope"), (["access", "new", "x", "--scope", "raed"], "read"), (["access", "nwe"], "new"),
    (["access", "new", "x", "--scope", "read", "--expires", "yesterday"], "2030"),
    (["access", "new", "x", "--scope", "read", "--expires", "2020-01-01"], "past"),
    (["keys", "new", "--topics", "a.b"], "--use signing"),
    (["keys", "new", "--use", "signing", "--topics", "a b"], "com.example.app.push-type.widgets"),
    (["keys", "new", "--use", "signing", "--topics", ","], "at least one topic"), (["keys", "list", "--topics", "a.b"], "--topics"),
    (["access", "list", "--yaml"], "--yaml"), (["keys", "import", "Key.p8", "--team", "T"], "--key-id"), (["config", "chekc"], "check"),
    (["config", "check", "--config", "/nowhere.yaml"], "/nowhere.yaml"),
  ]) func aMistakeIsToldInWords(arguments: [String], hint: String) async throws {
    let result = try await widgetpush(arguments)
    #expect(result.status != 0 && result.text.isEmpty)
    #expect(result.standardError.contains(hint), "\(result.standardError)")
  }

  @Test func anImportedKeySignsProviderTokensAfterAStart() async throws {
    let state = try await Deployment.newState()
    let key = try await ProviderToken.newKey(in: state, name: "mine.pem")
    let imported = try await widgetpush(["keys", "import", key, "--key-id", "IMPORTED01", "--team", "TEAM000001"], in: state)
    #expect(imported.status == 0, "\(imported.standardError)")
    let list = try Document(await widgetpush(["keys", "list", "--json"], in: state).standardOutput)
    #expect("\(list)".contains("IMPORTED01") && "\(list)".contains("600"), "\(list)")

    let dev = try await Deployment.start(["dev"], in: state)
    let jwt = try await ProviderToken.make(
      dev, header: #"{"alg":"ES256","kid":"IMPORTED01"}"#,
      claims: #"{"iss":"TEAM000001","iat":\#(Int(Date().timeIntervalSince1970))}"#, key: key)
    let token = newToken()
    try await dev.register(token, RegistrationBody.widgets)
    let answer = try await dev.send(.widgets(token).with("authorization", "bearer \(jwt)"))
    #expect(answer.status == 200, "\(answer)")
    #expect(try await dev.terminate() == 0)
  }

  /// The gateway signs with it what goes to its topics, and with its own key the rest.
  @Test func anImportedKeyOfTopicsSignsForTheseAlone() async throws {
    let state = try await Deployment.newState()
    let own = try #require(try Document(state.read("credentials.json"))["gateway"]["keyID"].string)
    let key = try await ProviderToken.newKey(in: state, name: "topics.pem")
    let topics = ["com.example.app.push-type.widgets", "com.example.other"]
    let imported = try await widgetpush(
      ["keys", "import", key, "--key-id", "TOPICS0001", "--team", "TEAM000001", "--use", "signing", "--json"]
        + ["--topics", topics.joined(separator: ",")], in: state)
    #expect(imported.status == 0, "\(imported.standardError)")
    #expect(try Document(imported.standardOutput)["topics"].array.map(\.string) == topics)
    let list = try await widgetpush(["keys", "list"], in: state)
    #expect(list.text.contains(topics.joined(separator: ",")) && list.text.contains("all topics"), "\(list.text)")

    let upstream = try await FakeUpstream.start(["200", "200"], state: state)
    let options = try GatewayConfiguration(upstream: "https://localhost:\(upstream.port)").options(in: state)
    let gateway = try await Deployment.start(["gateway"] + options, in: state)
    func signer(_ push: PushRequest) async throws -> String? {
      let id = try #require(try await gateway.send(push)["apns-id"])
      try await gateway.settled(id, as: "accepted")
      var request: Document?
      try await eventually("the upstream tells of the request") {
        request = upstream.requests.first { $0["fields"]["apns-id"].string?.lowercased() == id.lowercased() }
        return request != nil
      }
      let jwt = try #require(request?["fields"]["authorization"].string?.split(separator: " ").last)
      var header = String(jwt.prefix { $0 != "." }).replacing("-", with: "+").replacing("_", with: "/")
      while header.count % 4 > 0 { header += "=" }
      return try Document(try #require(Data(base64Encoded: header)))["kid"].string
    }
    let (widgets, app) = (newToken(), newToken())
    try await gateway.register(widgets, RegistrationBody.widgets)
    try await gateway.register(app, RegistrationBody.app)
    #expect(try await signer(.widgets(widgets)) == "TOPICS0001")
    #expect(try await signer(PushRequest("alert", to: app)) == own)
    #expect(try await gateway.terminate() == 0)

    // The mock device of the folder takes both.
    let dev = try await Deployment.start(["dev"], in: state)
    let token = newToken()
    try await dev.register(token, RegistrationBody.widgets)
    try await dev.settled(try #require(try await dev.send(.widgets(token))["apns-id"]), as: "applied")
    #expect(try await dev.terminate() == 0)
  }

  @Test func aKeyThatOthersCanReadIsToldAndMended() async throws {
    let state = try await Deployment.newState()
    let file = try #require(try Document(state.read("credentials.json"))["keyFile"].string)
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
    let list = try await widgetpush(["keys", "list"], in: state)
    #expect(list.status == 0 && list.standardError.contains("chmod 600"), "\(list.standardError)")
    let gateway = try await Deployment.start(["gateway"], in: state)
    try await eventually("the gateway warns") { gateway.process.errors.text.contains("chmod 600") }
    #expect(try await gateway.terminate() == 0)
    let mended = try await widgetpush(["keys", "list", "--fix"], in: state)
    #expect(mended.standardError.isEmpty && mended.text.contains("600"), "\(mended.standardError)")
  }

  @Test func showTellsEveryValueAndWhereItCameFrom() async throws {
    let folder = try Folder()
    let file = try folder.write(
      "gateway.yaml", "loops: 2\naccessTokens:\n  - {name: a, scopes: [read], secret: sixteen-letters-at-least}\n")
    let result = try await widgetpush(
      ["config", "show", "--config", file, "--control-port", "9", "--json"], environment: ["WIDGETPUSH_PROVIDER_PORT": "7"])
    let text = result.text
    #expect(result.status == 0, "\(result.standardError)")
    #expect(!text.contains("sixteen"))
    let rows = try JSONDecoder().decode([String: [[String: String]]].self, from: result.standardOutput)["keys"] ?? []
    func row(_ key: String) -> [String: String]? { rows.first { $0["key"] == key } }
    #expect(row("loops") == ["key": "loops", "value": "2", "origin": "file", "place": "\(file):1:8"])
    #expect(row("provider.port") == ["key": "provider.port", "value": "7", "origin": "environment", "place": "WIDGETPUSH_PROVIDER_PORT"])
    #expect(row("control.port") == ["key": "control.port", "value": "9", "origin": "flag", "place": "--control-port"])
    #expect(row("bind") == ["key": "bind", "value": "127.0.0.1", "origin": "default"])
  }

  @Test func checkNamesLineAndColumn() async throws {
    let folder = try Folder()
    let file = try folder.write("gateway.yaml", "provider:\n  prot: 3\n")
    let result = try await widgetpush(["config", "check", "--config", file])
    #expect(result.status == 1 && result.standardError.contains("gateway.yaml:2:3"), "\(result.standardError)")
    #expect(result.standardError.contains("port"))
  }
}
