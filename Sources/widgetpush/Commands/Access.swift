import Configuration
import Control
import JSON
import Primitives
import Push

extension Command {
  /// `widgetpush access`.
  static let access = Command(
    "access", "makes, lists and takes back access tokens of the control API", operands: "new NAME | list | revoke NAME", count: 1...2,
    discussion: """
      new makes a token and prints its secret, which is shown only then: the state folder keeps its SHA-256, in access.json.
      list shows the tokens of the state folder without their secrets. revoke takes one back; in place of register, read, reload and
      admin, which are in credentials.json, it puts a new one.
      A gateway that runs with the state folder goes by the change from the next request on, without a restart. With --yaml, new
      keeps nothing and prints an entry for accessTokens of a configuration file, and the secret on standard error.
      """,
    options: [
      Option("--scope", "SCOPE", "what it permits: register, read, reload or admin, which is everything", repeatable: true),
      Option("--bundle-id", "ID", "an app that it sees (all)", repeatable: true),
      Option("--expires", "WHEN", "a date such as 2030-12-31, or days from now such as 90d (never)"),
      Option(switch: "--yaml", "print an entry for a configuration file instead of keeping the token"), .json, .stateFolder,
    ],
    examples: [
      "widgetpush access new ci --scope read --scope register --bundle-id com.example.app --expires 90d", "widgetpush access list",
      "widgetpush access revoke ci",
    ]
  ) { arguments in
    let folder = StateFolder(arguments)
    let verb = try arguments.verb(of: ["new", "list", "revoke"])
    if verb != "new", let option = ["--scope", "--bundle-id", "--expires", "--yaml"].first(where: arguments.has) {
      throw UsageError("\(option) is for new")
    }
    switch verb {
    case "new": try makeToken(arguments, folder)
    case "revoke":
      let name = try arguments.subject("NAME", of: verb)
      try revokeToken(name, folder)
      Console.print(arguments.wantsJSON ? JSONValue.object(["name": .string(name), "revoked": true]).serialized() : "revoked \(name)")
    default: try listTokens(arguments, folder)
    }
    return 0
  }

  private static func makeToken(_ arguments: Arguments, _ folder: StateFolder) throws {
    let secret = AccessToken.makeSecret()
    let token = try tokenWanted(arguments, secret: secret)
    if arguments.has("--yaml") {
      Console.print(yaml(token))
      Console.complain("The secret, which is shown only now: \(secret)")
      return
    }
    if AccessTokenSettings.scopeNames.contains(token.name) {
      throw UsageError("\(token.name) is the name of a token in credentials.json; choose another")
    }
    try AccessFile.update(folder) { try $0.add(token) }
    guard arguments.wantsJSON, case .object(var object) = token.json else {
      Console.print(secret)
      Console.complain("This is the secret of \(token.name), and is shown only now. Send it as Authorization: Bearer SECRET.")
      return
    }
    object["secret"] = .string(secret)
    Console.print(JSONValue.object(object).serialized(pretty: true))
  }

