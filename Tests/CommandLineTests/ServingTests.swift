import Configuration
import Foundation
import JSON
import Primitives
import Push
import Security
import Synchronization
import Testing

@testable import widgetpush

@Suite("Serving") struct ServingTests {
  private let now = Instant(unixSeconds: 1_800_000_000)

  private func state() throws -> (TemporaryFolder, DevState) {
    let folder = try TemporaryFolder()
    return (folder, try DevState.prepare(folder.state, now: now))
  }

  @Test func aGatewayWithoutConfigurationServesTheExampleAppToTheDevice() throws {
    let (folder, state) = try state()
    var configuration = GatewayConfiguration()
    #expect(!configuration.isComplete)
    try configuration.fill(from: state)
    #expect(configuration.isComplete)
    #expect(configuration.apps.map(\.bundleID) == ["com.example.app"])
    #expect(configuration.apps[0].upstream(.development) == "device" && configuration.apps[0].upstream(.production) == "device")
    var device = UpstreamSettings(name: "device", host: "127.0.0.1", port: 8444, authorityPEM: state.peerAuthorityPEM)
    device.followsDevice = true
    #expect(configuration.upstreams == [device])
    #expect(configuration.store == .folder(folder.state.store))
    #expect(configuration.accessTokens.map(\.scopes) == [["register"], ["reload"], ["read"], ["admin"]])
  }

  /// Too few open files for all connections are complained about, and what is enough is not.
  @Test(arguments: [1, 4]) func aLowLimitOfOpenFilesIsToldWithWhatIsNeeded(loops: Int) throws {
    let needed = loops * Limits.connectionsPerLoop + Limits.spareDescriptors
    #expect(OpenFiles.complaint(loops: loops, limit: needed) == nil)
    let complaint = try #require(OpenFiles.complaint(loops: loops, limit: needed - 1))
    #expect(complaint.contains("\(needed - 1)") && complaint.contains("\(needed)") && complaint.contains("ulimit -Hn"))
  }

  @Test func aDeviceStartedWithTheFolderIsTheUpstream() throws {
    let folder = try TemporaryFolder()
    _ = try DevState.prepare(folder.state, now: now)
    _ = try folder.state.updateCredentials { $0.device = "https://[::1]:9" }
    var configuration = GatewayConfiguration()
    try configuration.fill(from: DevState.prepare(folder.state, now: now))
    #expect(configuration.upstreams.map(\.host) == ["::1"])
    #expect(configuration.upstreams.map(\.port) == [9])
    configuration = GatewayConfiguration()
    configuration.deviceURL = "https://device:8444"
    try configuration.fill(from: DevState.prepare(folder.state, now: now))
    #expect(configuration.upstreams.map(\.host) == ["device"])
  }

  @Test func whatIsConfiguredStays() throws {
    let (_, state) = try state()
    var configuration = GatewayConfiguration()
    configuration.store = .memory
    configuration.upstreams = [
      UpstreamSettings(name: "there", host: "h", port: 1), UpstreamSettings(name: "apple", host: "a", port: 1, isApple: true),
    ]
    configuration.apps = [AppDirectory.App(bundleID: "c.d", developmentUpstream: "there")]
    try configuration.fill(from: state)
    #expect(configuration.upstreams.map(\.authorityPEM) == [state.peerAuthorityPEM, nil])

    configuration = GatewayConfiguration()
    configuration.store = .memory
    configuration.upstreams = [UpstreamSettings(name: "there", host: "h", port: 1, authorityPEM: "PEM")]
    configuration.apps = [AppDirectory.App(bundleID: "a.b"), AppDirectory.App(bundleID: "c.d", developmentUpstream: "there")]
    try configuration.fill(from: state)
    #expect(configuration.store == .memory)
    #expect(configuration.upstreams[0].authorityPEM == "PEM")
    #expect(configuration.apps[0].upstream(.production) == "there")
    #expect(configuration.apps[1].upstream(.production) == nil)
    #expect(configuration.identity == state.identity)

    var unclear = GatewayConfiguration()
    unclear.upstreams = [UpstreamSettings(name: "a", host: "h", port: 1), UpstreamSettings(name: "b", host: "h", port: 2)]
    #expect(throws: CommandError.self) { try unclear.fill(from: state) }
  }

