import Primitives

/// Goes through a value and notes what stands between it and a Swift type, in the order of the value; what is missing follows what is there.
struct CodableJudge {
  /// The time of which dates are expected to be near; nil has dates judged by whether they decode alone.
  let now: Instant?
  /// The most mismatches that are noted; the rest is not looked at.
  let countMax: Int
  /// Whether keys that nearly name an absent optional property are noted at that path; nil where none are.
  var notesNearMisses: ((String) -> Bool)?
  /// Values, keys and properties that were looked at, which is what judging costs.
  private(set) var steps = 0
  /// What has been noted.
  private(set) var found: [CodableMismatch] = []

  init(now: Instant?, countMax: Int = CodableMismatch.countMax, notesNearMisses: ((String) -> Bool)? = nil) {
    self.now = now
    self.countMax = countMax
    self.notesNearMisses = notesNearMisses
  }

  private var isDone: Bool { found.count >= countMax }
  /// Whether what is noted next says what may have been meant, for which names are compared: no more are told than the first few.
  private var mayHint: Bool { found.count < CodableMismatch.hintsMax || countMax == .max }

  /// Notes what `value` has against it.
  mutating func judge(_ value: JSONValue, by schema: CodableSchema, at path: String) {
    guard !isDone else { return }
    steps += 1
    switch schema {
    case .anything: break
    case .optional(let schema): if !value.isNull { judge(value, by: schema, at: path) }
    case .array(let element):
      guard let elements = value.arrayValue else { return wrong(path, schema, value) }
      judge(elements, at: path) { _ in element }
    case .pairs(let key, let paired):
      guard let elements = value.arrayValue, elements.count % 2 == 0 else { return wrong(path, schema, value) }
      judge(elements, at: path) { $0 % 2 == 0 ? key : paired }
    case .range(let form, let bound): judgeRange(value, form, of: bound, by: schema, at: path)
    case .dictionary(let keys, let member): judgeDictionary(value, keys, of: member, by: schema, at: path)
    case .object(let properties): judgeMembers(value, of: properties, at: path)
    case .cases(let cases): judgeCase(value, of: cases, by: schema, at: path)
    case .string, .text, .choice, .integer, .integerChoice, .number, .boolean, .date:
      if !schema.takes(value) { return wrong(path, schema, value) }
      guard let now, case .date(let form) = schema, let oddity = form.oddity(value, at: path, now: now) else { return }
      note(oddity)
    }
  }

  private mutating func judge(_ elements: [JSONValue], at path: String, schema: (Int) -> CodableSchema) {
    for (index, value) in elements.enumerated() {
      if isDone { return }
      judge(value, by: schema(index), at: "\(path)[\(index)]")
    }
  }

  /// A range's bounds; what follows them is not read.
  private mutating func judgeRange(
    _ value: JSONValue, _ form: CodableSchema.RangeForm, of bound: CodableSchema, by schema: CodableSchema, at path: String
  ) {
    let count = form == .range ? 2 : 1
    guard let elements = value.arrayValue, elements.count >= count else { return wrong(path, schema, value) }
    let before = found.count
    judge(Array(elements.prefix(count)), at: path) { _ in bound }
    guard !found[before...].contains(where: { !$0.isDecodable }), form == .range, Self.isAscending(elements[0], elements[1]) == false else {
      return
    }
    note(path, "\(path) must be \(schema.expectation ?? ""), in this order, not \(Self.shown(value))")
  }

  private static func isAscending(_ a: JSONValue, _ b: JSONValue) -> Bool? {
    if case .integer(let a) = a, case .integer(let b) = b { return a <= b }
    if let a = a.doubleValue, let b = b.doubleValue { return a <= b }
    if let a = a.stringValue, let b = b.stringValue { return a <= b }
    return nil
  }

  private mutating func judgeDictionary(
    _ value: JSONValue, _ keys: CodableSchema.Keys, of member: CodableSchema, by schema: CodableSchema, at path: String
  ) {
    guard let object = value.objectValue else { return wrong(path, schema, value) }
    for (key, value) in object {
      if isDone { return }
      switch keys {
      case .strings: break
      case .integers:
        if Int(key) == nil { note(path, "\(path) has the key \"\(key)\", and each key must be an integer in quotes") }
      case .choices(let names):
        if !names.contains(key) {
          let hint = (mayHint ? names.filter { object[$0] == nil }.nearest(to: key) : nil).map { "; send \"\($0)\"" } ?? ""
          note(path, "\(path) has the key \"\(key)\", and each must be one of \(names.listed)\(hint)")
        }
      }
      judge(value, by: member, at: "\(path).\(key)")
    }
  }

  /// One key that names a case; others that name none are not read.
  private mutating func judgeCase(
    _ value: JSONValue, of cases: SchemaMembers<CodableSchema.Case>, by schema: CodableSchema, at path: String
  ) {
    guard let object = value.objectValue else { return wrong(path, schema, value) }
    let named = object.keys.compactMap { cases[$0] }
    guard named.count == 1, let one = named.first, let values = object[one.name] else {
      // Where some are named, none of the other keys is meant for one.
      let key = named.isEmpty && mayHint ? object.keys.first : nil
      let hint = key.flatMap { cases.map(\.name).nearest(to: $0) }.map { "; is \"\($0)\" meant?" } ?? ""
      return note(path, "\(path) must be \(schema.expectation ?? ""), and has \(named.isEmpty ? "none" : "\(named.count)")\(hint)")
    }
    judgeMembers(values, of: one.values, at: "\(path).\(one.name)")
  }

