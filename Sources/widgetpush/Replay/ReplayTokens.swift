import Gateway
import JSON
import Primitives
import Push
import Security

/// The push tokens of one replay: for each recorded one another of the same length, so that every replay begins with tokens which nobody
/// has pushed to, whose budgets are full, and which no device of anybody's has.
struct ReplayTokens {
  private let seed: String

  /// Tokens that follow from `seed` and the recorded ones.
  init(seed: String) { self.seed = seed }

  /// The token in place of `recorded`; what is no token is left as it is.
  func token(for recorded: String) -> String {
    guard let token = DeviceToken(hex: recorded), token.count > 0 else { return recorded }
    var bytes: [UInt8] = []
    while bytes.count < token.count { bytes += SHA256.hash("\(seed).\(bytes.count).\(token.hex)") }
    return Hexadecimal.encode(bytes.prefix(token.count))
  }

  /// `push`, to the token in place of its own.
  func moved(_ push: RecordedPush) -> RecordedPush {
    guard push.path.hasPrefix(RecordedPush.pathBegin) else { return push }
    var push = push
    push.path = RecordedPush.pathBegin + token(for: String(push.path.dropFirst(RecordedPush.pathBegin.count)))
    return push
  }

  /// `registration` for the tokens in place of its own, without its upstream, which is the recorded gateway's.
  func moved(_ registration: JSONObject) -> (token: String, body: JSONObject) {
    var body: JSONObject = [:]
    for (name, value) in registration where !["token", "upstream"].contains(name) {
      body[name] = name == "replaces" ? value.stringValue.map { .string(token(for: $0)) } : value
    }
    return (token(for: registration["token"]?.stringValue ?? ""), body)
  }
}
