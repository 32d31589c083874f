import Foundation
import Testing

/// SIGHUP, apps set at run time, limits of providers, and the audit: with real processes.
@Suite("Changes while a gateway runs", .processes) struct ReloadTests {
  private static let providers = "providers:\n  - {keyID: KEY0000001, teamID: TEAM000001, keyFile: one.pem"

  /// A gateway with a configuration file of its own, in front of nothing.
  private func gateway(_ state: Folder, _ yaml: String) async throws -> Deployment {
    let file = try state.write("gateway.yaml", yaml)
    return try await Deployment.start(["gateway", "--config", file], in: state)
  }

  private func reload(_ gateway: Deployment, _ yaml: String, until text: String) async throws {
    let before = gateway.process.errors.text.count
    try gateway.state.write("gateway.yaml", yaml)
    gateway.process.signal(SIGHUP)
    try await eventually("the log says \(text)") { gateway.process.errors.text.dropFirst(before).contains(text) }
  }

  private func jwt(_ gateway: Deployment, kid: String, key: String) async throws -> String {
    try await ProviderToken.make(
      gateway, header: #"{"alg":"ES256","kid":"\#(kid)"}"#, claims: #"{"iss":"TEAM000001","iat":\#(Int(Date().timeIntervalSince1970))}"#,
      key: key)
  }

  @Test func keysAppsAndAccessTokensAreReadAgain() async throws {
    let state = try await Deployment.newState()
    let one = try await ProviderToken.newKey(in: state, name: "one.pem")
    let two = try await ProviderToken.newKey(in: state, name: "two.pem")
    let gateway = try await gateway(state, Self.providers + "}\n")
    let token = newToken()
    try await gateway.register(token, RegistrationBody.widgets)
    let (first, second) = (try await jwt(gateway, kid: "KEY0000001", key: one), try await jwt(gateway, kid: "KEY0000002", key: two))
    func send(_ jwt: String, _ topic: String = "com.example.app.push-type.widgets") async throws -> Answer {
      try await gateway.send(.widgets(token).with("authorization", "bearer \(jwt)").with("apns-topic", topic))
    }
    #expect(try await send(first).status == 200)
    #expect(try await send(second).status == 403)
    #expect(try await send(first, "org.example.new.push-type.widgets").status == 400)

    // Another key in the place of the first, another app, another secret.
    try await reload(
      gateway,
      """
      providers:
        - {keyID: KEY0000002, teamID: TEAM000001, keyFile: two.pem}
      apps:
        - bundleID: com.example.app
        - bundleID: org.example.new
      accessTokens:
        - {name: fresh, scopes: [admin], secret: a-secret-of-the-new-file}
      """, until: "+ org.example.new")
    try await eventually("the new key holds") { try await send(second).status == 200 }
    try await eventually("the old key does not") { try await send(first).status == 403 }
    let answer = try await send(second, "org.example.new.push-type.widgets")
    #expect(try answer.json["reason"].string == "DeviceTokenNotForTopic", "\(answer)")
    #expect(try await gateway.control("GET", "/v1/registrations").status == 401)
    let fresh = try await curl(
      "GET", gateway.url("control") + "/v1/registrations", ca: state.path("ca.pem"),
      headers: ["authorization: Bearer a-secret-of-the-new-file"])
    #expect(fresh.status == 200)
    #expect(try await gateway.terminate() == 0)
  }

  @Test func aBadFileChangesNothingAndIsToldWithItsPlace() async throws {
    let state = try await Deployment.newState()
    let gateway = try await gateway(state, "apps:\n  - bundleID: com.example.app\n")
    let token = newToken()
    try await gateway.register(token, RegistrationBody.widgets)
    try await reload(gateway, "apps:\n  - bundelID: org.example.other\n", until: "gateway.yaml:2:5")
    try await reload(gateway, "tls: {certificateFile: ca.pem, keyFile: server.key}\n", until: "tls.certificateFile")
    try await reload(gateway, "apps: [\n", until: "gateway.yaml:2")
    #expect(try await gateway.send(.widgets(token)).status == 200)
    try await reload(gateway, "loops: 2\n", until: "loops")
    #expect(gateway.process.errors.text.contains("need a restart"))
    #expect(try await gateway.terminate() == 0)
  }

