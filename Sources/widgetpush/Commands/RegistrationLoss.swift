import JSON

/// What a registration loses when it is replaced by one that says less: a call replaces all of it.
enum RegistrationLoss {
  /// What became of the registration rather than of the token.
  private static let states: Set<String> = ["token", "registered", "retiredSince", "suspect", "waiting", "inFlight"]

  /// A sentence, or nil when nothing is lost.
  static func text(_ before: JSONValue, _ after: JSONValue) -> String? {
    var parts: [String] = []
    if before["type"] != after["type"] {
      parts.append("it was a token of type \(before["type"]?.stringValue ?? "") before")
    }
    let lost = (before.objectValue?.keys ?? []).filter { !states.contains($0) && after[$0] == nil }
    if !lost.isEmpty { parts.append("\(lost.joined(separator: ", ")) no longer stand\(lost.count == 1 ? "s" : "") there") }
    guard !parts.isEmpty else { return nil }
    return "a registration is replaced whole, and \(parts.joined(separator: "; ")); repeat every option that shall stay"
  }
}
