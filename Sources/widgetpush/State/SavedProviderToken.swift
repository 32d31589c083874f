import Configuration
import JSON
import Primitives
import Security

/// `provider-token.json` of a state folder: the provider token that commands send with, kept as a backend would keep it.
///
/// Apple wants a token to be used for 20 minutes at least and 60 at most (Apple, "Establishing a token-based connection to APNs"),
/// and answers `TooManyProviderTokenUpdates` to who signs one for each push; a gateway does too. So commands sign anew when the
/// saved one is 20 minutes old, which leaves it another 40.
enum SavedProviderToken {
  /// The file's name in the state folder.
  static let name = "provider-token.json"
  /// How old a token becomes before another is signed.
  static let lifetime = TimeSpan.seconds(20 * 60)

  /// The token for this key, and when it was signed: the saved one, or a new one, which is then saved.
  ///
  /// A file that is missing, damaged, or of another key counts for nothing and is written over.
  static func token(
    in folder: StateFolder, teamID: String, keyID: String, pem: String, key: P256PrivateKey, now: Instant
  ) throws -> (text: String, issued: Instant) {
    let path = folder.file(name)
    let mark = Hexadecimal.encode(SHA256.hash("\(teamID).\(keyID).\(pem)"))
    if let saved = try? JSONValue.parse(Files.read(path)), saved["key"]?.stringValue == mark, let text = saved["token"]?.stringValue,
      let issued = saved["issued"]?.stringValue.flatMap({ Instant(rfc3339: $0) }), issued <= now, now - issued < lifetime
    {
      return (text, issued)
    }
    // In whole seconds, as the token has it.
    let issued = Instant(unixSeconds: now.unixSeconds)
    let text = try ProviderTokenSigner(teamID: teamID, keyID: keyID, key: key).token(now: issued)
    let file: JSONValue = ["key": .string(mark), "token": .string(text), "issued": .string(issued.description)]
    try Files.write(file.serialized(pretty: true) + "\n", to: path, mode: 0o600)
    return (text, issued)
  }
}
