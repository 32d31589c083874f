import JSON
import Primitives
import Push
import Security

extension Command {
  /// `widgetpush keys`.
  static let keys = Command(
    "keys", "lists, makes and imports the keys of a state folder", operands: "list | new | import FILE | remove ID | certificate BUNDLE",
    count: 1...2,
    discussion: """
      The folder's keys are of two uses: provider keys, which backends sign with and the gateway checks, and signing keys, which the
      gateway signs with what it sends on: for each team one, and any number of keys that --topics limits, which sign for these topics alone
      and before the other. new makes a key; import takes in a .p8 file, such as Apple's. Both leave a file AuthKey_ID.p8 with the
      permissions 600. certificate makes a client certificate for backends that send with one instead of
      provider tokens, with its key in one file, Push_BUNDLE.pem; servers of the folder believe it. Like Apple's present ones it is for the
      app, its .voip and its .complication, so that a push must have its apns-topic. list tells of a key that others can
      read, and with --fix makes it the owner's alone.
      `widgetpush gateway` and `widgetpush dev` take changed keys on SIGHUP; the mock device knows the signing keys that were there at its
      start.
      """,
    options: [
      Option("--use", "USE", "provider or signing (provider)"), Option("--team", "ID", "the team's id (for new, that of the state folder)"),
      Option("--key-id", "ID", "the key's id (for import, the one in the file's name)"),
      Option("--bundle-id", "ID", "an app that a provider key may send to (all)", repeatable: true),
      Option(
        "--topics", "TOPICS", "topics that a signing key is limited to, or bundle ids for all of an app's; commas between (all)",
        repeatable: true),
      Option("--environment", "NAME", "the environment that a provider key or a certificate is limited to (both)"),
      Option("--topic", "TOPIC", "a further topic of a certificate, such as BUNDLE.push-type.widgets", repeatable: true),
      Option(switch: "--fix", "give files that others can read the permissions 600"), .json, .stateFolder,
    ],
    examples: [
      "widgetpush keys list", "widgetpush keys certificate com.example.app",
      "widgetpush keys import AuthKey_ABCDE12345.p8 --team TEAM123456 --use signing",
      "widgetpush keys import AuthKey_FGHIJ67890.p8 --team TEAM123456 --use signing --topics com.example.app.push-type.widgets",
    ]
  ) { arguments in
    let folder = StateFolder(arguments)
    let verb = try arguments.verb(of: ["list", "new", "import", "remove", "certificate"])
    let settings = ["--use", "--team", "--key-id", "--bundle-id", "--topics"] + (verb == "certificate" ? [] : ["--environment"])
    if !["new", "import"].contains(verb), let option = settings.first(where: arguments.has) {
      throw UsageError("\(option) is for new and import")
    }
    if verb != "certificate", arguments.has("--topic") { throw UsageError("--topic is for certificate, and --topics for signing keys") }
    if verb != "list", arguments.has("--fix") { throw UsageError("--fix is for list") }
    switch verb {
    case "new":
      guard arguments.operands.count == 1 else { throw UsageError("new takes no name; give --key-id") }
      try add(pem: P256PrivateKey.generate().pem(), id: arguments.value("--key-id") ?? ProviderKeys.makeID(), arguments, folder)
    case "import":
      let file = try arguments.subject("FILE", of: verb)
      guard let id = arguments.value("--key-id") ?? ProviderKeys.keyID(ofFile: file) else {
        throw UsageError("import needs --key-id, since the file is not called AuthKey_ABCDE12345.p8")
      }
      guard arguments.has("--team") else { throw UsageError("import needs --team, the id of the key's team") }
      if let complaint = FilePermissions.complaint(about: file) { Console.complain("warning: \(complaint)") }
      try add(pem: ProviderKeys.readKey(file), id: id, arguments, folder)
    case "remove": try removeKey(arguments.subject("ID", of: verb), arguments, folder)
    case "certificate": try makeCertificate(for: arguments.subject("BUNDLE", of: verb), arguments, folder)
    default: try listKeys(arguments, folder)
    }
    return 0
  }

