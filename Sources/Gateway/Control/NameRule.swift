import Primitives

/// What a name that somebody else will read must not have in it.
enum NameRule {
  /// What is wrong with a name that has characters which steer a terminal.
  static func steering(_ name: String) -> String {
    "must have no control characters and none that turn the direction of writing, not \"\(name.escapingSteering())\""
  }
}
