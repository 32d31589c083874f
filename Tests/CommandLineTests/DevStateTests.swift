import Configuration
import Foundation
import JSON
import Primitives
import Security
import Testing

@testable import widgetpush

@Suite("State folder") struct DevStateTests {
  private let now = Instant(unixSeconds: 1_800_000_000)

  @Test func everythingIsMade() throws {
    let folder = try TemporaryFolder()
    let state = try DevState.prepare(folder.state, now: now)
    let names = try Files.names(in: folder.state.path)
    #expect(
      names.filter { $0 != ".lock" } == [
        ".gitignore", "AuthKey_\(state.credentials.keyID).p8", "ca.key", "ca.pem", "credentials.json", "gateway.p8", "server.key",
        "server.pem",
      ])
    #expect(try Files.read(folder.state.file(".gitignore")) == "*\n")
    for name in ["AuthKey_\(state.credentials.keyID).p8", "ca.key", "credentials.json", "gateway.p8", "server.key"] {
      #expect(try folder.mode(name) == 0o600, "\(name)")
    }
    #expect(try folder.mode("ca.pem") == 0o644)
    #expect(state.credentials.keyID.count == 10 && state.credentials.teamID.count == 10)

    let json = try JSONValue.parse(Files.read(folder.state.file("credentials.json")))
    for field in ["teamID", "keyID", "keyFile", "caFile", "register", "reload", "read", "admin"] {
      #expect(json[field]?.stringValue?.isEmpty == false, "\(field)")
    }
    #expect(json["caFile"]?.stringValue == folder.state.file("ca.pem"))
    #expect(json["provider"] == nil)
    #expect(Set(state.credentials.accessTokens.map(\.secret)).count == 4)

