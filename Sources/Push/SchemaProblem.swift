/// What a content-state, or the attributes of a start, have against them by their schemas.
public struct SchemaProblem: Hashable, Sendable {
  /// The cause with which strict validation refuses the push.
  public var cause: Cause
  /// The first value at fault.
  public var field: String
  /// All that is wrong, each with what would be right, without a period at its end.
  public var detail: String
  /// What validation `apple` warns of instead.
  public var warnings: [WarningDetail]

  /// A problem with these values.
  public init(_ cause: Cause, field: String, detail: String, warnings: [WarningDetail]) {
    (self.cause, self.field, self.detail, self.warnings) = (cause, field, detail, warnings)
  }
}
