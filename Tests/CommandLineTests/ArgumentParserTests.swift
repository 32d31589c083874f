import Primitives
import Testing

@testable import widgetpush

private let sample = Command(
  "sample", "is a command of tests", operands: "NAME", count: 1...2, takesCommand: true, discussion: "Nothing more.",
  options: [
    Option("--size", "N", "how large (3)"), Option("--place", "FOLDER", "where it is (here)"),
    Option("--tag", "TEXT", "what it is called", repeatable: true),
    Option(switch: "--fast", "hurry"),
  ], examples: ["widgetpush sample a"], run: { _ in 0 })

@Suite("Argument parser") struct ArgumentParserTests {
  @Test func optionsAndOperandsMayComeInAnyOrder() throws {
    let arguments = try #require(
      try ArgumentParser.parse(["--size", "4", "a", "--tag=x=y", "--fast", "b", "--tag", "-z", "--", "run", "--size"], for: sample))
    #expect(arguments.operands == ["a", "b"])
    #expect(try arguments.integer("--size", in: 0...9) == 4)
    #expect(arguments.all("--tag") == ["x=y", "-z"])
    #expect(arguments.has("--fast"))
    #expect(arguments.command == ["run", "--size"])
  }

  @Test(arguments: ["--fast", "--", "--tag=x"]) func withAnEqualsSignAnyValueIsTaken(value: String) throws {
    #expect(try ArgumentParser.parse(["a", "--tag=\(value)"], for: sample)?.all("--tag") == [value])
  }

  @Test func whatIsNotGivenIsNotThere() throws {
    let arguments = try #require(try ArgumentParser.parse(["a", "-"], for: sample))
    #expect(arguments.operands == ["a", "-"])
    #expect(arguments.value("--size") == nil)
    #expect(!arguments.has("--fast"))
    #expect(arguments.command == nil)
    #expect(arguments.all("--tag") == [])
  }

  @Test(arguments: [["--help"], ["a", "-h"]]) func helpIsAskedForAnywhere(
    words: [String]
  ) throws {
    #expect(try ArgumentParser.parse(words, for: sample) == nil)
  }

  @Test(arguments: [
    (["a", "--sise", "3"], "did you mean --size?"), (["a", "--fats"], "did you mean --fast?"),
    (["a", "--size"], "--size needs a value: --size N"),
    (["a", "--size", "--fast"], "--size needs a value: --size N; should --fast be the value, write --size=--fast"),
    (["a", "--tag", "--size=3"], "--tag needs a value"), (["a", "--tag", "--", "run"], "--tag needs a value"),
    (["a", "--tag", "--help"], "--tag needs a value"),
    (["a", "--place", ""], "--place needs the path of a folder"), (["a", "--place="], "--place needs the path of a folder"),
    (["a", "--fast=1"], "--fast takes no value"), (["a", "--size", "1", "--size", "2"], "--size is given twice"), ([], "NAME is missing"),
    (["a", "b", "c"], "\"c\" is more than sample takes"), (["a", "--"], "a command to run must follow --"),
  ])
  func mistakesAreNamed(words: [String], sentence: String) {
    let error = #expect(throws: UsageError.self) { try ArgumentParser.parse(words, for: sample) }
    #expect(error?.message.contains(sentence) == true, "\(String(describing: error))")
  }

  @Test func onlySomeCommandsRunOthers() {
    let error = #expect(throws: UsageError.self) { try ArgumentParser.parse(["--", "x"], for: .version) }
    #expect(error?.message.contains("runs no command") == true)
  }

  @Test(arguments: [
    ("500ms", TimeSpan.milliseconds(500)), ("10s", .seconds(10)), ("1.5s", .milliseconds(1500)), ("5m", .seconds(300)),
    ("2h", .seconds(7200)),
    ("7", .seconds(7)), ("0", .zero),
  ])
  func spansHaveUnits(text: String, span: TimeSpan) throws {
    #expect(try ArgumentParser.parse(["a", "--size", text], for: sample)?.span("--size") == span)
  }

  @Test(arguments: ["", "s", "-1s", "1d", "25h", "1e9", "nan", "inf"]) func otherTimesAreRefused(text: String) {
    #expect(throws: UsageError.self) { try ArgumentParser.parse(["a", "--size", text], for: sample)?.span("--size") }
  }

  @Test func numbersAndChoicesAreChecked() throws {
    let arguments = try #require(try ArgumentParser.parse(["a", "--size", "12"], for: sample))
    #expect(throws: UsageError.self) { try arguments.integer("--size", in: 0...9) }
    let error = #expect(throws: UsageError.self) { try arguments.choice("--size", of: ["120", "wide"]) }
    #expect(error?.message == "--size must be one of 120, wide, not \"12\"; did you mean 120?")
  }

  @Test func everyCommandHelpsCompletely() {
    for command in Widgetpush.commands {
      #expect(command.help.contains("Usage: widgetpush \(command.name)"))
      #expect(command.examples.allSatisfy { $0.contains("widgetpush \(command.name)") }, "\(command.name)")
      for option in command.options { #expect(command.help.contains("  \(option.name)")) }
      #expect(Set(command.options.map(\.name)).count == command.options.count)
      for line in command.help.split(separator: "\n") { #expect(line.count <= 140, "\(line)") }
    }
  }

  @Test func statusesTellUsageFromFailure() {
    #expect(Widgetpush.run([]) == 2)
    #expect(Widgetpush.run(["nothing"]) == 2)
    #expect(Widgetpush.run(["version", "--nothing"]) == 2)
    #expect(Widgetpush.run(["explain", "--last", "--state-dir", "/nonexistent/folder"]) == 1)
    #expect(Widgetpush.run(["--help"]) == 0)
    #expect(Widgetpush.run(["help", "send"]) == 0)
    #expect(Widgetpush.run(["send", "--help"]) == 0)
    #expect(Widgetpush.run(["--version"]) == 0)
  }
}
