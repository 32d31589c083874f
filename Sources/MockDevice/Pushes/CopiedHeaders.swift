import Control
import Primitives
import Rules

/// The headers of a push that came over HTTP/1.1 or the plain port, laid out as the rules read them.
struct CopiedHeaders {
  /// All values, one after another.
  private(set) var bytes: [UInt8] = []
  /// Where they stand.
  private(set) var fields = RequestFields()

  init(_ request: HTTPRequest) {
    fields.method = add(request.method.text)
    fields.path = add(request.path)
    fields.authorization = add(request.fields["authorization"])
    fields.apnsID = add(request.fields["apns-id"])
    fields.pushType = add(request.fields["apns-push-type"])
    fields.topic = add(request.fields["apns-topic"])
    fields.priority = add(request.fields["apns-priority"])
    fields.expiration = add(request.fields["apns-expiration"])
    fields.collapseID = add(request.fields["apns-collapse-id"])
    fields.channelID = add(request.fields["apns-channel-id"])
    let once: [StaticString] = [
      "authorization", "apns-id", "apns-push-type", "apns-topic", "apns-priority", "apns-expiration", "apns-collapse-id",
      "apns-channel-id",
    ]
    fields.duplicate = once.first { request.fields.all("\($0)").count > 1 }
  }

  private mutating func add(_ value: String?) -> ByteRange? {
    guard let value else { return nil }
    let range = ByteRange(offset: bytes.count, count: value.utf8.count)
    bytes += Array(value.utf8)
    return range
  }
}
