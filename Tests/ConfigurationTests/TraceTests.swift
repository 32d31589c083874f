import Configuration
import Primitives
import Testing

/// What `config show` is made of.
@Suite("Trace of a configuration") struct TraceTests {
  private func trace(
    _ yaml: String? = nil, environment: [String: String] = [:], flags: [String: String] = [:], files: [String: String] = [:]
  ) throws -> ConfigurationTrace {
    let trace = ConfigurationTrace()
    _ = try GatewayConfiguration.load(
      sources(yaml, environment: environment, flags: flags, files: files), trace: trace)
    return trace
  }

  private func entry(_ trace: ConfigurationTrace, _ path: String) throws -> ConfigurationTrace.Entry {
    try #require(trace.entries.first { $0.path == path }, "\(path)")
  }

  @Test func eachSourceIsTold() throws {
    let trace = try trace(
      "loops: 2\nprovider:\n  port: 1\ncontrol:\n  port: 2\n", environment: ["WIDGETPUSH_PROVIDER_PORT": "3"], flags: ["control.port": "4"])
    #expect(try entry(trace, "loops") == .init(path: "loops", value: "2", origin: .file(place: "config/gateway.yaml:1:8")))
    #expect(try entry(trace, "provider.port") == .init(path: "provider.port", value: "3", origin: .variable("WIDGETPUSH_PROVIDER_PORT")))
    #expect(try entry(trace, "control.port") == .init(path: "control.port", value: "4", origin: .flag("--control-port")))
    #expect(try entry(trace, "bind") == .init(path: "bind", value: nil, origin: .standard))
  }

  @Test func everyKeyIsAskedForAndSaysItsDefault() throws {
    let trace = try trace()
    for key in GatewayConfiguration.keys {
      _ = try entry(trace, key.path)
      #expect(key.standard != nil, "\(key.path): \(key.summary)")
    }
  }

  @Test func secretsAreMasked() throws {
    let yaml = """
      accessTokens:
        - {name: a, scopes: [read], secret: sixteen-letters-at-least}
        - {name: b, scopes: [read, admin], secret: {env: TOKEN}}
      """
    let trace = try trace(yaml, environment: ["TOKEN": "another-secret-of-sixteen"])
    #expect(!trace.entries.contains { $0.value?.contains("sixteen") == true })
    #expect(try entry(trace, "accessTokens[0].secret").value == ConfigurationTrace.mask)
    #expect(try entry(trace, "accessTokens[1].secret").value == "{env: TOKEN}")
    #expect(try entry(trace, "accessTokens[1].scopes").value == "[read, admin]")
  }

  @Test func anAppTellsItsDefaultsToo() throws {
    let trace = try trace(
      "upstreams: {device: {url: \"https://h\"}}\napps:\n  - {bundleID: a.b, budgets: {widgets: {allowance: 7}}}\n")
    #expect(try entry(trace, "apps[0].validation") == .init(path: "apps[0].validation", value: "strict", origin: .standard))
    #expect(try entry(trace, "apps[0].budgets.widgets.allowance").value == "7")
    #expect(
      try entry(trace, "apps[0].budgets.widgets.burst") == .init(path: "apps[0].budgets.widgets.burst", value: "7", origin: .standard))
    #expect(try entry(trace, "upstreams.device.url").value == "https://h")
  }

  @Test func filesWithSecretsAreNamed() throws {
    let yaml = "tls: {certificateFile: c.pem, keyFile: k.pem}\naccessTokens:\n  - {name: a, scopes: [read], secret: {file: /s}}\n"
    let trace = try trace(yaml, files: ["config/c.pem": "C", "config/k.pem": "K", "/s": "sixteen-letters-at-least"])
    #expect(trace.secretFiles.map(\.path) == ["config/k.pem", "/s"])
    #expect(trace.secretFiles.map(\.key) == ["tls.keyFile", "accessTokens[0].secret"])
  }
}

@Suite("Dates") struct DateTests {
  @Test(arguments: [
    ("2027-01-31T12:00:00.5Z", 500_000_000), ("2027-01-31T12:00:00.123456789Z", 123_456_789), ("2027-01-31T13:00:00.000+01:00", 0),
  ]) func fractionsOfASecondCount(text: String, nanoseconds: Int64) throws {
    let whole = try #require(Instant(rfc3339: "2027-01-31T12:00:00Z"))
    #expect(Instant(rfc3339: text) == whole + TimeSpan(nanoseconds: nanoseconds))
  }

  @Test(arguments: ["2027-01-31T12:00:00.Z", "2027-01-31T12:00:00.5", "2027-01-31T12:00:00.1234567890Z", "2027-01-31T12:00:00"])
  func otherFormsAreNone(text: String) { #expect(Instant(rfc3339: text) == nil) }
}
