import JSON

/// A warning of a push as a sentence for people.
enum WarningText {
  /// What the very push has against it, where the gateway tells that, else what the warning says of every push.
  static func sentence(_ warning: JSONValue) -> String {
    // A detail begins with a key, which has its own letter case.
    warning["detail"]?.stringValue.map { $0.last == "?" ? $0 : "\($0)." } ?? warning["message"]?.stringValue ?? warning.stringValue
      ?? warning.serialized()
  }
}
