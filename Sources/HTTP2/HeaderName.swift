/// A header field name that the product knows, as a token; any other name stays text.
///
/// There are at most 32, so that a set of them fits one word.
public enum HeaderName: UInt8, CaseIterable, Sendable {
  // Pseudo-header fields (RFC 9113 section 8.3).
  /// `:method`
  case method
  /// `:scheme`
  case scheme
  /// `:authority`
  case authority
  /// `:path`
  case path
  /// `:status`
  case status

  // General fields (RFC 9110).
  /// `host`
  case host
  /// `authorization`
  case authorization
  /// `content-type`
  case contentType
  /// `content-length`
  case contentLength
  /// `content-encoding`
  case contentEncoding
  /// `user-agent`
  case userAgent
  /// `accept`
  case accept
  /// `expect`
  case expect
  /// `origin`
  case origin
  /// `location`
  case location
  /// `allow`
  case allow
  /// `cache-control`
  case cacheControl
  /// `retry-after`
  case retryAfter
  /// `idempotency-key`
  case idempotencyKey

  // Apple, "Sending notification requests to APNs", and the broadcast pages.
  /// `apns-id`
  case apnsID
  /// `apns-push-type`
  case apnsPushType
  /// `apns-topic`
  case apnsTopic
  /// `apns-priority`
  case apnsPriority
  /// `apns-expiration`
  case apnsExpiration
  /// `apns-collapse-id`
  case apnsCollapseID
  /// `apns-channel-id`
  case apnsChannelID
  /// `apns-request-id`
  case apnsRequestID
  /// `apns-unique-id`
  case apnsUniqueID

  // The product's own.
  /// `widgetpush-explain`
  case widgetpushExplain
  /// `widgetpush-disposition`
  case widgetpushDisposition
  /// `widgetpush-detail`
  case widgetpushDetail
  /// `widgetpush-outcome`
  case widgetpushOutcome

  /// Whether it is one of the fields that a provider's request to APNs is made of.
  var isRequestFieldOfAPNs: Bool { self == .authorization || Self.apnsID.rawValue...Self.apnsUniqueID.rawValue ~= rawValue }

  /// The name as it stands on the wire, in lower case.
  public var wireName: StaticString {
    switch self {
    case .method: ":method"
    case .scheme: ":scheme"
    case .authority: ":authority"
    case .path: ":path"
    case .status: ":status"
    case .host: "host"
    case .authorization: "authorization"
    case .contentType: "content-type"
    case .contentLength: "content-length"
    case .contentEncoding: "content-encoding"
    case .userAgent: "user-agent"
    case .accept: "accept"
    case .expect: "expect"
    case .origin: "origin"
    case .location: "location"
    case .allow: "allow"
    case .cacheControl: "cache-control"
    case .retryAfter: "retry-after"
    case .idempotencyKey: "idempotency-key"
    case .apnsID: "apns-id"
    case .apnsPushType: "apns-push-type"
    case .apnsTopic: "apns-topic"
    case .apnsPriority: "apns-priority"
    case .apnsExpiration: "apns-expiration"
    case .apnsCollapseID: "apns-collapse-id"
    case .apnsChannelID: "apns-channel-id"
    case .apnsRequestID: "apns-request-id"
    case .apnsUniqueID: "apns-unique-id"
    case .widgetpushExplain: "widgetpush-explain"
    case .widgetpushDisposition: "widgetpush-disposition"
    case .widgetpushDetail: "widgetpush-detail"
    case .widgetpushOutcome: "widgetpush-outcome"
    }
  }
}

/// A set of known header names.
public struct HeaderNames: OptionSet, Sendable {
  /// One bit for each name, by its raw value.
  public let rawValue: UInt32
  /// The set with these bits.
  @inlinable public init(rawValue: UInt32) { self.rawValue = rawValue }
  /// The set of one name.
  @inlinable public init(_ name: HeaderName) { rawValue = 1 << UInt32(name.rawValue) }
  /// Whether `name` is in the set.
  @inlinable public func contains(_ name: HeaderName) -> Bool { rawValue & (1 << UInt32(name.rawValue)) != 0 }
}
