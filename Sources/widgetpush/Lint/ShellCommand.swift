/// A simple command of a shell script: its words, and what it reads from standard input.
struct ShellCommand {
  /// A word, as far as it is known without a shell.
  struct Word: Equatable {
    /// The text; what a shell would put in is left out.
    var text = ""
    /// Where a shell would put something in, such as `$(widgetpush token)`: offsets in the text's UTF-8, rising.
    var gaps: [Int] = []
    /// Whether what a shell puts in may be several words, as with `"${options[@]}"`.
    var mayBeMany = false
    /// The one command whose output the whole word is, by its index among the script's; nil where text follows, or there is none.
    var source: Int?

    /// Whether a shell would put something in.
    var isOpen: Bool { !gaps.isEmpty }

    /// The rest of the word from `index` of its text; what is put in before that counts as put in at its start.
    func suffix(from index: String.Index) -> Word {
      let offset = text.utf8.distance(from: text.startIndex, to: index)
      return Word(text: String(text[index...]), gaps: gaps.map { max(0, $0 - offset) })
    }
  }

  /// Where standard input comes from.
  enum Input {
    /// From nowhere that the script tells.
    case unknown
    /// From a here-document or a here-string.
    case text(Word)
    /// From a file, by `<`.
    case file(Word)
    /// From the command before `|`, by its index among the script's.
    case output(of: Int)
  }

  /// The words, without redirections.
  var words: [Word] = []
  /// The lines of the script, from 1, on which it stands, its here-documents included.
  var lines: ClosedRange<Int>
  /// What it reads.
  var input = Input.unknown

  /// The commands of `script`, in the order in which they begin; those in `$(…)`, backticks and parentheses among them.
  static func all(in script: String) -> [ShellCommand] {
    var reader = ShellReader(script)
    reader.read(until: nil)
    return reader.commands
  }
}
