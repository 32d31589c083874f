import Foundation
import Testing

@Suite("backup", .processes) struct BackupTests {
  /// A copy that is made while pushes come in is a store: it has what was accepted before, and a gateway starts from it.
  @Test func aRunningGatewayIsCopied() async throws {
    let dev = try await Deployment.start(["dev"])
    let tokens = (0..<20).map { _ in newToken() }
    for token in tokens { try await dev.register(token, RegistrationBody.widgets) }
    let before = tokens.map { (token: $0, id: newID()) }
    #expect(try await dev.sendAll(before).allSatisfy { $0.status == 200 })
    let copy = dev.state.path("copy.sqlite")
    async let during = dev.sendAll((0..<200).map { (tokens[$0 % 20], newID()) })
    let backup = try await run([Deployment.executable, "backup", "--state-dir", dev.state.path, copy])
    #expect(backup.status == 0 && backup.text.contains("is a copy of"), "\(backup.text)\(backup.standardError)")
    #expect(try await during.allSatisfy { $0.status == 200 })
    let mode = try FileManager.default.attributesOfItem(atPath: copy)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    let again = try await run([Deployment.executable, "backup", "--state-dir", dev.state.path, copy])
    #expect(again.status == 1 && again.standardError.contains("is there already"), "\(again.standardError)")
    #expect(try await dev.terminate() == 0)

    let folder = try Folder()
    try FileManager.default.createDirectory(atPath: folder.path("store"), withIntermediateDirectories: true)
    try FileManager.default.copyItem(atPath: copy, toPath: folder.path("store/gateway.sqlite"))
    let other = try await Deployment.start(["dev"], in: folder)
    for push in before {
      #expect(try await other.control("GET", "/v1/registrations/\(push.token)").status == 200)
      #expect(try await other.control("GET", "/v1/pushes/\(push.id)").status == 200)
    }
    #expect(try await other.terminate() == 0)
  }

  @Test func whatIsNoStoreIsNotCopied() async throws {
    let folder = try Folder()
    let missing = try await run([Deployment.executable, "backup", "--state-dir", folder.path, folder.path("copy")])
    #expect(missing.status == 1 && missing.standardError.contains("store/gateway.sqlite is not there"), "\(missing.standardError)")
    try FileManager.default.createDirectory(atPath: folder.path("store"), withIntermediateDirectories: true)
    try folder.write(
      "store/gateway.sqlite", "not a database, but long enough to be looked at by SQLite: \(String(repeating: "x", count: 4096))")
    let wrong = try await run([Deployment.executable, "backup", "--state-dir", folder.path, folder.path("copy")])
    #expect(wrong.status == 1 && wrong.standardError.contains("cannot be used"), "\(wrong.standardError)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["store"], "nothing is left behind")
  }
}
