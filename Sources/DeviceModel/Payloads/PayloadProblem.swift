import JSON
import Primitives
import Push

/// Why a payload does nothing on a device.
struct PayloadProblem: Error, Equatable {
  /// The rule it breaks.
  var cause: Cause
  /// One sentence that names the field.
  var sentence: String
}

extension JSONValue {
  /// The payload, which must be an object.
  static func object(of payload: RawSpan) throws(PayloadProblem) -> JSONValue {
    let tree: JSONValue
    do {
      tree = try JSONValue.parse(payload)
    } catch {
      throw PayloadProblem(cause: .payloadNotUnderstood, sentence: "the payload is not JSON: \(error.description)")
    }
    guard tree.objectValue != nil else {
      throw PayloadProblem(cause: .payloadNotUnderstood, sentence: "the payload must be a JSON object, not \(tree.kindName)")
    }
    return tree
  }

  /// The object `aps` of a payload; throws when there is none.
  static func aps(of payload: RawSpan) throws(PayloadProblem) -> JSONValue {
    let tree = try object(of: payload)
    guard let aps = tree["aps"], aps.objectValue != nil else {
      let found = tree["aps"].map { ", not \($0.kindName)" } ?? ", and is missing"
      throw PayloadProblem(cause: .payloadNotUnderstood, sentence: "aps must be a JSON object\(found)")
    }
    return aps
  }
}
