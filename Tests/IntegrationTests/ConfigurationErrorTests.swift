import Foundation
import Testing

@Suite("Configuration errors", .processes) struct ConfigurationErrorTests {
  @Test(
    arguments: [
      ("apps:\n  - bundleId: com.example.app\n", "2:5", "bundleID"),
      ("upstraems: {}\n", "1:1", "upstreams"),
      ("apps:\n  - bundleID: com.example.app\n    budgetMode: enforced\n", "3:17", "enforce"),
      ("apps: [\n", "2:1", "expected"),
      ("apps:\n  - bundleID: a.b\napps: []\n", "3:1", "apps"),
    ])
  func anErrorNamesLineColumnAndTheNearestKey(yaml: String, place: String, nearest: String) async throws {
    let state = try Folder()
    let file = try state.write("gateway.yaml", yaml)
    let process = try Deployment.launch(["gateway", "--config", file], in: state)
    let status = try await process.waitForExit(within: .seconds(30))
    #expect(status != 0)
    #expect(process.errors.text.contains("gateway.yaml:\(place)"), "\(process.errors.text)")
    #expect(process.errors.text.contains(nearest), "\(process.errors.text)")
    #expect(process.output.text.isEmpty, "\(process.output.text)")
  }

  @Test(
    arguments: [
      ("upstreams:\n  here: {url: \"https://localhost\", ca: {file: not-pem}}\n", "upstreams.here.ca"),
      ("teams: [{id: ABCDE12345, keys: [{id: KEYID12345, file: not-pem}]}]\n", "key KEYID12345 of team ABCDE12345"),
      ("providers: [{keyID: KEYID67890, teamID: ABCDE12345, publicKeyFile: not-pem}]\n", "providers, key KEYID67890"),
      ("tls: {certificateFile: not-pem, keyFile: not-pem}\n", "tls.certificateFile"),
    ])
  func aFileThatHoldsNoKeyIsToldByTheKeyThatNamesIt(yaml: String, place: String) async throws {
    let state = try Folder()
    _ = try state.write("not-pem", "root:x:0:0\n")
    let process = try Deployment.launch(["gateway", "--config", try state.write("gateway.yaml", yaml)], in: state)
    #expect(try await process.waitForExit(within: .seconds(30)) == 1)
    #expect(process.errors.text.contains(place) && process.errors.text.contains("PEM"), "\(process.errors.text)")
  }

  @Test func aMissingFileIsNamed() async throws {
    let state = try Folder()
    let process = try Deployment.launch(["gateway", "--config", state.path("absent.yaml")], in: state)
    #expect(try await process.waitForExit(within: .seconds(30)) != 0)
    #expect(process.errors.text.contains("absent.yaml"), "\(process.errors.text)")
  }
}
