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

  @Test func aMissingFileIsNamed() async throws {
    let state = try Folder()
    let process = try Deployment.launch(["gateway", "--config", state.path("absent.yaml")], in: state)
    #expect(try await process.waitForExit(within: .seconds(30)) != 0)
    #expect(process.errors.text.contains("absent.yaml"), "\(process.errors.text)")
  }
}
