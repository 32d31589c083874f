import Primitives
import Push
import YAML

extension ConfigurationReader {
  /// Text, or nil when absent.
  mutating func string(_ key: String) throws(ConfigurationError) -> String? { try scalar(key)?.text }

  /// Text that must be there.
  mutating func requiredString(_ key: String, _ form: String) throws(ConfigurationError) -> String {
    guard let text = try string(key) else { throw missing(key, form) }
    return text
  }

  /// A whole number within `range`, or nil when absent.
  mutating func integer(_ key: String, in range: ClosedRange<Int64>) throws(ConfigurationError) -> Int64? {
    guard let scalar = try scalar(key) else { return nil }
    guard let value = Int64(scalar.text), range.contains(value) else {
      let form = "a whole number from \(range.lowerBound) to \(range.upperBound)"
      throw error(key, "must be \(form), not \"\(scalar.text)\"", scalar.origin)
    }
    return value
  }

  /// A TCP port, or nil when absent; 0 takes a free one.
  mutating func port(_ key: String) throws(ConfigurationError) -> UInt16? {
    try integer(key, in: 0...65_535).map { UInt16($0) }
  }

  /// One TCP port under `key` or a list of them under `several`, or nil when both are absent; a flag or variable that sets `key`
  /// wins over the list.
  mutating func ports(_ key: String, several: String) throws(ConfigurationError) -> [UInt16]? {
    let isListed = node(several) != nil
    let texts = try strings(several, max: Limits.providerPorts)
    if let scalar = try scalar(key) {
      if isListed, case .file = scalar.origin { throw error(several, "or \(key) must be given; one of them", scalar.origin) }
      return try port(key).map { [$0] }
    }
    guard let texts else { return nil }
    var ports: [UInt16] = []
    for text in texts {
      guard let port = UInt16(text), port == 0 || !ports.contains(port) else {
        throw error(several, "must list different ports from 0 to 65535, not \"\(text)\"")
      }
      ports.append(port)
    }
    guard !ports.isEmpty else { throw error(several, "must list at least one port") }
    return ports
  }

  /// `true` or `false`, or nil when absent.
  mutating func bool(_ key: String) throws(ConfigurationError) -> Bool? {
    guard let scalar = try scalar(key) else { return nil }
    guard scalar.text == "true" || scalar.text == "false" else {
      throw error(key, "must be true or false, not \"\(scalar.text)\"", scalar.origin)
    }
    return scalar.text == "true"
  }

  /// Whole or fractional seconds within `range`, or nil when absent.
  mutating func seconds(_ key: String, in range: ClosedRange<Double>) throws(ConfigurationError) -> TimeSpan? {
    guard let scalar = try scalar(key) else { return nil }
    guard let value = Double(scalar.text), range.contains(value) else {
      throw error(
        key, "must be a number of seconds from \(range.lowerBound) to \(range.upperBound), not \"\(scalar.text)\"", scalar.origin)
    }
    return TimeSpan(nanoseconds: Int64(value * 1e9))
  }

  /// One of the raw values of `Choice`, or nil when absent.
  mutating func choice<Choice: RawRepresentable & CaseIterable>(
    _ key: String, _: Choice.Type
  ) throws(ConfigurationError) -> Choice? where Choice.RawValue == String {
    let known = Choice.allCases.map(\.rawValue)
    return try choice(key, of: known).flatMap { Choice(rawValue: $0) }
  }

  /// One of `known`, or nil when absent.
  mutating func choice(_ key: String, of known: [String]) throws(ConfigurationError) -> String? {
    guard let scalar = try scalar(key) else { return nil }
    guard known.contains(scalar.text) else {
      let nearest = nearestName(to: scalar.text, among: known).map { "; did you mean \"\($0)\"?" } ?? ""
      throw error(key, "must be \(listed(known)), not \"\(scalar.text)\"\(nearest)", scalar.origin)
    }
    return scalar.text
  }

  /// A list of texts, or nil when absent.
  mutating func strings(_ key: String, max: Int) throws(ConfigurationError) -> [String]? {
    guard let node = node(key) else { return nil }
    guard case .sequence(let elements) = node.content else {
      throw error(key, "must be a list such as [a, b], not \(node.kind)", at: node.mark)
    }
    guard elements.count <= max else { throw error(key, "must have at most \(max) entries, not \(elements.count)", at: node.mark) }
    var texts: [String] = []
    for (index, element) in elements.enumerated() {
      guard case .scalar(let text, _) = element.content, !element.isNull else {
        throw error("\(key)[\(index)]", "must be a single value, not \(element.kind)", at: element.mark)
      }
      texts.append(text)
    }
    note(key, "[\(texts.joined(separator: ", "))]", .file(node.mark))
    return texts
  }

  /// A secret, or nil when absent: the text itself, `{file: PATH}` or `{env: NAME}`; a file's last line break does not count.
  mutating func secret(_ key: String) throws(ConfigurationError) -> String? {
    if let text = try reference(key, isSecret: true) { return text }
    return try scalar(key, isSecret: true)?.text
  }

  /// The content of a text file, or nil when absent: `PATH`, `{file: PATH}` or `{env: NAME}`.
  ///
  /// - Parameter isSecret: Whether nobody else should be able to read the file.
  mutating func fileText(_ key: String, isSecret: Bool = false) throws(ConfigurationError) -> String? {
    if let text = try reference(key, isSecret: isSecret) { return text }
    guard let scalar = try scalar(key) else { return nil }
    var path = scalar.text
    if case .file = scalar.origin { path = sources.resolved(path) }
    if isSecret { trace?.noteSecretFile(name(key), path) }
    return try read(path, for: key, scalar.origin)
  }

  /// What `{file: PATH}` or `{env: NAME}` under `key` stands for; nil when the value is another.
  private mutating func reference(_ key: String, isSecret: Bool) throws(ConfigurationError) -> String? {
    guard let node = node(key), case .mapping(let entries) = node.content else { return nil }
    guard entries.count == 1, let entry = entries.first, case .scalar(let text, _) = entry.value.content,
      ["file", "env"].contains(entry.key)
    else { throw error(key, "must be the value itself, {file: PATH} or {env: NAME}", at: node.mark) }
    note(key, "{\(entry.key): \(text)}", .file(node.mark))
    if entry.key == "file" {
      if isSecret { trace?.noteSecretFile(name(key), sources.resolved(text)) }
      let content = try read(sources.resolved(text), for: key, .file(entry.value.mark))
      return content.hasSuffix("\n") ? String(content.dropLast()) : content
    }
    guard let value = sources.environment[text] else {
      throw error(key, "needs the environment variable \(text), which is not set", at: entry.value.mark)
    }
    return value
  }

  private func read(_ path: String, for key: String, _ origin: Origin) throws(ConfigurationError) -> String {
    do throws(ConfigurationSources.ReadFailure) {
      return try sources.readFile(path)
    } catch {
      throw self.error(key, "names \(path), which cannot be read: \(error.reason)", origin)
    }
  }
}
