import Primitives

extension CodableSchema {
  /// What a value must be; nil where anything decodes.
  var expectation: String? {
    switch self {
    case .anything: nil
    case .optional(let schema): schema.expectation
    case .string: "a string"
    case .text(let text): text.form
    case .choice(let choices): "one of \(choices.listed)"
    case .integer: "an integer"
    case .integerChoice(let choices): "one of \(choices.listed)"
    case .number: "a number"
    case .boolean: "true or false"
    case .date(.dateTime): "a date of ISO 8601 such as \"2026-12-01T09:30:00Z\", without fractions of a second"
    case .date(let form): form.sentence
    case .array: "an array"
    case .range(.range, _): "an array of the lower and the upper bound"
    case .range(.partialRange, _): "an array of one bound"
    case .pairs: "an array of keys and values in turn, as a dictionary with such keys decodes from"
    case .dictionary, .object: "an object"
    case .cases(let cases): "an object with one of the keys \(cases.map(\.name).listed)"
    }
  }

  /// What a value must be that is of the right kind: what a number must fit.
  func expectation(of value: JSONValue) -> String {
    switch self {
    case .integer(let width) where value.isNumber: "an integer that fits Swift's \(width.swiftName), without a fraction"
    case .number(let fraction) where value.isNumber: "a number that fits Swift's \(fraction.swiftName)"
    default: expectation ?? "anything"
    }
  }

  /// What to send in place of a value that does not decode, as JSON, where it tells what was meant.
  func correction(of value: JSONValue) -> String? {
    switch self {
    case .optional(let schema): schema.correction(of: value)
    case .boolean: value.intValue.flatMap { [0: "false", 1: "true"][$0] } ?? value.unquoted { $0.boolValue != nil }
    case .string: value.quoted
    case .choice(let choices): value.stringValue.flatMap { choices.nearest(to: $0) }.map { "\"\($0)\"" }
    case .integer(let width): value.unquoted { width.takes($0) }
    case .number(let fraction): value.unquoted { fraction.takes($0) }
    case .date(.dateTime): DateText.rewritten(value)
    case .date(let form): form.rewritten(value)
    case .cases(let cases): value.stringValue.flatMap { cases[$0] }.flatMap { $0.values.isEmpty ? "{\"\($0.name)\":{}}" : nil }
    case .anything, .text, .integerChoice, .array, .range, .pairs, .dictionary, .object: nil
    }
  }

  /// Whether a value that has no parts decodes; true for schemas of what has.
  func takes(_ value: JSONValue) -> Bool {
    switch self {
    case .string: value.stringValue != nil
    case .text(let text): value.stringValue.map(text.takes) == true
    case .choice(let choices): value.stringValue.map(choices.contains) == true
    case .integer(let width): width.takes(value)
    case .integerChoice(let choices): IntegerWidth.int64.takes(value) && value.intValue.map(choices.contains) == true
    case .number(let fraction): fraction.takes(value)
    case .boolean: value.boolValue != nil
    case .date(.dateTime): value.stringValue.map(DateText.isDateTime) == true
    case .date: Fraction.double.takes(value)
    case .anything, .optional, .array, .range, .pairs, .dictionary, .object, .cases: true
    }
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
