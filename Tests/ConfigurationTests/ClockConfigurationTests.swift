import Configuration
import Push
import Testing

@Suite("clock") struct ClockConfigurationTests {
  @Test func everySourceSetsIt() throws {
    let all = ClockSettings(permitted: true, tokenAge: .virtual, providerTimes: .virtual)
    let file = try GatewayConfiguration.load(sources("clock: {permitted: true, tokenAge: virtual, providerTimes: virtual}"))
    #expect(file.clock == all)
    let flags = ["clock.permitted": "true", "clock.tokenAge": "virtual", "clock.providerTimes": "virtual"]
    #expect(try GatewayConfiguration.load(sources(flags: flags)).clock == all)
    let variables = [
      "WIDGETPUSH_CLOCK_PERMITTED": "true", "WIDGETPUSH_CLOCK_TOKEN_AGE": "virtual", "WIDGETPUSH_CLOCK_PROVIDER_TIMES": "virtual",
    ]
    #expect(try GatewayConfiguration.load(sources(environment: variables)).clock == all)
    #expect(try GatewayConfiguration.load(sources()).clock == ClockSettings())
    // One environment for both processes of a composition.
    let device = try DeviceConfiguration.load(sources(environment: variables)).clock
    #expect(device.permitted && device.providerTimes == .virtual)
  }

  @Test func wordsAndPlaces() {
    let error = #expect(throws: ConfigurationError.self) { try GatewayConfiguration.load(sources("clock: {tokenAge: fast}")) }
    #expect(error?.message.contains("\"real\" or \"virtual\"") == true, "\(error?.message ?? "")")
    let unknown = #expect(throws: ConfigurationError.self) { try GatewayConfiguration.load(sources("clock: {permited: true}")) }
    #expect(unknown?.message.contains("permitted") == true, "\(unknown?.message ?? "")")
    // Who checks no provider tokens has no key for their age.
    #expect(throws: ConfigurationError.self) { try DeviceConfiguration.load(sources("clock: {tokenAge: real}")) }
  }

  /// Apple's servers go by their own clock.
  @Test func notInFrontOfApple() throws {
    let apple = "upstreams: {apple: {apple: production}}\napps: [{bundleID: com.example.app, upstream: apple}]\n"
    let teams = "teams: [{id: ABCDE12345, keys: [{id: KEYID12345, file: a.p8}]}]\n"
    let files = ["a.p8": "P8", "config/a.p8": "P8"]
    let text = apple + teams
    let error = #expect(throws: ConfigurationError.self) {
      try GatewayConfiguration.load(sources(text + "clock: {permitted: true}", files: files))
    }
    #expect(error?.message.contains("the upstream apple is Apple's") == true, "\(error?.message ?? "")")
  }

  @Test func aDevicesAccessToken() throws {
    let upstreams = "upstreams: {device: {url: 'https://device:8444', accessToken: {env: SECRET}}}"
    let configuration = try GatewayConfiguration.load(sources(upstreams, environment: ["SECRET": "0123456789"]))
    #expect(configuration.upstreams.first?.accessToken == "0123456789")
    let apple = #expect(throws: ConfigurationError.self) {
      try GatewayConfiguration.load(sources("upstreams: {apple: {apple: production, accessToken: abc}}"))
    }
    #expect(apple?.message.contains("accessToken") == true, "\(apple?.message ?? "")")
  }
}
