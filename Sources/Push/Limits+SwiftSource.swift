// What reading Swift source is bound by.
extension Limits {
  /// Bytes of one source file: some ten thousand lines, of which an app's attributes are a few dozen.
  public static let swiftSourceBytes = 512 << 10
  /// Levels of nesting of declarations, and of types within types, so that recursion stays shallow.
  public static let swiftSourceDepth = 32
  /// Levels of nesting of objects and arrays in a schema: eight fewer than JSON is read to, for what answers and settings put around it.
  public static let swiftSourceSchemaDepth = 56
  /// Values and cases that the schemas of one file may describe: nested types are written out at each place, so that their number can multiply.
  public static let swiftSourceSchemas = 20_000
  /// Protocols and other names that are followed to tell what one type conforms to; a type has a handful.
  public static let swiftSourceConformances = 256
  /// Problems of one file that are told: who has more reads the first of them.
  public static let swiftSourceProblems = 50
}
