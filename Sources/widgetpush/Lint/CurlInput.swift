/// A payload as far as a script tells it.
struct CurlBody: Equatable {
  /// The bytes that are known.
  var bytes: [UInt8]
  /// Where among them a shell puts something in, rising.
  var gaps: [Int] = []

  /// Bytes that are known.
  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// A word's text.
  init(_ word: ShellCommand.Word) { (bytes, gaps) = (Array(word.text.utf8), word.gaps) }

  /// What `printf` makes of a format in which nothing but `%s` and `%d` stands for something; nil where more does.
  init?(format: String) {
    bytes = []
    var rest = Array(format.utf8)[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      switch rest.popFirst() {
      case UInt8(ascii: "%"): bytes.append(byte)
      case UInt8(ascii: "s"), UInt8(ascii: "d"): gaps.append(bytes.count)
      default: return nil
      }
    }
  }

  /// These bytes, the separator and those of `other`.
  func joined(with other: CurlBody, by separator: [UInt8]) -> CurlBody {
    var all = self
    all.bytes += separator
    all.gaps += other.gaps.map { $0 + all.bytes.count }
    all.bytes += other.bytes
    return all
  }
}

/// What a curl command reads from standard input.
struct CurlInput {
  private let command: ShellCommand
  private let commands: [ShellCommand]
  private let read: (String) -> [UInt8]?

  init(_ command: ShellCommand, _ commands: [ShellCommand], read: @escaping (String) -> [UInt8]?) {
    self.command = command
    self.commands = commands
    self.read = read
  }

  /// What it reads, as far as the script tells it: a here-document, a file, or the output of another command.
  var body: CurlBody? {
    switch command.input {
    case .unknown: nil
    case .text(let word): CurlBody(word)
    case .file(let word): word.isOpen ? nil : read(word.text).map { CurlBody($0) }
    case .output(let index): output(of: index)
    }
  }

  /// What one of the script's commands prints, where it is `echo`, `printf` or `cat`.
  func output(of index: Int) -> CurlBody? {
    var source = commands[index]
    // A `cat` passes on what it reads; a script may have thousands of them in a row.
    while case .output(let earlier) = source.input, source.words.first?.text == "cat", source.passesInput { source = commands[earlier] }
    let words = source.words
    switch (words.first?.text, words.count) {
    case ("echo", 2): return CurlBody(words[1])
    case ("printf", 3) where ["%s", "%s\\n"].contains(words[1].text): return CurlBody(words[2])
    case ("printf", 2...) where !words[1].isOpen: return CurlBody(format: words[1].text)
    case ("cat", 2) where !words[1].isOpen && words[1].text != "-": return read(words[1].text).map { CurlBody($0) }
    case ("cat", 1...2) where source.passesInput: return CurlInput(source, commands, read: read).body
    default: return nil
    }
  }
}

extension ShellCommand {
  /// Whether a `cat` of these words reads standard input and nothing else.
  fileprivate var passesInput: Bool { words.count == 1 || words.count == 2 && words[1].text == "-" && !words[1].isOpen }
}
