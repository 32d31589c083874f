import Foundation
import Testing

@testable import widgetpush

@Suite("Completions") struct CompletionTests {
  /// What bash completes the last of these words to.
  private func completed(_ words: String...) throws -> [String] {
    let script = """
      \(CompletionScript.bash.text(of: Widgetpush.commands))
      COMP_WORDS=(\(words.map { "'\($0)'" }.joined(separator: " "))); COMP_CWORD=\(words.count - 1)
      _widgetpush; printf '%s\\n' "${COMPREPLY[@]}"
      """
    return try shell("bash", script).split(separator: "\n").map(String.init)
  }

  private func shell(_ name: String, _ script: String) throws -> String {
    let (process, output) = (Process(), Pipe())
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [name, "-c", script]
    process.currentDirectoryURL = URL(fileURLWithPath: "/usr")
    process.standardOutput = output
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    return String(decoding: data, as: UTF8.self)
  }

  @Test func bashCompletesCommandsOptionsAndFiles() throws {
    #expect(try completed("widgetpush", "en") == ["env"])
    #expect(try Set(completed("widgetpush", "")) == Set(Widgetpush.commands.map(\.name) + ["help"]))
    #expect(try completed("widgetpush", "env", "--f") == ["--format"])
    #expect(try Set(completed("widgetpush", "reset", "--")) == ["--bundle-id", "--all", "--json", "--state-dir", "--help"])
    #expect(try completed("widgetpush", "env", "--state-dir", "bi") == ["bin"], "a folder, where one is wanted")
    #expect(try completed("widgetpush", "env", "--format", "bi") == [], "no file, where another value is")
    #expect(try completed("widgetpush", "lint", "bi") == ["bin"], "operands are mostly files")
    #expect(try completed("widgetpush", "no-such-command", "--") == [])
  }

  /// The words that commands have of their own, and those that follow them.
  @Test func bashCompletesTheWordsOfCommands() throws {
    #expect(try completed("widgetpush", "clock", "") == ["show", "freeze", "run", "set", "advance"])
    #expect(try completed("widgetpush", "clock", "fr") == ["freeze"])
    #expect(try completed("widgetpush", "clock", "--json", "ad") == ["advance"])
    #expect(try completed("widgetpush", "clock", "advance", "") == ["next"])
    #expect(try completed("widgetpush", "clock", "advance", "next", "--j") == ["--json"])
    #expect(try completed("widgetpush", "clock", "--j") == ["--json"])
    #expect(try completed("widgetpush", "faults", "") == ["add", "list", "remove"])
    #expect(try completed("widgetpush", "faults", "remove", "a") == ["all"])
    #expect(try completed("widgetpush", "faults", "add", "--stat") == ["--status", "--state-dir"])
    #expect(try completed("widgetpush", "config", "") == ["check", "show"])
    #expect(try completed("widgetpush", "access", "re") == ["revoke"])
    #expect(try completed("widgetpush", "keys", "import", "bi") == ["bin"], "a file, where one is wanted")
    #expect(try completed("widgetpush", "completions", "") == ["bash", "zsh", "fish"])
    #expect(try completed("widgetpush", "budget", "sh") == ["share"], "a token is the user's own")
  }

  /// Every word of a usage line that is to be typed as it stands, and none that stands for something.
  @Test func theWordsAreThoseOfTheUsageLine() throws {
    let verbs = Dictionary(uniqueKeysWithValues: Widgetpush.commands.map { ($0.name, $0.verbs.map(\.name)) }).filter { !$0.value.isEmpty }
    #expect(Set(verbs.keys).isSuperset(of: ["access", "keys", "config", "faults", "clock", "completions"]))
    #expect(verbs["keys"] == ["list", "new", "import", "remove", "certificate"])
    for command in Widgetpush.commands {
      for verb in command.verbs {
        for script in CompletionScript.allCases { #expect(script.text(of: Widgetpush.commands).contains(verb.name)) }
      }
    }
  }

  /// Every command with every option, in the syntax of the shell, where it is installed.
  @Test(arguments: CompletionScript.allCases) func everyOptionIsThere(script: CompletionScript) throws {
    let text = script.text(of: Widgetpush.commands)
    for command in Widgetpush.commands {
      #expect(text.contains(command.name))
      for option in command.options { #expect(text.contains(script == .fish ? "-l \(option.name.dropFirst(2))" : option.name)) }
    }
    guard script == .bash || ["/bin", "/usr/bin"].contains(where: { FileManager.default.isExecutableFile(atPath: "\($0)/\(script)") })
    else { return }
    let folder = try TemporaryFolder()
    let file = folder.state.file("completions")
    try Files.makeFolder(folder.state.path)
    try Files.write(text + "\n", to: file, mode: 0o644)
    _ = try shell("\(script)", "\(script) -n '\(file)'")
  }
}
