public import JSON
import Primitives
import Push

/// Something in a source file that a schema cannot be made of.
public struct SourceProblem: Error, Hashable, Sendable {
  /// Where it stands.
  public var place: SourcePlace
  /// What it is, and what would be right.
  public var message: String
}

extension SourceProblem: CustomStringConvertible {
  /// The place and the message, as compilers write them.
  public var description: String { "\(place.line):\(place.column): \(message)" }
}

/// The schemas of the `ActivityAttributes` in a Swift file.
///
/// The file is read as people write it: what the decoding of a type does not depend on is passed over. What it does depend on and is not
/// understood becomes a problem, and a schema that lets everything pass.
public struct SwiftSource: Sendable {
  /// For each attributes type `{"attributes": schema, "contentState": schema}`, as `PUT …/schemas` takes it.
  public private(set) var schemas: JSONObject = [:]
  /// What is not understood, in the order of the file.
  public private(set) var problems: [SourceProblem] = []

  /// Reads a file's text.
  public init(_ text: String) {
    guard text.utf8.count <= Limits.swiftSourceBytes else {
      let message =
        "the file has \(text.utf8.count) bytes, and is read up to \(Limits.swiftSourceBytes); give the file of the attributes alone"
      problems = [SourceProblem(place: SourcePlace(line: 1, column: 1), message: message)]
      return
    }
    let declarations = SwiftParser.declarations(of: text, depthMax: Limits.swiftSourceDepth)
    var writer = SchemaWriter(declarations)
    for key in declarations.order {
      guard let type = declarations.types[key], type.conforms(to: "ActivityAttributes") else { continue }
      let name = type.path.last ?? key
      let attributes = writer.schema(of: type)
      guard let state = writer.contentState(of: type) else { continue }
      schemas[name] = ["attributes": attributes, "contentState": state]
    }
    if schemas.isEmpty, writer.problems.isEmpty {
      let message =
        "no struct of this file conforms to ActivityAttributes; give the file in which it is declared, as struct DeliveryAttributes: ActivityAttributes { … }"
      writer.problems.append(SourceProblem(place: SourcePlace(line: 1, column: 1), message: message))
    }
    problems = writer.problems.sorted { $0.place < $1.place }
  }
}
