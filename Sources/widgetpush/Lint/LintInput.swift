import JSON
import Rules

/// What `lint` was given: a payload, a file for the Simulator, or a curl command.
struct LintInput {
  /// The name for people: the file's, or `-`.
  let name: String
  /// The text as it was written.
  let text: String
  /// The request that it stands for.
  let request: LintedRequest

  /// Reads what stands in a file.
  ///
  /// - Parameter type: The push type, where nothing else says it.
  /// - Parameter contentState: What the content-state is to decode from.
  init(_ name: String, _ bytes: [UInt8], type: String?, contentState: ContentStateSchema? = nil) {
    self.name = name
    text = String(decoding: bytes, as: UTF8.self)
    let folder = name.lastIndex(of: "/").map { String(name[...$0]) } ?? ""
    var request = CurlCommand.request(text) {
      try? Files.bytes($0.hasPrefix("/") ? $0 : folder + $0)
    }
    if request == nil {
      var payload = LintedRequest()
      payload.body = Self.withoutTarget(bytes)
      request = payload
    }
    request!.assumedType = type
    request!.contentState = contentState
    self.request = request!
  }

  /// The schema in a file.
  static func schema(_ path: String) throws(CommandError) -> ContentStateSchema {
    do {
      return try ContentStateSchema(try JSONValue.parse(try Files.bytes(path)), at: "schema")
    } catch {
      throw CommandError("\(path) is no schema that is understood here: \(error)")
    }
  }

  /// A file for the Simulator names its app beside `aps`; APNs never sees that.
  private static func withoutTarget(_ bytes: [UInt8]) -> [UInt8] {
    guard let object = (try? JSONValue.parse(bytes))?.objectValue, object[targetKey] != nil else { return bytes }
    var payload: JSONObject = [:]
    for key in object.keys where key != targetKey { payload[key] = object[key] }
    return Array(JSONValue.object(payload).serialized().utf8)
  }

  private static let targetKey = "Simulator Target Bundle"

  /// The line, from 1, on which a finding's field stands; 1 where it does not.
  func line(of field: String) -> Int {
    let last = field.split(separator: ".").last.map { $0.prefix { $0 != "[" } } ?? ""
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let index = lines.firstIndex { $0.contains("\"\(last)\"") } ?? lines.firstIndex { $0.lowercased().contains(last) }
    return (index ?? 0) + 1
  }
}
