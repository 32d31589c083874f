import JSON

/// The folder through which the processes of one deployment, and the commands that talk to it, find each other.
struct StateFolder: Hashable, Sendable {
  /// The variable that names it where `--state-dir` does not.
  static let variable = "WIDGETPUSH_STATE_DIR"

  /// Its path from the root.
  let path: String

  /// The folder at `path`.
  init(_ path: String) { self.path = Files.absolute(path) }

  /// The folder that a command line means.
  init(_ arguments: Arguments, environment: [String: String] = Machine.environment) {
    let variable = environment[Self.variable].flatMap { $0.isEmpty ? nil : $0 }
    self.init(arguments.value(Option.stateFolder.name) ?? variable ?? ".widgetpush")
  }

  /// The path of a file in it.
  func file(_ name: String) -> String { "\(path)/\(name)" }

  /// Where the store keeps its journal unless configured.
  var store: String { file("store") }

  /// Makes it where it is missing. One that leads elsewhere, is another's, or that everybody may write to is refused: whoever puts files
  /// there, as in a repository that is cloned, chooses what is made in their place.
  func make() throws(FileError) { try Files.makeFolder(path, mayBeLink: false) }

  /// What `read` makes of the JSON file `name`; nil when it is not there.
  ///
  /// - Parameter mending: What to do about a file that is damaged, as the end of a sentence.
  func read<Value>(_ name: String, mending: String, _ read: (JSONValue) throws -> Value) throws(CommandError) -> Value? {
    let path = file(name)
    let text: String
    do throws(FileError) {
      text = try Files.read(path)
    } catch {
      if error.isMissing { return nil }
      throw CommandError("\(error)")
    }
    do {
      return try read(JSONValue.parse(text))
    } catch {
      throw CommandError("\(path) is damaged (\(error)); \(mending)")
    }
  }

  /// What `credentials.json` says; throws how to start a gateway when there is none.
  func credentials() throws(CommandError) -> Credentials {
    guard let credentials = try existingCredentials() else {
      throw CommandError(
        "nothing was ever started with the state folder \(path); start a gateway with `widgetpush dev`, or name its folder with --state-dir"
      )
    }
    return credentials
  }

  /// What `credentials.json` says, or nil when there is none.
  func existingCredentials() throws(CommandError) -> Credentials? {
    try read("credentials.json", mending: "remove it and start `widgetpush dev` again to have a new one") { found(try Credentials($0)) }
  }

  /// The same credentials with the files where they are: a folder that was copied, or is mounted somewhere else, still names
  /// them by the path they had.
  private func found(_ credentials: Credentials) -> Credentials {
    var credentials = credentials
    for name in [\Credentials.keyFile, \.caFile, \.gateway.keyFile] where !Files.exists(credentials[keyPath: name]) {
      let here = file(credentials[keyPath: name].split(separator: "/").last.map(String.init) ?? "")
      if Files.exists(here) { credentials[keyPath: name] = here }
    }
    return credentials
  }

  /// Takes the URLs of faces that are going away out of `credentials.json`, unless another process has put its own there since.
  func forget(_ faces: [(name: String, url: String)]) throws {
    let urls = faces.map(\.url)
    func isGone(_ url: String?) -> Bool { url.map(urls.contains) ?? false }
    _ = try updateCredentials { credentials in
      if isGone(credentials.provider) { credentials.provider = nil }
      if isGone(credentials.control) { credentials.control = nil }
      if isGone(credentials.device) { credentials.device = nil }
      if isGone(credentials.plain) { credentials.plain = nil }
    }
  }

  /// Changes `credentials.json`, which is there, while no other process does.
  func updateCredentials(_ change: (inout Credentials) -> Void) throws -> Credentials {
    try FileLock.holding(file(".lock")) {
      var credentials = try credentials()
      change(&credentials)
      try Files.write(credentials.json.serialized(pretty: true) + "\n", to: file("credentials.json"), mode: 0o600)
      return credentials
    }
  }
}
