import HTTPClient
import JSON
import Primitives
import Push

extension Command {
  /// `widgetpush import`.
  static let importRegistrations = Command(
    "import", "registers many push tokens from a file", operands: "FILE", count: 1...1,
    discussion: """
      Reads one JSON object a line, as `widgetpush export` writes them: what PUT /v1/registrations/TOKEN takes, and the token. FILE
      may be - for standard input. A line that is refused is told with its number and keeps no other from being registered; the
      status is then 1. Run again, it replaces what it registered, and budgets stay.
      """,
    options: [.json, .stateFolder], examples: ["widgetpush import tokens.ndjson", "zcat tokens.gz | widgetpush import -"]
  ) { arguments in
    var work = RegistrationImport(client: try ControlClient(arguments))
    var reader = try LineReader(arguments.operands[0])
    while let line = try reader.next() { try work.add(line) }
    try work.finish()
    let total: JSONValue = [
      "created": .integer(work.created), "replaced": .integer(work.replaced), "refused": .integer(work.refused),
    ]
    Console.print(
      arguments.wantsJSON
        ? total.serialized(pretty: true)
        : "\(work.created + work.replaced) registered (\(work.created) new, \(work.replaced) replaced), \(work.refused) refused")
    return work.refused == 0 ? 0 : 1
  }

  /// `widgetpush export`.
  static let export = Command(
    "export", "writes the registrations to a file, one a line",
    discussion: """
      Writes each registration as one JSON object a line, in the order of the tokens, for `widgetpush import` of this or another
      gateway. Budgets, waiting pushes and the push log stay behind.
      """,
    options: [
      Option("--output", "FILE", "where to write (standard output)"), Option("--bundle-id", "ID", "of this app only (all)"),
      Option("--user", "NAME", "of this user only (all)"), Option("--device", "NAME", "of this device only (all)"),
      Option("--type", "TYPE", "of this type only (all)"), .stateFolder,
    ], examples: ["widgetpush export --output tokens.ndjson", "widgetpush export --bundle-id com.example.app | gzip > tokens.gz"]
  ) { arguments in
    let client = try ControlClient(StateFolder(arguments), isForPeople: false)
    let type = try arguments.choice("--type", of: TokenKind.allCases.map(\.name))
    let criteria = [
      ("bundleID", arguments.value("--bundle-id")), ("user", arguments.value("--user")), ("device", arguments.value("--device")),
      ("type", type),
    ].compactMap { name, value in value.map { "&\(name)=\(BlockingHTTPClient.percentEncoded($0))" } }.joined()
    let count = try RegistrationExport(client: client, criteria: criteria).write(to: arguments.value("--output"))
    if arguments.value("--output") != nil { Console.print("\(count) registrations written") }
    return 0
  }
}
