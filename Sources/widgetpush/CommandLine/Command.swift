/// One command of the executable: what help tells of it, and what it does.
struct Command: Sendable {
  let name: String
  /// One line for the list of commands.
  let summary: String
  /// What stands after the name and before the options in the usage line, such as `TOKEN`.
  let operands: String
  /// How many operands there may be.
  let operandCount: ClosedRange<Int>
  /// Whether `--` and a command to run may follow.
  let takesCommand: Bool
  /// What the summary leaves open; may have several paragraphs.
  let discussion: String
  let options: [Option]
  /// Lines to try, without the prompt.
  let examples: [String]
  /// Does the work; returns the exit status.
  let run: @Sendable (Arguments) throws -> Int32

  /// A command; `--help` is added to its options.
  init(
    _ name: String, _ summary: String, operands: String = "", count: ClosedRange<Int> = 0...0, takesCommand: Bool = false,
    discussion: String, options: [Option], examples: [String], run: @escaping @Sendable (Arguments) throws -> Int32
  ) {
    self.name = name
    self.summary = summary
    self.operands = operands
    operandCount = count
    self.takesCommand = takesCommand
    self.discussion = discussion
    self.options = options + [.help]
    self.examples = examples
    self.run = run
  }

  /// The words with which the operands may begin, each with those that may follow it; none where an operand is the user's own.
  var verbs: [(name: String, values: [String])] {
    func known(_ words: some Sequence<Substring>) -> [String] { words.filter { $0.first?.isLowercase ?? false }.map(String.init) }
    return operands.filter { !"[]".contains($0) }.split(separator: " | ").compactMap { operand in
      let words = operand.split(separator: " ")
      guard let name = known(words.prefix(1)).first else { return nil }
      return (name, known(words.dropFirst().joined(separator: "|").split(separator: "|")))
    }
  }

  /// What `--help` prints.
  var help: String {
    var usage = "Usage: widgetpush \(name)"
    if !operands.isEmpty { usage += " \(operands)" }
    usage += " [OPTIONS]"
    if takesCommand { usage += " [-- COMMAND…]" }
    let names = options.map { option in "  \(option.name)\(option.placeholder.map { " \($0)" } ?? "")" }
    let width = min(34, names.map(\.count).max() ?? 0)
    let lines = zip(options, names).map { option, name in
      let repeated = option.isRepeatable ? "; may be repeated" : ""
      let gap =
        name.count <= width ? String(repeating: " ", count: width - name.count + 2) : "\n" + String(repeating: " ", count: width + 2)
      return name + gap + option.summary + repeated
    }
    return """
      widgetpush \(name): \(summary)

      \(usage)

      \(discussion)

      Options:
      \(lines.joined(separator: "\n"))

      \(examples.count == 1 ? "Example" : "Examples"):
      \(examples.map { "  " + $0 }.joined(separator: "\n"))
      """
  }
}
