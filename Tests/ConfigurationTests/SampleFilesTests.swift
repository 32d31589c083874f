import Configuration
import Foundation
import Push
import Testing

@Suite("Config/*.yaml") struct SampleFilesTests {
  private func text(_ name: String) throws -> String {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    return try String(contentsOf: root.appendingPathComponent("Config/\(name)"), encoding: .utf8)
  }

  /// The file with its examples switched on: a line that begins with `#` and two spaces loses the `#`, explanations inside keep theirs.
  private func withExamples(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false)
      .map { $0.hasPrefix("#  ") ? " " + $0.dropFirst() : String($0) }.joined(separator: "\n")
  }

  @Test func theGatewayFileSaysTheDefaults() throws {
    let said = try GatewayConfiguration.load(sources(text("gateway.yaml")))
    let defaults = GatewayConfiguration()
    #expect(said.bind == defaults.bind)
    #expect(said.loops == defaults.loops)
    #expect(said.providerPorts == defaults.providerPorts)
    #expect(said.initialConcurrentStreams == defaults.initialConcurrentStreams && said.tokenUpdates == defaults.tokenUpdates)
    #expect(said.controlPort == defaults.controlPort)
    #expect(said.pushLogEntries == defaults.pushLogEntries)
    #expect(said.pushLogPayloads == defaults.pushLogPayloads)
    #expect(said.logFormat == defaults.logFormat && said.faultsAllowed == defaults.faultsAllowed)
    #expect(said.answers == defaults.answers)
    #expect(said.identity == nil && said.store == nil)
    #expect(said.apps.isEmpty && said.upstreams.isEmpty && said.accessTokens.isEmpty && said.providers.isEmpty)
  }

  @Test func theGatewayFilesExamplesAreTrue() throws {
    let files = ["config/ca.pem": "CA", "config/AuthKey_KEYID12345.p8": "P8", "config/backend.pub.pem": "PUB"]
    let environment = ["APP_ACCESS_TOKEN": "0123456789abcdef", "DEVICE_ADMIN_TOKEN": "0123456789abcdef"]
    let said = try GatewayConfiguration.load(sources(withExamples(text("gateway.yaml")), environment: environment, files: files))
    #expect(said.upstreams.map(\.name) == ["device", "apple"])
    #expect(said.apps.map(\.bundleID) == ["com.example.app"])
    #expect(said.apps.first?.policy == AppPolicy())
    #expect(said.contentStates["com.example.app"]?.count == 2)
    #expect(said.providers.count == 1 && said.signingKeys.count == 1 && said.accessTokens.count == 1)
  }

  @Test func theDeviceFileSaysTheDefaultsAndItsExamplesAreTrue() throws {
    let said = try DeviceConfiguration.load(sources(text("device.yaml")))
    let defaults = DeviceConfiguration()
    #expect(said.bind == defaults.bind && said.port == defaults.port && said.seed == defaults.seed)
    #expect(said.gateway == nil && said.devices == nil && said.providers.isEmpty)
    let files = ["config/gateway.pub.pem": "PUB"]
    let examples = try DeviceConfiguration.load(
      sources(withExamples(text("device.yaml")), environment: ["DEVICE_ACCESS_TOKEN": "0123456789abcdef"], files: files))
    #expect(examples.providers.count == 1)
    #expect(examples.devices?[0]?["apps"]?[0]?["manifest"]?["widgets"]?[0]?["kind"] == "Steps")
  }

  /// Every key that is set has a comment right above it.
  @Test(arguments: ["gateway.yaml", "device.yaml"]) func everyKeyIsExplained(name: String) throws {
    var above = ""
    for line in try text(name).split(separator: "\n", omittingEmptySubsequences: false) {
      let bare = String(line.drop { $0 == " " })
      if !bare.isEmpty, !bare.hasPrefix("#") { #expect(above.hasPrefix("# "), "\(name): \(line)") }
      above = bare
    }
  }
}
