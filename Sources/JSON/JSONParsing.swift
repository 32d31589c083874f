import Primitives

extension JSONValue {
  /// Levels of nesting that a tree may have: deeper input is an error, so that recursion stays shallow.
  public static let depthMax = 64

  /// The value that `bytes` spell, which is nothing but one strict RFC 8259 value; throws with the place of the first fault.
  ///
  /// - Parameter duplicates: What becomes of a key that stands twice in an object.
  public static func parse(_ bytes: RawSpan, duplicates: DuplicateKeys = .refused) throws(JSONError) -> JSONValue {
    var scanner = JSONScanner(bytes, depthMax: depthMax, refusesDuplicates: false)
    let value = try scanner.readValue(duplicates: duplicates)
    try scanner.finish()
    return value
  }

  /// The value that `bytes` spell, which is nothing but one strict RFC 8259 value; throws with the place of the first fault.
  public static func parse(_ bytes: [UInt8]) throws(JSONError) -> JSONValue { try unsafe parse(bytes.span.bytes) }

  /// The value that `bytes` spell, where what was taken as a value of `depthMax` may stand within so many objects of our own.
  public static func parse(wrapped bytes: [UInt8], levels: Int = 1) throws(JSONError) -> JSONValue {
    var scanner = unsafe JSONScanner(bytes.span.bytes, depthMax: depthMax + levels, refusesDuplicates: false)
    let value = try scanner.readValue()
    try scanner.finish()
    return value
  }

  /// The value that `text` spells, which is nothing but one strict RFC 8259 value; throws with the place of the first fault.
  public static func parse(_ text: String) throws(JSONError) -> JSONValue { try parse(Array(text.utf8)) }
}

/// What becomes of a key that stands twice in an object, on which RFC 8259 section 4 leaves readers to differ.
public enum DuplicateKeys: Sendable {
  /// An error.
  case refused
  /// The first counts, as to Foundation's `JSONDecoder`.
  case first
  /// The last counts, as to Foundation's `JSONSerialization`.
  case last
}

extension JSONScanner {
  /// Reads the value that comes next as a tree.
  public mutating func readValue(duplicates: DuplicateKeys = .refused) throws(JSONError) -> JSONValue {
    switch try kind() {
    case .object: return .object(try readObject(duplicates))
    case .array:
      var elements: [JSONValue] = []
      try beginArray()
      while try nextElement() { elements.append(try readValue(duplicates: duplicates)) }
      return .array(elements)
    case .string: return .string(string(of: try readString()))
    case .number:
      let number = try readNumber()
      if let integer = integer(of: number) { return .integer(integer) }
      return .number(bytes[number.range].string, double: double(of: number))
    case .true:
      try skipValue()
      return .bool(true)
    case .false:
      try skipValue()
      return .bool(false)
    case .null:
      try skipValue()
      return .null
    }
  }

  /// Duplicates are looked up in the object itself, so that a large one takes linear time.
  private mutating func readObject(_ duplicates: DuplicateKeys) throws(JSONError) -> JSONObject {
    var object = JSONObject()
    try beginObject()
    while let key = try nextKey() {
      let name = string(of: key)
      let isSecond = object[name] != nil
      guard !isSecond || duplicates != .refused else { throw error(.duplicateKey(name), at: Int(key.range.offset) - 1) }
      let value = try readValue(duplicates: duplicates)
      if !isSecond || duplicates == .last { object[name] = value }
    }
    return object
  }
}
