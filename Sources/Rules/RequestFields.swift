public import Primitives

/// Where the headers that matter to a push stand in the request's header bytes; nil for each that was not sent.
public struct RequestFields: Sendable {
  /// `:method`
  public var method: ByteRange?
  /// `:path`
  public var path: ByteRange?
  /// `authorization`
  public var authorization: ByteRange?
  /// `apns-id`
  public var apnsID: ByteRange?
  /// `apns-push-type`
  public var pushType: ByteRange?
  /// `apns-topic`
  public var topic: ByteRange?
  /// `apns-priority`
  public var priority: ByteRange?
  /// `apns-expiration`
  public var expiration: ByteRange?
  /// `apns-collapse-id`
  public var collapseID: ByteRange?
  /// `apns-channel-id`
  public var channelID: ByteRange?
  /// `apns-request-id`
  public var requestID: ByteRange?
  /// The name of an `apns-` header or of `authorization` that was sent more than once; nil when all stand once.
  public var duplicate: StaticString?

  /// Fields of a request that has none.
  public init() {}
}
