import Foundation
import Testing

@Suite("A scripted day", .processes) struct ScriptedDayTests {
  /// The example in the documentation: 500 pushes to 20 widgets and 3 activities, the clock moved between, and what became of them.
  @Test func aDayOfPushesInSeconds() async throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let state = try Folder()
    let path = URL(fileURLWithPath: Deployment.executable).deletingLastPathComponent().path
    let ports = ["--provider-port", "0", "--control-port", "0", "--device-port", "0", "--plain-port", "0"]
    let result = try await run(
      [Deployment.executable, "dev", "--state-dir", state.path] + ports
        + ["--", "sh", root.appendingPathComponent("docs/scripted-day.sh").path],
      environment: ["PATH": "\(path):\(ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin")"], within: .seconds(240))
    #expect(result.status == 0, "\(result.text)\n\(result.standardError)")
    #expect(result.text.contains("a day of 500 pushes went as expected"), "\(result.text)\n\(result.standardError)")
  }
}
