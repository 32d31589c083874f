import Configuration
import JSON
import Push

/// `keys.json` of a state folder: the keys that people have added to those that the folder made itself. The key of `id` is in
/// `AuthKey_<id>.p8`.
struct KeyRing: Hashable, Sendable {
  /// What a key is for.
  enum Use: String, CaseIterable, Sendable {
    /// Backends sign with it, and the gateway checks.
    case provider
    /// The gateway signs with it what it sends on.
    case signing
  }

  /// One key.
  struct Entry: Hashable, Sendable {
    var id: String
    var team: String
    var use: Use
    /// The apps it may send to; nil means all.
    var bundleIDs: [String]?
    /// The environment it is limited to; nil means both.
    var environment: PushEnvironment?
    /// The topics that a key to sign with is limited to, a bundle id for all of its app's; nil means all.
    var topics: [String]?

    /// The name of its file.
    var fileName: String { "AuthKey_\(id).p8" }
  }

  /// The keys, oldest first.
  private(set) var entries: [Entry] = []

  /// The file's name in the state folder.
  static let name = "keys.json"

  /// No keys.
  init() {}

  /// The keys of `folder`; none when the file is not there. Throws with the place when it is damaged.
  init(in folder: StateFolder) throws(CommandError) {
    self = try folder.read(Self.name, mending: "mend it, or remove it and import the keys again") { try KeyRing($0) } ?? KeyRing()
  }

  /// Reads what `json` wrote.
  init(_ value: JSONValue) throws(FieldError) {
    var reader = try JSONReader(value)
    for var entry in try reader.optionalObjects("keys", max: Limits.providerKeys) ?? [] {
      let id = try entry.string("id")
      guard Self.isID(id) else { throw entry.error("id", "must be letters and digits") }
      let team = try entry.string("team")
      let use = Use(rawValue: try entry.choice("use", of: Use.allCases.map(\.rawValue)))!
      let bundleIDs = try entry.optionalStrings("bundleIDs")
      let environment = try entry.optionalChoice("environment", of: PushEnvironment.allCases.map(\.name))
      let topics = try entry.optionalStrings("topics")
      if let topics, let complaint = Self.complaint(about: topics) { throw entry.error("topics", complaint) }
      try entry.finish()
      entries.append(
        Entry(
          id: id, team: team, use: use, bundleIDs: bundleIDs, environment: environment.flatMap { PushEnvironment(name: $0) }, topics: topics
        ))
    }
    try reader.finish()
  }

  /// As it stands in the file.
  var json: JSONValue {
    let keys = entries.map { entry -> JSONValue in
      var object: JSONObject = ["id": .string(entry.id), "team": .string(entry.team), "use": .string(entry.use.rawValue)]
      object["bundleIDs"] = entry.bundleIDs.map { .array($0.map(JSONValue.string)) }
      object["environment"] = entry.environment.map { .string($0.name) }
      object["topics"] = entry.topics.map { .array($0.map(JSONValue.string)) }
      return .object(object)
    }
    return ["keys": .array(keys)]
  }

  /// Adds a key, whose id must be new; of keys to sign with a team has one without topics, and one for each topic.
  mutating func add(_ entry: Entry) throws(CommandError) {
    guard !entries.contains(where: { $0.id == entry.id }) else {
      throw CommandError("there is a key \(entry.id) already; take it out with `widgetpush keys remove \(entry.id)` first")
    }
    for other in entries where entry.use == .signing && other.use == .signing && other.team == entry.team {
      let shared = entry.topics?.first { other.topics?.contains($0) ?? false }
      guard shared != nil || (entry.topics == nil && other.topics == nil) else { continue }
      let what = shared.map { " for \($0)" } ?? ""
      throw CommandError(
        "the team \(entry.team) signs\(what) with the key \(other.id) already; take it out with `widgetpush keys remove \(other.id)` first")
    }
    guard entries.count < Limits.teams else { throw CommandError("\(Limits.teams) keys are the most that are kept; remove one first") }
    entries.append(entry)
  }

  /// Takes the key of that id out and returns it; nil when there is none.
  mutating func remove(_ id: String) -> Entry? {
    guard let place = entries.firstIndex(where: { $0.id == id }) else { return nil }
    return entries.remove(at: place)
  }

  /// Writes the file into `folder`, whose lock the caller holds.
  func write(to folder: StateFolder) throws(FileError) {
    try Files.write(json.serialized(pretty: true) + "\n", to: folder.file(Self.name), mode: 0o600)
  }

  /// What is wrong with the topics of a key, as the end of a sentence; nil when nothing is.
  static func complaint(about topics: [String]) -> String? {
    guard !topics.isEmpty else { return "must list at least one topic" }
    guard topics.count <= Limits.topicsPerKey else { return "must list at most \(Limits.topicsPerKey) topics" }
    return topics.first { !AppDirectory.isBundleID($0) }.map {
      "must list topics such as com.example.app.push-type.widgets, or bundle ids, not \"\($0)\""
    }
  }

  /// Whether `text` can be the id of a key or a team: ASCII letters and digits, ten of them at Apple.
  static func isID(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count) && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
  }
}
