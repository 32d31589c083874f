// What reading Swift source is bound by.
extension Limits {
  /// Bytes of one source file: some ten thousand lines, of which an app's attributes are a few dozen.
  public static let swiftSourceBytes = 512 << 10
  /// Levels of nesting of declarations, and of types within types, so that recursion stays shallow.
  public static let swiftSourceDepth = 32
  /// Values that the schemas of one file may describe: nested types are written out at each place, so that their number can multiply.
  public static let swiftSourceSchemas = 5_000
  /// Problems of one file that are told: who has more reads the first of them.
  public static let swiftSourceProblems = 50
}