  private static func add(pem: String, id: String, _ arguments: Arguments, _ folder: StateFolder) throws {
    guard KeyRing.isID(id) else { throw UsageError("a key's id has letters and digits, ten of them at Apple, not \"\(id)\"") }
    let use = try arguments.choice("--use", of: KeyRing.Use.allCases.map(\.rawValue)).flatMap(KeyRing.Use.init) ?? .provider
    let environment = try arguments.choice("--environment", of: PushEnvironment.allCases.map(\.name)).flatMap { PushEnvironment(name: $0) }
    let bundleIDs = arguments.all("--bundle-id")
    guard use == .provider || (bundleIDs.isEmpty && environment == nil) else {
      throw UsageError("--bundle-id and --environment are for provider keys")
    }
    let topics = arguments.has("--topics") ? arguments.all("--topics").flatMap { $0.split(separator: ",").map(String.init) } : nil
    guard use == .signing || topics == nil else {
      throw UsageError("--topics is for signing keys, --use signing; --bundle-id limits a provider key")
    }
    if let topics, let complaint = KeyRing.complaint(about: topics) { throw UsageError("--topics \(complaint)") }
    // The folder's own keys come first, or the one that is added would be taken for them.
    let state = try DevState.prepare(folder, now: Machine.now)
    for note in state.notes { Console.complain(note) }
    let team = arguments.value("--team") ?? state.credentials.teamID
    guard KeyRing.isID(team) else { throw UsageError("a team's id has letters and digits, ten of them at Apple, not \"\(team)\"") }
    let entry = KeyRing.Entry(
      id: id, team: team, use: use, bundleIDs: bundleIDs.isEmpty ? nil : bundleIDs, environment: environment, topics: topics)
    let file = folder.file(entry.fileName)
    try FileLock.holding(folder.file(".lock")) {
      var ring = try KeyRing(in: folder)
      if let present = ring.entries.first(where: { $0.id == id }) {
        throw CommandError(
          "the key \(id) is here already, as the \(present.use.rawValue) key of team \(present.team); take it out with `widgetpush keys remove \(id)` first"
        )
      }
      guard !Files.exists(file) else {
        throw CommandError("there is a file \(file) already, of a key that the folder was made with; give this one another --key-id")
      }
      try ring.add(entry)
      try Files.write(pem.hasSuffix("\n") ? pem : pem + "\n", to: file, mode: 0o600)
      try ring.write(to: folder)
    }
    if arguments.wantsJSON {
      Console.print(json(entry, file: file).serialized(pretty: true))
    } else {
      Console.print("\(use.rawValue) key \(id) of team \(team) is in \(file)")
    }
  }

  private static func removeKey(_ id: String, _ arguments: Arguments, _ folder: StateFolder) throws {
    try FileLock.holding(folder.file(".lock")) {
      var ring = try KeyRing(in: folder)
      guard let entry = ring.remove(id) else {
        let hint = nearestName(to: id, among: ring.entries.map(\.id)).map { "; did you mean \($0)?" } ?? ""
        throw CommandError("no key \(id) has been added to \(folder.path)\(hint)")
      }
      try ring.write(to: folder)
      if Files.exists(folder.file(entry.fileName)) { try Files.remove(folder.file(entry.fileName)) }
    }
    Console.print(arguments.wantsJSON ? JSONValue.object(["id": .string(id), "removed": true]).serialized() : "removed \(id)")
  }

  private static func listKeys(_ arguments: Arguments, _ folder: StateFolder) throws {
    guard arguments.operands.count == 1 else { throw UsageError("list takes no name") }
    let credentials = try folder.credentials()
    var keys = [
      (KeyRing.Entry(id: credentials.keyID, team: credentials.teamID, use: .provider), credentials.keyFile),
      (KeyRing.Entry(id: credentials.gateway.keyID, team: credentials.gateway.teamID, use: .signing), credentials.gateway.keyFile),
    ]
    keys += try KeyRing(in: folder).entries.map { ($0, folder.file($0.fileName)) }
    if arguments.has("--fix") {
      for (_, file) in keys where FilePermissions.complaint(about: file) != nil { try Files.makePrivate(file) }
    }
    if arguments.wantsJSON {
      Console.print(JSONValue.object(["keys": .array(keys.map { json($0, file: $1) })]).serialized(pretty: true))
    } else {
      let rows = keys.map { entry, file in
        let limits = entry.use == .signing ? entry.topics : entry.bundleIDs
        let scope = limits?.joined(separator: ",") ?? (entry.use == .signing ? "all topics" : "all apps")
        return [entry.id, entry.team, entry.use.rawValue, scope, entry.environment?.name ?? "both", permissions(file), file]
      }
      Console.print(
        Table.lines([["key", "team", "use", "limited to", "environment", "permissions", "file"]] + rows).joined(separator: "\n"))
    }
    for (_, file) in keys {
      if let complaint = FilePermissions.complaint(about: file) { Console.complain("warning: \(complaint)") }
    }
  }

  private static func permissions(_ file: String) -> String { Files.mode(file).map { String($0, radix: 8) } ?? "missing" }

  private static func json(_ entry: KeyRing.Entry, file: String) -> JSONValue {
    var object: JSONObject = [
      "id": .string(entry.id), "team": .string(entry.team), "use": .string(entry.use.rawValue), "file": .string(file),
      "permissions": .string(permissions(file)),
    ]
    object["bundleIDs"] = entry.bundleIDs.map { .array($0.map(JSONValue.string)) }
    object["environment"] = entry.environment.map { .string($0.name) }
    object["topics"] = entry.topics.map { .array($0.map(JSONValue.string)) }
    return .object(object)
  }
}
