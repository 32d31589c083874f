import YAML

/// A value of the configuration that is missing, of the wrong form or unknown, with the place where it stands.
public struct ConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Where: `gateway.yaml:3:17`, `WIDGETPUSH_PROVIDER_PORT` or `--provider-port`.
  public var place: String
  /// What is wrong and what would be right: one sentence that names the key.
  public var message: String

  /// An error at `place`. The sentence says no password that stands in a URL.
  public init(_ message: String, at place: String) {
    self.place = place
    self.message = message.maskingURLPasswords
  }

  init(_ message: String, in file: String, _ mark: YAMLMark?) {
    self.init(message, at: mark.map { "\(file):\($0.line):\($0.column)" } ?? file)
  }

  /// The place and the sentence, as compilers write them.
  public var description: String { "\(place): \(message)" }
}
