import Configuration
import JSON
import Primitives
import Testing

@testable import widgetpush

/// `access.json` and `keys.json` of a state folder.
@Suite("Files of access tokens and keys") struct CredentialFileTests {
  private let now = Instant(unixSeconds: 1_800_000_000)

  @Test func aTokenIsKeptWithItsDigestAndComesBack() throws {
    let folder = try TemporaryFolder()
    let state = StateFolder(folder.path)
    let token = AccessTokenSettings(
      name: "ci", scopes: ["read"], bundleIDs: ["com.example.app"], expires: now, secret: .text("wp_of-course-secret"))
    try AccessFile.update(state) { try $0.add(token) }
    let text = try Files.read(state.file(AccessFile.name))
    #expect(!text.contains("wp_of-course"), "\(text)")
    #expect(Files.mode(state.file(AccessFile.name)) == 0o600)
    let read = try #require(try AccessFile(in: state).tokens.first)
    #expect((read.name, read.scopes, read.bundleIDs) == ("ci", ["read"], ["com.example.app"]))
    #expect(read.expires == now)
    #expect(throws: CommandError.self) { try AccessFile.update(state) { try $0.add(token) } }
    #expect(try AccessFile.update(state) { $0.remove("ci") })
    #expect(try AccessFile(in: state).tokens.isEmpty)
  }

  @Test func aRunningServerSeesTheChange() throws {
    let folder = try TemporaryFolder()
    let state = StateFolder(folder.path)
    let complaints = Complaints()
    let live = try LiveAccessTokens(state) { complaints.add($0) }
    #expect(live.current.token(secret: "wp_1") == nil)
    try AccessFile.update(state) { try $0.add(AccessTokenSettings(name: "a", scopes: ["read"], secret: .text("wp_1"))) }
    #expect(live.current.token(secret: "wp_1")?.name == "a")
    // A damaged file takes nothing back, and is told once.
    try Files.write("{", to: state.file(AccessFile.name), mode: 0o600)
    #expect(live.current.token(secret: "wp_1")?.name == "a")
    #expect(live.current.token(secret: "wp_1")?.name == "a")
    #expect(complaints.all.count == 1)
    try Files.write("{\"tokens\":[]}", to: state.file(AccessFile.name), mode: 0o600)
    #expect(live.current.token(secret: "wp_1") == nil)
  }

  @Test(arguments: [
    #"{"tokens":[{"name":"a","scopes":[],"sha256":"00"}]}"#, #"{"tokens":[{"name":"a","scopes":["all"],"sha256":"00"}]}"#,
    #"{"tokens":[{"name":"a","scopes":["read"],"sha256":"00"}]}"#, #"{"token":[]}"#, "[]",
  ]) func damageIsTold(_ text: String) throws {
    let folder = try TemporaryFolder()
    let state = StateFolder(folder.path)
    try Files.write(text, to: state.file(AccessFile.name), mode: 0o600)
    #expect(throws: CommandError.self) { try AccessFile(in: state) }
    let error = #expect(throws: CommandError.self) { try LiveAccessTokens(state) { _ in } }
    #expect(error?.message.contains(state.file(AccessFile.name)) == true)
  }

  /// A team has one key without topics, and one for each topic; the mock device takes what any of them has signed.
  @Test func signingKeysMayBeLimitedToTopics() throws {
    let folder = try TemporaryFolder()
    let state = StateFolder(folder.path)
    let first = try DevState.prepare(state, now: now)
    var ring = KeyRing()
    func entry(_ number: Int, _ topics: [String]?, team: String = "TEAM000001") -> KeyRing.Entry {
      KeyRing.Entry(id: "ADDED0000\(number)", team: team, use: .signing, topics: topics)
    }
    let entries = [entry(1, ["a.b"]), entry(2, nil), entry(3, ["a.b.voip", "c.d"]), entry(4, ["a.b"], team: "TEAM000002")]
    for entry in entries {
      try ring.add(entry)
      try Files.write(first.providerKeyPEM, to: state.file(entry.fileName), mode: 0o600)
    }
    let error = #expect(throws: CommandError.self) { try ring.add(entry(5, ["x.y", "c.d"])) }
    #expect(error?.message.contains("signs for c.d with the key ADDED00003") == true)
    #expect(throws: CommandError.self) { try ring.add(entry(5, nil)) }
    try ring.write(to: state)
    #expect(try KeyRing(in: state).entries == entries)
    let second = try DevState.prepare(state, now: now)
    #expect(second.signingKeys.map(\.topics) == [nil, ["a.b"], nil, ["a.b.voip", "c.d"], ["a.b"]])
    var device = DeviceConfiguration()
    device.fill(from: second)
    #expect(device.providers.map(\.keyID) == second.signingKeys.map(\.keyID))
    for topics in [#"[]"#, #"["a b"]"#] {
      let text = #"{"keys":[{"id":"ADDED00001","team":"TEAM000001","use":"signing","topics":\#(topics)}]}"#
      try Files.write(text, to: state.file(KeyRing.name), mode: 0o600)
      #expect(throws: CommandError.self) { try KeyRing(in: state) }
    }
  }

  @Test func addedKeysServeBesideTheFoldersOwn() throws {
    let folder = try TemporaryFolder()
    let state = StateFolder(folder.path)
    let first = try DevState.prepare(state, now: now)
    try Files.write(first.providerKeyPEM, to: state.file("AuthKey_ADDED00001.p8"), mode: 0o600)
    try Files.write(first.providerKeyPEM, to: state.file("AuthKey_ADDED00002.p8"), mode: 0o644)
    var ring = try KeyRing(in: state)
    try ring.add(.init(id: "ADDED00001", team: "TEAM000001", use: .provider, bundleIDs: ["a.b"], environment: .production))
    try ring.add(.init(id: "ADDED00002", team: "TEAM000002", use: .signing))
    #expect(throws: CommandError.self) { try ring.add(.init(id: "ADDED00003", team: "TEAM000002", use: .signing)) }
    #expect(throws: CommandError.self) { try ring.add(.init(id: "ADDED00001", team: "TEAM000009", use: .provider)) }
    try ring.write(to: state)

    let second = try DevState.prepare(state, now: now)
    #expect(second.credentials == first.credentials)
    #expect(second.providers.map(\.keyID) == [first.credentials.keyID, "ADDED00001"])
    #expect(second.providers[1].bundleIDs == ["a.b"] && second.providers[1].environment == .production)
    #expect(second.signingKeys.map(\.teamID) == [first.credentials.gateway.teamID, "TEAM000002"])
    #expect(second.signingKeys[1].topics == nil)
    #expect(state.secretFiles.compactMap { FilePermissions.complaint(about: $0) }.count == 1)
  }
}

/// What somebody complained about.
private final class Complaints: @unchecked Sendable {
  // `@unchecked Sendable`: the test's one thread calls.
  private(set) var all: [String] = []
  func add(_ text: String) { all.append(text) }
}
