import JSON
import SwiftSource

extension Command {
  /// `widgetpush schemas`.
  static let schemas = Command(
    "schemas", "shows, sets, removes and makes schemas of what Live Activities decode from",
    operands: "list | show TYPE | set FILE | remove TYPE | from-swift FILE", count: 1...2,
    discussion: """
      An app's schemas have one home, the gateway, whichever way they came: its configuration, this command, or a mock device on which
      the app is installed. The device judges each push by them, and so do lint with --schema and what-if.
      set reads a file with {"TYPE": {"contentState": SCHEMA, "attributes": SCHEMA}} for each attributes type, either of the two. With
      --type it takes those of that type, of a file with the two of one type, or with the schema of its content-state alone. remove takes
      back what was set, so that what the app itself brought along holds again; a second one takes that, too, and says so.
      from-swift needs nothing that runs. It reads Swift source and prints, for each struct that conforms to ActivityAttributes, the
      schemas of its attributes and its ContentState. It reads stored properties, optionals, arrays, dictionaries, sets, ranges, nested
      types, other names of types, enumerations with raw or associated values, and CodingKeys. All types must be declared in the file;
      - stands for standard input. What is not understood is named with its line and column, and the status is 1; with --partial the
      schemas are printed all the same, and let everything pass there.
      """,
    options: [
      Option("--app", "BUNDLE", "the app (com.example.app)"),
      Option("--type", "TYPE", "with set: the attributes type that the file's schemas are of"),
      Option(switch: "--partial", "with from-swift: print schemas that leave open what is not understood"), .json, .stateFolder,
    ],
    examples: [
      "widgetpush schemas from-swift Delivery/DeliveryAttributes.swift > schemas.json", "widgetpush schemas set schemas.json",
      "widgetpush schemas show DeliveryAttributes", "widgetpush schemas remove DeliveryAttributes",
    ]
  ) { arguments in
    let verb = try arguments.verb(of: ["list", "show", "set", "remove", "from-swift"])
    for (option, owner) in [("--type", "set"), ("--partial", "from-swift")] where verb != owner && arguments.has(option) {
      throw UsageError("\(option) is for \(owner)")
    }
    if verb == "from-swift" { return try readSwift(arguments.subject("FILE", of: verb), isPartial: arguments.has("--partial")) }
    if verb == "list", arguments.operands.count > 1 { throw UsageError("list takes nothing more than options") }
    let app = try AppSchemas(try ControlClient(arguments), bundleID: arguments.value("--app") ?? "com.example.app")
    switch verb {
    case "show": Console.print(try app.show(try arguments.subject("TYPE", of: verb)).serialized(pretty: true))
    case "set":
      let names = try app.set(try AppSchemas.read(try arguments.subject("FILE", of: verb), type: arguments.value("--type")))
      let done: JSONValue = ["set": .array(names.map(JSONValue.string))]
      Console.print(arguments.wantsJSON ? done.serialized() : "set \(names.joined(separator: ", "))")
    case "remove":
      let type = try arguments.subject("TYPE", of: verb)
      let (removed, now) = try app.remove(type)
      var done: JSONObject = ["removed": .string(type), "origin": .string(removed)]
      done["now"] = .string(now ?? "none")
      let then = now.map { "\(AppSchemas.owner($0)) hold now" } ?? "there are none now, at the gateway and on devices"
      Console.print(
        arguments.wantsJSON ? JSONValue.object(done).serialized() : "removed \(type), \(AppSchemas.owner(removed)); \(then)")
    default:
      let list = try app.list()
      Console.print(arguments.wantsJSON ? JSONValue.array(list).serialized(pretty: true) : AppSchemas.table(of: list))
    }
    return 0
  }

  private static func readSwift(_ file: String, isPartial: Bool) throws -> Int32 {
    let source = SwiftSource(file == "-" ? try Files.readStandardInput() : try Files.read(file))
    for problem in source.problems { Console.complain("\(file):\(problem)") }
    guard source.problems.isEmpty || isPartial && !source.schemas.isEmpty else { return 1 }
    Console.print(JSONValue.object(source.schemas).serialized(pretty: true))
    return 0
  }
}
