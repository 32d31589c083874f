/// Why bytes are not the JSON that was expected of them, and where.
public struct JSONError: Error, Hashable, Sendable {
  /// What is wrong.
  public enum Problem: Hashable, Sendable {
    /// There is nothing but white space.
    case empty
    /// The text ends inside a value.
    case unexpectedEnd
    /// The text begins with a UTF-8 byte order mark (RFC 8259 section 8.1).
    case byteOrderMark
    /// Something else stands where a value must begin.
    case valueExpected
    /// Something else stands where a key must begin.
    case keyExpected
    /// The key is not followed by a colon.
    case colonExpected
    /// A member is followed neither by a comma nor by the end of its object.
    case objectCommaExpected
    /// An element is followed neither by a comma nor by the end of its array.
    case arrayCommaExpected
    /// The last member or element is followed by a comma.
    case trailingComma
    /// The value is followed by more.
    case trailingData
    /// A number has a zero before its first digit.
    case leadingZero
    /// A number lacks a digit.
    case digitExpected
    /// A number is beyond what a double holds.
    case numberOutOfRange
    /// A string holds a control character that is not escaped.
    case controlCharacter
    /// A backslash is followed by something that is not an escape.
    case badEscape
    /// A surrogate stands alone.
    case unpairedSurrogate
    /// A string is not UTF-8.
    case invalidUTF8
    /// The key stands twice in one object.
    case duplicateKey(String)
    /// Values are nested deeper than the limit.
    case tooDeep(max: Int)
  }

  /// What is wrong.
  public var problem: Problem
  /// Where, in bytes from the start.
  public var offset: Int
  /// The line, from 1; lines end at a line feed.
  public var line: Int
  /// The character within the line, from 1, in Unicode scalars.
  public var column: Int

  /// What is wrong and what would be right, without the place and without a period.
  public var sentence: String {
    switch problem {
    case .empty: "there is no JSON value, only white space or nothing"
    case .unexpectedEnd: "the JSON ends in the middle of a value"
    case .byteOrderMark: "JSON must not begin with a byte order mark"
    case .valueExpected: "a JSON value must be an object, an array, a string in double quotes, a number, true, false or null"
    case .keyExpected: "a key must be a string in double quotes"
    case .colonExpected: "a key must be followed by a colon"
    case .objectCommaExpected: "a member of an object must be followed by a comma or a closing brace"
    case .arrayCommaExpected: "an element of an array must be followed by a comma or a closing bracket"
    case .trailingComma: "the last member or element must not be followed by a comma"
    case .trailingData: "the JSON value must not be followed by anything else"
    case .leadingZero: "a number must not begin with a superfluous zero"
    case .digitExpected: "a number must have a digit here"
    case .numberOutOfRange: "a number must lie within the range of a double"
    case .controlCharacter: "a control character in a string must be escaped"
    case .badEscape: "a backslash must be followed by one of \" \\ / b f n r t, or by u and four hexadecimal digits"
    case .unpairedSurrogate: "a surrogate escape must be followed by its other half"
    case .invalidUTF8: "a string must be valid UTF-8"
    case .duplicateKey(let key): "the key \"\(key)\" must stand only once in its object"
    case .tooDeep(let max): "values must not be nested deeper than \(max) levels"
    }
  }
}

extension JSONError: CustomStringConvertible {
  /// The sentence with its place, such as `line 1, column 9: a key must be followed by a colon`.
  public var description: String { "line \(line), column \(column): \(sentence)" }
}