  private mutating func wrong(_ path: String, _ schema: CodableSchema, _ value: JSONValue) {
    let right = (mayHint ? schema.correction(of: value) : nil).map { "; send \($0)" } ?? ""
    note(path, "\(path) must be \(schema.expectation(of: value)), not \(Self.shown(value))\(right)")
  }

  private static func shown(_ value: JSONValue) -> String {
    let text = value.serialized()
    return text.utf8.count <= 40 ? text : value.kindName
  }

  private mutating func note(_ path: String, _ message: String, _ consequence: CodableMismatch.Consequence = .fails) {
    note(CodableMismatch(path: path, message: message, consequence: consequence))
  }

  private mutating func note(_ mismatch: CodableMismatch) { if !isDone { found.append(mismatch) } }
}

// MARK: Properties

extension CodableJudge {
  /// An object's members by their properties, in the order in which they stand there; those that are missing follow. Its cost is bounded by
  /// the object, not by the properties: those that need not be there are only looked for where near misses are noted.
  private mutating func judgeMembers(_ value: JSONValue, of properties: SchemaMembers<CodableSchema.Property>, at path: String) {
    guard let object = value.objectValue else { return wrong(path, .object(properties), value) }
    var strangers = Strangers(object, properties)
    // What is found is put in the order of the object.
    var parts: [(place: Int, from: Int)] = []
    for (place, key) in object.keys.enumerated() {
      if isDone { break }
      steps += 1
      guard let property = properties[key], let value = object[key] else { continue }
      let (before, member) = (found.count, "\(path).\(key)")
      if !value.isNull {
        judge(value, by: property.schema, at: member)
      } else if property.isRequired, !property.schema.isOptional {
        let right = property.schema.expectation.map { "; it must be \($0)" } ?? ""
        note(member, "\(member) is null, and the property is not optional\(right)")
      }
      if found.count > before { parts.append((place, before)) }
    }
    for property in properties.required {
      if isDone { break }
      steps += 1
      guard object[property.name] == nil else { continue }
      let (before, member) = (found.count, "\(path).\(property.name)")
      let key = mayHint ? strangers.take(meantFor: property.name) : nil
      let right = property.schema.expectation.map { "; it must be \($0)" } ?? ""
      note(member, "\(member) is missing\(right)\(key.map { "; is \($0) meant for it?" } ?? "")")
      parts.append((key.flatMap { object.keys.firstIndex(of: $0) } ?? .max, before))
    }
    if notesNearMisses?(path) ?? false {
      for property in properties where !property.isRequired && object[property.name] == nil && !isDone {
        guard let key = strangers.take(near: property.name) else { continue }
        parts.append((object.keys.firstIndex(of: key) ?? .max, found.count))
        note(
          "\(path).\(key)",
          "\(path).\(key) is none of the type's keys and goes unread, and the optional \(property.name) stays nil; send it as \(property.name)",
          .leavesUnread)
      }
    }
    sort(parts)
  }

  /// Puts parts of what was found, which is all from the first of them on, in the order of their places.
  private mutating func sort(_ parts: [(place: Int, from: Int)]) {
    guard parts.count > 1, let start = parts.first?.from else { return }
    let ends = parts.dropFirst().map(\.from) + [found.count]
    let sorted = zip(parts, ends).enumerated().sorted { ($0.element.0.place, $0.offset) < ($1.element.0.place, $1.offset) }
    let inOrder = sorted.flatMap { found[$0.element.0.from..<$0.element.1] }
    found.replaceSubrange(start..., with: inOrder)
  }
}

/// The keys of an object that name none of its properties; each may be meant for one.
private struct Strangers {
  private let object: JSONObject
  private let properties: SchemaMembers<CodableSchema.Property>
  /// Found when first asked for: mostly nothing is missing.
  private lazy var keys = object.keys.filter { properties[$0] == nil }

  init(_ object: JSONObject, _ properties: SchemaMembers<CodableSchema.Property>) { (self.object, self.properties) = (object, properties) }

  /// The key that is most like a property which is missing.
  mutating func take(meantFor name: String) -> String? { take(keys.nearest(to: name)) }

  /// The key that can be meant for nothing else than an optional property: another case, an underscore, or a slip or two.
  mutating func take(near name: String) -> String? {
    let plain = Self.plain(name)
    return take(keys.first { Self.plain($0) == plain } ?? nearestName(to: name, among: keys, within: name.utf8.count / 4))
  }

  private mutating func take(_ key: String?) -> String? {
    keys.removeAll { $0 == key }
    return key
  }

  private static func plain(_ name: String) -> String { name.lowercased().filter { $0 != "_" && $0 != "-" } }
}
