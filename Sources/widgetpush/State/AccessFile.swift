import Configuration
import Control
import JSON
import Primitives
import Push

/// `access.json` of a state folder: the access tokens that people have made there, each with the SHA-256 of its secret.
struct AccessFile: Hashable, Sendable {
  /// The tokens, oldest first.
  private(set) var tokens: [AccessTokenSettings] = []

  /// The file's name in the state folder.
  static let name = "access.json"

  /// No tokens.
  init() {}

  /// The tokens of `folder`; none when the file is not there.
  ///
  /// - Throws: `CommandError` with the place when the file is damaged.
  init(in folder: StateFolder) throws(CommandError) {
    let mending = "mend it, or remove it, which takes back every token in it"
    self = try folder.read(Self.name, mending: mending) { try AccessFile($0) } ?? AccessFile()
  }

  /// Reads what `json` wrote.
  init(_ value: JSONValue) throws(FieldError) {
    var reader = try JSONReader(value)
    for var entry in try reader.optionalObjects("tokens", max: Limits.accessTokens) ?? [] { tokens.append(try Self.token(&entry)) }
    try reader.finish()
  }

  private static func token(_ reader: inout JSONReader) throws(FieldError) -> AccessTokenSettings {
    let name = try reader.string("name")
    let scopes = try reader.optionalStrings("scopes") ?? []
    guard !scopes.isEmpty, scopes.allSatisfy(AccessTokenSettings.scopeNames.contains) else {
      throw reader.error("scopes", "must list some of \(AccessTokenSettings.scopeNames.joined(separator: ", "))")
    }
    let bundleIDs = try reader.optionalStrings("bundleIDs")
    let expires = try reader.optionalString("expires").map { text throws(FieldError) in
      guard let instant = Instant(rfc3339: text) else { throw reader.error("expires", "must be a date with a time") }
      return instant
    }
    guard let digest = Hexadecimal.decode(try reader.string("sha256")), digest.count == 32 else {
      throw reader.error("sha256", "must be 64 hexadecimal digits")
    }
    try reader.finish()
    return AccessTokenSettings(name: name, scopes: scopes, bundleIDs: bundleIDs, expires: expires, secret: .digest(digest))
  }

  /// As it stands in the file.
  var json: JSONValue { ["tokens": .array(tokens.map(\.json))] }

  /// Adds a token, whose name must be new.
  mutating func add(_ token: AccessTokenSettings) throws(CommandError) {
    guard !tokens.contains(where: { $0.name == token.name }) else {
      throw CommandError("there is an access token named \(token.name) already; take it back first, or choose another name")
    }
    guard tokens.count < Limits.accessTokens else {
      throw CommandError("\(Limits.accessTokens) access tokens are the most that are kept; take one back first")
    }
    tokens.append(token)
  }

  /// Takes the token of that name out; false when there is none.
  mutating func remove(_ name: String) -> Bool {
    let count = tokens.count
    tokens.removeAll { $0.name == name }
    return tokens.count < count
  }

  /// Changes the file in `folder` while no other process does.
  static func update<Value>(_ folder: StateFolder, _ change: (inout AccessFile) throws -> Value) throws -> Value {
    try folder.make()
    return try FileLock.holding(folder.file(".lock")) {
      var file = try AccessFile(in: folder)
      let value = try change(&file)
      try Files.write(file.json.serialized(pretty: true) + "\n", to: folder.file(name), mode: 0o600)
      return value
    }
  }
}

extension AccessTokenSettings {
  /// The token as `access.json` and `access list --json` have it: with its digest, never the secret.
  var json: JSONValue {
    var object: JSONObject = ["name": .string(name), "scopes": .array(scopes.map(JSONValue.string))]
    object["bundleIDs"] = bundleIDs.map { .array($0.map(JSONValue.string)) }
    object["expires"] = expires.map { .string($0.description) }
    object["sha256"] = .string(Hexadecimal.encode(AccessToken(self).digest))
    return .object(object)
  }
}
