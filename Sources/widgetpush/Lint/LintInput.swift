import JSON
import Push
import Rules

/// What `lint` was given: a payload, a file for the Simulator, or a script with curl commands.
struct LintInput {
  /// The name for people: the file's, or `-`.
  let name: String
  /// The requests that it stands for, in their order.
  let pushes: [CurlCommand.Push]
  /// How many commands were judged and how many are none of the provider API's; nil for a payload, or where nothing is judged.
  let count: String?
  /// Why there is nothing to judge, where there are no requests.
  private let absence: String
  private let lines: [Substring]

  /// Reads what stands in a file.
  ///
  /// - Parameter type: The push type, where nothing else says it.
  /// - Parameter schemas: What attributes and content-state are to decode from.
  init(_ name: String, _ bytes: [UInt8], type: String?, schemas: [ActivitySchemas] = []) {
    self.name = name
    let text = String(decoding: bytes, as: UTF8.self)
    lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
    let folder = name.lastIndex(of: "/").map { String(name[...$0]) } ?? ""
    let commands = CurlCommand.all(in: text) { path in
      // Beside the script, or where it is run. Standard input may be the script itself.
      guard path != "-" else { return nil }
      return (try? Files.bytes(path.hasPrefix("/") ? path : folder + path)) ?? (try? Files.bytes(path))
    }
    var pushes = commands.flatMap(\.pushes)
    if commands.isEmpty, !Self.isScript(name, text) {
      var payload = LintedRequest()
      payload.body = Self.withoutTarget(bytes)
      pushes = [CurlCommand.Push(request: payload, lines: 1...max(1, lines.count))]
    }
    for index in pushes.indices {
      pushes[index].request.assumedType = type
      pushes[index].request.schemas = schemas
    }
    self.pushes = pushes
    absence = Self.absence(of: commands)
    count = Self.count(commands)
  }

  /// The schemas in a file: one of a content-state, `{"contentState"?, "attributes"?}`, or an object with those for each attributes type.
  static func schemas(_ path: String) throws(CommandError) -> [ActivitySchemas] {
    switch try SchemaFile(path) {
    case .types(let types): return types
    case .one(let source):
      do { return [try ActivitySchemas("", source, at: "schema")] } catch { throw CommandError("\(path): \(error)") }
    }
  }

  /// Whether a text without a curl command is a script rather than a payload that is none.
  private static func isScript(_ name: String, _ text: String) -> Bool {
    [".sh", ".bash", ".zsh", ".ksh"].contains { name.hasSuffix($0) } || text.first { !$0.isWhitespace } == "#"
  }

  private static func count(_ commands: [CurlCommand]) -> String? {
    let judged = commands.count { !$0.pushes.isEmpty }
    guard judged > 0 else { return nil }
    let others = commands.count - judged
    return "\(judged) \(judged == 1 ? "command" : "commands") judged\(others == 0 ? "" : ", \(others) not a push")"
  }

  private static func absence(of commands: [CurlCommand]) -> String {
    guard let first = commands.first else { return "no push to judge: there is no curl command in this script" }
    let places =
      commands.count == 1
      ? "the curl command on line \(first.line) sends" : "the \(commands.count) curl commands, the first on line \(first.line), send"
    return "no push to judge: \(places) nothing to /3/device/, /4/broadcasts/apps/ or /1/apps/ that can be told from the script"
  }

  /// A file for the Simulator names its app beside `aps`; APNs never sees that.
  private static func withoutTarget(_ bytes: [UInt8]) -> [UInt8] {
    guard let object = (try? JSONValue.parse(bytes))?.objectValue, object[targetKey] != nil else { return bytes }
    var payload: JSONObject = [:]
    for key in object.keys where key != targetKey { payload[key] = object[key] }
    return Array(JSONValue.object(payload).serialized(verbatim: true).utf8)
  }

  private static let targetKey = "Simulator Target Bundle"

  // MARK: Findings

  /// A finding and its line, from 1.
  struct Located: Hashable {
    let line: Int
    let finding: LintFinding
  }

  /// Every finding about every push, in their order; a note where there is no push, or where a payload could not be read.
  func findings(_ judge: (LintedRequest) -> [LintFinding]) -> [Located] {
    guard !pushes.isEmpty else { return [Located(line: 1, finding: LintFinding(.note, "noPush", "", absence))] }
    var all: [Located] = []
    for push in pushes {
      for finding in judge(push.request) { all.append(Located(line: line(of: finding.field, in: push), finding: finding)) }
      if let file = push.unreadFile {
        let message = "\(file) cannot be read, so the payload in it is not judged"
        all.append(Located(line: line(of: file, in: push), finding: LintFinding(.note, PushLint.payloadNotRead, "", message)))
      } else if push.hasUnknownPayload {
        let message = "what the payload is shows only when the script runs, so it is not judged; lint a file that has one"
        all.append(Located(line: push.lines.lowerBound, finding: LintFinding(.note, PushLint.payloadNotRead, "", message)))
      }
    }
    // A command with several URLs makes the same mistake once.
    var seen: Set<Located> = []
    return all.filter { seen.insert($0).inserted }
  }

  /// What stands where fields do that have no name in the text.
  private static let places = [
    ":path": "/3/", ":scheme": "http://", ":authority": ".push.apple.com", "--http1.1": "--http1.1", "--http1.0": "-0",
  ]

  /// The line on which a finding's field stands; the push's first where it does not.
  private func line(of field: String, in push: CurlCommand.Push) -> Int {
    let last = Self.places[field] ?? String(field.split(separator: ".").last?.prefix { $0 != "[" } ?? "")
    let range = (push.lines.lowerBound - 1)..<min(push.lines.upperBound, lines.count)
    let index =
      range.first { lines[$0].contains("\"\(last)\"") || lines[$0].contains("\\\"\(last)\\\"") }
      ?? range.first { !last.isEmpty && lines[$0].lowercased().contains(last.lowercased()) }
    return (index ?? range.lowerBound) + 1
  }
}