  @Test func aDeviceTakesTheGatewaysKeyAndItsRegistrations() throws {
    let folder = try TemporaryFolder()
    _ = try DevState.prepare(folder.state, now: now)
    var alone = DeviceConfiguration()
    alone.fill(from: try DevState.prepare(folder.state, now: now))
    #expect(alone.gateway == nil, "no gateway was started with the folder yet")
    _ = try folder.state.updateCredentials { $0.control = "https://127.0.0.1:1" }
    let state = try DevState.prepare(folder.state, now: now)
    var configuration = DeviceConfiguration()
    configuration.fill(from: state)
    #expect(configuration.isComplete)
    #expect(configuration.gateway?.url == "https://127.0.0.1:1")
    #expect(configuration.gateway?.accessToken == state.credentials.register)
    #expect(configuration.gateway?.authorityPEM == state.peerAuthorityPEM)
    #expect(configuration.providers.map(\.keyID) == [state.credentials.gateway.keyID])
  }

  @Test(
    arguments: [
      ("127.0.0.1", nil, "https://127.0.0.1:7"), ("0.0.0.0", nil, "https://127.0.0.1:7"), ("::", nil, "https://[::1]:7"),
      ("::1", nil, "https://[::1]:7"), ("10.0.0.1", nil, "https://10.0.0.1:7"), ("0.0.0.0", "gateway", "https://gateway:7"),
    ] as [(String, String?, String)])
  func urlsCanBeReached(bind: String, advertised: String?, url: String) {
    #expect(ServerURL.text("https", bind: bind, port: 7, advertised: advertised) == url)
  }

  @Test func theReadyLineIsTheContract() throws {
    let faces = [(name: "provider", url: "https://127.0.0.1:2197"), (name: "plain", url: "http://127.0.0.1:8025")]
    #expect(ReadyLine.text(faces, json: false) == "ready provider=https://127.0.0.1:2197 plain=http://127.0.0.1:8025")
    #expect(ReadyLine.text(faces, json: true) == #"{"provider":"https://127.0.0.1:2197","plain":"http://127.0.0.1:8025"}"#)
  }

  @Test func goneFacesAreForgottenUnlessAnotherProcessHasThem() throws {
    let folder = try TemporaryFolder()
    _ = try DevState.prepare(folder.state, now: now)
    _ = try folder.state.updateCredentials {
      $0.provider = "https://a"
      $0.control = "https://b"
      $0.device = "https://c"
    }
    try folder.state.forget([("provider", "https://a"), ("control", "https://old")])
    let credentials = try folder.state.credentials()
    #expect(credentials.provider == nil && credentials.control == "https://b" && credentials.device == "https://c")
  }

  @Test func childrenEndWithTheirStatus() throws {
    #expect(try ChildProcess(["sh", "-c", "exit 7"], environment: ["PATH": "/usr/bin:/bin"]).wait() == 7)
    #expect(try ChildProcess(["sh", "-c", "test \"$A\" = b"], environment: ["PATH": "/usr/bin:/bin", "A": "b"]).wait() == 0)
    #expect(try ChildProcess(["sh", "-c", "kill -9 $$"], environment: [:]).wait() == 137)
    let sleeper = try ChildProcess(["sleep", "600"], environment: ["PATH": "/usr/bin:/bin"])
    sleeper.terminate()
    #expect(sleeper.wait() == 128 + SIGTERM)
    let error = #expect(throws: FileError.self) { try ChildProcess(["/nonexistent/command"], environment: [:]) }
    #expect(error?.description.contains("/nonexistent/command") == true)
  }

  @Test func theCommandsEnvironmentIsKnownToServers() throws {
    var credentials = try state().1.credentials
    (credentials.provider, credentials.control, credentials.device, credentials.plain) = ("a", "b", "c", "d")
    let variables = CommandEnvironment.variables(credentials, StateFolder("/s"))
    #expect(Set(variables.keys) == Set(ServerOptions.otherVariables))
    let sources = ConfigurationSources(environment: variables) { _ throws(ConfigurationSources.ReadFailure) in
      throw ConfigurationSources.ReadFailure("no file")
    }
    #expect(throws: Never.self) { try GatewayConfiguration.load(sources, otherVariables: ServerOptions.otherVariables) }
  }

  @Test func linesBeyondTheBoundAreCounted() {
    let printed = Mutex<[String]>([])
    let offered = DispatchSemaphore(value: 0)
    let printer = LinePrinter { line in
      if line == "0" { offered.wait() }
      printed.withLock { $0.append(line) }
    }
    for index in 0..<Limits.eventLines + 5 { printer.print("\(index)") }
    offered.signal()
    printer.flush()
    let lines = printed.withLock { $0 }
    #expect(lines.count == Limits.eventLines + 1)
    #expect(lines.last == "… and 5 more, which came faster than they could be printed")
  }
}