  private static func tokenWanted(_ arguments: Arguments, secret: String) throws(UsageError) -> AccessTokenSettings {
    let name = try arguments.subject("NAME", of: "new")
    guard (1...64).contains(name.utf8.count), name.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\"") }) else {
      throw UsageError("a token's name has 1 to 64 visible ASCII characters without spaces and quotes, not \"\(name)\"")
    }
    let scopes = arguments.all("--scope")
    let known = AccessTokenSettings.scopeNames
    guard !scopes.isEmpty else { throw UsageError("--scope is missing; give one or more of \(known.joined(separator: ", "))") }
    if let unknown = scopes.first(where: { !known.contains($0) }) {
      let nearest = nearestName(to: unknown, among: known).map { "; did you mean \($0)?" } ?? ""
      throw UsageError("--scope must be one of \(known.joined(separator: ", ")), not \"\(unknown)\"\(nearest)")
    }
    let bundleIDs = arguments.all("--bundle-id")
    if let wrong = bundleIDs.first(where: { !(1...Limits.bundleIDBytes).contains($0.utf8.count) }) {
      throw UsageError("--bundle-id must be a bundle id such as com.example.app, not \"\(wrong)\"")
    }
    let expires = try arguments.value("--expires").map { text throws(UsageError) in try expiry(text) }
    let digest = AccessToken(name: name, scopes: [], secret: secret).digest
    return AccessTokenSettings(
      name: name, scopes: known.filter(scopes.contains), bundleIDs: bundleIDs.isEmpty ? nil : bundleIDs, expires: expires,
      secret: .digest(digest))
  }

  private static func expiry(_ text: String) throws(UsageError) -> Instant {
    let wanted: Instant?
    if text.hasSuffix("d"), let days = Int64(text.dropLast()), (1...36_500).contains(days) {
      wanted = Machine.now + .seconds(days * 86_400)
    } else {
      wanted = Instant(rfc3339: text)
    }
    guard let wanted else {
      throw UsageError("--expires must be a date such as 2030-12-31 or 2030-12-31T12:00:00Z, or days such as 90d, not \"\(text)\"")
    }
    guard wanted > Machine.now else { throw UsageError("--expires \(text) is in the past") }
    return wanted
  }

  private static func yaml(_ token: AccessTokenSettings) -> String {
    var lines = ["accessTokens:", "  - name: \"\(token.name)\"", "    scopes: [\(token.scopes.joined(separator: ", "))]"]
    if let bundleIDs = token.bundleIDs { lines.append("    bundleIDs: [\(bundleIDs.joined(separator: ", "))]") }
    if let expires = token.expires { lines.append("    expires: \(expires)") }
    lines.append("    sha256: \(Hexadecimal.encode(AccessToken(token).digest))")
    return lines.joined(separator: "\n")
  }

  private static func revokeToken(_ name: String, _ folder: StateFolder) throws {
    if AccessTokenSettings.scopeNames.contains(name) {
      _ = try folder.updateCredentials { $0.replaceAccessToken(name, by: AccessToken.makeSecret()) }
      Console.complain(
        "a new secret stands in \(folder.file("credentials.json")); a gateway that runs goes by it after SIGHUP or a restart")
      return
    }
    try AccessFile.update(folder) { file in
      guard file.remove(name) else {
        let hint = nearestName(to: name, among: file.tokens.map(\.name)).map { "; did you mean \($0)?" } ?? ""
        throw CommandError("there is no access token named \(name) in \(folder.path)\(hint)")
      }
    }
  }

  private static func listTokens(_ arguments: Arguments, _ folder: StateFolder) throws {
    guard arguments.operands.count == 1 else { throw UsageError("list takes no name") }
    var tokens =
      try folder.existingCredentials().map { credentials in
        credentials.accessTokens.map { AccessTokenSettings(name: $0.scope, scopes: [$0.scope], secret: .text($0.secret)) }
      } ?? []
    let standard = tokens.count
    tokens += try AccessFile(in: folder).tokens
    if arguments.wantsJSON {
      Console.print(JSONValue.object(["tokens": .array(tokens.map(\.json))]).serialized(pretty: true))
      return
    }
    guard !tokens.isEmpty else {
      Console.complain("no access tokens in \(folder.path); make one with `widgetpush access new NAME --scope SCOPE`")
      return
    }
    let now = Machine.now
    let rows = tokens.enumerated().map { place, token in
      let expires = token.expires.map { $0 <= now ? "\($0) (over)" : "\($0)" } ?? "never"
      return [
        token.name, token.scopes.joined(separator: ","), token.bundleIDs?.joined(separator: ",") ?? "all apps", expires,
        place < standard ? "credentials.json" : AccessFile.name,
      ]
    }
    Console.print(Table.lines([["name", "scopes", "apps", "expires", "kept in"]] + rows).joined(separator: "\n"))
  }
}

extension Arguments {
  /// The first operand, which says what to do.
  func verb(of known: [String]) throws(UsageError) -> String {
    let word = operands.first ?? ""
    guard known.contains(word) else {
      let nearest = nearestName(to: word, among: known).map { "; did you mean \($0)?" } ?? ""
      throw UsageError("the first word must be \(known.joined(separator: ", ")), not \"\(word)\"\(nearest)")
    }
    return word
  }

  /// The second operand, which says what to do it with.
  func subject(_ placeholder: String, of verb: String) throws(UsageError) -> String {
    guard operands.count > 1 else { throw UsageError("\(verb) needs \(placeholder)") }
    return operands[1]
  }
}
