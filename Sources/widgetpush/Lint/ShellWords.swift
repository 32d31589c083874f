/// The words of a command line as a shell would see them, as far as nothing has to be run or looked up for that.
struct ShellWords {
  /// A word; nil stands for a part that only a shell knows, such as `$(widgetpush token)`.
  struct Word: Equatable {
    /// The text; what a shell would put in is left out.
    var text = ""
    /// Whether a shell would put something in.
    var isOpen = false
  }

  /// The words of each command in `text`. Quotes, `\` and continued lines are undone as sh does.
  static func commands(_ text: String) -> [[Word]] {
    var words = ShellWords(Array(text))
    words.read()
    return words.commands
  }

  private let text: [Character]
  private var index = 0
  private var commands: [[Word]] = []
  private var words: [Word] = []
  private var word: Word?

  private init(_ text: [Character]) { self.text = text }

  private var next: Character? { index + 1 < text.count ? text[index + 1] : nil }

  private mutating func read() {
    while index < text.count {
      let character = text[index]
      switch character {
      case "\\":
        if let next, next != "\n" { add(next) }
        index += 2
        continue
      case "'": quoted("'", expands: false)
      case "\"": quoted("\"", expands: true)
      case "$" where next == "'":
        index += 1
        quoted("'", expands: false)
      case "$" where next != nil && next != " ": expand()
      case "`": skipBackticks()
      case " ", "\t": end()
      case "\n", "\r\n", ";", "|", "&", ")":
        endCommand()
      case "#" where word == nil: while let next, next != "\n" { index += 1 }
      default: add(character)
      }
      index += 1
    }
    endCommand()
  }

  private mutating func endCommand() {
    end()
    if !words.isEmpty { commands.append(words) }
    words.removeAll()
  }

  private mutating func add(_ character: Character) {
    if word == nil { word = Word() }
    word!.text.append(character)
  }

  private mutating func end() {
    if let word { words.append(word) }
    word = nil
  }

  /// Reads up to the closing quote, on which it stops.
  private mutating func quoted(_ quote: Character, expands: Bool) {
    if word == nil { word = Word() }
    index += 1
    while index < text.count, text[index] != quote {
      if expands, text[index] == "\\", let next, "\"\\$`\n".contains(next) {
        index += 1
        if text[index] != "\n" { add(text[index]) }
      } else if expands, text[index] == "$", let next, next != " ", next != quote {
        expand()
      } else {
        add(text[index])
      }
      index += 1
    }
  }

  /// Skips `$NAME`, `${…}` or `$(…)`, and stops on its last character.
  private mutating func expand() {
    if word == nil { word = Word() }
    word!.isOpen = true
    guard let next else { return }
    let pairs: [Character: Character] = ["(": ")", "{": "}"]
    guard let closing = pairs[next] else {
      while index + 1 < text.count, text[index + 1].isLetter || text[index + 1].isNumber || text[index + 1] == "_" { index += 1 }
      return
    }
    var depth = 0
    index += 1
    while index < text.count {
      if text[index] == next { depth += 1 }
      if text[index] == closing { depth -= 1 }
      if depth == 0 { return }
      index += 1
    }
  }

  private mutating func skipBackticks() {
    if word == nil { word = Word() }
    word!.isOpen = true
    index += 1
    while index < text.count, text[index] != "`" { index += 1 }
  }
}
