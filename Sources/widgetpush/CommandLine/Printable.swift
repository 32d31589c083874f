import JSON
import Primitives

extension JSONValue {
  /// The value with nothing in its strings and names that steers a terminal or begins a line: for what is printed for people.
  var printable: JSONValue {
    switch self {
    case .string(let text): .string(text.escapingSteering())
    case .array(let elements): .array(elements.map(\.printable))
    case .object(let object):
      .object(
        JSONObject(
          object.map { key, value in
            // A payload is printed as JSON, which escapes in its own way.
            let isJSON = key == "payload" && value.objectValue != nil
            return (key.escapingSteering(), isJSON ? value : value.printable)
          }))
    case .null, .bool, .integer, .number, .decimal: self
    }
  }
}
