/// Reads a shell script as `sh` and `bash` divide it into commands and words, as far as nothing has to be run or looked up for that.
///
/// Substitutions are read where they stand, by recursion: their commands are the script's too, and the word that they are part of is open.
struct ShellReader {
  /// What is being read; a substitution has its own.
  struct Scope {
    /// The command's index; nil between commands.
    var command: Int?
    var word: ShellCommand.Word?
    /// Whether a part of the word was quoted, which a here-document's end tells.
    var isQuoted = false
    /// What the next word is for, after `<` or `>`.
    var redirection: Redirection?
    /// The command whose output the next one reads.
    var pipe: Int?
  }

  /// Substitutions in one another; whatever lies deeper is not read.
  static let depthMax = 64

  let text: [Character]
  var index = 0
  /// The line of `index`, from 1.
  var line = 1
  var commands: [ShellCommand] = []
  var scope = Scope()
  /// Here-documents that begin after this line.
  var documents: [HereDocument] = []
  /// In how many substitutions this is.
  var depth = 0

  init(_ text: String) { self.text = Array(text) }

  /// Reads up to `closing`, on which it stops, or to the end.
  mutating func read(until closing: Character?) {
    while index < text.count, text[index] != closing {
      switch text[index] {
      case "\\": escaped()
      case "'": singleQuoted()
      case "\"": doubleQuoted()
      case "$": expand(inQuotes: false)
      case "`": substitute(until: "`")
      case " ", "\t":
        take()
        endWord()
      case "\n", "\r\n":
        endCommand()
        take()
        readDocuments()
      case ";", ")":
        take()
        endCommand()
      case "(": parenthesis()
      case "&" where peek(1) == ">":
        endWord()
        take()
        redirect()
      case "&":
        take()
        endCommand()
      case "|": pipe()
      case "<", ">": redirect()
      case "#" where scope.word == nil: while index < text.count, !isNewline(text[index]) { take() }
      default: add(take())
      }
    }
    endCommand()
  }

  // MARK: Characters

  func peek(_ distance: Int) -> Character? { index + distance < text.count ? text[index + distance] : nil }

  func isNewline(_ character: Character) -> Bool { character == "\n" || character == "\r\n" }

  @discardableResult mutating func take() -> Character {
    let character = text[index]
    index += 1
    if isNewline(character) { line += 1 }
    return character
  }

  // MARK: Words and commands

  mutating func add(_ character: Character) {
    begin()
    scope.word!.text.append(character)
  }

  /// Begins a word, which may stay empty, and with it a command, which thereby stands ahead of those in its substitutions.
  mutating func begin() {
    guard scope.word == nil else { return }
    (scope.word, scope.isQuoted) = (ShellCommand.Word(), false)
    _ = currentCommand()
  }

  /// The index of the command that is being read, which begins here if none is.
  mutating func currentCommand() -> Int {
    if let command = scope.command { return command }
    commands.append(ShellCommand(lines: line...line, input: scope.pipe.map { .output(of: $0) } ?? .unknown))
    (scope.command, scope.pipe) = (commands.count - 1, nil)
    return commands.count - 1
  }

  mutating func endWord() {
    guard let word = scope.word else { return }
    scope.word = nil
    let command = currentCommand()
    commands[command].lines = commands[command].lines.lowerBound...line
    if let redirection = scope.redirection {
      scope.redirection = nil
      apply(redirection, to: word)
    } else {
      commands[command].words.append(word)
    }
  }

  private mutating func endCommand() {
    endWord()
    (scope.command, scope.redirection) = (nil, nil)
  }

  private mutating func pipe() {
    take()
    let isOr = peek(0) == "|"
    if isOr || peek(0) == "&" { take() }
    endWord()
    let command = scope.command
    endCommand()
    if !isOr { scope.pipe = command }
  }

  /// A group of commands, or a calculation.
  private mutating func parenthesis() {
    guard !(scope.word == nil && peek(1) == "(") else { return skip("(", ")") }
    endCommand()
    take()
    nested(until: ")")
  }

