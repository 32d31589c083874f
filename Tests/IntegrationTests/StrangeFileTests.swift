import Foundation
import Testing

/// What stands in the place of a file, put there by somebody or by mistake: links, pipes, folders for all.
@Suite("Strange files", .processes) struct StrangeFileTests {
  /// A repository that is cloned can have a state folder in it, with links under the names of our files.
  @Test(arguments: ["gateway.lock", "device.lock", ".lock", "store"]) func aLinkInAStateFolderIsNotFollowed(name: String) async throws {
    let folder = try Folder()
    let target = folder.path("precious")
    if name == "store" {
      try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: false)
    } else {
      try folder.write("precious", "precious")
    }
    let state = folder.path("state")
    try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: false)
    try FileManager.default.createSymbolicLink(atPath: "\(state)/\(name)", withDestinationPath: target)
    let ports = ["provider", "control", "device", "plain"].flatMap { ["--\($0)-port", "0"] }
    let result = try await run([Deployment.executable, "dev", "--state-dir", state] + ports)
    #expect(result.status == 1 && result.text.isEmpty, "\(result.text)")
    #expect(result.standardError.contains("\(state)/\(name): it is a symbolic link"), "\(result.standardError)")
    if name == "store" {
      #expect(try FileManager.default.contentsOfDirectory(atPath: target).isEmpty)
    } else {
      #expect(try folder.read("precious") == Data("precious".utf8))
    }
  }

  @Test func aFolderThatEverybodyMayWriteToIsRefused() async throws {
    let folder = try Folder()
    chmod(folder.path, 0o777)
    for command in [["dev"], ["gateway"], ["access", "new", "x", "--scope", "read"], ["keys", "new"]] {
      let result = try await run([Deployment.executable] + command + ["--state-dir", folder.path])
      #expect(result.status == 1, "\(command)")
      #expect(result.standardError.contains("everybody may put files in the folder (its permissions are 777)"), "\(result.standardError)")
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
  }

  /// Every option and operand that names a file. None waits for the pipe's other end, which nobody opens.
  @Test func aPipeIsRefusedAtOnce() async throws {
    let folder = try Folder()
    let pipe = folder.path("AuthKey_ABCDE12345.p8")
    try #require(mkfifo(pipe, 0o600) == 0)
    let recording = try folder.write("day.ndjson", "")
    let payload = try folder.write("payload.json", #"{"aps":{}}"#)
    let configurations = [
      "tls: {certificateFile: \(pipe), keyFile: \(pipe)}", "teams: [{id: T, keys: [{id: K, file: \(pipe)}]}]",
      "accessTokens: [{name: a, scopes: [read], secret: {file: \(pipe)}}]",
    ]
    let files = try configurations.enumerated().map { try folder.write("\($0.offset).yaml", $0.element) }
    let commands =
      [
        ["config", "check", "--config", pipe], ["gateway", "--config", pipe], ["device", "--config", pipe], ["lint", pipe],
        ["lint", "--schema", pipe, payload], ["import", pipe], ["replay", pipe], ["replay", recording, "--budgets", pipe],
        ["token", "--key", pipe, "--team", "TEAM123456"], ["keys", "import", pipe, "--team", "TEAM123456"],
        ["dev", "--key", pipe, "--team", "TEAM123456"],
        ["record", "--out", pipe],
      ] + files.map { ["config", "check", "--config", $0] }
    let state = try await SharedDev.deployment().state.path
    for command in commands {
      let isClient = ["import", "replay", "record"].contains(command[0])
      let options = command[0] == "lint" ? [] : ["--state-dir", isClient ? state : folder.path("state")]
      let result = try await run([Deployment.executable] + command + options, within: .seconds(30))
      #expect(result.status != 0, "\(command)")
      #expect(
        result.standardError.contains("named pipe, not a file") || result.standardError.contains("No such device or address"),
        "\(command): \(result.standardError)")
    }
    let device = try await run([Deployment.executable, "config", "check", "--config", "/dev/zero"], within: .seconds(30))
    #expect(device.standardError.contains("it is a device, not a file"), "\(device.standardError)")
    let directory = try await run([Deployment.executable, "lint", folder.path], within: .seconds(30))
    #expect(directory.standardError.contains("it is a folder, not a file"), "\(directory.standardError)")
    // What a shell has opened for it, and standard input where that is named, may be pipes.
    let open = try await run([
      "bash", "-c", "\(Deployment.executable) lint <(cat \(payload)); cat \(payload) | \(Deployment.executable) lint -",
    ])
    #expect(!open.standardError.contains("pipe"), "\(open.standardError)")
  }

  /// The files of a store are for their owner alone, and `config check` names what is not.
  @Test func whatIsLaxIsNamed() async throws {
    let dev = try await Deployment.start(["dev"])
    let state = dev.state.path
    for name in ["gateway.sqlite", "gateway.sqlite-wal", "gateway.sqlite-shm", "gateway.sqlite.lock", "numbers.key"] {
      let mode = try FileManager.default.attributesOfItem(atPath: "\(state)/store/\(name)")[.posixPermissions] as? Int
      #expect(mode == 0o600, "\(name)")
    }
    #expect(try await dev.terminate() == 0)
    func check() async throws -> String {
      try await run([Deployment.executable, "config", "check", "--state-dir", state]).standardError
    }
    let quiet = try await check()
    #expect(!quiet.contains(state), "\(quiet)")
    chmod("\(state)/store/gateway.sqlite", 0o644)
    chmod("\(state)/ca.key", 0o640)
    chmod(state, 0o775)
    chmod("\(state)/store", 0o777)
    let said = try await check()
    #expect(said.contains("store/gateway.sqlite holds what is sent to whom and has the permissions 644"), "\(said)")
    #expect(said.contains("ca.key holds a secret and has the permissions 640"), "\(said)")
    #expect(said.contains("\(state) has the permissions 775") && said.contains("chmod go-w"), "\(said)")
    #expect(said.contains("\(state)/store will be refused by a server: everybody may put files in the folder"), "\(said)")
  }
}
