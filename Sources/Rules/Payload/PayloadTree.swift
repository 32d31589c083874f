public import JSON
import Primitives

extension JSONValue {
  /// A push's payload as a device reads it, also where a key stands twice: in `aps` the last counts, as to Foundation's `JSONSerialization`,
  /// and within `content-state` and `attributes` the first, as to its `JSONDecoder`. Throws when it is not one JSON value.
  public static func payload(_ body: RawSpan) throws(JSONError) -> JSONValue {
    var scanner = JSONScanner(body, depthMax: depthMax, refusesDuplicates: false)
    let value = try payload(&scanner, level: 0)
    try scanner.finish()
    return value
  }

  /// The same of bytes.
  public static func payload(_ body: [UInt8]) throws(JSONError) -> JSONValue { try unsafe payload(body.span.bytes) }

  /// The payload at level 0, and `aps` at level 1.
  private static func payload(_ scanner: inout JSONScanner, level: Int) throws(JSONError) -> JSONValue {
    guard try scanner.kind() == .object else { return try scanner.readValue(duplicates: .last) }
    var object = JSONObject()
    try scanner.beginObject()
    while let key = try scanner.nextKey() {
      let name = scanner.string(of: key)
      if level == 0, name == "aps" {
        object[name] = try payload(&scanner, level: 1)
      } else {
        object[name] = try scanner.readValue(duplicates: level == 1 && RepeatedKey.isDecoded(name) ? .first : .last)
      }
    }
    return .object(object)
  }
}

/// The first key of a payload that stands more than once in its object.
struct RepeatedKey {
  /// Where it stands, such as `aps.event`.
  private(set) var path = ""
  /// Its first value and its last, as they are written.
  private var first = ""
  private var last = ""
  /// Whether it stands in what an app decodes.
  private var isDecoded = false

  /// Bytes of a value that are repeated.
  private static let valueBytes = 40

  /// Whether the value of that key of `aps` is decoded by the app's types.
  static func isDecoded(_ name: String) -> Bool { name == "content-state" || name == "attributes" }

  /// Finds it in a payload that has been read before; nil where no key stands twice.
  init?(in body: RawSpan) {
    var scanner = JSONScanner(body, depthMax: JSONValue.depthMax, refusesDuplicates: false)
    try? read(&scanner, at: [])
    if path.isEmpty { return nil }
  }

  /// Values and counter-values, and which of them counts.
  var sentence: String {
    let reader = isDecoded ? "the first, as Swift's JSONDecoder does" : "the last, as JSONSerialization does"
    return "\(path) stands more than once, first as \(first) and at last as \(last); a device most likely takes \(reader), so send it once"
  }

  private mutating func read(_ scanner: inout JSONScanner, at place: [String]) throws(JSONError) {
    switch try scanner.kind() {
    case .object:
      var values: [String: String] = [:]
      try scanner.beginObject()
      while let key = try scanner.nextKey() {
        let name = scanner.string(of: key)
        _ = try scanner.kind()
        let start = scanner.offset
        try read(&scanner, at: place + [name])
        let value = Self.short(scanner.bytes, start..<scanner.offset)
        let own = (place + [name]).joined(separator: ".")
        if let before = values[name], path.isEmpty || path == own {
          if path.isEmpty {
            (path, first) = (own, before)
            isDecoded = place.count > 1 && place[0] == "aps" && Self.isDecoded(place[1])
          }
          last = value
        }
        if values[name] == nil { values[name] = value }
      }
    case .array:
      try scanner.beginArray()
      var index = 0
      while try scanner.nextElement() {
        try read(&scanner, at: place.dropLast() + ["\(place.last ?? "")[\(index)]"])
        index += 1
      }
    default: try scanner.skipValue()
    }
  }

  private static func short(_ bytes: RawSpan, _ range: Range<Int>) -> String {
    guard range.count > valueBytes else { return bytes.extracting(range).string }
    return bytes.extracting(range.lowerBound..<range.lowerBound + valueBytes).string + "…"
  }
}
