import Configuration
import Primitives
import Push
import Testing

@Suite("Gateway configuration") struct GatewayConfigurationTests {
  @Test func withoutAnythingItHasTheDefaults() throws {
    let configuration = try GatewayConfiguration.load(sources())
    #expect(configuration.bind == "127.0.0.1")
    #expect(configuration.providerPorts == [2197])
    #expect(configuration.controlPort == 8443)
    #expect(configuration.plainPort == nil)
    #expect(configuration.loops == 1)
    #expect(!configuration.explainHeaders)
    #expect(configuration.store == nil)
    #expect(configuration.pushLogEntries == Limits.pushLogEntries && !configuration.pushLogPayloads)
    #expect(configuration.waitingBytes == Limits.waitingBytes)
    #expect(configuration.logFormat == .text)
    #expect(configuration.apps.isEmpty && configuration.upstreams.isEmpty && configuration.providers.isEmpty)
  }

  @Test func everythingCanBeSaid() throws {
    let yaml = """
      bind: "[::]"
      loops: 4
      provider: {port: 443}
      control: {port: 0}
      tls: {certificateFile: server.pem, keyFile: /keys/server.key}
      store: {path: data}
      pushLog: {maxEntries: 1000}
      log: {format: json}
      teams:
        - {id: TEAM567890, keys: [{id: KEY4567890, file: {env: APPLE_KEY}}]}
      providers:
        - {keyID: KEYA567890, teamID: TEAM567890, publicKeyFile: a.pem, bundleIDs: [com.example.app], environment: production}
        - {keyID: KEYB567890, teamID: TEAMB67890, keyFile: {file: b.p8}}
      upstreams:
        here: {url: "https://[::1]:8444", ca: {file: ca.pem}}
        there: {url: https://device.example/}
        apple: {apple: production}
      apps:
        - bundleID: com.example.app
          team: TEAM567890
          upstream: {development: here, production: apple}
          budgets: {widgets: {allowance: 10, burst: 2, minimumIntervalSeconds: 0.5}}
        - {bundleID: com.example.mock, upstream: there, validation: apple, unknownTokens: adopt, expirationZero: drop, coalesceSeconds: 2,
           batchSeconds: 30, answer: upstream, answerTimeoutMilliseconds: 750}
        - {bundleID: "*", upstream: here, budgetMode: reject}
      accessTokens:
        - {name: app, scopes: [register, read], bundleIDs: [com.example.app], expires: 2027-01-31T12:00:00+01:00, secret: {file: secret}}
        - {name: ops, scopes: [admin], sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855}
      """
    let files = [
      "config/server.pem": "CERT", "/keys/server.key": "KEY", "config/a.pem": "A", "config/b.p8": "B\n", "config/ca.pem": "CA\n",
      "config/secret": "0123456789abcdef\n",
    ]
    let configuration = try GatewayConfiguration.load(sources(yaml, environment: ["APPLE_KEY": "P8"], files: files))
    #expect(configuration.bind == "::")
    #expect(configuration.loops == 4)
    #expect(configuration.providerPorts == [443])
    #expect(configuration.controlPort == 0)
    #expect(configuration.identity == ServerIdentity(certificatePEM: "CERT", keyPEM: "KEY"))
    #expect(configuration.store == .folder("config/data"))
    #expect(configuration.pushLogEntries == 1000)
    #expect(configuration.logFormat == .json)
    #expect(configuration.signingKeys == [SigningKey(teamID: "TEAM567890", keyID: "KEY4567890", keyPEM: "P8")])
    #expect(
      configuration.providers == [
        ProviderKey(
          keyID: "KEYA567890", teamID: "TEAM567890", keyPEM: "A", bundleIDs: ["com.example.app"], environment: .production),
        ProviderKey(keyID: "KEYB567890", teamID: "TEAMB67890", keyPEM: "B"),
      ])
    #expect(
      configuration.upstreams == [
        UpstreamSettings(name: "here", host: "::1", port: 8444, authorityPEM: "CA"),
        UpstreamSettings(name: "there", host: "device.example", port: 443),
        UpstreamSettings(name: "apple", host: "api.push.apple.com", port: 443, isApple: true),
      ])
    let first = configuration.apps[0]
    #expect(first.developmentUpstream == "here")
    #expect(first.productionUpstream == "apple")
    #expect(first.policy.validation == .apple)
    #expect(first.policy.budgetMode == .observe)
    #expect(first.policy.unknownTokens == .adopt)
    #expect(
      first.policy.widgets
        == BudgetParameters(allowance: 10, burst: 2, window: .seconds(86_400), minimumInterval: .milliseconds(500)))
    #expect(first.policy.controls == .controls)
    let second = configuration.apps[1]
    #expect(second.developmentUpstream == "there" && second.productionUpstream == "there")
    #expect(second.policy.validation == .apple)
    #expect(second.policy.budgetMode == .enforce)
    #expect(second.policy.unknownTokens == .adopt)
    #expect(second.policy.expirationZero == .drop)
    #expect(second.policy.coalesce == .seconds(2) && second.policy.batch == .seconds(30))
    #expect(second.policy.answer == .upstream && second.policy.answerTimeout == .milliseconds(750))
    #expect(first.policy.answer == .upstream && first.policy.answerTimeout == .seconds(3), "as is right in front of Apple")
    #expect(configuration.upstreams.map(\.serverErrorRetry) == [.zero, .zero, .seconds(900)])
    #expect(configuration.anyApp?.policy.budgetMode == .reject)
    #expect(configuration.appDirectory.index(of: "com.unknown") == 2)
    #expect(configuration.accessTokens[0].secret == .text("0123456789abcdef"))
    #expect(configuration.accessTokens[0].expires == Instant(unixSeconds: 1_801_393_200))
    #expect(configuration.accessTokens[0].bundleIDs == ["com.example.app"])
    #expect(configuration.accessTokens[1].scopes == ["admin"])
  }

  private func apple(_ keys: String, upstream: String = "apple", more: String = "") throws -> GatewayConfiguration {
    let yaml = """
      teams: [{id: TEAM567890, keys: [\(keys)]}]
      upstreams: {apple: {apple: production\(more)}, sandbox: {apple: development}}
      apps: [{bundleID: a.b, team: TEAM567890, upstream: {production: \(upstream), development: sandbox}}]
      """
    return try GatewayConfiguration.load(sources(yaml, files: ["config/p.p8": "P", "config/d.p8": "D"]))
  }

  @Test func aTeamMayHaveAKeyForEachEnvironment() throws {
    let both = try apple("{id: KEYP567890, file: p.p8, environment: production}, {id: KEYD567890, file: d.p8, environment: development}")
    #expect(both.signingKeys.map(\.environment) == [.production, .development])
    #expect(both.signingKeys.map(\.keyPEM) == ["P", "D"])
    #expect(try apple("{id: KEYP567890, file: p.p8}").signingKeys.map(\.environment) == [nil])
    #expect(try apple("{id: KEYP567890, file: p.p8}", more: ", serverErrorRetrySeconds: 60").upstreams[0].serverErrorRetry == .seconds(60))
    #expect(try apple("{id: KEYP567890, file: p.p8}", more: ", pauseSeconds: 5").upstreams.map(\.pause) == [.seconds(5), .seconds(60)])
    let topics = try apple("{id: KEYP567890, file: p.p8, topics: [a.b]}, {id: KEYD567890, file: d.p8, topics: [a.b.voip, c.d]}")
    #expect(topics.signingKeys.map(\.topics) == [["a.b"], ["a.b.voip", "c.d"]])
    #expect(
      try apple("{id: KEYP567890, file: p.p8, topics: [a.b]}, {id: KEYD567890, file: d.p8}").signingKeys.map(\.topics) == [["a.b"], nil])
    #expect(topics.signingKeys[1].signs(forApp: "a.b") && topics.signingKeys[1].signs(forApp: "c.d"))
    #expect(!topics.signingKeys[0].signs(forApp: "c.d") && !topics.signingKeys[0].signs(forApp: "a"))
    for (keys, message) in [
      ("{id: KEYP567890, file: p.p8, topics: [a.c]}", "has no key for a.b in "),
      ("{id: KEYP567890, file: p.p8, topics: [a.b.other]}", "has no key for a.b in "),
      ("{id: KEYP567890, file: p.p8, topics: []}", "at least one topic"),
      ("{id: KEYP567890, file: p.p8, topics: [a b]}", "must list topics such as"),
      ("{id: KEYP567890, file: p.p8, topic: [a.b]}", "did you mean \"topics\"?"),
      (
        "{id: KEYP567890, file: p.p8, topics: [a.b, c.d]}, {id: KEYD567890, file: d.p8, topics: [c.d]}",
        "must not list c.d, for which the key KEYP567890 signs already"
      ),
      ("{id: KEYP567890, file: p.p8, environment: production}", "has no key for development"),
      ("{id: KEYP567890, file: p.p8}, {id: KEYD567890, file: d.p8}", "signs for both environments already"),
      ("{id: KEYP567890, file: p.p8, environment: prod}", "environment"),
    ] {
      let error = #expect(throws: ConfigurationError.self) { try apple(keys) }
      #expect("\(error.map { "\($0)" } ?? "")".contains(message), "\(error.map { "\($0)" } ?? "")")
    }
  }

  @Test func theOnlyUpstreamServesAppsThatNameNone() throws {
    let yaml = "upstreams: {here: {url: https://h}}\napps: [{bundleID: a.b}]"
    let app = try GatewayConfiguration.load(sources(yaml)).apps[0]
    #expect(app.upstream(.development) == "here" && app.upstream(.production) == "here")
  }

  @Test func flagsWinOverVariablesOverTheFile() throws {
    let yaml = "provider: {port: 1}\ncontrol: {port: 1}\nloops: 1\nlog: {format: text}"
    let environment = ["WIDGETPUSH_PROVIDER_PORT": "2", "WIDGETPUSH_CONTROL_PORT": "2", "WIDGETPUSH_LOG_FORMAT": "json", "PATH": "x"]
    let configuration = try GatewayConfiguration.load(sources(yaml, environment: environment, flags: ["provider.port": "3", "loops": "3"]))
    #expect(configuration.providerPorts == [3])
    #expect(configuration.controlPort == 2)
    #expect(configuration.loops == 3)
    #expect(configuration.logFormat == .json)
  }

  @Test(arguments: ["3", "16385", "many", "-1"]) func waitingMegabytesAreBounded(value: String) throws {
    #expect {
      try GatewayConfiguration.load(sources("store: {waitingMegabytes: \(value)}"))
    } throws: { "\($0)".contains("waitingMegabytes must be a whole number from 4 to 16384") }
  }

  @Test func everySingleValueHasAVariableAndAFlag() throws {
    var values = [
      "bind": "0.0.0.0", "loops": "2", "provider.port": "5", "provider.explainHeaders": "true", "control.port": "6",
      "tls.certificateFile": "c", "tls.keyFile": "k",
      "provider.initialConcurrentStreams": "1000", "provider.tokenUpdates": "warn", "provider.clientCertificates.ca": "a",
      "device.url": "https://device:8444", "store.path": "memory", "store.waitingMegabytes": "64", "pushLog.maxEntries": "500",
      "pushLog.maxAge": "3600",
      "pushLog.payloads": "true",
      "log.format": "json", "faults.allowed": "true", "clock.permitted": "true", "clock.tokenAge": "virtual",
      "clock.providerTimes": "virtual",
    ]
    // The switches have tests of their own.
    for key in GatewayConfiguration.keys where key.path.hasPrefix("provider.answers.") { values[key.path] = "" }
    #expect(Set(GatewayConfiguration.keys.map(\.path)) == Set(values.keys))
    values = values.filter { !$0.value.isEmpty }
    let variables = Dictionary(
      uniqueKeysWithValues: GatewayConfiguration.keys.compactMap { key in values[key.path].map { (key.variable, $0) } })
    #expect(variables["WIDGETPUSH_PUSH_LOG_MAX_ENTRIES"] == "500")
    #expect(GatewayConfiguration.keys.map(\.flag).contains("--tls-certificate-file"))
    for configuration in [
      try GatewayConfiguration.load(sources(flags: values, files: ["c": "C", "k": "K", "a": "A"])),
      try GatewayConfiguration.load(sources(environment: variables, files: ["c": "C", "k": "K", "a": "A"])),
    ] {
      #expect(configuration.bind == "0.0.0.0")
      #expect(configuration.waitingBytes == 64 << 20)
      #expect(configuration.loops == 2)
      #expect(configuration.providerPorts == [5])
      #expect(configuration.explainHeaders && configuration.faultsAllowed)
      #expect(configuration.clock == ClockSettings(permitted: true, tokenAge: .virtual, providerTimes: .virtual))
      #expect(configuration.initialConcurrentStreams == 1000)
      #expect(configuration.tokenUpdates == .warn)
      #expect(configuration.clientAuthorityPEM == "A")
      #expect(configuration.controlPort == 6)
      #expect(configuration.identity == ServerIdentity(certificatePEM: "C", keyPEM: "K"))
      #expect(configuration.store == .memory)
      #expect(configuration.deviceURL == "https://device:8444")
      #expect(configuration.pushLogEntries == 500 && configuration.pushLogPayloads)
      #expect(configuration.logFormat == .json)
    }
  }

  @Test func theProviderAPIMayHaveSeveralPorts() throws {
    let yaml = "provider: {ports: [2197, 443, 0, 0]}"
    #expect(try GatewayConfiguration.load(sources(yaml)).providerPorts == [2197, 443, 0, 0])
    #expect(try GatewayConfiguration.load(sources(yaml, flags: ["provider.port": "3"])).providerPorts == [3])
    for wrong in ["[]", "[1, 1]", "[70000]", "[a]", "3", "[1], port: 2", "[\(Array(repeating: "0", count: 17).joined(separator: ","))]"] {
      #expect(throws: ConfigurationError.self, "\(wrong)") { try GatewayConfiguration.load(sources("provider: {ports: \(wrong)}")) }
    }
  }

  @Test func aVariableMayHoldTheWholeFile() throws {
    let environment = ["WIDGETPUSH_CONFIG": "provider: {port: 9}\nprovidr: 1\n"]
    let error = #expect(throws: ConfigurationError.self) { try GatewayConfiguration.load(sources(environment: environment)) }
    #expect(error?.place == "WIDGETPUSH_CONFIG:2:1")
    #expect(try GatewayConfiguration.load(sources(environment: ["WIDGETPUSH_CONFIG": "loops: 3"])).loops == 3)
    #expect(try GatewayConfiguration.load(sources("loops: 2", environment: ["WIDGETPUSH_CONFIG": "loops: 3"])).loops == 2)
  }
}
