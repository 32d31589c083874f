import JSON
import Primitives
import Security

extension Command {
  /// `widgetpush token`.
  static let token = Command(
    "token", "prints a provider token, the JWT of the authorization header",
    discussion: """
      Prints a provider token of the state folder's key, or signs one with a key of your own. It serves for an hour, as Apple's do, who
      wants each to be used for 20 minutes at least: within that time the state folder's is the same one again, unless --fresh is given.
      Send it as `authorization: bearer TOKEN`.
      """,
    options: [
      Option("--key", "FILE", "private key as PEM, such as Apple's AuthKey_ABCDE12345.p8 (that of the state folder)"),
      Option("--key-id", "ID", "its id (the one in the file's name)"),
      Option("--team", "ID", "the team's id (that of the state folder; with --key there is none)"),
      Option(switch: "--fresh", "signs another one, whatever was printed before"), .json, .stateFolder,
    ],
    examples: [
      "widgetpush token", "widgetpush token --key AuthKey_ABCDE12345.p8 --team TEAM123456",
      "curl --http2 --cacert .widgetpush/ca.pem -H \"authorization: bearer $(widgetpush token)\" …",
    ]
  ) { arguments in
    let (teamID, keyID, file) = try ProviderIdentity.read(arguments)
    let pem = try Files.read(file)
    let key = try describing(file) { () throws(CryptoError) in try P256PrivateKey(pem: pem) }
    let token: String
    var issued = Machine.now
    if arguments.has("--key") || arguments.has("--fresh") {
      token = try ProviderTokenSigner(teamID: teamID, keyID: keyID, key: key).token(now: issued)
    } else {
      (token, issued) = try SavedProviderToken.token(
        in: StateFolder(arguments), teamID: teamID, keyID: keyID, pem: pem, key: key, now: issued)
    }
    if arguments.wantsJSON {
      let json: JSONValue = [
        "token": .string(token), "teamID": .string(teamID), "keyID": .string(keyID), "issued": .string(issued.description),
        "expires": .string((issued + .seconds(3600)).description),
      ]
      Console.print(json.serialized(pretty: true))
    } else {
      Console.print(token)
    }
    return 0
  }
}

/// Whose provider tokens a command line asks for.
enum ProviderIdentity {
  /// The team, the key's id and the key's file: from the options, else from the state folder.
  static func read(_ arguments: Arguments) throws -> (teamID: String, keyID: String, file: String) {
    guard let file = arguments.value("--key") else {
      if let option = ["--key-id"].first(where: arguments.has) { throw UsageError("\(option) needs --key") }
      let credentials = try StateFolder(arguments).credentials()
      return (arguments.value("--team") ?? credentials.teamID, credentials.keyID, credentials.keyFile)
    }
    guard let teamID = arguments.value("--team") else { throw UsageError("--key needs --team, the id of the key's team") }
    guard let keyID = arguments.value("--key-id") ?? ProviderKeys.keyID(ofFile: file) else {
      throw UsageError("--key needs --key-id, since the file is not called AuthKey_ABCDE12345.p8")
    }
    return (teamID, keyID, file)
  }
}
