/// The content-state of one attributes type: its name in Swift, and its schema.
public struct ContentStateType: Hashable, Sendable {
  /// The name of the `ActivityAttributes` type.
  public let attributesType: String
  /// What its `ContentState` decodes from.
  public let schema: CodableSchema
  /// The schema as it was written.
  public let source: JSONValue

  /// Reads a schema; throws what is wrong with it.
  public init(_ attributesType: String, _ source: JSONValue, at path: String) throws(FieldError) {
    self.attributesType = attributesType
    schema = try CodableSchema(source, at: path)
    self.source = source
  }

  /// Reads an object with a schema for each attributes type; throws what is wrong with it.
  ///
  /// - Parameter max: The most types that there may be.
  public static func list(_ value: JSONValue, at path: String, max: Int) throws(FieldError) -> [ContentStateType] {
    guard let object = value.objectValue else {
      throw FieldError(field: path, message: "\(path) must be an object with a JSON Schema for each attributes type, not \(value.kindName)")
    }
    guard object.keys.count <= max else {
      throw FieldError(field: path, message: "\(path) must have at most \(max) attributes types, not \(object.keys.count)")
    }
    var types: [ContentStateType] = []
    for (name, source) in object { types.append(try ContentStateType(name, source, at: "\(path).\(name)")) }
    return types
  }
}

extension [ContentStateType] {
  /// As `list` reads them.
  public var json: JSONValue {
    var object: JSONObject = [:]
    for type in self { object[type.attributesType] = type.source }
    return .object(object)
  }

  /// These, and in place of those of the same name the others.
  public func replaced(by others: [ContentStateType]) -> [ContentStateType] {
    filter { own in !others.contains { $0.attributesType == own.attributesType } } + others
  }
}
