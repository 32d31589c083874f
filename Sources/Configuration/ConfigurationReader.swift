import Primitives
import Push
import YAML

/// Reads a mapping's keys one by one, each from the flag, the variable or the file; `finish()` refuses what was not asked for.
///
/// An empty value counts as absent, so that a file may list every key.
struct ConfigurationReader {
  /// Where a value came from.
  enum Origin {
    case file(YAMLMark)
    case variable(String)
    case flag(String)
  }

  /// One value as text.
  struct Scalar {
    let text: String
    let origin: Origin
  }

  let sources: ConfigurationSources
  /// Who keeps what is read; nil where nobody asks.
  let trace: ConfigurationTrace?
  /// The mapping's path: empty for the whole file, else such as `apps[0]`.
  let path: String
  /// Where the mapping begins; nil when the file does not have it.
  let mark: YAMLMark?
  private let entries: [YAMLNode.Entry]
  /// Whether flags and variables may set the keys; those of list entries and of named entries have neither.
  private let isOverlaid: Bool
  private var asked: [String] = []

  /// A reader of the sources' whole file; throws when the file is no YAML or no mapping.
  init(_ sources: ConfigurationSources, trace: ConfigurationTrace? = nil) throws(ConfigurationError) {
    guard let file = sources.file else {
      self.init(sources, trace, path: "", mark: nil, entries: [], isOverlaid: true)
      return
    }
    do throws(YAMLError) {
      let root = try YAML.parse(
        file.text, bounds: YAML.Bounds(nodesMax: Limits.configurationValues, depthMax: Limits.configurationDepth))
      try self.init(sources, trace, path: "", root, isOverlaid: true)
    } catch {
      throw ConfigurationError(error.message, in: file.name, error.mark)
    }
  }

  private init(
    _ sources: ConfigurationSources, _ trace: ConfigurationTrace?, path: String, mark: YAMLMark?, entries: [YAMLNode.Entry],
    isOverlaid: Bool
  ) {
    self.sources = sources
    self.trace = trace
    self.path = path
    self.mark = mark
    self.entries = entries
    self.isOverlaid = isOverlaid
  }

  /// A reader of `node`, which must be a mapping or nothing.
  private init(
    _ sources: ConfigurationSources, _ trace: ConfigurationTrace?, path: String, _ node: YAMLNode?, isOverlaid: Bool
  ) throws(YAMLError) {
    guard let node, !node.isNull else {
      self.init(sources, trace, path: path, mark: node?.mark, entries: [], isOverlaid: isOverlaid)
      return
    }
    guard case .mapping(let entries) = node.content else {
      let name = path.isEmpty ? "the configuration" : path
      throw YAMLError("\(name) must be a mapping of keys to values, not \(node.kind)", at: node.mark)
    }
    self.init(sources, trace, path: path, mark: node.mark, entries: entries, isOverlaid: isOverlaid)
  }

  /// The file's value under `key`, whatever it is; nil when absent or empty.
  mutating func node(_ key: String) -> YAMLNode? {
    if !asked.contains(key) { asked.append(key) }
    guard let node = entries.first(where: { $0.key == key })?.value, !node.isNull else { return nil }
    return node
  }

  /// The keys that the file gives a value, with it.
  var keys: [(String, YAMLNode)] { entries.filter { !$0.value.isNull }.map { ($0.key, $0.value) } }

  /// The single value of `key` from the first source that has it; `isSecret` keeps it out of the trace.
  mutating func scalar(_ key: String, isSecret: Bool = false) throws(ConfigurationError) -> Scalar? {
    let node = node(key)
    let scalar: Scalar
    if let overlaid = overlay(key) {
      scalar = overlaid
    } else if let node {
      guard case .scalar(let text, _) = node.content else {
        throw error(key, "must be a single value, not \(node.kind)", at: node.mark)
      }
      scalar = Scalar(text: text, origin: .file(node.mark))
    } else {
      trace?.note(name(key), nil, .standard)
      return nil
    }
    note(key, isSecret ? ConfigurationTrace.mask : scalar.text, scalar.origin)
    return scalar
  }

  /// Tells the trace what `key` has.
  func note(_ key: String, _ value: String, _ origin: Origin?) {
    let place: ConfigurationTrace.Origin =
      switch origin {
      case .file(let mark)?: .file(place: "\(sources.file?.name ?? "configuration"):\(mark.line):\(mark.column)")
      case .variable(let name)?: .variable(name)
      case .flag(let name)?: .flag(name)
      case nil: .standard
      }
    trace?.note(name(key), value.maskingURLPasswords, place)
  }

