import JSON
import Primitives
import Push
import Rules

extension Command {
  /// `widgetpush lint`.
  static let lint = Command(
    "lint", "says what is wrong with a payload or with curl commands, without sending them", operands: "FILE…", count: 1...1000,
    discussion: """
      Reads a JSON payload, an .apns file for the Simulator, or a shell script, from files or (-) from standard input. Of a script it
      judges each curl command that goes to /3/device/, /4/broadcasts/apps/ or /1/apps/, or has an apns- header, by itself, and counts
      those that do not. Each finding says whether APNs refuses the push, the device ignores it, or it may not do what was meant. What a
      shell puts in, such as $topic or $(date +%s), is not known: such a header or value of the payload is not judged, everything around
      it is. A payload of which no more is known gets a note. The status is 1 when anything is refused, ignored or misread, and when no file has
      anything to judge.
      """,
    options: [
      Option("--type", "TYPE", "the push type of a payload (as it looks)"),
      Option("--schema", "FILE", "schemas as \"schemas from-swift\" writes them, or one of the content-state (none)"),
      Option("--format", "FORMAT", "text, json or github, for annotations of a pull request (text)"),
    ],
    examples: [
      "widgetpush lint payload.json --type liveactivity", "widgetpush lint payload.json --schema DeliveryAttributes.schema.json",
      "widgetpush lint scripts/push.sh --format github",
    ]
  ) { arguments in
    let format = try arguments.choice("--format", of: ["text", "json", "github"]) ?? "text"
    let type = try arguments.choice("--type", of: PushType.allCases.map(\.description))
    let schemas = try arguments.value("--schema").map { try LintInput.schemas($0) } ?? []
    var isWrong = false
    var isJudged = false
    var objects: [JSONValue] = []
    for name in arguments.operands {
      let input = LintInput(name, try Files.bytes(name), type: type, schemas: schemas)
      let findings = input.findings { PushLint.findings($0, now: Machine.now) }
      isWrong = isWrong || findings.contains { $0.finding.level.isWrong }
      isJudged = isJudged || !input.pushes.isEmpty
      switch format {
      case "json": objects += findings.map { LintReport.json($0, input) }
      case "github": findings.forEach { Console.print(LintReport.annotation($0, input)) }
      default: Console.print(LintReport.text(findings, input))
      }
      if format != "text", let count = input.count { Console.complain("\(input.name): \(count)") }
    }
    if format == "json" { Console.print(JSONValue.array(objects).serialized(pretty: true)) }
    return isWrong || !isJudged ? 1 : 0
  }
}

/// Findings in the forms that `lint` prints.
enum LintReport {
  /// A paragraph for people.
  static func text(_ findings: [LintInput.Located], _ input: LintInput) -> String {
    let count = input.count.map { "\(input.name): \($0)" }
    guard !findings.isEmpty else { return "\(input.name): nothing found" + (input.count.map { " (\($0))" } ?? "") }
    let lines = findings.map { located in
      let finding = located.finding
      let level =
        switch finding.level {
        case .refused: "refused"
        case .ignored: "ignored by the device"
        case .fieldIgnored: "field ignored by the device"
        case .misread: "misread by the device"
        case .warning: "warning"
        case .note: "note"
        }
      return "\(input.name):\(located.line): \(level): \(finding.message.escapingSteering()) [\(finding.rule)]"
    }
    return (lines + [count].compactMap(\.self)).joined(separator: "\n")
  }

  /// An object for scripts.
  static func json(_ located: LintInput.Located, _ input: LintInput) -> JSONValue {
    let finding = located.finding
    return [
      "file": .string(input.name), "line": .integer(Int64(located.line)), "level": .string(finding.level.rawValue),
      "rule": .string(finding.rule), "field": .string(finding.field), "message": .string(finding.message),
    ]
  }

  /// A workflow command that GitHub shows beside the line.
  static func annotation(_ located: LintInput.Located, _ input: LintInput) -> String {
    let finding = located.finding
    let kind =
      switch finding.level {
      case .refused, .ignored, .fieldIgnored, .misread: "error"
      case .warning: "warning"
      case .note: "notice"
      }
    return
      "::\(kind) file=\(escaped(input.name, all: true)),line=\(located.line),title=\(escaped(finding.rule, all: true))::\(escaped(finding.message, all: false))"
  }

  private static func escaped(_ text: String, all: Bool) -> String {
    text.map { character in
      switch character {
      case "%": "%25"
      case "\n": "%0A"
      case "\r": "%0D"
      case ":" where all: "%3A"
      case "," where all: "%2C"
      default: String(character)
      }
    }.joined()
  }
}
