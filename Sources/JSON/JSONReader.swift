import Primitives

/// A field of a request body that is missing, of the wrong form or unknown.
public struct FieldError: Error, Hashable, Sendable {
  /// The field's path, such as `widgets[0].kind`.
  public var field: String
  /// What is wrong and what would be right: one sentence that names the field.
  public var message: String

  /// An error of that field with that message.
  public init(field: String, message: String) {
    self.field = field
    self.message = message
  }
}

extension FieldError: CustomStringConvertible {
  /// The message.
  public var description: String { message }
}

/// Reads an object's fields one by one, with errors that name the field and the right form; `finish()` refuses what was not asked for.
///
/// A field that is `null` counts as absent.
public struct JSONReader {
  /// The object's path: empty for a whole body, else such as `widgets[0]`.
  public let path: String
  private let object: JSONObject
  private var known: [String] = []

  /// A reader of `value`, which must be an object.
  ///
  /// - Parameter path: Where the object stands; fields are named relative to it, and an empty path adds nothing.
  public init(_ value: JSONValue, at path: String = "") throws(FieldError) {
    guard let object = value.objectValue else {
      let name = path.isEmpty ? "body" : path
      throw FieldError(field: name, message: "\(name) must be a JSON object, not \(value.kindName)")
    }
    self.object = object
    self.path = path
  }

  /// The whole object.
  public var members: JSONObject { object }

  /// The names that were asked for so far.
  public var names: [String] { known }

  /// The field's value as it stands, or nil when absent.
  public mutating func optionalValue(_ name: String) -> JSONValue? {
    known.append(name)
    guard let value = object[name], !value.isNull else { return nil }
    return value
  }

  /// The field's value as it stands.
  public mutating func value(_ name: String) throws(FieldError) -> JSONValue {
    try required(name, "given", optionalValue(name))
  }

  /// A string, or nil when absent.
  public mutating func optionalString(_ name: String) throws(FieldError) -> String? {
    try convert(name, "a string") { $0.stringValue }
  }

  /// A string.
  public mutating func string(_ name: String) throws(FieldError) -> String {
    try required(name, "a string", optionalString(name))
  }

  /// A string that is one of `choices`, or nil when absent.
  public mutating func optionalChoice(_ name: String, of choices: [String]) throws(FieldError) -> String? {
    guard let text = try optionalString(name) else { return nil }
    guard choices.contains(text) else {
      let hint = nearestName(to: text, among: choices).map { "; did you mean \"\($0)\"?" } ?? ""
      throw error(name, "must be \(Self.listed(choices)), not \"\(text)\"\(hint)")
    }
    return text
  }

  /// A string that is one of `choices`.
  public mutating func choice(_ name: String, of choices: [String]) throws(FieldError) -> String {
    try required(name, Self.listed(choices), optionalChoice(name, of: choices))
  }

  /// `true` or `false`, or nil when absent.
  public mutating func optionalBool(_ name: String) throws(FieldError) -> Bool? {
    try convert(name, "true or false") { $0.boolValue }
  }

  /// An integer within `range`, or nil when absent.
  public mutating func optionalInteger(_ name: String, in range: ClosedRange<Int64>) throws(FieldError) -> Int64? {
    try convert(name, "an integer from \(range.lowerBound) to \(range.upperBound)") {
      $0.intValue.flatMap { range.contains($0) ? $0 : nil }
    }
  }

  /// An integer within `range`.
  public mutating func integer(_ name: String, in range: ClosedRange<Int64>) throws(FieldError) -> Int64 {
    try required(name, "an integer from \(range.lowerBound) to \(range.upperBound)", optionalInteger(name, in: range))
  }

  /// A number within `range`, or nil when absent.
  public mutating func optionalNumber(_ name: String, in range: ClosedRange<Double>) throws(FieldError) -> Double? {
    try convert(name, "a number from \(range.lowerBound) to \(range.upperBound)") {
      $0.doubleValue.flatMap { range.contains($0) ? $0 : nil }
    }
  }

  /// A list of strings, or nil when absent.
  public mutating func optionalStrings(_ name: String) throws(FieldError) -> [String]? {
    try convert(name, "a list of strings") { value in
      guard let elements = value.arrayValue else { return nil }
      let strings = elements.compactMap(\.stringValue)
      return strings.count == elements.count ? strings : nil
    }
  }

  /// A nested object to be read in turn, or nil when absent.
  public mutating func optionalObject(_ name: String) throws(FieldError) -> JSONReader? {
    guard let value = optionalValue(name) else { return nil }
    return try JSONReader(value, at: field(name))
  }

  /// A list of objects to be read in turn, at most `max`; nil when absent.
  public mutating func optionalObjects(_ name: String, max: Int) throws(FieldError) -> [JSONReader]? {
    guard let elements = try convert(name, "a list of objects", { $0.arrayValue }) else { return nil }
    guard elements.count <= max else { throw error(name, "must have at most \(max) entries, not \(elements.count)") }
    var readers: [JSONReader] = []
    for (index, element) in elements.enumerated() { readers.append(try JSONReader(element, at: "\(field(name))[\(index)]")) }
    return readers
  }

  /// Refuses fields that were never asked for, naming the nearest one that is known.
  public func finish() throws(FieldError) {
    for name in object.keys where !known.contains(name) {
      let hint = nearestName(to: name, among: known).map { "did you mean \"\($0)\"?" } ?? "known are \(Self.listed(known))"
      throw FieldError(field: field(name), message: "\(field(name)) is not a known field; \(hint)")
    }
  }

  /// An error about one of the object's fields; `problem` continues a sentence that begins with the field's path.
  public func error(_ name: String, _ problem: String) -> FieldError {
    FieldError(field: field(name), message: "\(field(name)) \(problem)")
  }

  private func field(_ name: String) -> String { path.isEmpty ? name : "\(path).\(name)" }

  private func required<Value>(_ name: String, _ form: String, _ value: Value?) throws(FieldError) -> Value {
    guard let value else {
      // Perhaps not forgotten but misspelt. What has not been asked for yet may be right, and short names are all alike.
      let others = name.utf8.count < 6 ? [] : object.keys.filter { !known.contains($0) }
      let hint = nearestName(to: name, among: others).map { "; did you mean it by \"\($0)\"?" } ?? ""
      throw error(name, "is missing; it must be \(form)\(hint)")
    }
    return value
  }

  private mutating func convert<Value>(_ name: String, _ form: String, _ convert: (JSONValue) -> Value?) throws(FieldError)
    -> Value?
  {
    guard let value = optionalValue(name) else { return nil }
    guard let converted = convert(value) else {
      throw error(name, "must be \(form), not \(value.isNumber ? value.serialized() : value.kindName)")
    }
    return converted
  }

  private static func listed(_ names: [String]) -> String {
    let quoted = names.map { "\"\($0)\"" }
    guard let last = quoted.last, quoted.count > 1 else { return quoted.first ?? "nothing" }
    return quoted.dropLast().joined(separator: ", ") + " or " + last
  }
}
