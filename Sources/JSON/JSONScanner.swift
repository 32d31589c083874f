import Primitives

/// The six kinds of JSON value, with the two truth values apart.
public enum JSONKind: UInt8, Sendable {
  case object, array, string, number, `true`, `false`, null
}

/// A strict RFC 8259 cursor over bytes that it does not own: the caller walks the structure, the scanner checks every byte.
///
/// A caller that knows what it looks for needs no tree. It asks for `kind()`, enters an object or array, takes keys or
/// elements until there are no more, and skips what it does not care about:
///
///     try scanner.beginObject()
///     while let key = try scanner.nextKey() {
///       if scanner.matches(key, "aps") { … } else { try scanner.skipValue() }
///     }
///     try scanner.finish()
///
/// Nothing is allocated while the input is right, for as long as no more than 64 keys are open at once. Reading a
/// value of another kind than `kind()` announced is a mistake of the caller and traps.
public struct JSONScanner: ~Copyable, ~Escapable {
  /// The whole input; ranges count from its start.
  public let bytes: RawSpan
  /// The next byte to look at.
  public internal(set) var offset = 0

  private let depthMax: Int
  private var depth = 0
  private var isFirst = true
  private var keys = JSONKeyStack()
  private let refusesDuplicates: Bool
  private let looksForDuplicates: Bool
  /// Whether a key has been read that its object had before, where they are noted.
  public private(set) var hasDuplicates = false

  /// A cursor at the start of `bytes`.
  ///
  /// - Parameters:
  ///   - depthMax: The deepest nesting of objects and arrays.
  ///   - refusesDuplicates: Whether a key that stands twice in an object is an error. It costs time quadratic in the
  ///     object's keys, so inputs of more than a few kilobytes are better checked by the caller.
  ///   - notesDuplicates: Whether such a key is not refused but noted in `hasDuplicates`, at the same cost.
  @_lifetime(copy bytes)
  public init(_ bytes: RawSpan, depthMax: Int, refusesDuplicates: Bool = true, notesDuplicates: Bool = false) {
    self.bytes = bytes
    self.depthMax = depthMax
    self.refusesDuplicates = refusesDuplicates && !notesDuplicates
    looksForDuplicates = refusesDuplicates || notesDuplicates
  }

  /// What kind of value comes next, seen from its first byte; consumes white space only.
  public mutating func kind() throws(JSONError) -> JSONKind {
    skipWhitespace()
    guard offset < bytes.byteCount else { throw error(depth == 0 ? .empty : .unexpectedEnd) }
    switch bytes.byte(offset) {
    case UInt8(ascii: "{"): return .object
    case UInt8(ascii: "["): return .array
    case UInt8(ascii: "\""): return .string
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number
    case UInt8(ascii: "t"): return .true
    case UInt8(ascii: "f"): return .false
    case UInt8(ascii: "n"): return .null
    case 0xEF where offset == 0: throw error(.byteOrderMark)
    default: throw error(.valueExpected)
    }
  }

  /// Enters the object that comes next.
  public mutating func beginObject() throws(JSONError) {
    try enter(UInt8(ascii: "{"))
    if looksForDuplicates { keys.beginObject() }
  }

  /// The next key of the object, with its colon consumed; nil when the object has ended.
  public mutating func nextKey() throws(JSONError) -> JSONText? {
    guard try !atEnd(closing: UInt8(ascii: "}"), else: .objectCommaExpected) else {
      if looksForDuplicates { keys.endObject() }
      return nil
    }
    guard offset < bytes.byteCount else { throw error(.unexpectedEnd) }
    guard bytes.byte(offset) == UInt8(ascii: "\"") else { throw error(.keyExpected) }
    let start = offset
    let key = try readString()
    if looksForDuplicates, keys.insert(key, in: bytes) {
      guard !refusesDuplicates else { throw error(.duplicateKey(string(of: key)), at: start) }
      hasDuplicates = true
    }
    skipWhitespace()
    guard offset < bytes.byteCount else { throw error(.unexpectedEnd) }
    guard bytes.byte(offset) == UInt8(ascii: ":") else { throw error(.colonExpected) }
    offset += 1
    return key
  }

  /// Enters the array that comes next.
  public mutating func beginArray() throws(JSONError) { try enter(UInt8(ascii: "[")) }

  /// Whether another element comes; false when the array has ended.
  public mutating func nextElement() throws(JSONError) -> Bool {
    try !atEnd(closing: UInt8(ascii: "]"), else: .arrayCommaExpected)
  }

  /// Checks and passes over the value that comes next, whatever it is.
  public mutating func skipValue() throws(JSONError) {
    switch try kind() {
    case .object:
      try beginObject()
      while try nextKey() != nil { try skipValue() }
    case .array:
      try beginArray()
      while try nextElement() { try skipValue() }
    case .string: _ = try readString()
    case .number: _ = try readNumber()
    case .true: try readWord("true")
    case .false: try readWord("false")
    case .null: try readWord("null")
    }
  }

  /// Checks that nothing but white space is left.
  public mutating func finish() throws(JSONError) {
    skipWhitespace()
    guard offset == bytes.byteCount else { throw error(.trailingData) }
  }

  /// The error for `problem` at `offset`, by default the current one.
  func error(_ problem: JSONError.Problem, at place: Int? = nil) -> JSONError {
    let place = place ?? offset
    var line = 1
    var column = 1
    for index in 0..<min(place, bytes.byteCount) {
      let byte = bytes.byte(index)
      if byte == UInt8(ascii: "\n") {
        line += 1
        column = 1
      } else if byte & 0xC0 != 0x80 {
        column += 1
      }
    }
    return JSONError(problem: problem, offset: place, line: line, column: column)
  }

  /// Notes that a value has been read, so that a comma must come before the next.
  mutating func didReadValue() { isFirst = false }

  private mutating func enter(_ opening: UInt8) throws(JSONError) {
    skipWhitespace()
    precondition(offset < bytes.byteCount && bytes.byte(offset) == opening, "ask for kind() first")
    guard depth < depthMax else { throw error(.tooDeep(max: depthMax)) }
    depth += 1
    isFirst = true
    offset += 1
  }

  /// Whether the container ends here; otherwise the comma before the next entry, if one is due, has been consumed.
  private mutating func atEnd(closing: UInt8, else problem: JSONError.Problem) throws(JSONError) -> Bool {
    skipWhitespace()
    guard offset < bytes.byteCount else { throw error(.unexpectedEnd) }
    let byte = bytes.byte(offset)
    if byte == closing {
      offset += 1
      depth -= 1
      isFirst = false
      return true
    }
    guard !isFirst else { return false }
    guard byte == UInt8(ascii: ",") else { throw error(problem) }
    offset += 1
    skipWhitespace()
    if offset < bytes.byteCount, bytes.byte(offset) == closing { throw error(.trailingComma) }
    return false
  }

  private mutating func readWord(_ word: StaticString) throws(JSONError) {
    let count = word.utf8CodeUnitCount
    guard offset + count <= bytes.byteCount, bytes.extracting(offset..<offset + count).equals(word) else {
      throw error(.valueExpected)
    }
    offset += count
    didReadValue()
  }

  /// Most payloads are compact, so the way without white space is the short one.
  @inline(__always) private mutating func skipWhitespace() {
    if offset < bytes.byteCount, bytes.byte(offset) > UInt8(ascii: " ") { return }
    skipLongWhitespace()
  }

  private mutating func skipLongWhitespace() {
    while offset < bytes.byteCount {
      switch bytes.byte(offset) {
      case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"): offset += 1
      default: return
      }
    }
  }
}
