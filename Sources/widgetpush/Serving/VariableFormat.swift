/// How the setting of a variable is written for those who read it.
enum VariableFormat: String, CaseIterable, Sendable {
  /// A POSIX shell.
  case sh
  /// The file that `GITHUB_ENV` names (GitHub, "Workflow commands": setting an environment variable).
  case github
  /// A `.env` file, of which each reader has rules of its own: a value without quotes is read alike by all.
  case dotenv

  /// The lines that set `name`, without the last line feed.
  func line(_ name: String, _ value: String) -> String {
    switch self {
    case .sh: "export \(name)='\(value.replacing("'", with: "'\\''"))'"
    case .github: value.contains("\n") ? Self.block(name, value) : "\(name)=\(value)"
    case .dotenv: "\(name)=\(Self.isPlain(value) ? value : Self.quoted(value))"
    }
  }

  /// Several lines between two of a word that is none of them.
  private static func block(_ name: String, _ value: String) -> String {
    let lines = value.split(separator: "\n", omittingEmptySubsequences: false)
    var word = "END"
    while lines.contains(where: { $0 == word }) { word += "_" }
    return "\(name)<<\(word)\n\(value)\n\(word)"
  }

  private static func isPlain(_ value: String) -> Bool {
    value.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
      default: "_-./:@%+,".utf8.contains(byte)
      }
    }
  }

  /// In single quotes nothing has a meaning; in double quotes, which are needed for a single one, a few characters do.
  private static func quoted(_ value: String) -> String {
    guard value.contains("'") || value.contains("\n") else { return "'\(value)'" }
    let escapes: [(String, String)] = [("\\", "\\\\"), ("\"", "\\\""), ("$", "\\$"), ("`", "\\`"), ("\n", "\\n")]
    return "\"\(escapes.reduce(value) { $0.replacing($1.0, with: $1.1) })\""
  }
}
