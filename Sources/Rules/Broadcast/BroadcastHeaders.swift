import Primitives
import Push

/// The headers of a broadcast that have a syntax of their own (apns.md section 8.2).
struct BroadcastHeaders {
  var expiration = Expiration.zero
  var expirationWarning: PushWarning?
  var priority: Priority?

  /// Checks `apns-expiration`, `apns-priority` and `apns-push-type`; the other headers of a push are no concern of a broadcast.
  static func check(_ fields: RequestFields, _ headers: RawSpan) throws(Violation) -> BroadcastHeaders {
    var values = BroadcastHeaders()
    (values.expiration, values.expirationWarning) = try expiration(fields.expiration, headers)
    if let range = fields.priority { values.priority = try HeaderRules.priority(headers[range]) }
    try checkType(fields.pushType, headers)
    return values
  }

  /// `apns-expiration`, which a broadcast must have.
  static func expiration(_ range: ByteRange?, _ headers: RawSpan) throws(Violation) -> (Expiration, PushWarning?) {
    guard let range else {
      throw Violation(
        .badExpirationDate, "apns-expiration", "apns-expiration must be there in a broadcast; 0 stores nothing")
    }
    return try HeaderRules.expiration(headers[range])
  }

  /// `apns-push-type`, in whatever letter case.
  static func checkType(_ range: ByteRange?, _ headers: RawSpan) throws(Violation) {
    guard let range, !range.isEmpty else {
      throw Violation(.missingPushType, "apns-push-type", "apns-push-type must be liveactivity")
    }
    guard headers[range].equalsIgnoringCase("liveactivity") else {
      throw Violation(
        .invalidPushType, "apns-push-type", "apns-push-type must be liveactivity in a broadcast, not \(headers[range].quoted)")
    }
  }

  /// The size of a message.
  static func checkSize(_ bytes: Int) throws(Violation) {
    guard bytes > 0 else {
      throw Violation(.payloadEmpty, "body", "the body must be a JSON object with aps and its event update or end")
    }
    guard bytes <= Limits.broadcastBytes else {
      throw Violation(.payloadTooLarge, "body", "the body must have at most \(Limits.broadcastBytes) bytes, not \(bytes)")
    }
  }

  /// The sender's id of the request: `apns-request-id`, or `apns-id`, which one of Apple's samples has instead.
  static func id(_ fields: RequestFields, _ headers: RawSpan) throws(Violation) -> PushID? {
    guard let range = fields.requestID ?? fields.apnsID else { return nil }
    guard let id = PushID(text: headers[range]) else {
      let name = fields.requestID != nil ? "apns-request-id" : "apns-id"
      throw Violation(
        .badMessageID, name, "\(name) must be a UUID such as eabeae54-14a8-11e5-b60b-1697f925ec7b, not \(headers[range].quoted)")
    }
    return id
  }

  /// `apns-channel-id`.
  static func channel(_ range: ByteRange?, _ headers: RawSpan) throws(Violation) -> ChannelID {
    guard let range, !range.isEmpty else {
      throw Violation(.missingChannelID, "apns-channel-id", "apns-channel-id must be \(ChannelID.form)")
    }
    guard let channel = ChannelID(text: headers[range]) else {
      throw Violation(
        .badChannelID, "apns-channel-id",
        "apns-channel-id must be \(ChannelID.form), not \(headers[range].quoted), which \(ChannelID.fault(of: headers[range].string) ?? "is none")"
      )
    }
    return channel
  }
}

extension RawSpan {
  /// Whether the bytes are `word`, which is in lower case, in whatever letter case.
  func equalsIgnoringCase(_ word: StaticString) -> Bool {
    guard byteCount == word.utf8CodeUnitCount else { return false }
    for index in 0..<byteCount {
      let byte = byte(index)
      let lower = byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
      if unsafe lower != word.utf8Start[index] { return false }
    }
    return true
  }
}