  @Test func aNewCertificateIsShownToNewConnectionsAndOldOnesGoOn() async throws {
    let state = try await Deployment.newState()
    let gateway = try await gateway(state, "")
    let token = newToken()
    try await gateway.register(token, RegistrationBody.widgets)
    func serial(_ face: String) async throws -> String {
      let port = try gateway.port(face)
      let script = "echo | openssl s_client -connect 127.0.0.1:\(port) -alpn h2 2>/dev/null | openssl x509 -noout -serial"
      return try await run(["bash", "-c", script]).text
    }
    let before = try await serial("provider")
    // The connection is open and idle while the certificate changes, and sends again after.
    let (began, push) = (state.path("began"), try await gateway.fields(to: token))
    let payload = #"{"aps":{"content-changed":true}}"#
    async let talk = gateway.converse([
      .preface(), .headers(push, stream: 1), .data(payload, stream: 1), .receive(ends: 1), .mark(began), .receive(frames: 1000, seconds: 5),
      .headers(push, stream: 3), .data(payload, stream: 3), .receive(ends: 1),
    ])
    try await eventually("the first push is answered") { FileManager.default.fileExists(atPath: began) }
    try FileManager.default.removeItem(atPath: state.path("server.pem"))
    try await reload(gateway, "", until: "changed=certificate")
    try await eventually("both faces show the new certificate") {
      let (provider, control) = (try await serial("provider"), try await serial("control"))
      return provider != before && provider == control
    }
    let (first, second) = (try await talk.status(of: 1), try await talk.status(of: 3))
    #expect(first == "200" && second == "200")
    #expect(try await gateway.terminate() == 0)
  }

  /// Each answer to an open question that something else than the rules of requests goes by, and one of those.
  @Test func answersAreReadAgain() async throws {
    let state = try await Deployment.newState()
    let gateway = try await gateway(state, "apps:\n  - {bundleID: com.example.app, validation: apple}\n")
    let token = newToken()
    try await gateway.register(token, RegistrationBody.app)
    let fields = try await gateway.fields(to: token, topic: "com.example.app", type: "alert")
    func malformed() async throws -> Int { try await gateway.send(PushRequest("alert", to: token, body: "nothing")).status }
    func overflow() async throws -> Conversation {
      // More than a header list may have.
      let large = fields + (0..<3).map { ("x-large-\($0)", String(repeating: "a", count: 3000)) }
      return try await gateway.converse([.preface(), .headers(large, stream: 1, end: true), .receive(ends: 1)])
    }
    func waiting() async throws -> [Int] {
      let token = newToken()
      try await gateway.register(token, RegistrationBody.app)
      var statuses: [Int] = []
      for _ in 0..<3 {
        statuses.append(try await gateway.send(PushRequest("alert", to: token)).status)
      }
      return statuses
    }
    func unknownChannel() async throws -> Int {
      let jwt = try await ProviderToken.of(gateway)
      return try await curl(
        "GET", gateway.url("provider") + "/1/apps/com.example.app/channels", ca: state.path("ca.pem"),
        headers: ["authorization: bearer \(jwt)", "apns-channel-id: aMs2y8fFEe8AAPIAM4gHog=="]
      ).status
    }
    let before = (try await malformed(), try await overflow().status(of: 1), try await unknownChannel())
    #expect(before == (200, "431", 404))
    let manyWait = try await waiting()
    #expect(manyWait == [200, 200, 200])

    try await reload(
      gateway,
      """
      apps:
        - {bundleID: com.example.app, validation: apple}
      provider:
        answers: {malformedBody: payloadEmpty, headerOverflow: reset, tooManyRequestsAfter: 1, unknownChannelRead: likeSending, minimumTls: 1.3}
      """, until: "changed=provider.answers")
    try await eventually("the new rules hold") { try await malformed() == 400 }
    let after = (try await overflow().frames(of: 1).map(\.type), try await unknownChannel())
    #expect(after == (["RST_STREAM"], 400))
    #expect(try await gateway.converse([.preface(), .receive(frames: 1)], tls: "1.3").frames.count == 1)
    #expect(try await gateway.converse([.preface(), .receive(frames: 1)], tls: "1.2").error?.contains("PROTOCOL_VERSION") == true)
    let fewWait = try await waiting()
    #expect(fewWait.first == 200 && fewWait.last == 429, "\(fewWait)")
    #expect(!gateway.process.errors.text.contains("need a restart"))
    #expect(try await gateway.terminate() == 0)
  }

