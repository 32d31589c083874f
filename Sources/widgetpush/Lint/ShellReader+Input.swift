extension ShellReader {
  /// What a word after `<` or `>` is for.
  enum Redirection {
    /// Nothing that a command reads.
    case other
    case file, string
    case document(isIndented: Bool)
  }

  /// A here-document whose text has not come yet.
  struct HereDocument {
    let command: Int
    /// The line that ends it.
    let end: String
    /// Whether a shell puts nothing in.
    let isLiteral: Bool
    /// Whether tabs before its lines are no part of it.
    let isIndented: Bool
  }

  /// Reads `<`, `>` and what belongs to them, but the word that follows; `<(…)` and `>(…)` are parts of a word.
  mutating func redirect() {
    if peek(1) == "(" {
      take()
      return substitute(until: ")", inQuotes: true)
    }
    // A number right before it is a descriptor, and no word.
    var isInput = true
    if let word = scope.word, !word.isOpen, !word.text.isEmpty, word.text.allSatisfy(\.isNumber) {
      scope.word = nil
      isInput = word.text == "0"
    }
    endWord()
    _ = currentCommand()
    scope.redirection = .other
    guard take() == "<" else {
      while let next = peek(0), ">&|".contains(next) { take() }
      return
    }
    switch peek(0) {
    case "<" where peek(1) == "<":
      index += 2
      scope.redirection = .string
    case "<":
      take()
      let isIndented = peek(0) == "-"
      if isIndented { take() }
      scope.redirection = .document(isIndented: isIndented)
    case "&", ">": take()
    default: if isInput { scope.redirection = .file }
    }
  }

  mutating func apply(_ redirection: Redirection, to word: ShellCommand.Word) {
    let command = currentCommand()
    switch redirection {
    case .other: break
    case .file: commands[command].input = .file(word)
    case .string: commands[command].input = .text(word)
    case .document(let isIndented):
      documents.append(HereDocument(command: command, end: word.text, isLiteral: scope.isQuoted, isIndented: isIndented))
    }
  }

  /// Reads the here-documents that begin on this line.
  mutating func readDocuments() {
    for document in documents {
      var word = ShellCommand.Word()
      while index < text.count {
        var content = ""
        while index < text.count, !isNewline(text[index]) { content.append(take()) }
        if index < text.count { take() }
        if document.isIndented { content = String(content.drop { $0 == "\t" }) }
        if content == document.end { break }
        word.text += content + "\n"
      }
      if !document.isLiteral { word = expanded(word.text) }
      commands[document.command].input = .text(word)
      commands[document.command].lines =
        commands[document.command].lines.lowerBound...max(commands[document.command].lines.upperBound, line - 1)
    }
    documents.removeAll()
  }

  /// What a shell makes of a here-document whose end is not quoted.
  private func expanded(_ text: String) -> ShellCommand.Word {
    guard depth < Self.depthMax else { return ShellCommand.Word(gaps: [0]) }
    var reader = ShellReader(text)
    reader.depth = depth + 1
    reader.begin()
    reader.quoted(until: nil)
    return reader.scope.word ?? ShellCommand.Word()
  }
}
