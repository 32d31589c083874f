import JSON
import Primitives
import Push

/// The body of a channel's creation: `{"message-storage-policy":1,"push-type":"LiveActivity"}` (apns.md section 8.1).
enum ChannelBody {
  private static let policyKey = "message-storage-policy"
  private static let typeKey = "push-type"

  /// The policy that `body` asks for.
  static func read(_ body: RawSpan, bodyBytesTotal: Int) throws(Violation) -> MessageStoragePolicy {
    guard bodyBytesTotal > 0 else {
      throw Violation(
        .payloadEmpty, "body", "the body must be {\"\(policyKey)\":1,\"\(typeKey)\":\"LiveActivity\"}, with the policy 0 or 1")
    }
    guard bodyBytesTotal <= Limits.broadcastBytes else {
      throw Violation(.payloadTooLarge, "body", "the body must have at most \(Limits.broadcastBytes) bytes, not \(bodyBytesTotal)")
    }
    let value: JSONValue
    do {
      value = try JSONValue.parse(body)
    } catch {
      throw Violation(.badRequestPayload, "body", "the body must be JSON: \(error)")
    }
    guard let object = value.objectValue else {
      throw Violation(.badRequestPayload, "body", "the body must be a JSON object, not \(value.kindName)")
    }
    for member in object where member.key != policyKey && member.key != typeKey {
      let hint = nearestName(to: member.key, among: [policyKey, typeKey]).map { "; did you mean \"\($0)\"?" } ?? ""
      throw Violation(
        .badRequestParams, member.key, "the body has the unknown attribute \(JSONValue.string(member.key).serialized())\(hint)")
    }
    guard let policy = object[policyKey]?.intValue.flatMap({ UInt8(exactly: $0) }).flatMap(MessageStoragePolicy.init(rawValue:)) else {
      throw Violation(.badRequestParams, policyKey, "\(policyKey) must be 0 or 1, not \(object[policyKey]?.serialized() ?? "absent")")
    }
    guard let type = object[typeKey]?.stringValue, type.utf8.count == 12, type.lowercased() == "liveactivity" else {
      throw Violation(.badRequestParams, typeKey, "\(typeKey) must be \"LiveActivity\", not \(object[typeKey]?.serialized() ?? "absent")")
    }
    return policy
  }
}