  /// Reads the commands up to `closing`, and that too.
  private mutating func nested(until closing: Character) {
    guard depth < Self.depthMax else { return index = text.count }
    let outer = scope
    scope = Scope()
    depth += 1
    read(until: closing)
    depth -= 1
    scope = outer
    if index < text.count { take() }
  }

  // MARK: Quotes

  private mutating func escaped() {
    take()
    guard index < text.count else { return }
    if isNewline(text[index]) {
      take()
      return
    }
    add(take())
    scope.isQuoted = true
  }

  private mutating func singleQuoted() {
    begin()
    scope.isQuoted = true
    take()
    while index < text.count, text[index] != "'" { add(take()) }
    if index < text.count { take() }
  }

  private mutating func doubleQuoted() {
    begin()
    scope.isQuoted = true
    take()
    quoted(until: "\"")
    if index < text.count { take() }
  }

  /// Reads what stands in double quotes, or, up to the end, in a here-document whose end is not quoted.
  mutating func quoted(until closing: Character?) {
    while index < text.count, text[index] != closing {
      switch text[index] {
      case "\\":
        guard let next = peek(1), next == closing || "\\$`".contains(next) || isNewline(next) else { add(take()); continue }
        take()
        if isNewline(next) { take() } else { add(take()) }
      case "$": expand(inQuotes: true)
      case "`": substitute(until: "`", inQuotes: true)
      default: add(take())
      }
    }
  }

  /// The quotes of `$'…'`, in which `\` stands before what it does in C.
  private mutating func escapedQuoted() {
    begin()
    scope.isQuoted = true
    take()
    let meanings: [Character: Character] = ["n": "\n", "t": "\t", "r": "\r"]
    while index < text.count, text[index] != "'" {
      guard text[index] == "\\", peek(1) != nil else { add(take()); continue }
      take()
      let character = take()
      add(meanings[character] ?? character)
    }
    if index < text.count { take() }
  }

  // MARK: What a shell puts in

  /// `$NAME`, `${…}`, `$(…)`, `$((…))`, `$'…'`, or a dollar.
  private mutating func expand(inQuotes: Bool) {
    guard let next = peek(1) else { return add(take()) }
    switch next {
    case "'" where !inQuotes:
      take()
      escapedQuoted()
    case "\"" where !inQuotes: take()
    case "(" where peek(2) == "(":
      open(mayBeMany: false)
      take()
      skip("(", ")")
    case "(":
      take()
      substitute(until: ")", inQuotes: inQuotes)
    case "{":
      let start = index
      open(mayBeMany: !inQuotes)
      take()
      skip("{", "}")
      if text[start..<index].contains("@") { open(mayBeMany: true) }
    case _ where next.isLetter || next == "_":
      open(mayBeMany: !inQuotes)
      take()
      while let next = peek(0), next.isLetter || next.isNumber || next == "_" { take() }
    case _ where next.isNumber || "@*#?!-$".contains(next):
      open(mayBeMany: !inQuotes || next == "@")
      take()
      take()
    default: add(take())
    }
  }

  private mutating func open(mayBeMany: Bool) {
    begin()
    let offset = scope.word!.text.utf8.count
    if scope.word!.gaps.last != offset { scope.word!.gaps.append(offset) }
    scope.word!.source = nil
    if mayBeMany { scope.word!.mayBeMany = true }
  }

  /// A command whose output becomes part of the word; stands on what opens it.
  mutating func substitute(until closing: Character, inQuotes: Bool = false) {
    let isFirst = scope.word.map { $0.text.isEmpty && !$0.isOpen } ?? true
    open(mayBeMany: !inQuotes)
    take()
    let first = commands.count
    nested(until: closing)
    if isFirst, commands.count == first + 1 { scope.word!.source = first }
  }

  /// Skips what stands between two characters, which may be nested.
  private mutating func skip(_ opening: Character, _ closing: Character) {
    var depth = 0
    while index < text.count {
      let character = take()
      if character == opening { depth += 1 }
      if character == closing { depth -= 1 }
      if depth == 0 { return }
    }
  }
}
