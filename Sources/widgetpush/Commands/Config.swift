import Configuration
import Gateway
import JSON
import Primitives

extension Command {
  /// `widgetpush config`.
  static let config = Command(
    "config", "checks a configuration, or shows what holds and where it came from", operands: "check | show", count: 1...1,
    discussion: """
      Reads what `widgetpush gateway` would read with the same options: the file, WIDGETPUSH_ variables and flags. check ends with 1
      and the place of the first mistake, and warns of files with secrets that others can read, of folders that others can write to, the
      state folder and the store among them, and of a limit of open files below what the connections need. show prints every key with its
      value and where it came from: default, file, environment or flag. Secrets are masked.
      """,
    options: [
      Option("--config", "FILE", "configuration file (none)"),
      Option(switch: "--device", "the configuration of `widgetpush device` instead"), .json, .stateFolder,
    ] + configurationFlags,
    examples: ["widgetpush config check --config Config/gateway.yaml", "widgetpush config show --config gateway.yaml --provider-port 443"]
  ) { arguments in
    let verb = try arguments.verb(of: ["check", "show"])
    let isDevice = arguments.has("--device")
    let keys = isDevice ? DeviceConfiguration.keys : GatewayConfiguration.keys
    if let foreign = configurationFlags.first(where: { flag in arguments.has(flag.name) && !keys.contains { $0.flag == flag.name } }) {
      throw UsageError("\(foreign.name) is \(isDevice ? "a gateway's; leave --device out" : "a device's; add --device")")
    }
    let options = try ServerOptions(arguments, keys: keys)
    let trace = ConfigurationTrace()
    let summary: String
    var store: String?
    var warnings: [String] = []
    if isDevice {
      let configuration = try DeviceConfiguration.load(options.sources, otherVariables: ServerOptions.otherVariables, trace: trace)
      summary = "\(configuration.providers.count) providers, \(configuration.accessTokens.count) access tokens"
    } else {
      let configuration = try GatewayConfiguration.load(options.sources, otherVariables: ServerOptions.otherVariables, trace: trace)
      try Gateway.check(configuration)
      summary = ConfigurationText.summary(of: configuration)
      switch configuration.store {
      case .folder(let path)?: store = path
      case .memory?: break
      case nil: store = options.folder.store
      }
      if let complaint = OpenFiles.complaint(loops: configuration.loops) { warnings.append(complaint) }
    }
    if verb == "show" {
      let rows = ConfigurationText.rows(of: trace, keys)
      Console.print(arguments.wantsJSON ? ConfigurationText.json(rows).serialized(pretty: true) : ConfigurationText.table(rows))
      return 0
    }
    warnings += trace.secretFiles.compactMap { FilePermissions.complaint(about: $0.path) }
    warnings += FilePermissions.complaints(about: options.folder, store: store)
    if arguments.wantsJSON {
      Console.print(JSONValue.object(["ok": true, "warnings": .array(warnings.map(JSONValue.string))]).serialized(pretty: true))
    } else {
      for warning in warnings { Console.complain("warning: \(warning)") }
      Console.print("ok: \(summary)")
    }
    return 0
  }

  /// The flags of both servers, each once.
  private static var configurationFlags: [Option] {
    var known: Set<String> = []
    return (GatewayConfiguration.keys + DeviceConfiguration.keys).filter { known.insert($0.flag).inserted }
      .map { Option($0.flag, $0.placeholder, $0.summary) }
  }
}

/// A configuration as `config` shows it.
enum ConfigurationText {
  /// One key.
  struct Row: Hashable {
    var key: String
    var value: String
    /// `default`, `file`, `environment` or `flag`.
    var origin: String
    /// Where exactly: `gateway.yaml:3:17`, a variable or a flag; nil for defaults.
    var place: String?
  }

  /// The keys that have a value, in the order in which they are read, with the defaults of those that nothing sets.
  static func rows(of trace: ConfigurationTrace, _ keys: [ConfigurationKey]) -> [Row] {
    trace.entries.compactMap { entry in
      guard let value = entry.value ?? keys.first(where: { $0.path == entry.path })?.standard else { return nil }
      switch entry.origin {
      case .standard: return Row(key: entry.path, value: value, origin: "default")
      case .file(let place): return Row(key: entry.path, value: value, origin: "file", place: place)
      case .variable(let name): return Row(key: entry.path, value: value, origin: "environment", place: name)
      case .flag(let name): return Row(key: entry.path, value: value, origin: "flag", place: name)
      }
    }
  }

  /// The rows for people.
  static func table(_ rows: [Row]) -> String {
    let cells = rows.map { [$0.key, $0.value, $0.origin + ($0.place.map { " \($0)" } ?? "")] }
    return Table.lines([["key", "value", "from"]] + cells).joined(separator: "\n")
  }

  /// The rows for programs.
  static func json(_ rows: [Row]) -> JSONValue {
    let keys = rows.map { row -> JSONValue in
      var object: JSONObject = ["key": .string(row.key), "value": .string(row.value), "origin": .string(row.origin)]
      object["place"] = row.place.map(JSONValue.string)
      return .object(object)
    }
    return ["keys": .array(keys)]
  }

  /// What a configuration lists, in one line; what it leaves out a server takes from its state folder, or does without.
  static func summary(of configuration: GatewayConfiguration) -> String {
    func count(_ number: Int, _ noun: String) -> String {
      number == 0 ? "\(noun)s by default" : "\(number) \(noun)\(number == 1 ? "" : "s")"
    }
    return [
      count(configuration.apps.count + (configuration.anyApp == nil ? 0 : 1), "app"), count(configuration.providers.count, "provider"),
      count(configuration.signingKeys.count, "team"), count(configuration.upstreams.count, "upstream"),
      count(configuration.accessTokens.count, "access token"),
    ].joined(separator: ", ")
  }
}
