import JSON
import Push

/// What is told of a token that no push has reached: that, and what came nearest to it.
struct Symptom {
  /// Something that may have been meant for the token.
  struct Clue: Hashable {
    /// In what it differs: `token`, `type`, `app`; `other` for a push to another token of the same kind, `registration` for a token that
    /// is registered and nearly this one.
    var differs: String
    /// What it is and how it differs, as the end of a sentence.
    var text: String
    /// The push, where it is one.
    var push: JSONValue?
  }

  /// What is told at most.
  private static let cluesMax = 3
  /// Digits in which two tokens of one length may differ and still be taken for the same, mistyped.
  private static let digitsMax = 4
  /// Digits that a piece of a token has at least, to be known as one.
  private static let pieceMin = 8

  /// The clues, the nearest first.
  let clues: [Clue]

  /// Looks for them among the latest pushes of all, newest first, and the tokens that are registered.
  init(_ token: String, _ registration: JSONValue?, pushes: [JSONValue], tokens: [String]) {
    var clues: [Clue] = []
    var seen: Set<String> = []
    func add(_ clue: Clue?) {
      guard let clue, clues.count < Self.cluesMax, seen.insert(clue.differs).inserted else { return }
      clues.append(clue)
    }
    let bundleID = registration?["bundleID"]?.stringValue
    let type = registration?["type"]?.stringValue.flatMap(TokenKind.init(name:))?.pushType.description
    for push in pushes {
      if let other = push["token"]?.stringValue, let how = Self.likeness(other, token) {
        add(Clue(differs: "token", text: "\(Self.what(push)), to \(PushStory.shortened(other)), \(how)", push: push))
      }
    }
    for other in tokens.sorted() {
      if let how = Self.likeness(other, token) {
        add(Clue(differs: "registration", text: "the token \(PushStory.shortened(other)) is registered, \(how)"))
      }
    }
    guard let bundleID else {
      self.clues = clues
      return
    }
    for push in pushes where push["token"]?.stringValue.map({ Self.likeness($0, token) == nil }) ?? true {
      let (app, other) = (push["bundleID"]?.stringValue ?? "", push["type"]?.stringValue)
      let isRefused = push["disposition"]?.stringValue == Disposition.refused.name
      if app == bundleID, isRefused, other != type {
        add(Clue(differs: "type", text: "\(Self.what(push)), for the same app and another kind of token", push: push))
      } else if app != bundleID, !app.isEmpty, isRefused, Self.isLike(app, bundleID) {
        add(Clue(differs: "app", text: "\(Self.what(push)), for the app \(app)", push: push))
      } else if app == bundleID, other == type {
        let name = push["token"]?.stringValue.map { "to the token \(PushStory.shortened($0)): is that the newer one?" } ?? "to no token"
        add(Clue(differs: "other", text: "\(Self.what(push)), for the same app, \(name)", push: push))
      }
    }
    self.clues = clues
  }

  /// For people: that no push came, and what did, with what is to be done about it.
  var text: String {
    var lines = ["no push reached us for this token"]
    for clue in clues {
      lines.append("  nearest: \(clue.text)")
      let isWrong = ["refused", "failed", "ignored"].contains(clue.push?["disposition"]?.stringValue ?? "")
      if isWrong, let remedy = clue.push?["remedy"]?.stringValue { lines.append("    \(remedy)") }
    }
    if clues.isEmpty {
      lines.append("  Nothing that came was nearly for it: see that the backend sends at all, and to this gateway.")
    }
    lines.append("  widgetpush tail shows what comes; widgetpush send TOKEN sends a push of the right kind.")
    return lines.joined(separator: "\n")
  }

  /// For scripts.
  var json: JSONValue {
    .array(
      clues.map { clue in
        var object: JSONObject = ["differs": .string(clue.differs), "text": .string(clue.text)]
        object["push"] = clue.push
        return .object(object)
      })
  }

  /// A push in half a line: when, which, and what became of it.
  private static func what(_ push: JSONValue) -> String {
    let type = push["type"]?.stringValue ?? "push of unknown type"
    let status = push["reason"]?.stringValue.map { " (\(push["status"]?.intValue ?? 0) \($0))" } ?? ""
    let time = PushStory.time(push["received"]?.stringValue ?? "")
    return "\(time)  \(push["id"]?.stringValue ?? "")  \(type) \(push["disposition"]?.stringValue ?? "")\(status)"
  }

  /// How `other` differs from `token` where it is nearly that one, as a clause; nil where it is the same or quite another.
  static func likeness(_ other: String, _ token: String) -> String? {
    guard other != token, min(other.count, token.count) >= pieceMin else { return nil }
    if token.hasPrefix(other) { return "which is this token without its last \(token.count - other.count) digits" }
    if token.hasSuffix(other) { return "which is this token without its first \(token.count - other.count) digits" }
    if other.hasPrefix(token) { return "which is this token with \(other.count - token.count) digits more" }
    guard other.count == token.count else { return gap(other, token) }
    let differing = zip(other.utf8, token.utf8).count { $0 != $1 }
    return differing <= digitsMax ? "which differs in \(differing) digit\(differing == 1 ? "" : "s")" : nil
  }

  /// How `other` differs where one of the two lacks a few digits somewhere.
  private static func gap(_ other: String, _ token: String) -> String? {
    let (more, less) = other.utf8.count > token.utf8.count ? (other, token) : (token, other)
    let count = more.utf8.count - less.utf8.count
    let start = zip(more.utf8, less.utf8).prefix { $0 == $1 }.count
    let end = zip(more.utf8.reversed(), less.utf8.reversed()).prefix { $0 == $1 }.count
    guard count <= digitsMax, start + end >= less.utf8.count else { return nil }
    return "which has \(count) digit\(count == 1 ? "" : "s") \(more == other ? "more" : "less")"
  }

  /// Whether one bundle id is nearly the other: longer by a suffix, in other letter case, or mistyped.
  private static func isLike(_ app: String, _ bundleID: String) -> Bool {
    app.hasPrefix(bundleID) || bundleID.hasPrefix(app) || app.lowercased() == bundleID.lowercased()
      || app.utf8.count == bundleID.utf8.count && zip(app.utf8, bundleID.utf8).count { $0 != $1 } <= 2
  }
}
