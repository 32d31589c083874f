import HTTPClient
import JSON
import Push

/// Finds the push, or the token with its pushes, that a person means by an id, a token, or the beginning of either.
struct PushFinder {
  /// What was found.
  enum Found {
    /// One push, whole.
    case push(JSONValue)
    /// A token: its registration where there is one, and its latest pushes, newest first; where there are none, what came nearest.
    case token(String, registration: JSONValue?, pushes: [JSONValue], symptom: Symptom?)
  }

  /// Pushes of a token that are shown.
  private static let tokenPushes = 10
  /// Digits that only a whole token has.
  private static let wholeTokenDigits = 64
  /// Digits of a prefix that tell enough apart.
  private static let prefixMin = 4

  let client: ControlClient

  /// The newest push, or broadcast, of all.
  func last() throws(CommandError) -> JSONValue {
    let newest = [
      try client.get("/v1/pushes?limit=1")["pushes"]?[0], try client.get("/v1/broadcasts?limit=1")["broadcasts"]?[0],
    ].compactMap(\.self)
    // RFC 3339 in one form, so the text has the order of time.
    guard let last = newest.max(by: { $0["received"]?.stringValue ?? "" < $1["received"]?.stringValue ?? "" }) else {
      throw CommandError("no push has come yet; send one with `widgetpush send TOKEN`")
    }
    return whole(last)
  }

  /// A push of a list with what lists leave out.
  private func whole(_ push: JSONValue) -> JSONValue {
    guard let id = push["id"]?.stringValue, let answer = try? client.call("GET", "/v1/pushes/\(id)"), let found = answer.success,
      // The id may have been used again since.
      found["received"] == push["received"]
    else { return push }
    return found
  }

  /// What a push waits for, and until when; nil for one that does not wait, and where that is not known.
  func waiting(_ push: JSONValue) -> Waiting? {
    guard push["disposition"]?.stringValue == Disposition.waiting.name, let token = push["token"]?.stringValue,
      let report = try? client.get("/v1/budgets/\(token)")
    else { return nil }
    return Waiting(push, report)
  }

  /// The registered token that the unknown one of a refused push nearly is, of those that the access token may see; nil where there is none.
  func kin(_ push: JSONValue) -> Kin? {
    guard push["cause"]?.stringValue == Cause.tokenUnknown.name, let token = push["token"]?.stringValue else { return nil }
    return kin(of: token)
  }

  /// The registered token that `token`, which is not, nearly is. It helps a story along, which is told without it all the same.
  func kin(of token: String) -> Kin? {
    var search = Kin.Search(token)
    try? eachRow("/v1/registrations", "registrations") { search.look(at: $0) }
    return search.nearest
  }

  /// What `name` means; throws when it means nothing or more than one thing.
  func find(_ name: String) throws(CommandError) -> Found {
    if PushID(name) != nil {
      let answer = try client.call("GET", "/v1/pushes/\(name)")
      guard answer.isSuccess else { throw CommandError(answer) }
      return .push(answer.json)
    }
    let digits = name.lowercased()
    guard digits.count >= Self.prefixMin, digits.allSatisfy({ $0.isHexDigit || $0 == "-" }) else {
      throw CommandError(
        DeviceToken.complaint(aboutPrinted: name)
          ?? "\"\(name)\" is neither an apns-id nor a push token, nor the first \(Self.prefixMin) or more digits of either; --last explains the newest push"
      )
    }
    if DeviceToken(hex: digits) != nil, let found = try token(digits) { return found }
    return try byPrefix(digits)
  }

  /// A whole token that is registered, or that pushes were sent to.
  private func token(_ token: String) throws(CommandError) -> Found? {
    let answer = try client.call("GET", "/v1/registrations/\(token)")
    // The beginning of a token stands for the only one that begins so, whose pushes are not this one's; of several it is refused.
    let page = try client.call("GET", "/v1/pushes?token=\(token)&limit=\(Self.tokenPushes)")
    guard page.isSuccess || token.count < Self.wholeTokenDigits else { throw CommandError(page) }
    var pushes = (page.success?["pushes"]?.arrayValue ?? []).filter { $0["token"]?.stringValue == token }
    if let newest = pushes.first { pushes[0] = whole(newest) }
    guard answer.isSuccess || !pushes.isEmpty || token.count >= Self.wholeTokenDigits else { return nil }
    let symptom = pushes.isEmpty ? try self.symptom(of: token, answer.success) : nil
    return .token(token, registration: answer.success, pushes: pushes, symptom: symptom)
  }

  /// What came nearest to a token that no push has reached.
  private func symptom(of token: String, _ registration: JSONValue?) throws(CommandError) -> Symptom {
    let pushes = try client.get("/v1/pushes?limit=\(Limits.pageRows)")["pushes"]?.arrayValue ?? []
    var tokens: [String] = []
    try eachRow("/v1/registrations", "registrations") { row in
      if let other = row["token"]?.stringValue, Symptom.likeness(other, token) != nil { tokens.append(other) }
    }
    return Symptom(token, registration, pushes: pushes, tokens: tokens)
  }

  private func byPrefix(_ digits: String) throws(CommandError) -> Found {
    var pushes: [String: JSONValue] = [:]
    var tokens: Set<String> = []
    var own: [JSONValue] = []
    func note(_ push: JSONValue) {
      guard let id = push["id"]?.stringValue?.lowercased(), id.hasPrefix(digits), pushes[id] == nil else { return }
      pushes[id] = push
    }
    try eachRow("/v1/broadcasts", "broadcasts", note)
    try eachRow("/v1/pushes", "pushes") { push in
      note(push)
      guard let token = push["token"]?.stringValue, token.hasPrefix(digits) else { return }
      tokens.insert(token)
      if token == digits, own.count < Self.tokenPushes { own.append(push) }
    }
    // What was sent to these very digits is meant first, however other tokens begin.
    if let newest = own.first {
      own[0] = whole(newest)
      return .token(digits, registration: nil, pushes: own, symptom: nil)
    }
    try eachRow("/v1/registrations", "registrations") { registration in
      if let token = registration["token"]?.stringValue, token.hasPrefix(digits) { tokens.insert(token) }
    }
    if pushes.count + tokens.count > 1 {
      let names = (pushes.keys.map { "push \($0)" } + tokens.map { "token \($0)" }).sorted()
      let more = names.count > 8 ? "\n  and \(names.count - 8) more" : ""
      throw CommandError("\"\(digits)\" may mean:\n  \(names.prefix(8).joined(separator: "\n  "))\(more)")
    }
    if let push = pushes.values.first { return .push(whole(push)) }
    if let only = tokens.first, let found = try token(only) { return found }
    throw CommandError("nothing here begins with \"\(digits)\": neither the id of a push nor a push token")
  }

  private func eachRow(_ path: String, _ field: String, _ visit: (JSONValue) -> Void) throws(CommandError) {
    var after = ""
    for _ in 0..<Limits.searchPages {
      let page = try client.get("\(path)?limit=\(Limits.pageRows)\(after)")
      for row in page[field]?.arrayValue ?? [] { visit(row) }
      guard let next = page["next"]?.stringValue else { return }
      after = "&after=\(BlockingHTTPClient.percentEncoded(next))"
    }
  }
}