  /// An upstream whose certificate leads to another authority than the one that is named is reached once the right one is.
  @Test func theAuthorityOfAnUpstreamIsReadAgain() async throws {
    let state = try await Deployment.newState()
    let upstream = try await FakeUpstream.start(["200"], state: state)
    let office = try await CertificateOffice()
    try FileManager.default.copyItem(atPath: office.authority, toPath: state.path("other.pem"))
    func yaml(_ ca: String) -> String { "upstreams:\n  here: {url: \"https://localhost:\(upstream.port)\", ca: \(ca)}\n" }
    let gateway = try await gateway(state, yaml("other.pem"))
    let token = newToken()
    try await gateway.register(token, RegistrationBody.widgets)
    let answer = try await gateway.send(.widgets(token))
    #expect(answer.status == 200)
    try await eventually("the upstream is not trusted") { gateway.process.errors.text.contains("no trusted authority") }
    try await reload(gateway, yaml("ca.pem"), until: "changed=upstreams.here.ca")
    try await eventually("the push arrives") { upstream.requestCount == 1 }
    // What else differs waits for a restart, and the authority stays.
    try await reload(gateway, yaml("other.pem").replacingOccurrences(of: "localhost", with: "127.0.0.1"), until: "keys=upstreams")
    #expect(try await gateway.send(.widgets(newToken())).status == 400)
    #expect(try await gateway.terminate() == 0)
  }

  @Test func devReadsItsStateFolderAgain() async throws {
    let dev = try await Deployment.start(["dev"])
    let made = try await run([
      Deployment.executable, "keys", "new", "--key-id", "NEWKEY0001", "--team", "TEAM000001", "--state-dir", dev.state.path,
    ])
    #expect(made.status == 0, "\(made)")
    let token = newToken()
    try await dev.register(token, RegistrationBody.widgets)
    let jwt = try await jwt(dev, kid: "NEWKEY0001", key: dev.state.path("AuthKey_NEWKEY0001.p8"))
    func send() async throws -> Int { try await dev.send(.widgets(token).with("authorization", "bearer \(jwt)")).status }
    #expect(try await send() == 403)
    dev.process.signal(SIGHUP)
    try await eventually("dev tells what changed") { dev.process.output.text.contains("changed: providers: + NEWKEY0001") }
    try await eventually("the new key holds") { try await send() == 200 }
    try Data("nothing".utf8).write(to: URL(fileURLWithPath: dev.state.path("AuthKey_NEWKEY0001.p8")))
    dev.process.signal(SIGHUP)
    try await eventually("dev tells what is wrong") { dev.process.output.text.contains("is not used") }
    #expect(try await send() == 200)
    #expect(try await dev.terminate() == 0)
  }

  /// It reads its access tokens again, see `AccessEndTests`, and says that it does no more.
  @Test func aDeviceLivesThroughSIGHUP() async throws {
    let state = try await Deployment.newState()
    let device = try await Deployment.start(["device"], in: state)
    device.process.signal(SIGHUP)
    try await eventually("the log tells") { device.process.errors.text.contains("the access tokens were read again") }
    #expect(try await device.terminate() == 0)
  }

