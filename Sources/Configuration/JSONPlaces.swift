import JSON
import Primitives
import YAML

extension JSONValue {
  /// The JSON that a YAML value stands for: plain scalars that spell a number, `true`, `false` or nothing are that; the rest is text.
  init(_ node: YAMLNode) {
    switch node.content {
    case .mapping(let entries):
      var object: JSONObject = [:]
      for entry in entries { object[entry.key] = JSONValue(entry.value) }
      self = .object(object)
    case .sequence(let elements): self = .array(elements.map { JSONValue($0) })
    case .scalar(let text, let isPlain):
      if node.isNull {
        self = .null
      } else if isPlain, let integer = Int64(text) {
        self = .integer(integer)
      } else if isPlain, text.utf8.first.map({ (0x2D...0x39).contains($0) }) == true, let number = Double(text), number.isFinite {
        self = .number(number)
      } else if isPlain, text == "true" || text == "false" {
        self = .bool(text == "true")
      } else {
        self = .string(text)
      }
    }
  }
}

/// Where the fields of a part of the configuration stand, for readers that know them by their JSON path only.
struct JSONPlaces: Sendable {
  let file: String
  /// The path of `root`.
  let name: String
  let root: YAMLNode

  /// The place of a field such as `devices[0].apps[1].bundleID`, or of the nearest thing around it that the file has.
  func mark(of field: String) -> YAMLMark {
    guard field.hasPrefix(name) else { return root.mark }
    var node = root
    var mark = root.mark
    var rest = field.dropFirst(name.count)
    while let first = rest.first {
      if first == "[" {
        guard let end = rest.firstIndex(of: "]"), let index = Int(rest[rest.index(after: rest.startIndex)..<end]),
          case .sequence(let elements) = node.content, elements.indices.contains(index)
        else { return mark }
        node = elements[index]
        mark = node.mark
        rest = rest[rest.index(after: end)...]
      } else {
        guard first == ".", case .mapping(let entries) = node.content else { return mark }
        rest = rest.dropFirst()
        // A key may itself contain a dot or a bracket: the longest one that fits is meant.
        let fitting = entries.filter { rest.hasPrefix($0.key) }.max { $0.key.utf8.count < $1.key.utf8.count }
        guard let entry = fitting else { return mark }
        node = entry.value
        mark = entry.keyMark
        rest = rest.dropFirst(entry.key.count)
      }
    }
    return mark
  }
}
