import Configuration
import Testing

@Suite("Configuration errors") struct ConfigurationErrorTests {
  /// The content-states alone and the others share the bits that a push's mismatches have.
  @Test func bothListsOfSchemasCountTogether() throws {
    func yaml(_ more: Int) -> String {
      let states = (0..<30).map { "A\($0): {}" }.joined(separator: ", ")
      let schemas = (0..<more).map { "B\($0): {contentState: {}}" }.joined(separator: ", ")
      return "upstreams: {a: {url: https://h}}\napps:\n  - bundleID: a.b\n    contentStates: {\(states)}\n    schemas: {\(schemas)}"
    }
    #expect(try GatewayConfiguration.load(sources(yaml(2))).contentStates["a.b"]?.count == 32)
    let error = #expect(throws: ConfigurationError.self) { try GatewayConfiguration.load(sources(yaml(3))) }
    #expect(
      error.map { "\($0)" }?.contains("5:14: apps[0].schemas and contentStates together must have at most 32 attributes types, not 33")
        == true,
      "\(error.map { "\($0)" } ?? "")")
  }

  @Test(arguments: [
    ("upstraems: {}", "1:1", "did you mean \"upstreams\"?"),
    ("apps:\n  - bundleId: com.example.app", "2:5", "did you mean \"bundleID\"?"),
    ("apps:\n  - bundleID: com.example.app\n    budgetMod: enforce", "3:5", "did you mean \"budgetMode\"?"),
    ("apps:\n  - bundleID: com.example.app\n    budgetMode: enforced", "3:17", "did you mean \"enforce\"?"),
    ("apps: [", "2:1", "did not find expected node content"),
    ("apps:\n  - bundleID: a.b\napps: []", "3:1", "stands here again"),
    ("apps: 3", "1:7", "apps must be a list, not a single value"),
    ("apps: [3]", "1:8", "apps[0] must be a mapping"),
    ("apps: [{team: T}]", "1:8", "apps[0].bundleID is missing"),
    ("apps: [{bundleID: a.b}, {bundleID: a.b}]", "1:36", "which an earlier entry has at config/gateway.yaml:1:19"),
    ("apps: [{bundleID: a b}]", "1:19", "an app's bundle id such as"),
    ("apps: [{bundleID: a.b, upstream: nowhere}]", "1:34", "has no upstreams"),
    ("upstreams: {here: {url: https://h}}\napps: [{bundleID: a.b, upstream: hear}]", "2:34", "did you mean \"here\"?"),
    ("upstreams: {here: {url: https://h}}\napps: [{bundleID: a.b, upstream: {prod: here}}]", "2:35", "did you mean \"production\"?"),
    ("upstreams: {a: {url: https://h}, b: {url: https://i}}\napps: [{bundleID: a.b}]", "2:8", "it must be \"a\" or \"b\""),
    ("upstreams: {a: {apple: production}}\napps: [{bundleID: a.b}]", "2:8", "apps[0].team must be one of teams"),
    ("upstreams: {a: {url: http://h}}", "1:22", "must be https://HOST"),
    ("upstreams: {a: {url: https://h/path}}", "1:22", "must be https://HOST"),
    ("upstreams: {a: {url: https://h:0}}", "1:22", "must be https://HOST"),
    ("upstreams: {a: {}}", "1:16", "or apple must be given"),
    ("upstreams: {a: {apple: sandbox}}", "1:24", "\"development\" or \"production\""),
    ("upstreams: {a: {url: https://h, ca: {file: no.pem}}}", "1:44", "config/no.pem, which cannot be read: no such file or directory"),
    ("upstreams: {a: {url: https://h, ca: {path: no.pem}}}", "1:37", "{file: PATH} or {env: NAME}"),
    ("upstreams: {a: {url: https://h, ca: {env: NO_SUCH}}}", "1:43", "needs the environment variable NO_SUCH"),
    ("provider: {port: 70000}", "1:18", "from 0 to 65535, not \"70000\""),
    ("provider: {explainHeaders: yes}", "1:28", "must be true or false, not \"yes\""),
    ("provider: {port: [1]}", "1:18", "must be a single value, not a list"),
    ("device: {url: device:8444}", "1:15", "must be https://HOST"),
    ("device: {url: https://d}\nupstreams: {a: {url: https://h}}", "1:15", "for configurations without upstreams"),
    ("provider: 2197", "1:11", "provider must be a mapping"),
    ("bind: localhost", "1:7", "must be an IP address"),
    ("bind: 127.0.0.1:80", "1:7", "must be an IP address"),
    ("loops: 0", "1:8", "from 1 to 64"),
    ("tls: {keyFile: k}", "1:16", "cannot be read"),
    ("log: {format: xml}", "1:15", "\"text\" or \"json\", not \"xml\""),
    ("providers: [{keyID: A-B, teamID: T}]", "1:21", "letters and digits"),
    ("providers: [{keyID: AB, teamID: T}]", "1:13", "or keyFile must name"),
    ("teams: [{id: T, keys: []}]", "1:23", "a list of keys"),
    ("accessTokens: [{name: a, scopes: [write], secret: x}]", "1:34", "must list only \"register\""),
    ("accessTokens: [{name: a, scopes: [], secret: x}]", "1:34", "must list some of"),
    ("accessTokens: [{name: a, scopes: [read], secret: short}]", "1:50", "at least 16 characters"),
    ("accessTokens: [{name: a, scopes: [read]}]", "1:16", "or sha256 must be given"),
    ("accessTokens: [{name: a, scopes: [read], sha256: 00ff}]", "1:50", "64 hexadecimal digits"),
    ("accessTokens: [{name: a, scopes: [read], expires: tomorrow}]", "1:51", "must be a date"),
    (
      "upstreams: {h: {url: https://h}}\napps: [{bundleID: a.b, budgets: {widgets: {burst: 41}}}]", "2:51",
      "must not be more than the allowance, 40"
    ),
    ("- a", "1:1", "the configuration must be a mapping"),
  ])
  func theyNameThePlaceAndTheRightForm(yaml: String, place: String, sentence: String) {
    let error = #expect(throws: ConfigurationError.self) { try GatewayConfiguration.load(sources(yaml)) }
    #expect(error?.place == "config/gateway.yaml:\(place)", "\(String(describing: error))")
    #expect(error?.message.contains(sentence) == true, "\(String(describing: error))")
  }

  @Test(arguments: [
    ("WIDGETPUSH_PROVDER_PORT", "1", "did you mean \"WIDGETPUSH_PROVIDER_PORT\"?"),
    ("WIDGETPUSH_PROVIDER_PORT", "x", "provider.port must be a whole number from 0 to 65535, not \"x\""),
    ("WIDGETPUSH_TLS_KEY_FILE", "k", "names k, which cannot be read"),
  ])
  func variablesAreNamed(name: String, value: String, sentence: String) {
    let error = #expect(throws: ConfigurationError.self) { try GatewayConfiguration.load(sources(environment: [name: value])) }
    #expect(error?.place == name)
    #expect(error?.message.contains(sentence) == true, "\(String(describing: error))")
  }

  /// Two of one name, both places told: access tokens, keys, teams.
  @Test(arguments: [
    (
      "accessTokens:\n  - {name: ci, scopes: [read], secret: 0123456789abcdef}\n  - {name: ci, scopes: [admin], secret: fedcba9876543210}\n",
      "3:12", "accessTokens[1].name must be another than \"ci\", which an earlier entry has at config/gateway.yaml:2:12"
    ),
    (
      "providers:\n  - {keyID: A, teamID: T, keyFile: k}\n  - {keyID: A, teamID: U, keyFile: k}\n", "3:13",
      "which an earlier entry has at config/gateway.yaml:2:13"
    ),
    (
      "teams:\n  - {id: T, keys: [{id: A, file: k}]}\n  - {id: T, keys: [{id: B, file: k}]}\n", "3:10",
      "which an earlier entry has at config/gateway.yaml:2:10"
    ),
  ])
  func aNameStandsOnce(yaml: String, place: String, sentence: String) {
    let error = #expect(throws: ConfigurationError.self) {
      try GatewayConfiguration.load(sources(yaml, files: ["k": "K", "config/k": "K"]))
    }
    #expect(error?.place == "config/gateway.yaml:\(place)", "\(String(describing: error))")
    #expect(error?.message.contains(sentence) == true, "\(String(describing: error))")
  }

  /// Whoever writes a password into a URL is told of the URL, and nobody of the password.
  @Test(arguments: [
    "upstreams: {a: {url: \"https://kate:hunter2@h:1\"}}", "device: {url: \"https://hunter2@h\"}",
    "upstreams: {a: {url: \"https://kate:hun@hunter2@h/path\"}}", "bind: \"https://kate:hunter2@h\"",
  ]) func noPasswordOfAURLIsTold(yaml: String) {
    let trace = ConfigurationTrace()
    let error = #expect(throws: ConfigurationError.self) { try GatewayConfiguration.load(sources(yaml), trace: trace) }
    #expect(error?.description.contains("hunter2") == false && error?.description.contains("\(ConfigurationTrace.mask)@h") == true)
    #expect(!trace.entries.contains { $0.value?.contains("hunter2") == true })
    #expect(trace.entries.contains { $0.value?.contains("https://\(ConfigurationTrace.mask)@h") == true })
  }

  @Test func flagsAreNamed() {
    let error = #expect(throws: ConfigurationError.self) { try GatewayConfiguration.load(sources(flags: ["provider.port": "-1"])) }
    #expect(error?.description == "--provider-port: provider.port must be a whole number from 0 to 65535, not \"-1\"")
  }

  @Test func variablesOfTheOtherProcessAndOfChildrenAreLeftAlone() throws {
    let environment = ["WIDGETPUSH_DEVICE_PORT": "1", "WIDGETPUSH_STATE_DIR": "x"]
    _ = try GatewayConfiguration.load(sources(environment: environment), otherVariables: ["WIDGETPUSH_STATE_DIR"])
    _ = try DeviceConfiguration.load(
      sources(environment: ["WIDGETPUSH_PROVIDER_PORT": "1", "WIDGETPUSH_STATE_DIR": "x"]), otherVariables: ["WIDGETPUSH_STATE_DIR"])
    #expect(throws: ConfigurationError.self) { try GatewayConfiguration.load(sources(environment: environment)) }
  }

  @Test(arguments: [
    "2027-1-31", "2027-02-29", "2027-13-01", "2027-01-31T24:00:00Z", "2027-01-31T12:00:00", "2027-01-31 12:00:00Z", "20270131",
    "2027-01-31T12:00:00+0100", "2027-01-31Tab:00:00Z", "",
  ])
  func onlyRealDatesAreDates(text: String) {
    let yaml = "accessTokens: [{name: a, scopes: [read], secret: 0123456789abcdef, expires: \"\(text)\"}]"
    #expect(throws: ConfigurationError.self) { try GatewayConfiguration.load(sources(yaml)) }
  }
}
