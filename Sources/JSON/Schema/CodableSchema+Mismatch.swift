public import Primitives

/// What stands between a value and what a Swift type makes of it.
public struct CodableMismatch: Hashable, Sendable {
  /// The value at fault, such as `aps.content-state.eta`.
  public var path: String
  /// What is wrong and what would be right, as a sentence that begins with the path, without a period.
  public var message: String
  /// Whether the value decodes, though hardly into what was meant.
  public var isDecodable = false
}

extension CodableSchema {
  /// The first thing for which a default `JSONDecoder` would fail on `value`; else the first that decodes and can hardly be meant; nil when
  /// all is well.
  ///
  /// - Parameters:
  ///   - path: Where the value stands.
  ///   - now: The time, of which dates are expected to be near.
  public func mismatch(in value: JSONValue, at path: String, now: Instant) -> CodableMismatch? {
    if let problem = problem(in: value, at: path) { return problem }
    return oddity(in: value, at: path, now: now)
  }

  /// Why a default `JSONDecoder` would fail on `value`; nil when it would not.
  public func problem(in value: JSONValue, at path: String) -> CodableMismatch? {
    switch self {
    case .anything: return nil
    case .optional(let schema): return value.isNull ? nil : schema.problem(in: value, at: path)
    case .array(let element):
      guard let elements = value.arrayValue else { return Self.wrong(path, "an array", value) }
      return Self.problem(inElements: elements, at: path) { _ in element }
    case .pairs(let key, let paired):
      guard let elements = value.arrayValue, elements.count % 2 == 0 else {
        return Self.wrong(path, "an array of keys and values in turn, as a dictionary with such keys decodes from", value)
      }
      return Self.problem(inElements: elements, at: path) { $0 % 2 == 0 ? key : paired }
    case .range(let form, let bound): return Self.problem(inRange: value, form, of: bound, at: path)
    case .dictionary(let keys, let member): return Self.problem(inDictionary: value, keys, of: member, at: path)
    case .object(let properties): return Self.problem(inMembers: value, of: properties, at: path)
    case .cases(let cases): return Self.problem(inCase: value, of: cases, at: path)
    case .boolean:
      if value.boolValue != nil { return nil }
      let right = value.intValue.flatMap { [0: "false", 1: "true"][$0] } ?? value.unquoted { $0.boolValue != nil }
      return Self.wrong(path, "true or false", value, sending: right)
    case .string, .text, .choice, .date(.dateTime): return textProblem(in: value, at: path)
    case .integer, .integerChoice, .number, .date: return numberProblem(in: value, at: path)
    }
  }

  private func textProblem(in value: JSONValue, at path: String) -> CodableMismatch? {
    switch self {
    case .text(let text):
      if value.stringValue.map(text.takes) == true { return nil }
      return Self.wrong(path, text.form, value)
    case .choice(let choices):
      if choices.contains(where: { value.stringValue == $0 }) { return nil }
      let near = value.stringValue.flatMap { nearestName(to: $0, among: choices) }.map { "\"\($0)\"" }
      return Self.wrong(path, "one of \(choices.joined(separator: ", "))", value, sending: near)
    case .date:
      if value.stringValue.map(DateText.isDateTime) == true { return nil }
      return Self.wrong(
        path, "a date of ISO 8601 such as \"2026-12-01T09:30:00Z\", without fractions of a second", value,
        sending: DateText.rewritten(value))
    default: return value.stringValue == nil ? Self.wrong(path, "a string", value, sending: value.quoted) : nil
    }
  }

  private func numberProblem(in value: JSONValue, at path: String) -> CodableMismatch? {
    switch self {
    case .integer(let width):
      if width.takes(value) { return nil }
      let form = value.isNumber ? "an integer that fits Swift's \(width.swiftName), without a fraction" : "an integer"
      return Self.wrong(path, form, value, sending: value.unquoted { width.takes($0) })
    case .integerChoice(let choices):
      if IntegerWidth.int64.takes(value), choices.contains(where: { value.intValue == $0 }) { return nil }
      return Self.wrong(path, "one of \(choices.map(String.init).joined(separator: ", "))", value)
    case .number(let fraction):
      if fraction.takes(value) { return nil }
      let form = value.isNumber ? "a number that fits Swift's \(fraction.swiftName)" : "a number"
      return Self.wrong(path, form, value, sending: value.unquoted { fraction.takes($0) })
    case .date(let form):
      if Fraction.double.takes(value) { return nil }
      return Self.wrong(path, form.sentence, value, sending: form.rewritten(value))
    default: return nil
    }
  }

  private static func problem(inElements elements: [JSONValue], at path: String, schema: (Int) -> CodableSchema) -> CodableMismatch? {
    for (index, value) in elements.enumerated() {
      if let problem = schema(index).problem(in: value, at: "\(path)[\(index)]") { return problem }
    }
    return nil
  }