  /// Where the file has the value of `key`: `gateway.yaml:3:17`.
  func place(of key: String) -> String { error(key, "").place }

  /// A nested mapping; one that the file lacks reads as empty, since flags and variables may still set its keys.
  mutating func section(_ key: String) throws(ConfigurationError) -> ConfigurationReader {
    try reader(of: node(key), at: name(key), isOverlaid: isOverlaid)
  }

  /// The mappings of a list; nil when absent.
  mutating func list(_ key: String, max: Int) throws(ConfigurationError) -> [ConfigurationReader]? {
    guard let node = node(key) else { return nil }
    guard case .sequence(let elements) = node.content else { throw error(key, "must be a list, not \(node.kind)", at: node.mark) }
    guard elements.count <= max else { throw error(key, "must have at most \(max) entries, not \(elements.count)", at: node.mark) }
    var readers: [ConfigurationReader] = []
    for (index, element) in elements.enumerated() { readers.append(try reader(of: element, at: "\(name(key))[\(index)]")) }
    return readers
  }

  /// The mappings of a mapping whose keys are names of the user's own; nil when absent.
  mutating func named(_ key: String, max: Int) throws(ConfigurationError) -> [(name: String, reader: ConfigurationReader)]? {
    guard let node = node(key) else { return nil }
    guard case .mapping(let entries) = node.content else {
      throw error(key, "must be a mapping of names to their settings, not \(node.kind)", at: node.mark)
    }
    guard entries.count <= max else { throw error(key, "must have at most \(max) entries, not \(entries.count)", at: node.mark) }
    var readers: [(String, ConfigurationReader)] = []
    for entry in entries { readers.append((entry.key, try reader(of: entry.value, at: "\(name(key)).\(entry.key)"))) }
    return readers
  }

  /// Refuses keys that were never asked for, naming the nearest one that is known.
  func finish() throws(ConfigurationError) {
    for entry in entries where !asked.contains(entry.key) {
      throw error("\(name(entry.key)) is not a known key\(hint(for: entry.key, among: asked))", at: entry.keyMark)
    }
  }

  /// An error about a key that must be there: most often it is there under a misspelt name.
  func missing(_ key: String, _ form: String) -> ConfigurationError {
    for entry in entries where !asked.contains(entry.key) && nearestName(to: entry.key, among: [key]) != nil {
      return error("\(name(entry.key)) is not a known key\(hint(for: entry.key, among: [key]))", at: entry.keyMark)
    }
    return error(key, "is missing; it must be \(form)")
  }

  /// The path of `key`.
  func name(_ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

  /// An error about `key` that was found at `mark`; `problem` continues a sentence that begins with the key's path.
  func error(_ key: String, _ problem: String, at mark: YAMLMark?) -> ConfigurationError {
    error("\(name(key)) \(problem)", at: mark)
  }

  /// An error about a value of `key`, at the place it came from.
  func error(_ key: String, _ problem: String, _ origin: Origin) -> ConfigurationError {
    switch origin {
    case .file(let mark): error(key, problem, at: mark)
    case .variable(let name), .flag(let name): ConfigurationError("\(self.name(key)) \(problem)", at: name)
    }
  }

  /// An error about the value that the file has for `key`, or about its lack.
  func error(_ key: String, _ problem: String) -> ConfigurationError {
    error(key, problem, at: entries.first { $0.key == key }?.value.mark ?? mark)
  }

  private func error(_ message: String, at mark: YAMLMark?) -> ConfigurationError {
    ConfigurationError(message, in: sources.file?.name ?? "configuration", mark)
  }

  private func reader(
    of node: YAMLNode?, at path: String, isOverlaid: Bool = false
  ) throws(ConfigurationError) -> ConfigurationReader {
    do throws(YAMLError) {
      return try ConfigurationReader(sources, trace, path: path, node, isOverlaid: isOverlaid)
    } catch {
      throw ConfigurationError(error.message, in: sources.file?.name ?? "configuration", error.mark)
    }
  }

  /// What a flag or a variable says.
  private func overlay(_ key: String) -> Scalar? {
    guard isOverlaid else { return nil }
    let known = ConfigurationKey(name(key), "", "")
    if let text = sources.flags[known.path] { return Scalar(text: text, origin: .flag(known.flag)) }
    if let text = sources.environment[known.variable] { return Scalar(text: text, origin: .variable(known.variable)) }
    return nil
  }
}