  /// A terminal that is closed takes `dev` with it; nobody else would stop it.
  @Test func devEndsWithItsTerminal() async throws {
    let folder = try Folder()
    let script = """
      import os, pty, sys, time
      pid, terminal = pty.fork()
      if pid == 0: os.execv(sys.argv[1], sys.argv[1:])
      said = b""
      while b"ready " not in said: said += os.read(terminal, 4096)
      os.close(terminal)
      for _ in range(200):
          if os.waitpid(pid, os.WNOHANG)[0]: sys.exit(0)
          time.sleep(0.1)
      os.kill(pid, 9)
      sys.exit("it goes on")
      """
    let result = try await run(
      [
        python, "-c", script, Deployment.executable, "dev", "--state-dir", folder.path, "--provider-port", "0", "--control-port", "0",
        "--device-port", "0", "--plain-port", "0",
      ])
    #expect(result.status == 0, "\(result.standardError)")
  }

  @Test func anAppIsSetAtRunTimeAndSurvivesARestart() async throws {
    let state = try await Deployment.newState()
    let first = try await Deployment.start(["gateway"], in: state)
    let token = newToken()
    try await first.register(token, RegistrationBody.widgets)
    func strict(_ gateway: Deployment) async throws -> Int {
      try await gateway.send(.widgets(token).body(#"{"aps":{"content-changed":1}}"#)).status
    }
    #expect(try await strict(first) == 400)
    let put = try await first.control("PUT", "/v1/apps/com.example.app", #"{"validation":"apple","budgets":{"widgets":{"allowance":3}}}"#)
    #expect(put.status == 200, "\(put)")
    #expect(try put.json["origins"]["validation"].string == "api")
    try await eventually("the new rule holds") { try await strict(first) == 200 }
    #expect(try await first.control("PUT", "/v1/apps/com.example.app", #"{"validaton":"apple"}"#).text.contains("validation"))
    #expect(try await first.control("PUT", "/v1/apps/com.example.app", "{}", as: "read").status == 403)
    try await eventually("the audit has who, what and result") {
      let log = first.process.errors.text
      return log.contains("who=admin what=\"PUT /v1/apps/com.example.app\" status=200") && log.contains("who=read")
        && log.contains("status=403")
    }
    #expect(try await first.terminate() == 0)

    let second = try await Deployment.start(["gateway"], in: state)
    #expect(try await strict(second) == 200)
    let budgets = try await second.control("GET", "/v1/budgets/\(token)").json
    #expect("\(budgets)".contains("\"allowance\":3"), "\(budgets)")
    #expect(try await second.control("DELETE", "/v1/apps/com.example.app").status == 204)
    try await eventually("the old rule holds") { try await strict(second) == 400 }
    #expect(try await second.control("DELETE", "/v1/apps/com.example.app").status == 404)
    #expect(try await second.terminate() == 0)
  }

  @Test func aProviderOverItsLimitIsAnswered429() async throws {
    let state = try await Deployment.newState()
    let key = try await ProviderToken.newKey(in: state, name: "one.pem")
    let gateway = try await gateway(state, Self.providers + ", requestsPerSecond: 1}\n")
    let token = newToken()
    try await gateway.register(token, RegistrationBody.widgets)
    let jwt = try await jwt(gateway, kid: "KEY0000001", key: key)
    var answers: [Answer] = []
    for _ in 0..<5 {
      answers.append(
        try await gateway.send(.widgets(token).with("authorization", "bearer \(jwt)").with("widgetpush-explain", "1")))
    }
    #expect(answers[0].status == 200)
    let refused = try #require(answers.first { $0.status == 429 }, "\(answers)")
    #expect(try refused.json["reason"].string == "TooManyRequests")
    #expect(refused["widgetpush-detail"]?.contains("KEY0000001") == true && refused["retry-after"] == "1", "\(refused)")
    #expect(try await gateway.terminate() == 0)
  }
}
