/// A single value that a file, an environment variable and a flag can set.
public struct ConfigurationKey: Hashable, Sendable {
  /// Its place in the file, such as `provider.port`.
  public var path: String
  /// What stands for the value in help texts, such as `PORT`.
  public var placeholder: String
  /// One line for help texts: meaning, unit and, in parentheses at the end, the default.
  public var summary: String

  /// A key with these values.
  public init(_ path: String, _ placeholder: String, _ summary: String) {
    self.path = path
    self.placeholder = placeholder
    self.summary = summary
  }

  /// The default as people read it: what stands in parentheses at the end of the summary; nil where nothing does.
  public var standard: String? {
    guard summary.hasSuffix(")"), let open = summary.lastIndex(of: "(") else { return nil }
    return String(summary[summary.index(after: open)...].dropLast())
  }

  /// The environment variable: `WIDGETPUSH_PROVIDER_PORT`.
  public var variable: String { "WIDGETPUSH_" + words.map { $0.uppercased() }.joined(separator: "_") }

  /// The flag: `--provider-port`.
  public var flag: String { "--" + words.joined(separator: "-") }

  /// The words of the path in lower case: `pushLog.maxEntries` has push, log, max and entries.
  private var words: [String] {
    var words = [""]
    for character in path {
      if character == "." {
        words.append("")
      } else if character.isUppercase {
        words.append(character.lowercased())
      } else {
        words[words.count - 1].append(character)
      }
    }
    return words
  }
}
