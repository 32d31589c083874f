import JSON
import Rules

/// A curl command of a script, as the requests that it would send.
struct CurlCommand {
  /// A request, and the lines of the script that speak of it.
  struct Push {
    var request: LintedRequest
    let lines: ClosedRange<Int>
    /// The file that the payload stands in, where it could not be read.
    var unreadFile: String?
    /// Whether there is a payload of which the script does not tell enough to judge any of it.
    var hasUnknownPayload = false
  }

  /// Its line, from 1.
  let line: Int
  /// Its requests to the provider API.
  let pushes: [Push]

  /// The curl commands of a script.
  ///
  /// - Parameter read: Reads a file that a command names; nil when it cannot be read.
  static func all(in script: String, read: @escaping (String) -> [UInt8]?) -> [CurlCommand] {
    // A payload is no script, and what its texts say is none either.
    let start = script.drop(while: \.isWhitespace)
    if start.first == "{", let next = start.dropFirst().first(where: { !$0.isWhitespace }), "\"}".contains(next) { return [] }
    let commands = ShellCommand.all(in: script)
    return commands.compactMap { command in
      guard let words = arguments(of: command) else { return nil }
      var reader = CurlReader(input: CurlInput(command, commands, read: read), read: read)
      reader.take(words)
      return CurlCommand(line: command.lines.lowerBound, pushes: reader.pushes(on: lines(of: command, commands)))
    }
  }

  /// The words after curl's name, or nil where the command does not run it. Before the name there may be a prompt, variables that are
  /// set for it, or what runs it, such as `timeout 5` or `docker exec app`.
  private static func arguments(of command: ShellCommand) -> ArraySlice<ShellCommand.Word>? {
    let words = command.words.drop { $0.text == "$" || $0.text.contains("=") }
    guard let first = words.first, !speakers.contains(first.text),
      let name = words.firstIndex(where: { $0.text == "curl" || $0.text.hasSuffix("/curl") })
    else { return nil }
    let arguments = words[(name + 1)...]
    return arguments.isEmpty ? nil : arguments
  }

  /// Commands that name curl without running it.
  private static let speakers: Set<String> = [
    "echo", "printf", "command", "which", "type", "hash", "man", "apt", "apt-get", "apk", "brew", "dnf", "yum", "for", "case",
  ]

  /// The lines of a command and of what it reads from.
  private static func lines(of command: ShellCommand, _ commands: [ShellCommand]) -> ClosedRange<Int> {
    var lines = command.lines
    var input = command.input
    // Each is the output of an earlier one.
    while case .output(let index) = input {
      lines = min(lines.lowerBound, commands[index].lines.lowerBound)...max(lines.upperBound, commands[index].lines.upperBound)
      input = commands[index].input
    }
    return lines
  }
}
