public import JSON
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
  public var description: String { "\(place): \(message)" }
}

/// The schemas of the `ActivityAttributes` in a Swift file.
///
/// The file is read as people write it: what the decoding of a type does not depend on is passed over. What it does depend on and is not
/// understood becomes a problem, and a schema that lets everything pass. A file that is cut off has no schemas.
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
    guard declarations.problems.isEmpty else {
      problems = declarations.problems.sorted { $0.place < $1.place }
      return
    }
    var writer = SchemaWriter(declarations)
    var found: [String: SwiftDeclaration] = [:]
    for key in declarations.order {
      guard let type = declarations.types[key], type.kind != .protocolType, writer.isActivity(type) else { continue }
      let name = type.path.last ?? key
      if let other = found[name] {
        writer.refuse(
          "\(type.name) has the name of \(other.name) at \(other.place), and pushes tell neither from the other; give it another",
          at: type.place)
        schemas[name] = nil
        continue
      }
      guard found.count < Limits.contentStatesPerApp else {
        writer.refuse(
          "an app has schemas of at most \(Limits.contentStatesPerApp) attributes types, and this is one more; give fewer", at: type.place)
        break
      }
      found[name] = type
      schemas[name] = writer.schemas(of: type)
    }
    if found.isEmpty, writer.problems.isEmpty {
      writer.refuse(
        "no struct of this file conforms to ActivityAttributes; give the file in which it is declared, as struct DeliveryAttributes: ActivityAttributes { … }",
        at: SourcePlace(line: 1, column: 1))
    }
    problems = writer.problems.sorted { $0.place < $1.place }
    if let index = problems.firstIndex(where: { writer.unknownPlaces.contains($0.place) }) {
      problems[index].message += " (\(SchemaWriter.knownTypes))"
    }
  }
}

extension SchemaWriter {
  /// Whether a type is one of a Live Activity; tells where it looks like one, and is not said to be.
  fileprivate mutating func isActivity(_ type: SwiftDeclaration) -> Bool {
    let conformances = declarations.conformances(of: type)
    if conformances.names.contains("ActivityAttributes") { return true }
    guard type.kind == .structure || type.kind == .reference, declarations.hasContentState(type) else { return false }
    let unknown = conformances.unknown.first.map { ": \($0.name) is not declared in this file" } ?? ""
    refuse(
      "\(type.name) has a ContentState, and is not seen to conform to ActivityAttributes\(unknown); write struct \(type.name): ActivityAttributes",
      at: type.place)
    return false
  }

  /// The schemas of an attributes type, within what `PUT …/schemas` takes; nil where it has none.
  fileprivate mutating func schemas(of type: SwiftDeclaration) -> JSONValue? {
    let name = type.path.last ?? ""
    guard type.kind != .extended else {
      refuse("\(type.name) is extended here, and declared elsewhere; put its declaration into the file", at: type.place)
      return nil
    }
    guard type.generics.isEmpty else {
      refuse("\(type.name) is generic, and pushes name one type; declare a struct for each, without generic parameters", at: type.place)
      return nil
    }
    guard ActivitySchemas.isTypeName(name) else {
      refuse("pushes and schemas name attributes types by the letters a to z, digits and _; call \(name) otherwise", at: type.place)
      return nil
    }
    let attributes = schema(of: type)
    guard let state = contentState(of: type) else { return nil }
    let both: JSONValue = ["attributes": attributes, "contentState": state]
    let bytes = both.serialized().utf8.count
    guard bytes <= Limits.schemaBytes else {
      refuse(
        "the schemas of \(type.name) have \(bytes) bytes, and \(Limits.schemaBytes) are taken; give it fewer properties", at: type.place)
      return nil
    }
    return both
  }
}
