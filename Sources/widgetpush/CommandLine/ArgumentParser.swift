import Primitives

/// Reads a command's options and operands.
enum ArgumentParser {
  /// What the words after the command's name say; nil asks for help.
  static func parse(_ words: some Sequence<String>, for command: Command) throws(UsageError) -> Arguments? {
    var arguments = Arguments()
    var seen: Set<String> = []
    var words = Array(words)[...]
    while let word = words.popFirst() {
      if word == "--help" || word == "-h" { return nil }
      if word == "--" {
        guard command.takesCommand else { throw UsageError("\(command.name) runs no command, so nothing may follow --") }
        guard !words.isEmpty else { throw UsageError("a command to run must follow --") }
        arguments.command = Array(words)
        break
      }
      guard word.hasPrefix("-"), word != "-" else {
        arguments.operands.append(word)
        continue
      }
      let equals = word.firstIndex(of: "=")
      let name = String(word[..<(equals ?? word.endIndex)])
      guard let option = command.options.first(where: { $0.name == name }) else { throw unknown(name, command) }
      guard seen.insert(name).inserted || option.isRepeatable else { throw UsageError("\(name) is given twice") }
      guard let placeholder = option.placeholder else {
        guard equals == nil else { throw UsageError("\(name) takes no value") }
        arguments.add("", to: name)
        continue
      }
      let value: String
      if let equals {
        value = String(word[word.index(after: equals)...])
      } else {
        guard let next = words.popFirst() else { throw UsageError("\(name) needs a value: \(name) \(placeholder)") }
        // A variable without quotes that is not set leaves nothing behind, and the next option would stand for the value.
        guard !isOption(next, command) else {
          throw UsageError("\(name) needs a value: \(name) \(placeholder); should \(next) be the value, write \(name)=\(next)")
        }
        value = next
      }
      // The name of a variable that is not set would else stand for the current folder.
      guard !value.isEmpty || !option.isPath else { throw UsageError("\(name) needs the path of a \(placeholder.lowercased()), not \"\"") }
      arguments.add(value, to: name)
    }
    guard command.operandCount.contains(arguments.operands.count) else {
      if arguments.operands.count > command.operandCount.upperBound {
        throw UsageError("\"\(arguments.operands[command.operandCount.upperBound])\" is more than \(command.name) takes")
      }
      throw UsageError("\(command.operands) is missing")
    }
    return arguments
  }

  /// Whether the word, where no value is awaited, is an option of the command, or ends its options.
  private static func isOption(_ word: String, _ command: Command) -> Bool {
    let name = word.prefix { $0 != "=" }
    return ["--", "--help", "-h"].contains(word) || command.options.contains { $0.name == name }
  }

  private static func unknown(_ name: String, _ command: Command) -> UsageError {
    let nearest = nearestName(to: name, among: command.options.map(\.name)).map { "; did you mean \($0)?" } ?? ""
    return UsageError("\(command.name) has no option \(name)\(nearest)")
  }
}
