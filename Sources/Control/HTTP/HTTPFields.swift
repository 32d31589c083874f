/// Header fields in the order they came, with names in lower case.
public struct HTTPFields: Hashable, Sendable {
  /// One field line.
  public struct Field: Hashable, Sendable {
    /// The name in lower case.
    public let name: String
    /// The value without white space around it.
    public let value: String
  }

  /// The lines in order.
  public private(set) var lines: [Field] = []

  /// No fields.
  public init() {}

  /// The value of the first line of that name, which is in lower case.
  public subscript(name: String) -> String? { lines.first { $0.name == name }?.value }

  /// The values of all lines of that name, which is in lower case.
  public func all(_ name: String) -> [String] { lines.filter { $0.name == name }.map(\.value) }

  /// Adds a line.
  public mutating func append(_ name: String, _ value: String) {
    lines.append(Field(name: name.lowercased(), value: value))
  }

  /// The elements of a comma-separated list over all lines of that name, in lower case (RFC 9110 section 5.6.1).
  func tokens(_ name: String) -> [String] {
    all(name).flatMap { $0.split(separator: ",") }.map { trimmed($0).lowercased() }.filter { !$0.isEmpty }
  }
}

extension HTTPFields: ExpressibleByDictionaryLiteral {
  /// Fields in the literal's order.
  public init(dictionaryLiteral elements: (String, String)...) {
    for (name, value) in elements { append(name, value) }
  }
}

/// `text` without spaces and tabs around it.
func trimmed(_ text: some StringProtocol) -> String {
  let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" }
  guard let first = text.firstIndex(where: { !isBlank($0) }), let last = text.lastIndex(where: { !isBlank($0) }) else { return "" }
  return String(text[first...last])
}

/// Whether `byte` may stand in a token such as a field name (RFC 9110 section 5.6.2).
func isTokenByte(_ byte: UInt8) -> Bool {
  switch byte {
  case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
  case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"), UInt8(ascii: "'"),
    UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "^"), UInt8(ascii: "_"),
    UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
    true
  default: false
  }
}
