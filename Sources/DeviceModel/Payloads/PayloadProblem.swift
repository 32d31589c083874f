import JSON
import Primitives
import Push
import Rules

/// Why a payload does nothing on a device.
struct PayloadProblem: Error, Equatable {
  /// The rule it breaks.
  var cause: Cause
  /// One sentence that names the field.
  var sentence: String
  /// The key that is missing, of `aps`, or `aps` or `mdm`; nil where something else is wrong.
  var missing: String?

  /// The sentence, and where the missing key may be hidden in the payload.
  func sentence(in payload: RawSpan) -> String { sentence + (missing.map { MissingKey.hint($0, in: payload) } ?? "") }
}

extension JSONValue {
  /// The payload, which must be an object.
  static func object(of payload: RawSpan) throws(PayloadProblem) -> JSONValue {
    let tree: JSONValue
    do {
      tree = try JSONValue.payload(payload)
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
      throw PayloadProblem(
        cause: .payloadNotUnderstood, sentence: "aps must be a JSON object\(found)", missing: tree["aps"] == nil ? "aps" : nil)
    }
    return aps
  }
}
