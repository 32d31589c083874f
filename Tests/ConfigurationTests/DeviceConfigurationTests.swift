import Configuration
import JSON
import Testing

@Suite("Device configuration") struct DeviceConfigurationTests {
  @Test func everythingCanBeSaid() throws {
    let yaml = """
      bind: 0.0.0.0
      device: {port: 0}
      gateway: {url: https://gateway:8443, ca: {file: ca.pem}, accessToken: {env: TOKEN}, upstream: phones}
      providers: [{keyID: KEY4567890, teamID: TEAM567890, publicKeyFile: gateway.pem}]
      seed: 42
      devices:
        - name: phone
          developerMode: true
          apps:
            - bundleID: com.example.app
              widgets: [{kind: "1", family: systemSmall}]
              activities: [{attributesType: A, contentState: {n: 1.5, big: 7, text: yes, none: }}]
      """
    let files = ["config/ca.pem": "CA", "config/gateway.pem": "PUB"]
    let configuration = try DeviceConfiguration.load(sources(yaml, environment: ["TOKEN": "secret"], files: files))
    #expect(configuration.bind == "0.0.0.0")
    #expect(configuration.port == 0)
    #expect(configuration.gateway?.url == "https://gateway:8443")
    #expect(configuration.gateway?.authorityPEM == "CA")
    #expect(configuration.gateway?.accessToken == "secret")
    #expect(configuration.gateway?.upstream == "phones")
    #expect(configuration.providers == [ProviderKey(keyID: "KEY4567890", teamID: "TEAM567890", keyPEM: "PUB")])
    #expect(configuration.seed == "42")
    let expected: JSONValue = [
      [
        "name": "phone", "developerMode": true,
        "apps": [
          [
            "bundleID": "com.example.app", "widgets": [["kind": "1", "family": "systemSmall"]],
            "activities": [["attributesType": "A", "contentState": ["n": 1.5, "big": 7, "text": "yes", "none": nil]]],
          ]
        ],
      ]
    ]
    #expect(configuration.devices == expected)
  }

  @Test(arguments: [
    ("devices[0].apps[1].bundleID", "7:9"), ("devices[0].apps[0].widgets[0].kind", "6:20"), ("devices[0].apps[0]", "5:9"),
    ("devices[0].apps[9].x", "4:5"), ("devices[0].user", "3:5"), ("devices", "2:3"),
  ])
  func fieldsOfDevicesHaveTheirPlaces(field: String, place: String) throws {
    let yaml = """
      devices:
        - name: phone
          user:
          apps:
            - bundleID: a.b
              widgets: [{kind: 3}]
            - widgets: []
      """
    let configuration = try DeviceConfiguration.load(sources(yaml))
    let error = configuration.located(FieldError(field: field, message: "wrong"))
    #expect(error.description == "config/gateway.yaml:\(place): wrong")
  }

  @Test(arguments: [
    ("gateway: {upstream: a}", "1:10", "gateway.url is missing"), ("gateway: {url: gateway}", "1:16", "must be https://HOST"),
    ("device: {prot: 1}", "1:10", "did you mean \"port\"?"), ("devcies: []", "1:1", "did you mean \"devices\"?"),
  ])
  func errorsNameThePlace(yaml: String, place: String, sentence: String) {
    let error = #expect(throws: ConfigurationError.self) { try DeviceConfiguration.load(sources(yaml)) }
    #expect(error?.place == "config/gateway.yaml:\(place)")
    #expect(error?.message.contains(sentence) == true, "\(String(describing: error))")
  }

  @Test func variablesSetAGatewayWithoutAFile() throws {
    let environment = [
      "WIDGETPUSH_GATEWAY_URL": "https://gateway:8443", "WIDGETPUSH_GATEWAY_ACCESS_TOKEN": "secret",
      "WIDGETPUSH_GATEWAY_CA": "/state/ca.pem",
      "WIDGETPUSH_SEED": "s", "WIDGETPUSH_DEVICE_PORT": "7",
    ]
    let configuration = try DeviceConfiguration.load(sources(environment: environment, files: ["/state/ca.pem": "CA"]))
    #expect(configuration.gateway?.authorityPEM == "CA")
    #expect(configuration.gateway?.accessToken == "secret")
    #expect(configuration.seed == "s")
    #expect(configuration.port == 7)
  }
}
