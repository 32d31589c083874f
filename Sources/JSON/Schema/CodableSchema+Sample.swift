public import Primitives

extension CodableSchema {
  /// A value that decodes, of which no date is odd at `now`.
  public func sample(now: Instant) -> JSONValue {
    switch self {
    case .anything, .optional: .null
    case .array, .pairs: []
    case .range(.range, let bound): [bound.sample(now: now), bound.sample(now: now)]
    case .range(.partialRange, let bound): [bound.sample(now: now)]
    case .dictionary: [:]
    case .object(let properties): Self.sample(of: properties, now: now)
    case .cases(let cases): cases.first.map { [$0.name: Self.sample(of: $0.values, now: now)] } ?? [:]
    case .string, .text(.byte): ""
    case .text(.uuid): "00000000-0000-0000-0000-000000000000"
    case .text(.url): "https://example.com"
    case .integer, .number: 0
    case .boolean: false
    case .choice(let choices): .string(choices.first ?? "")
    case .integerChoice(let choices): choices.first.map { .integer($0) } ?? 0
    case .date(let form): form.sample(now: now)
    }
  }

  private static func sample(of properties: SchemaMembers<Property>, now: Instant) -> JSONValue {
    .object(
      properties.required.reduce(into: [:]) { object, property in object[property.name] = property.schema.sample(now: now) })
  }
}
