import Testing

@testable import widgetpush

@Suite("Shell scripts") struct ShellCommandTests {
  private static func words(_ script: String) -> [[String]] {
    ShellCommand.all(in: script).map { $0.words.map(\.text) }.filter { !$0.isEmpty }
  }

  @Test(arguments: [
    ("curl -d x", ["curl", "-d", "x"]), ("a 'b c' \"d e\"", ["a", "b c", "d e"]), ("a \\\n  b", ["a", "b"]), ("a\\ b", ["a b"]),
    (#"a "b\"c" 'd\e'"#, ["a", "b\"c", "d\\e"]), ("a''b ''", ["ab", ""]), ("a # b\nc", ["a"]), ("a b | c", ["a", "b"]),
    ("\n a\nb", ["a"]), ("# first\na b", ["a", "b"]), ("$'x y'", ["x y"]), (#"$'a\'b\n'"#, ["a'b\n"]), ("a $ b", ["a", "$", "b"]),
    ("a#b", ["a#b"]), ("a \\\r\n b\r\nc", ["a", "b"]), (#"a "b \$c""#, ["a", "b $c"]), ("a \"x$\" b", ["a", "x$", "b"]),
  ]) func wordsAreThoseOfAShell(script: String, words: [String]) throws {
    let first = try #require(ShellCommand.all(in: script).first)
    #expect(first.words.map(\.text) == words)
    #expect(first.words.filter(\.isOpen) == [])
  }

  @Test(arguments: [
    ("a;b", [["a"], ["b"]]), ("a && b || c", [["a"], ["b"], ["c"]]), ("a & b", [["a"], ["b"]]), ("a | b |& c", [["a"], ["b"], ["c"]]),
    ("(a; b)", [["a"], ["b"]]), ("x=$(a b) c", [["x=", "c"], ["a", "b"]]),
    ("\"$(a \"$(b ')')\")\" c", [["", "c"], ["a", ""], ["b", ")"]]),
    ("a `b c` d", [["a", "", "d"], ["b", "c"]]), ("if a; then b; fi", [["if", "a"], ["then", "b"], ["fi"]]),
    ("f() { a; }", [["f"], ["{", "a"], ["}"]]), ("a >x 2>&1 <y b", [["a", "b"]]), ("a &>x b >>y", [["a", "b"]]), ("a 2>/dev/null", [["a"]]),
    ("a $((1 << 2)) b\nc", [["a", "", "b"], ["c"]]), ("((a << 1))\nb", [["b"]]), ("a <(b c) d", [["a", "", "d"], ["b", "c"]]),
    ("a <<E b\nc\nE\nd", [["a", "b"], ["d"]]), ("a | b <<'E'\n$(c)\nE\nd", [["a"], ["b"], ["d"]]), ("a <<<x b", [["a", "b"]]),
    ("a <<-E\n\tb\n\tE\nc", [["a"], ["c"]]), ("a |\n b", [["a"], ["b"]]), ("x=\"$(a <<E\nb\nE\n)\"\nc", [["x="], ["a"], ["c"]]),
    ("a 'unended\nb", [["a", "unended\nb"]]), ("a $(b", [["a", ""], ["b"]]), ("a <<E\nb", [["a"]]), ("a ${x:-$(b)} c", [["a", "", "c"]]),
  ]) func commandsAreTold(script: String, commands: [[String]]) {
    #expect(Self.words(script) == commands)
  }

  @Test(arguments: ["$X", "\"a $X b\"", "a${X}b", "$(f \"$(g)\" )c", "\"bearer $(f)\"", "`f x`", "a`f`", "$1", "\"$@\"", "${X[@]}"])
  func whatAShellPutsInIsOpen(text: String) {
    let words = ShellCommand.all(in: "x \(text) y")[0].words
    #expect(words.count == 3 && words[1].isOpen && words[2].text == "y" && !words[2].isOpen, "\(words)")
  }

  @Test(arguments: [("$X", true), ("\"$X\"", false), ("\"$@\"", true), ("\"${X[@]}\"", true), ("\"${X}\"", false), ("\"$(f)\"", false)])
  func whatMayBeManyWordsIsTold(text: String, isMany: Bool) {
    #expect(ShellCommand.all(in: "x \(text)")[0].words[1].mayBeMany == isMany)
  }

  @Test func nothingIsOpenInSingleQuotes() {
    #expect(ShellCommand.all(in: "'$X'")[0].words == [ShellCommand.Word(text: "$X")])
  }

  @Test func commandsHaveTheirLines() {
    let script = "a\n\nb \\\n  c\nd <<E\nx\nE\ne=$(\nf)\n"
    #expect(ShellCommand.all(in: script).map(\.lines) == [1...1, 3...4, 5...7, 8...9, 9...9])
  }

  @Test func inputIsFound() {
    func input(_ script: String) -> ShellCommand.Input? { ShellCommand.all(in: script).last?.input }
    func text(_ script: String) -> ShellCommand.Word? {
      guard case .text(let word) = input(script) else { return nil }
      return word
    }
    #expect(text("a <<'E'\n$x\nE") == ShellCommand.Word(text: "$x\n"))
    #expect(text("a <<E\n\\$x {\"y\":1}\nE") == ShellCommand.Word(text: "$x {\"y\":1}\n"))
    #expect(text("a <<E\n$x\nE")?.isOpen == true)
    #expect(text("a <<< '{}'")?.text == "{}")
    guard case .file(let file) = input("a < p.json") else { return #expect(Bool(false), "no file") }
    #expect(file.text == "p.json")
    guard case .output(of: 0) = input("a |\n b") else { return #expect(Bool(false), "no pipe") }
    guard case .unknown = input("a; b") else { return #expect(Bool(false), "a pipe") }
    guard case .unknown = input("a || b") else { return #expect(Bool(false), "a pipe") }
  }

  /// Deep nesting is not followed to the end of the stack, and what is open at the end is taken as it stands.
  @Test func nothingIsTooDeep() {
    for opening in ["$(", "(", "\"$(", "<(", "$((", "${"] {
      #expect(ShellCommand.all(in: String(repeating: opening, count: 20_000)).count < 20_000)
    }
  }
}