  /// A range's bounds; what follows them is not read.
  private static func problem(inRange value: JSONValue, _ form: RangeForm, of bound: CodableSchema, at path: String) -> CodableMismatch? {
    let count = form == .range ? 2 : 1
    guard let elements = value.arrayValue, elements.count >= count else {
      return wrong(path, form == .range ? "an array of the lower and the upper bound" : "an array of one bound", value)
    }
    if let problem = problem(inElements: Array(elements.prefix(count)), at: path, schema: { _ in bound }) { return problem }
    guard form == .range, isAscending(elements[0], elements[1]) == false else { return nil }
    return wrong(path, "an array of the lower and the upper bound, in this order", value)
  }

  private static func isAscending(_ a: JSONValue, _ b: JSONValue) -> Bool? {
    if case .integer(let a) = a, case .integer(let b) = b { return a <= b }
    if let a = a.doubleValue, let b = b.doubleValue { return a <= b }
    if let a = a.stringValue, let b = b.stringValue { return a <= b }
    return nil
  }

  private static func problem(inDictionary value: JSONValue, _ keys: Keys, of member: CodableSchema, at path: String) -> CodableMismatch? {
    guard let object = value.objectValue else { return wrong(path, "an object", value) }
    for (key, value) in object {
      switch keys {
      case .strings: break
      case .integers:
        guard Int(key) != nil else {
          return CodableMismatch(path: path, message: "\(path) has the key \"\(key)\", and each key must be an integer in quotes")
        }
      case .choices(let names):
        guard names.contains(key) else {
          let hint = nearestName(to: key, among: names).map { "; send \"\($0)\"" } ?? ""
          return CodableMismatch(
            path: path, message: "\(path) has the key \"\(key)\", and each must be one of \(names.joined(separator: ", "))\(hint)")
        }
      }
      if let problem = member.problem(in: value, at: "\(path).\(key)") { return problem }
    }
    return nil
  }

  private static func problem(inMembers value: JSONValue, of properties: [Property], at path: String) -> CodableMismatch? {
    guard let object = value.objectValue else { return wrong(path, "an object", value) }
    for property in properties {
      let path = "\(path).\(property.name)"
      switch object[property.name] {
      case let member? where !member.isNull:
        if let problem = property.schema.problem(in: member, at: path) { return problem }
      case .some where property.isRequired:
        guard case .optional = property.schema else {
          return CodableMismatch(path: path, message: "\(path) is null, and the property is not optional")
        }
      case nil where property.isRequired:
        let hint = nearestName(to: property.name, among: object.keys).map { "; is \($0) meant for it?" } ?? ""
        return CodableMismatch(path: path, message: "\(path) is missing\(hint)")
      default: break
      }
    }
    return nil
  }

  /// One key that names a case; others that name none are not read.
  private static func problem(inCase value: JSONValue, of cases: [Case], at path: String) -> CodableMismatch? {
    let names = cases.map(\.name)
    let form = "an object with one of the keys \(names.joined(separator: ", "))"
    guard let object = value.objectValue else {
      let bare = value.stringValue.flatMap { name in cases.first { $0.name == name } }
      return wrong(path, form, value, sending: bare.flatMap { $0.values.isEmpty ? "{\"\($0.name)\":{}}" : nil })
    }
    let named = cases.filter { object[$0.name] != nil }
    guard named.count == 1, let one = named.first, let values = object[one.name] else {
      let hint = object.keys.first.flatMap { nearestName(to: $0, among: names) }.map { "; is \"\($0)\" meant?" } ?? ""
      return CodableMismatch(path: path, message: "\(path) must be \(form), and has \(named.isEmpty ? "none" : "\(named.count)")\(hint)")
    }
    return problem(inMembers: values, of: one.values, at: "\(path).\(one.name)")
  }

  /// That a value is of the wrong form, with what to send where that is known.
  private static func wrong(_ path: String, _ form: String, _ value: JSONValue, sending right: String? = nil) -> CodableMismatch {
    let text = value.serialized()
    let found = text.utf8.count <= 40 ? text : value.kindName
    return CodableMismatch(path: path, message: "\(path) must be \(form), not \(found)\(right.map { "; send \($0)" } ?? "")")
  }
}

extension JSONValue {
  /// A number or truth value as the string that was meant; nil for others.
  fileprivate var quoted: String? { isNumber || boolValue != nil ? "\"\(serialized())\"" : nil }

  /// What stands in a string's quotes, where that is JSON of the kind which was meant.
  fileprivate func unquoted(_ isMeant: (JSONValue) -> Bool) -> String? {
    guard let text = stringValue, let value = try? JSONValue.parse(text), isMeant(value) else { return nil }
    return text
  }
}
