import Foundation
import Testing

@Suite("import and export", .processes) struct ImportTests {
  @Test func whatIsExportedIsImportedByAnother() async throws {
    let dev = try await Deployment.start(["dev"])
    let folder = try Folder()
    let rows = (0..<5000).map { number in
      #"{"token":"\#(String(format: "%064x", number))","type":"widgets","bundleID":"com.example.app","environment":"development","user":"u\#(number % 10)","widgets":[{"kind":"Steps","family":"systemSmall"}],"quietHours":{"from":"21:30","to":"06:00"}}"#
    }
    let file = try folder.write("tokens", rows.joined(separator: "\n") + "\n\nno JSON\n")
    let imported = try await run([Deployment.executable, "import", "--state-dir", dev.state.path, file])
    #expect(imported.status == 1 && imported.text.contains("5000 registered (5000 new, 0 replaced), 1 refused"), "\(imported.text)")
    #expect(imported.standardError.contains("line 5002: the line must be a JSON object"), "\(imported.standardError)")

    let out = folder.path("out")
    let exported = try await run([Deployment.executable, "export", "--state-dir", dev.state.path, "--user", "u3", "--output", out])
    #expect(exported.status == 0 && exported.text.contains("500 registrations written"), "\(exported.text)\(exported.standardError)")
    #expect(try await dev.terminate() == 0)

    let other = try await Deployment.start(["dev"])
    let again = try await run([Deployment.executable, "import", "--state-dir", other.state.path, "--json", out])
    #expect(again.status == 0, "\(again.text)\(again.standardError)")
    #expect(try Document(again.standardOutput)["created"].int == 500)
    let back = try await run([Deployment.executable, "export", "--state-dir", other.state.path, "--user", "u3"])
    #expect(try back.text == String(contentsOfFile: out, encoding: .utf8))
    #expect(try await other.terminate() == 0)
  }
}
