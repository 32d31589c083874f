/// Where something stands in a source file; both count from one, columns in Unicode scalars.
public struct SourcePlace: Hashable, Comparable, Sendable {
  /// The line.
  public var line: Int
  /// The column.
  public var column: Int

  /// Whether `a` stands before `b`.
  public static func < (a: SourcePlace, b: SourcePlace) -> Bool { (a.line, a.column) < (b.line, b.column) }
}

extension SourcePlace: CustomStringConvertible {
  /// Line and column, as compilers write them.
  public var description: String { "\(line):\(column)" }
}

/// One token of Swift source; comments and white space are none.
struct SwiftToken {
  enum Kind: Equatable {
    /// A name or a keyword.
    case word(String)
    /// A name in backticks, which is never a keyword.
    case quotedName(String)
    /// A string literal; nil where it has an interpolation.
    case string(String?)
    /// A whole number; nil beyond 64 bits.
    case integer(Int64?)
    case fraction
    case regularExpression
    /// One character, or `->`.
    case mark(String)
    /// `#if` and other words after a number sign.
    case directive(String)
  }

  var kind: Kind
  var place: SourcePlace
  /// Whether it is the first of its line.
  var isFirstOnLine: Bool
  /// Whether nothing stands between it and the token before.
  var isAdjacent: Bool

  /// Whether it is this mark.
  func isMark(_ text: String) -> Bool { kind == .mark(text) }
  /// Whether it is this word.
  func isWord(_ text: String) -> Bool { kind == .word(text) }

  /// The name that it is, with or without backticks.
  var name: String? {
    switch kind {
    case .word(let text), .quotedName(let text): text
    default: nil
    }
  }
}
