import Foundation

/// One running `widgetpush dev`, `gateway` or `device`, found through nothing but its state folder and its ready line.
final class Deployment: Sendable {
  /// The folder with its certificates, keys and journal.
  let state: Folder
  /// The process.
  let process: ChildProcess
  /// The faces that its ready line names, by name: `provider`, `control`, `device`, `plain`.
  let faces: [String: String]
  /// The upstream that goes with it, where the test plays one.
  let upstream: FakeUpstream?

  /// The binary under test: the one that WIDGETPUSH names, or else the one built together with these tests.
  static let executable: String = {
    if let named = ProcessInfo.processInfo.environment["WIDGETPUSH"] { return named }
    let bundle = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    return bundle.deletingLastPathComponent().appendingPathComponent("widgetpush").path
  }()

  /// Starts one and waits until it is ready.
  ///
  /// - Parameters:
  ///   - command: `dev`, `gateway` or `device`, and options beyond the state folder.
  ///   - state: The state folder; nil makes a new one.
  ///   - ports: The port options; nil takes a free port for each face.
  static func start(
    _ command: [String], in state: Folder? = nil, ports: [String]? = nil, environment: [String: String] = [:],
    executable: String = executable, upstream: FakeUpstream? = nil, within limit: Duration = .seconds(30)
  ) async throws -> Deployment {
    let state = try state ?? Folder()
    let process = try launch(command, in: state, ports: ports, environment: environment, executable: executable)
    do {
      try await eventually(within: limit, "\(command) is ready") {
        process.exitStatus != nil || process.output.lines.contains { $0.hasPrefix("ready ") }
      }
      guard let ready = process.output.lines.first(where: { $0.hasPrefix("ready ") }) else {
        throw HarnessError("\(command) ended with \(process.exitStatus ?? -1)")
      }
      let faces = ready.split(separator: " ").dropFirst().map { $0.split(separator: "=", maxSplits: 1).map(String.init) }
      return Deployment(
        state: state, process: process, faces: Dictionary(uniqueKeysWithValues: faces.map { ($0[0], $0[1]) }), upstream: upstream)
    } catch {
      process.signal(SIGKILL)
      throw HarnessError("\(error)\n\(process.output.text)\n\(process.errors.text)")
    }
  }

  /// Starts one without waiting for anything.
  static func launch(
    _ command: [String], in state: Folder, ports: [String]? = nil, environment: [String: String] = [:], executable: String = executable
  ) throws -> ChildProcess {
    var arguments = [executable, command[0], "--state-dir", state.path]
    arguments += ports ?? freePorts(of: command[0])
    return try ChildProcess(arguments + command.dropFirst(), environment: environment)
  }

  private static func freePorts(of command: String) -> [String] {
    switch command {
    case "dev": ["--provider-port", "0", "--control-port", "0", "--device-port", "0", "--plain-port", "0"]
    case "gateway": ["--provider-port", "0", "--control-port", "0"]
    case "device": ["--device-port", "0"]
    default: []
    }
  }

  private init(state: Folder, process: ChildProcess, faces: [String: String], upstream: FakeUpstream?) {
    self.upstream = upstream
    self.state = state
    self.process = process
    self.faces = faces
  }

  deinit { process.signal(SIGKILL) }

  /// The address of a face, such as `https://127.0.0.1:2197`.
  func url(_ face: String) throws -> String {
    guard let url = faces[face] else { throw HarnessError("the ready line names no \(face): \(faces)") }
    return url
  }

  /// The port of a face.
  func port(_ face: String) throws -> Int {
    guard let port = URL(string: try url(face))?.port else { throw HarnessError("no port in \(try url(face))") }
    return port
  }

  /// What `credentials.json` holds.
  func credentials() throws -> Document { try Document(state.read("credentials.json")) }

  /// Asks it to end, and returns its exit status.
  func terminate(within limit: Duration = .seconds(120)) async throws -> Int32 {
    process.signal(SIGTERM)
    return try await process.waitForExit(within: limit)
  }

  /// Ends it as a crash would.
  func crash() async throws {
    process.signal(SIGKILL)
    _ = try await process.waitForExit()
  }
}
