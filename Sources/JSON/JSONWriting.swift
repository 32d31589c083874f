import Primitives

extension JSONValue {
  /// The value as compact JSON text, keys in order; a number that is not finite becomes `null`.
  ///
  /// Whatever steers a terminal, the C1 controls and the marks of the direction of writing among it, is escaped: JSON is read by
  /// people, too, and others have chosen what stands in it.
  ///
  /// - Parameters:
  ///   - pretty: Indents by two spaces, one member or element a line.
  ///   - verbatim: Escapes no more than RFC 8259 asks for: for what is sent on, whose bytes count.
  public func serialized(pretty: Bool = false, verbatim: Bool = false) -> String {
    var text = ""
    write(into: &text, indentation: pretty ? 0 : nil, verbatim: verbatim)
    return text
  }

  private func write(into text: inout String, indentation: Int?, verbatim: Bool) {
    switch self {
    case .null: text += "null"
    case .bool(let value): text += value ? "true" : "false"
    case .integer(let value): text += String(value)
    case .number(let value): text += value.isFinite ? "\(value)" : "null"
    case .decimal(let value): text += value.text
    case .string(let value): Self.quote(value, into: &text, verbatim: verbatim)
    case .array(let elements):
      Self.writeContainer(elements, "[", "]", into: &text, indentation: indentation) { element, text, inner in
        element.write(into: &text, indentation: inner, verbatim: verbatim)
      }
    case .object(let object):
      Self.writeContainer(Array(object), "{", "}", into: &text, indentation: indentation) { member, text, inner in
        Self.quote(member.key, into: &text, verbatim: verbatim)
        text += inner == nil ? ":" : ": "
        member.value.write(into: &text, indentation: inner, verbatim: verbatim)
      }
    }
  }

  private static func writeContainer<Entry>(
    _ entries: [Entry], _ opening: String, _ closing: String, into text: inout String, indentation: Int?,
    _ write: (Entry, inout String, Int?) -> Void
  ) {
    text += opening
    let inner = indentation.map { $0 + 2 }
    for (index, entry) in entries.enumerated() {
      if index > 0 { text += "," }
      if let inner { text += "\n" + String(repeating: " ", count: inner) }
      write(entry, &text, inner)
    }
    if let indentation, !entries.isEmpty { text += "\n" + String(repeating: " ", count: indentation) }
    text += closing
  }

  /// Appends `value` in quotes, escaping what RFC 8259 section 7 requires, and what steers unless `verbatim`.
  private static func quote(_ value: String, into text: inout String, verbatim: Bool) {
    text += "\""
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      case let scalar where verbatim ? scalar.value < 0x20 : scalar.isSteering:
        let digits = String(scalar.value, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
  }
}

extension JSONValue: CustomStringConvertible {
  /// The value as compact JSON text.
  public var description: String { serialized() }
}
