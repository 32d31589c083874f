import JSON
import SwiftSource

extension Command {
  /// `widgetpush schemas`.
  static let schemas = Command(
    "schemas", "makes schemas of what an app's attributes and content-states decode from", operands: "from-swift FILE", count: 2...2,
    discussion: """
      from-swift reads Swift source and prints, for each struct that conforms to ActivityAttributes, the schemas of its attributes and
      its ContentState, so that nobody writes them by hand. It reads stored properties, optionals, arrays, dictionaries, sets, ranges,
      nested types, other names of types, enumerations with raw or associated values, and CodingKeys. All types must be declared in the
      file; - stands for standard input. What is not understood is named with its line and column, and the status is 1; with --partial the
      schemas are printed all the same, and let everything pass there.
      """,
    options: [Option(switch: "--partial", "print schemas that leave open what is not understood")],
    examples: ["widgetpush schemas from-swift Delivery/DeliveryAttributes.swift > schemas.json"]
  ) { arguments in
    let verb = try arguments.verb(of: ["from-swift"])
    return try readSwift(arguments.subject("FILE", of: verb), isPartial: arguments.has("--partial"))
  }

  private static func readSwift(_ file: String, isPartial: Bool) throws -> Int32 {
    let source = SwiftSource(file == "-" ? try Files.readStandardInput() : try Files.read(file))
    for problem in source.problems { Console.complain("\(file):\(problem)") }
    guard source.problems.isEmpty || isPartial && !source.schemas.isEmpty else { return 1 }
    Console.print(JSONValue.object(source.schemas).serialized(pretty: true))
    return 0
  }
}
