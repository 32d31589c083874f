import JSON
import Push

/// The registered token that an unknown one nearly is: most often the one that was meant.
struct Kin: Hashable {
  /// The registered token.
  let token: String
  /// How it differs, as a clause that begins with "which".
  private let how: String
  /// What the token is registered as.
  private let type: String
  private let bundleID: String

  /// The nearest among registrations, as `GET /v1/registrations` lists them.
  struct Search {
    let unknown: String
    private(set) var nearest: Kin?
    private var distance = Int.max

    /// Looks for what `unknown` may have been meant for.
    init(_ unknown: String) { self.unknown = unknown }

    /// Looks at one registration.
    mutating func look(at row: JSONValue) {
      guard let token = row["token"]?.stringValue, let how = Symptom.likeness(token, unknown) else { return }
      let distance =
        token.utf8.count == unknown.utf8.count
        ? zip(token.utf8, unknown.utf8).count { $0 != $1 } : abs(token.utf8.count - unknown.utf8.count)
      guard distance < self.distance else { return }
      self.distance = distance
      nearest = Kin(
        token: token, how: how, type: row["type"]?.stringValue ?? "", bundleID: row["bundleID"]?.stringValue ?? "")
    }
  }

  /// For people: which it is, how it differs, and what to do about that.
  var sentence: String {
    "Send to the token \(token), if that was meant: it is registered, a \(type) token of \(bundleID), \(how)."
  }

  /// For scripts.
  var json: JSONValue { ["token": .string(token), "type": .string(type), "bundleID": .string(bundleID), "text": .string(sentence)] }
}
