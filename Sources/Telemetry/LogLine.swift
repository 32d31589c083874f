import Primitives

/// How much a log line matters.
public enum LogLevel: UInt8, CaseIterable, Comparable, Sendable {
  case debug, info, warning, error

  /// The lower-case name.
  public var name: String { "\(self)" }

  /// The level of that name, or nil.
  public init?(name: String) {
    guard let match = LogLevel.allCases.first(where: { $0.name == name }) else { return nil }
    self = match
  }

  /// Whether `a` matters less than `b`.
  public static func < (a: LogLevel, b: LogLevel) -> Bool { a.rawValue < b.rawValue }
}

/// How log lines are written.
public enum LogFormat: String, CaseIterable, Sendable {
  /// For people: `2026-11-30T01:26:50.123Z warning refused a push reason=BadTopic`.
  case text
  /// For collectors: one JSON object a line with `time`, `level`, `message` and the fields.
  case json
}

/// One named value of a log line.
public struct LogField: Sendable {
  let name: String
  let value: String

  /// A field; the value is written as text.
  public init(_ name: String, _ value: some CustomStringConvertible) {
    self.name = name
    self.value = value.description
  }
}

/// Renders log lines; each ends in a line feed and holds no other control character.
enum LogLine {
  /// Bytes that one value or message may have; the rest is cut, since peers choose some of the text.
  static let valueBytesMax = 2048

  static func render(_ format: LogFormat, at time: String, _ level: LogLevel, _ message: String, _ fields: [LogField]) -> String {
    switch format {
    case .text:
      var line = "\(time) \(level.name) \(escaped(message, quotes: false))"
      for field in fields { line += " \(field.name)=\(needsQuotes(field.value) ? quoted(field.value) : field.value)" }
      return line + "\n"
    case .json:
      var line = "{\"time\":\(quoted(time)),\"level\":\(quoted(level.name)),\"message\":\(quoted(message))"
      for field in fields { line += ",\(quoted(field.name)):\(quoted(field.value))" }
      return line + "}\n"
    }
  }

  private static func needsQuotes(_ value: String) -> Bool {
    value.isEmpty || value.utf8.count > valueBytesMax
      || value.unicodeScalars.contains { $0.isSteering || $0 == " " || $0 == "\"" || $0 == "=" || $0 == "\\" }
  }

  /// `text` cut to its bound, as a JSON string.
  private static func quoted(_ text: String) -> String { "\"\(escaped(text, quotes: true))\"" }

  /// `text` cut to its bound, with control characters escaped: no peer can forge a line or move a terminal's cursor.
  private static func escaped(_ text: String, quotes: Bool) -> String {
    var escaped = ""
    var bytes = 0
    for scalar in text.unicodeScalars {
      bytes += UTF8.width(scalar)
      if bytes > valueBytesMax { return escaped + "…" }
      switch scalar {
      case "\"" where quotes: escaped += "\\\""
      case "\\" where quotes: escaped += "\\\\"
      case "\n": escaped += "\\n"
      case "\r": escaped += "\\r"
      case "\t": escaped += "\\t"
      case let scalar where scalar.isSteering:
        let digits = String(scalar.value, radix: 16)
        escaped += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}
