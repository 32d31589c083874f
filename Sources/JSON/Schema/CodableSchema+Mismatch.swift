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
  /// Seconds from the Unix epoch to 2001-01-01 UTC, where Swift's `Date` counts from.
  private static let referenceDateSeconds: Int64 = 978_307_200

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
      for (index, value) in elements.enumerated() {
        if let problem = element.problem(in: value, at: "\(path)[\(index)]") { return problem }
      }
      return nil
    case .object(let properties): return Self.problem(inMembers: value, of: properties, at: path)
    case .string: return value.stringValue == nil ? Self.wrong(path, "a string", value, sending: value.quoted) : nil
    case .integer:
      if value.intValue != nil { return nil }
      let form = value.isNumber ? "an integer that fits Swift's Int, without a fraction" : "an integer"
      return Self.wrong(path, form, value, sending: value.unquoted { $0.intValue != nil })
    case .number: return value.isNumber ? nil : Self.wrong(path, "a number", value, sending: value.unquoted { $0.isNumber })
    case .boolean:
      if value.boolValue != nil { return nil }
      let right = value.intValue.flatMap { [0: "false", 1: "true"][$0] } ?? value.unquoted { $0.boolValue != nil }
      return Self.wrong(path, "true or false", value, sending: right)
    case .choice(let choices):
      if choices.contains(where: { value.stringValue == $0 }) { return nil }
      let near = value.stringValue.flatMap { nearestName(to: $0, among: choices) }.map { "\"\($0)\"" }
      return Self.wrong(path, "one of \(choices.joined(separator: ", "))", value, sending: near)
    case .integerChoice(let choices):
      if choices.contains(where: { value.intValue == $0 }) { return nil }
      return Self.wrong(path, "one of \(choices.map(String.init).joined(separator: ", "))", value)
    case .date:
      if value.isNumber { return nil }
      let right = value.stringValue.flatMap { Instant(rfc3339: $0) }.map { "\($0.unixSeconds - Self.referenceDateSeconds)" }
      return Self.wrong(path, "a number of seconds since 2001-01-01 UTC, as Swift's Date decodes by default", value, sending: right)
    }
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

  /// A value that decodes, but hardly as it was meant: a Unix time where Swift counts from 2001.
  private func oddity(in value: JSONValue, at path: String, now: Instant) -> CodableMismatch? {
    switch self {
    case .date: return Self.unixTime(value, at: path, now: now)
    case .optional(let schema): return schema.oddity(in: value, at: path, now: now)
    case .array(let element):
      for (index, value) in (value.arrayValue ?? []).enumerated() {
        if let oddity = element.oddity(in: value, at: "\(path)[\(index)]", now: now) { return oddity }
      }
      return nil
    case .object(let properties):
      for property in properties {
        guard let member = value[property.name] else { continue }
        if let oddity = property.schema.oddity(in: member, at: "\(path).\(property.name)", now: now) { return oddity }
      }
      return nil
    case .anything, .string, .choice, .integer, .integerChoice, .number, .boolean: return nil
    }
  }

  /// A number of seconds, or milliseconds, that within ten years of now is a Unix time.
  private static func unixTime(_ value: JSONValue, at path: String, now: Instant) -> CodableMismatch? {
    guard let number = value.doubleValue else { return nil }
    for (unit, name) in [(1.0, "a Unix time"), (1000.0, "a Unix time in milliseconds")] {
      let seconds = number / unit
      guard abs(seconds - Double(now.unixSeconds)) < 10 * 365 * 86_400 else { continue }
      let year =
        unit == 1
        ? String(Instant(unixSeconds: Int64(seconds) + referenceDateSeconds).description.prefix(4))
        : "a year past \(Int(number / (366 * 86_400)) / 1000 * 1000)"
      return CodableMismatch(
        path: path, message: "\(path) is \(name); Swift's Date shows \(year), send \(Int64(seconds) - referenceDateSeconds)",
        isDecodable: true)
    }
    return nil
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
