import Configuration

/// The options that servers with a configuration file have in common.
struct ServerOptions {
  /// `--config` and the rest that is no key of the configuration.
  static let common: [Option] = [
    Option("--config", "FILE", "configuration file; those in Config show every key (none)"),
    Option("--state-dir", "FOLDER", "folder for what the configuration leaves open (WIDGETPUSH_STATE_DIR, else .widgetpush)"),
    Option("--san", "NAME", "further name or address of the certificate made there", repeatable: true),
    Option("--advertise", "HOST", "name by which others reach this process (the address it listens on)"), .json,
  ]

  /// The options of a server with these configuration keys.
  static func all(_ keys: [ConfigurationKey]) -> [Option] {
    common + keys.map { Option($0.flag, $0.placeholder, $0.summary) }
  }

  let sources: ConfigurationSources
  let folder: StateFolder
  /// Whether somebody has said which folder is the state folder.
  let namesFolder: Bool
  let advertised: String?
  let wishes: DevState.Wishes

  /// Reads the options of a server with these configuration keys.
  init(_ arguments: Arguments, keys: [ConfigurationKey]) throws(CommandError) {
    var flags: [String: String] = [:]
    for key in keys { flags[key.path] = arguments.value(key.flag) }
    var file: ConfigurationSources.File?
    if let name = arguments.value("--config") {
      do throws(FileError) {
        file = ConfigurationSources.File(name: name, text: try Files.read(name))
      } catch {
        throw CommandError("\(error)")
      }
    }
    sources = ConfigurationSources(file: file, environment: Machine.environment, flags: flags) {
      path throws(ConfigurationSources.ReadFailure) in
      do throws(FileError) {
        return try Files.read(path)
      } catch {
        throw ConfigurationSources.ReadFailure(error.reason)
      }
    }
    folder = StateFolder(arguments)
    namesFolder = arguments.has(Option.stateFolder.name) || !(Machine.environment[StateFolder.variable] ?? "").isEmpty
    advertised = arguments.value("--advertise")
    wishes = DevState.Wishes(names: arguments.all("--san") + (advertised.map { [$0] } ?? []))
  }

  /// The variables that are no part of a configuration: what names the state folder, and what `dev` gives the command it runs.
  static let otherVariables = [StateFolder.variable] + CommandEnvironment.names
}

/// Where a server can be reached, as others should write it.
struct ServerURL {
  /// The URL of a server that listens on `port` of `bind`: by `advertised`, else by the address, else by loopback where it listens
  /// on all addresses.
  static func text(_ scheme: String, bind: String, port: UInt16, advertised: String?) -> String {
    "\(scheme)://\(bracketed(host(bind, advertised))):\(port)"
  }

  /// The host alone, without brackets.
  static func host(_ bind: String, _ advertised: String? = nil) -> String {
    if let advertised { return advertised }
    switch bind {
    case "0.0.0.0": return "127.0.0.1"
    case "::": return "::1"
    default: return bind
    }
  }

  private static func bracketed(_ host: String) -> String { host.contains(":") ? "[\(host)]" : host }
}
