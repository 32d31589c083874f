import Delivery
import HTTP2
import Primitives
import Push

/// Writes the header fields of one forwarded push; the memory is allocated once and used again.
///
/// A forwarded push keeps its apns-id in its letter case, topic, type, priority, collapse id and expiration; only the
/// authorization is the gateway's own. Where the product's clock has been moved, the expiration is turned back by `shift` into the date
/// that a sender would write at present.
struct PushRequest: ~Copyable {
  var fields = FieldList()
  private var authority: [UInt8]

  private static let pathPrefix: StaticString = "/3/device/"

  init(authority: String) { self.authority = Array(authority.utf8) }

  /// Writes that value of `:authority` from now on.
  mutating func address(to authority: String) { self.authority = Array(authority.utf8) }

  /// Makes `fields` those of `push`, whose ranges lie in `bytes`.
  mutating func write(_ push: ForwardedPush, _ bytes: RawSpan, authorization: RawSpan, shift: TimeSpan) {
    Self.fill(&fields, push, bytes, authority: authority, authorization: authorization, shift)
  }

  /// Makes `fields` those of `broadcast`, with the sender's `apns-request-id`.
  mutating func write(_ broadcast: ForwardedBroadcast, authorization: RawSpan, shift: TimeSpan) {
    let authority = authority
    fields.removeAll()
    fields.append(.method, "POST")
    fields.append(.scheme, "https")
    unsafe fields.append(.authority, authority.span.bytes)
    append(.path, "/4/broadcasts/apps/\(broadcast.bundleID)")
    fields.append(.authorization, authorization)
    fields.append(.apnsPushType, PushType.liveactivity.text)
    append(.apnsChannelID, broadcast.channel.description)
    if let priority = broadcast.priority { fields.append(.apnsPriority, Self.text(priority)) }
    append(.apnsRequestID, broadcast.id.description)
    switch broadcast.expiration {
    case .absent, .zero: fields.append(.apnsExpiration, "0")
    case .at(let date): Self.appendExpiration((date - shift).unixSeconds, to: &fields)
    }
  }

  private mutating func append(_ name: HeaderName, _ text: String) {
    let bytes = Array(text.utf8)
    unsafe fields.append(name, bytes.span.bytes)
  }

  /// Given the properties one by one, since a span of one would hold all of self while the fields change.
  private static func fill(
    _ fields: inout FieldList, _ push: ForwardedPush, _ bytes: RawSpan, authority: [UInt8], authorization: RawSpan, _ shift: TimeSpan
  ) {
    fields.removeAll()
    fields.append(.method, "POST")
    fields.append(.scheme, "https")
    unsafe fields.append(.authority, authority.span.bytes)
    fields.append(.path, bytesMax: pathPrefix.utf8CodeUnitCount + 2 * DeviceToken.bytesMax) { output in
      for index in 0..<pathPrefix.utf8CodeUnitCount { output.append(unsafe pathPrefix.utf8Start[index]) }
      push.token.writeHex(to: &output)
    }
    fields.append(.authorization, authorization)
    fields.append(.apnsPushType, push.type.text)
    fields.append(.apnsTopic, bytes[push.topic])
    if push.prioritySent { fields.append(.apnsPriority, text(push.priority)) }
    fields.append(.apnsID, bytesMax: PushID.textCount) { push.id.write(to: &$0) }
    switch push.expiration {
    case .absent: break
    case .zero: fields.append(.apnsExpiration, "0")
    case .at(let date): appendExpiration((date - shift).unixSeconds, to: &fields)
    }
    if !push.collapseID.isEmpty { fields.append(.apnsCollapseID, bytes[push.collapseID]) }
  }

  private static func appendExpiration(_ unixSeconds: Int64, to fields: inout FieldList) {
    var digits = InlineArray<20, UInt8>(repeating: 0)
    var start = 20
    var rest = unixSeconds.magnitude
    repeat {
      start -= 1
      digits[start] = UInt8(ascii: "0") + UInt8(rest % 10)
      rest /= 10
    } while rest > 0
    if unixSeconds < 0 {
      start -= 1
      digits[start] = UInt8(ascii: "-")
    }
    unsafe fields.append(.apnsExpiration, digits.span.bytes.extracting(start..<20))
  }

  private static func text(_ priority: Priority) -> StaticString {
    switch priority {
    case .immediate: "10"
    case .considerate: "5"
    case .passive: "1"
    }
  }
}
