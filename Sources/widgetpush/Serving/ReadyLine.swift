import JSON

/// The line that a server prints on standard output once it answers; scripts wait for it and read the URLs from it.
enum ReadyLine {
  /// `ready NAME=URL …`, or one JSON object.
  static func text(_ faces: [(name: String, url: String)], json: Bool) -> String {
    if json { return JSONValue.object(JSONObject(faces.map { ($0.name, JSONValue.string($0.url)) })).serialized() }
    return "ready " + faces.map { "\($0.name)=\($0.url)" }.joined(separator: " ")
  }
}