    let leaf = try Certificate(pem: state.identity.certificatePEM)
    #expect(leaf.isSigned(by: try Certificate(pem: state.authorityPEM)))
    #expect(
      Set([
        "localhost", "127.0.0.1", "::1", "host.docker.internal", "gateway", "device", "widgetpush", "api.push.apple.com",
        "api.sandbox.push.apple.com",
      ]).isSubset(of: leaf.names))
    #expect(state.providers.map(\.keyID) == [state.credentials.keyID])
    #expect(state.signingKeys[0].keyID == state.credentials.gateway.keyID)
    #expect(state.signingKeys[0].keyPEM != state.providerKeyPEM)
  }

  @Test func aSecondTimeNothingChanges() throws {
    let folder = try TemporaryFolder()
    _ = try DevState.prepare(folder.state, now: now)
    let before = try contents(folder)
    _ = try DevState.prepare(folder.state, now: now + .seconds(300 * 86_400))
    #expect(try contents(folder) == before)
  }

  /// A folder that was copied out of a container names its files by the paths they had in there.
  @Test func aFolderThatWasMovedFindsItsFiles() throws {
    let (first, second) = (try TemporaryFolder(), try TemporaryFolder())
    let made = try DevState.prepare(first.state, now: now)
    try FileManager.default.moveItem(atPath: first.state.path, toPath: second.state.path)
    let found = try second.state.credentials()
    #expect(found.keyFile == second.state.file("AuthKey_\(made.credentials.keyID).p8"))
    #expect(found.caFile == second.state.file("ca.pem") && found.gateway.keyFile == second.state.file("gateway.p8"))
  }

  @Test func certificatesAreRenewedNearTheirEnd() throws {
    let folder = try TemporaryFolder()
    let first = try DevState.prepare(folder.state, now: now)
    let second = try DevState.prepare(folder.state, now: now + .seconds(370 * 86_400))
    #expect(second.identity != first.identity)
    #expect(second.authorityPEM == first.authorityPEM)
    #expect(second.credentials == first.credentials)
    let third = try DevState.prepare(folder.state, now: now + .seconds(3640 * 86_400))
    #expect(third.authorityPEM != first.authorityPEM)
    #expect(try Certificate(pem: third.identity.certificatePEM).isSigned(by: Certificate(pem: third.authorityPEM)))
    #expect(third.credentials == first.credentials)
  }

  @Test func aNewNameIsANewCertificate() throws {
    let folder = try TemporaryFolder()
    let first = try DevState.prepare(folder.state, now: now)
    #expect(first.notes.isEmpty)
    let second = try DevState.prepare(folder.state, .init(names: ["push.example", "10.0.0.7"]), now: now)
    #expect(try Set(["push.example", "10.0.0.7"]).isSubset(of: Certificate(pem: second.identity.certificatePEM).names))
    let third = try DevState.prepare(folder.state, .init(names: ["other.example"]), now: now)
    let names = try Certificate(pem: third.identity.certificatePEM).names
    #expect(names.contains("push.example") && names.contains("other.example"), "processes that share the folder keep each other's names")
    let fourth = try DevState.prepare(folder.state, .init(names: ["push.example"]), now: now)
    #expect(fourth.identity == third.identity && fourth.authorityPEM == third.authorityPEM && fourth.notes.isEmpty)
    let error = #expect(throws: CommandError.self) { try DevState.prepare(folder.state, .init(names: ["not a name"]), now: now) }
    #expect(error?.message.contains("not a name") == true)
  }

  @Test func whatIsMissingIsMadeAgainAndTheRestStays() throws {
    let folder = try TemporaryFolder()
    let first = try DevState.prepare(folder.state, now: now)
    for name in ["server.key", "credentials.json"] { try FileManager.default.removeItem(atPath: folder.state.file(name)) }
    let second = try DevState.prepare(folder.state, now: now)
    #expect(second.authorityPEM == first.authorityPEM)
    #expect(second.credentials.keyID == first.credentials.keyID, "the key is found by its name")
    #expect(second.providerKeyPEM == first.providerKeyPEM)
    #expect(second.credentials.admin != first.credentials.admin)
  }

  @Test func aForeignAuthorityWithoutItsKeyServesAsLongAsItsCertificateDoes() throws {
    let folder = try TemporaryFolder()
    _ = try DevState.prepare(folder.state, now: now)
    try FileManager.default.removeItem(atPath: folder.state.file("ca.key"))
    let state = try DevState.prepare(folder.state, .init(names: ["push.example"]), now: now)
    #expect(state.authority == nil)
    try FileManager.default.removeItem(atPath: folder.state.file("server.pem"))
    let error = #expect(throws: CommandError.self) { try DevState.prepare(folder.state, now: now) }
    #expect(error?.message.contains("ca.key is missing") == true)
  }

  @Test func aKeyOfTheUsersOwnServesBesideTheFolders() throws {
    let folder = try TemporaryFolder()
    let file = folder.path + "/AuthKey_MYKEY67890.p8"
    try Files.write(try P256PrivateKey.generate().pem(), to: file, mode: 0o600)
    let plain = try DevState.prepare(folder.state, now: now)
    let state = try DevState.prepare(folder.state, .init(providerKey: (file, "MYKEY67890"), teamID: "MYTEAM7890"), now: now)
    #expect(state.credentials.keyID == "MYKEY67890")
    #expect(state.credentials.keyFile == file)
    #expect(state.credentials.teamID == "MYTEAM7890")
    #expect(state.providers.map(\.keyID) == [plain.credentials.keyID, "MYKEY67890"])
    #expect(Set(state.providers.map(\.teamID)) == ["MYTEAM7890"])
  }

  @Test(arguments: ["ca.pem", "ca.key", "server.pem", "server.key", "gateway.p8", "credentials.json"]) func damagedFilesAreNamed(
    name: String
  ) throws {
    let folder = try TemporaryFolder()
    _ = try DevState.prepare(folder.state, now: now)
    try Files.write("{", to: folder.state.file(name), mode: 0o600)
    let error = #expect(throws: CommandError.self) { try DevState.prepare(folder.state, now: now) }
    #expect(error?.message.contains(folder.state.file(name)) == true, "\(String(describing: error))")
  }

  @Test func urlsOfFacesAreAddedAndKept() throws {
    let folder = try TemporaryFolder()
    let first = try DevState.prepare(folder.state, now: now)
    let updated = try folder.state.updateCredentials { $0.control = "https://127.0.0.1:1" }
    #expect(updated.control == "https://127.0.0.1:1")
    #expect(updated.admin == first.credentials.admin)
    #expect(try DevState.prepare(folder.state, now: now).credentials == updated)
    #expect(try folder.mode("credentials.json") == 0o600)
  }

  @Test func manyThatStartAtOnceAgree() async throws {
    let folder = try TemporaryFolder()
    let (state, now) = (folder.state, now)
    let all = try await withThrowingTaskGroup(of: Credentials.self) { group in
      for _ in 0..<6 { group.addTask { try DevState.prepare(state, now: now).credentials } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(Set(all).count == 1)
  }

  @Test func keyFilesAreRecognisedByName() {
    #expect(ProviderKeys.keyID(ofFile: "/a/AuthKey_ABCDE12345.p8") == "ABCDE12345")
    for name in ["AuthKey_ABC.p8", "AuthKey_ABCDE1234é.p8", "Key_ABCDE12345.p8", "AuthKey_ABCDE12345.pem", ""] {
      #expect(ProviderKeys.keyID(ofFile: name) == nil)
    }
  }

  private func contents(_ folder: TemporaryFolder) throws -> [String: String] {
    var contents: [String: String] = [:]
    for name in try Files.names(in: folder.state.path) { contents[name] = try Files.read(folder.state.file(name)) }
    return contents
  }
}
