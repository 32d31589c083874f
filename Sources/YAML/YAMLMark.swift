/// A place in a text, both numbers counted from 1 as editors do.
public struct YAMLMark: Hashable, Sendable, CustomStringConvertible {
  /// The line.
  public var line: Int
  /// The column, in characters.
  public var column: Int

  /// The place at `line` and `column`.
  public init(line: Int, column: Int) {
    self.line = line
    self.column = column
  }

  /// Such as `line 3, column 5`.
  public var description: String { "line \(line), column \(column)" }
}

/// Why a text is not the YAML that this parser takes.
public struct YAMLError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Where; nil when the fault is in the bytes before any place is known.
  public var mark: YAMLMark?
  /// One sentence, without the place.
  public var message: String

  /// A fault at `mark`.
  public init(_ message: String, at mark: YAMLMark?) {
    self.message = message
    self.mark = mark
  }

  /// The sentence with its place.
  public var description: String { mark.map { "\($0): \(message)" } ?? message }
}
