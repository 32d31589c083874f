import JSON
import Primitives
import Push

/// A payload in which a shell puts values that are not known, with others in their place, so that the rules can be asked about the rest.
public struct PayloadTemplate: Sendable {
  /// What is not known of a value.
  enum Unknown: Sendable {
    /// All of it, its kind too.
    case value
    /// What a string says.
    case text
  }

  /// The payload with `1` for values and `…` in strings.
  public let bytes: [UInt8]
  /// The values that are not known, by their path, such as `aps.content-state.stops[0]`.
  private(set) var unknown: [String: Unknown] = [:]
  /// The paths of objects that have members which are not known; the root's is empty.
  private(set) var hasUnknownMembers: Set<String> = []
  /// The members of the root and of `aps`.
  private var members: Set<String> = []

  /// A payload with gaps at these offsets of its bytes; nil where they may stand for anything, so that nothing can be judged.
  public init?(_ literal: [UInt8], gaps: [Int]) {
    guard !gaps.isEmpty else {
      bytes = literal
      return
    }
    var filler = GapFiller(literal)
    guard filler.fill(gaps) else { return nil }
    bytes = filler.filled
    var reader = Reader(offsets: filler.offsets)
    do throws(JSONError) {
      try unsafe reader.read(bytes.span.bytes)
      (unknown, hasUnknownMembers, members) = (reader.unknown, reader.hasUnknownMembers, reader.members)
    } catch {
      // Where a gap may stand for more than one value, it may be what makes it right.
      if !filler.isCertain { return nil }
    }
  }

  /// Whether what a rule says of a field holds whatever the unknown values are.
  func shows(_ warning: PushWarning, of field: String) -> Bool {
    let parent = field.lastIndex(of: ".").map { String(field[..<$0]) } ?? ""
    switch warning {
    case .customKeys: return !hasUnknownMembers.contains("")
    case .unusedAPSKeys, .alertInReload, .alertInBackground: return !hasUnknownMembers.contains("aps")
    case .unusedAlertKeys: return !hasUnknownMembers.contains("aps.alert")
    case .soundNamesNoFile: return unknown[field] == nil && !hasUnknownMembers.contains(parent)
    case .attributesAfterStart: return unknown["aps.event"] == nil && !mayHave("aps.event", in: "aps")
    case .eventUnknown, .inputPushChannelNotAString: return unknown[field] == nil
    case .nothingToShow: return unknown[field] != .value && !hasUnknownMembers.contains(parent)
    // What stands there at all is at fault.
    case .dismissalWithoutEnd, .inputPushTokenAndChannel: return true
    default: return unknown[field] != .value && !mayHave(field, in: parent)
    }
  }

  /// Whether a member that is not among those known may be there.
  private func mayHave(_ field: String, in parent: String) -> Bool { hasUnknownMembers.contains(parent) && !members.contains(field) }

  /// `value` with what a schema takes where it is not known.
  func filling(_ value: JSONValue, at path: String, for schema: CodableSchema, now: Instant) -> JSONValue {
    if unknown.isEmpty && hasUnknownMembers.isEmpty { return value }
    if unknown[path] == .value { return schema.sample(now: now) }
    switch schema {
    case .optional(let schema): return filling(value, at: path, for: schema, now: now)
    case .choice, .text, .date(.dateTime): return unknown[path] == .text ? schema.sample(now: now) : value
    case .array(let element), .range(_, let element):
      guard let elements = value.arrayValue else { return value }
      return .array(elements.enumerated().map { filling($1, at: "\(path)[\($0)]", for: element, now: now) })
    case .pairs(let key, let paired):
      guard let elements = value.arrayValue else { return value }
      return .array(elements.enumerated().map { filling($1, at: "\(path)[\($0)]", for: $0 % 2 == 0 ? key : paired, now: now) })
    case .dictionary(_, let member):
      guard let object = value.objectValue else { return value }
      // A key that a shell puts in may be any.
      let known = hasUnknownMembers.contains(path) ? JSONObject(object.filter { !$0.key.contains("…") }.map { ($0.key, $0.value) }) : object
      return .object(JSONObject(known.map { ($0.key, filling($0.value, at: "\(path).\($0.key)", for: member, now: now)) }))
    case .cases(let cases):
      guard var object = value.objectValue else { return value }
      // The shell may put in the very key.
      if object.isEmpty, hasUnknownMembers.contains(path) { return schema.sample(now: now) }
      for one in cases {
        guard let values = object[one.name] else { continue }
        object[one.name] = filling(values, at: "\(path).\(one.name)", for: .object(one.values), now: now)
      }
      return .object(object)
    case .object(let properties):
      guard var object = value.objectValue else { return value }
      for property in properties {
        if let member = object[property.name] {
          object[property.name] = filling(member, at: "\(path).\(property.name)", for: property.schema, now: now)
        } else if property.isRequired, hasUnknownMembers.contains(path) {
          object[property.name] = property.schema.sample(now: now)
        }
      }
      return .object(object)
    default: return value
    }
  }
}

extension PayloadTemplate {
  /// Finds the paths of what has been filled in.
  private struct Reader {
    /// Where in the payload something has been filled in, rising; those that have been found are gone.
    var offsets: ArraySlice<Int>
    var unknown: [String: Unknown] = [:]
    var hasUnknownMembers: Set<String> = []
    var members: Set<String> = []

    init(offsets: [Int]) { self.offsets = offsets[...] }

    mutating func read(_ body: RawSpan) throws(JSONError) {
      var scanner = JSONScanner(body, depthMax: Limits.jsonDepth, refusesDuplicates: false)
      try read(&scanner, at: "")
      try scanner.finish()
    }

    private mutating func read(_ scanner: inout JSONScanner, at path: String) throws(JSONError) {
      switch try scanner.kind() {
      case .object:
        try scanner.beginObject()
        while let key = try scanner.nextKey() {
          let isUnknown = passes(scanner.offset)
          if isUnknown { hasUnknownMembers.insert(path) }
          let field = path.isEmpty ? scanner.string(of: key) : "\(path).\(scanner.string(of: key))"
          if path.isEmpty || path == "aps", !isUnknown { members.insert(field) }
          try read(&scanner, at: field)
        }
      case .array:
        try scanner.beginArray()
        var index = 0
        while try scanner.nextElement() {
          try read(&scanner, at: "\(path)[\(index)]")
          index += 1
        }
      case .string:
        _ = try scanner.readString()
        if passes(scanner.offset) { unknown[path] = .text }
      default:
        try scanner.skipValue()
        if passes(scanner.offset) { unknown[path] = .value }
      }
    }

    /// Whether something has been filled in before `offset` that has not been found yet.
    private mutating func passes(_ offset: Int) -> Bool {
      guard let first = offsets.first, first < offset else { return false }
      offsets = offsets.drop { $0 < offset }
      return true
    }
  }
}
