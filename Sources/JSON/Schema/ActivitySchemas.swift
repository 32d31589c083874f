public import Primitives

/// What one type of Live Activity decodes from: its name in Swift, and the schemas of its content-state and its attributes.
public struct ActivitySchemas: Hashable, Sendable {
  /// The name of the `ActivityAttributes` type.
  public let attributesType: String
  /// What its `ContentState` decodes from; nil where that is not known.
  public let contentState: CodableSchema?
  /// What the attributes themselves decode from; nil where that is not known.
  public let attributes: CodableSchema?
  /// The schemas as they were written: `{"contentState"?, "attributes"?}`.
  public let source: JSONValue

  /// What the name of an attributes type is, for people.
  public static let nameForm =
    "the name of a Swift type such as DeliveryAttributes: ASCII letters, digits and underscores, perhaps behind an outer type and a period"

  /// Whether that may be the name of an attributes type.
  public static func isTypeName(_ name: String) -> Bool {
    name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).allSatisfy { part in
      guard let first = part.first, !(0x30...0x39).contains(first) else { return false }
      return part.allSatisfy { (0x61...0x7A).contains($0 | 0x20) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "_") }
    }
  }

  private static func check(_ name: String, at path: String) throws(FieldError) {
    guard !isTypeName(name) else { return }
    throw FieldError(
      field: path, message: "\(path) is of \"\(String(name.prefix(64)).escapingSteering())\", which is not \(nameForm)")
  }

  /// Reads `{"contentState"?, "attributes"?}`; throws what is wrong with it, and where neither is there.
  public init(_ attributesType: String, _ source: JSONValue, at path: String) throws(FieldError) {
    let name = path.isEmpty ? "body" : path
    var reader = try JSONReader(source, at: path)
    if reader.members[attributesType]?.objectValue != nil, reader.members.keys.allSatisfy({ !["contentState", "attributes"].contains($0) })
    {
      throw FieldError(
        field: name,
        message:
          "\(name) has the schemas under the key \"\(attributesType)\"; only the value of that key is wanted here: {\"contentState\", \"attributes\"}"
      )
    }
    let (state, attributes) = (reader.optionalValue("contentState"), reader.optionalValue("attributes"))
    try reader.finish()
    guard state != nil || attributes != nil else {
      throw FieldError(field: name, message: "\(name) must have contentState, attributes or both, each a JSON Schema")
    }
    try self.init(attributesType, contentState: state, attributes: attributes, at: path.isEmpty ? "" : "\(path).")
  }

  /// Reads the schema of a content-state alone.
  public init(_ attributesType: String, contentState: JSONValue, at path: String) throws(FieldError) {
    self.attributesType = attributesType
    self.contentState = try Self.object(contentState, at: path, "a content-state")
    attributes = nil
    source = ["contentState": contentState]
  }

  /// The same, without the way in which it is written.
  public var meaning: ActivitySchemas { ActivitySchemas(attributesType, contentState, attributes) }

  private init(_ attributesType: String, _ contentState: CodableSchema?, _ attributes: CodableSchema?) {
    (self.attributesType, self.contentState, self.attributes, source) = (attributesType, contentState, attributes, .null)
  }

  private init(_ attributesType: String, contentState: JSONValue?, attributes: JSONValue?, at prefix: String) throws(FieldError) {
    self.attributesType = attributesType
    self.contentState = try contentState.map { value throws(FieldError) in
      try Self.object(value, at: "\(prefix)contentState", "a content-state")
    }
    self.attributes = try attributes.map { value throws(FieldError) in
      try Self.object(value, at: "\(prefix)attributes", "attributes")
    }
    var object: JSONObject = [:]
    object["contentState"] = contentState
    object["attributes"] = attributes
    source = .object(object)
  }

  /// The schema of what a push has as an object.
  private static func object(_ value: JSONValue, at path: String, _ what: String) throws(FieldError) -> CodableSchema {
    let schema = try CodableSchema(value, at: path)
    guard schema.mayBeObject else {
      let verb = what == "attributes" ? "are" : "is"
      throw FieldError(
        field: path, message: "\(path) must be the schema of an object, which \(what) always \(verb)")
    }
    return schema
  }

  /// Reads an object with schemas for each attributes type; throws what is wrong with it.
  ///
  /// - Parameters:
  ///   - max: The most types that there may be.
  ///   - contentStatesOnly: Each value is the schema of a content-state, rather than an object with both.
  public static func list(
    _ value: JSONValue, at path: String, max: Int, contentStatesOnly: Bool = false
  ) throws(FieldError) -> [ActivitySchemas] {
    guard let object = value.objectValue else {
      let form = contentStatesOnly ? "a JSON Schema" : "{\"contentState\", \"attributes\"}"
      throw FieldError(field: path, message: "\(path) must be an object with \(form) for each attributes type, not \(value.kindName)")
    }
    guard object.keys.count <= max else {
      throw FieldError(field: path, message: "\(path) must have at most \(max) attributes types, not \(object.keys.count)")
    }
    var types: [ActivitySchemas] = []
    for (name, source) in object {
      let place = "\(path).\(name)"
      try check(name, at: place)
      types.append(
        contentStatesOnly
          ? try ActivitySchemas(name, contentState: source, at: place) : try ActivitySchemas(name, source, at: place))
    }
    return types
  }

  /// Where the two stand in what is judged.
  public struct Places: Sendable {
    let attributes: String
    let contentState: String

    /// Those of a push's payload.
    public static let payload = Places(attributes: "aps.attributes", contentState: "aps.content-state")
    /// Those of an activity by name.
    public static let activity = Places(attributes: "attributes", contentState: "contentState")
  }

  /// What stands between what is sent to an activity of this type and what it decodes into, its attributes first; empty where all is well, as
  /// far as it is known.
  ///
  /// - Parameters:
  ///   - attributes: Those of a start; nil for an update or an end.
  ///   - contentState: Nil where none is sent.
  ///   - now: The sender's time, of which dates are expected to be near; nil has only what would not decode told.
  ///   - countMax: The most that are looked for.
  public func mismatches(
    attributes: JSONValue?, contentState: JSONValue?, at places: Places = .payload, now: Instant?,
    countMax: Int = CodableMismatch.countMax
  ) -> [CodableMismatch] {
    var judge = CodableJudge(now: now, countMax: countMax)
    if let attributes, let schema = self.attributes { judge.judge(attributes, by: schema, at: places.attributes) }
    if let contentState, let schema = self.contentState { judge.judge(contentState, by: schema, at: places.contentState) }
    return judge.found
  }

  /// Whether a mismatch is one of the attributes.
  public static func isOfAttributes(_ mismatch: CodableMismatch) -> Bool { mismatch.path.hasPrefix(Places.payload.attributes) }
}

extension [ActivitySchemas] {
  /// As `list` reads them.
  public var json: JSONValue {
    var object: JSONObject = [:]
    for type in self { object[type.attributesType] = type.source }
    return .object(object)
  }

  /// The schemas of that attributes type.
  public func schemas(of attributesType: String) -> ActivitySchemas? { first { $0.attributesType == attributesType } }

  /// These, and in place of those of the same name the others.
  public func replaced(by others: [ActivitySchemas]) -> [ActivitySchemas] {
    filter { own in others.schemas(of: own.attributesType) == nil } + others
  }
}
