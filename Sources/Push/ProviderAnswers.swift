/// What the provider API does where it is not known what Apple's servers do: a switch for each question, in the configuration under
/// `provider.answers`. The defaults are what clients and observations suggest.
public struct ProviderAnswers: Hashable, Sendable {
  /// The answer to a body that is no JSON, where validation is `apple`; Apple documents no reason for it.
  public enum MalformedBody: String, CaseIterable, Sendable {
    /// 200 with a warning: the device is the one to drop it.
    case accept
    /// 400 `PayloadEmpty`, as for no body at all.
    case payloadEmpty
  }

  /// The answer to a `background` push with `apns-priority: 10`, where validation is `apple`: Apple's documentation calls it an error, and
  /// strict validation always refuses it.
  public enum BackgroundAtTen: String, CaseIterable, Sendable {
    /// 200 with a warning; many clients send it.
    case accept
    /// 400 `BadPriority`.
    case refuse
  }

  /// What becomes of a push whose `apns-expiration` has passed as it comes. Apple writes of a date that APNs "tries to deliver the
  /// notification at least once", and devices that were online have been seen to get such pushes.
  public enum PastExpiration: String, CaseIterable, Sendable {
    /// One attempt, as with `apns-expiration: 0`.
    case attempt
    /// It is `expired` at once, and nothing is sent.
    case expire
  }

  /// The order of what is checked after the provider token, and so the reason for a request with several faults. The payload is last.
  public enum CheckOrder: String, CaseIterable, Sendable {
    /// The syntax of the headers, the topic, the push token.
    case headersFirst
    /// The topic, the syntax of the headers, the push token.
    case topicFirst
    /// The push token, the syntax of the headers, the topic.
    case tokenFirst
  }

  /// The `apns-id` of an answer `BadMessageId`.
  public enum RefusedMessageID: String, CaseIterable, Sendable {
    /// A new one; some clients need an id in every answer.
    case generate
    /// What the client sent, byte for byte.
    case echo
    /// None.
    case omit
  }

  /// Which letter case an `apns-id` may be sent in; it is echoed as it came.
  public enum MessageIDCase: String, CaseIterable, Sendable {
    /// Either.
    case any
    /// Lower case alone, as it is documented; else 400 `BadMessageId`.
    case lower
  }

  /// The answer to a provider key that may not send to the topic: one of another team, or one that is limited to other apps.
  public enum ForeignTopic: String, CaseIterable, Sendable {
    /// 400 `TopicDisallowed`.
    case topicDisallowed
    /// 403 `Forbidden`, whose trigger is not documented.
    case forbidden
  }

  /// What becomes of a request whose body does not end in time.
  public enum UnfinishedRequest: String, CaseIterable, Sendable {
    /// 400 `IdleTimeout`.
    case idleTimeout
    /// RST_STREAM with CANCEL.
    case reset
  }

  /// The answer to reading a channel that does not exist.
  public enum UnknownChannelRead: String, CaseIterable, Sendable {
    /// 404 `BadPath`, as deleting one has been seen to be answered.
    case badPath
    /// As sending to it is: 400 `BadChannelId` for one that never existed, `ChannelNotRegistered` for one that was deleted.
    case likeSending
  }

  /// Which clients get a JSON body with the 201 for a new channel.
  public enum CreatedChannelBody: String, CaseIterable, Sendable {
    /// Those whose library reads one, by `user-agent`; the others get none.
    case auto
    /// All.
    case always
    /// None, as at Apple.
    case never
  }

  /// The answer to a header list that is larger than SETTINGS_MAX_HEADER_LIST_SIZE.
  public enum HeaderOverflow: String, CaseIterable, Sendable {
    /// 431 (RFC 6585 section 5), as Netty does.
    case answer431
    /// RST_STREAM.
    case reset
  }

  /// What becomes of a space or tab at the beginning or end of `authorization`, or of one of Apple's fields, which HTTP/2 forbids.
  public enum SpacedField: String, CaseIterable, Sendable {
    /// It is passed over, and what is left is judged: `authorization: bearer ` is 403 `InvalidProviderToken`.
    case trim
    /// RST_STREAM with PROTOCOL_ERROR, as for any other field (RFC 9113 section 8.2.1).
    case reset
  }

  /// The oldest version of TLS that the provider face speaks.
  public enum MinimumTLS: String, CaseIterable, Sendable {
    /// TLS 1.2, which Apple documents.
    case tls12 = "1.2"
    /// TLS 1.3.
    case tls13 = "1.3"
  }

  /// What answers a body that is no JSON.
  public var malformedBody = MalformedBody.accept
  /// What answers a background push of priority 10.
  public var backgroundAtTen = BackgroundAtTen.accept
  /// What becomes of a push whose expiration has passed.
  public var pastExpiration = PastExpiration.attempt
  /// What is checked first after the provider token.
  public var checkOrder = CheckOrder.headersFirst
  /// Which `apns-id` an answer `BadMessageId` has.
  public var refusedMessageID = RefusedMessageID.generate
  /// Which letter case an `apns-id` may have.
  public var messageIDCase = MessageIDCase.any
  /// What answers a key for a topic that is not its own.
  public var foreignTopic = ForeignTopic.topicDisallowed
  /// What becomes of a request that does not end.
  public var unfinishedRequest = UnfinishedRequest.idleTimeout
  /// Pushes that may wait for one token, 1 to `Limits.lanePushesMax`; the next is answered `TooManyRequests`.
  public var tooManyRequestsAfter = Limits.lanePushes
  /// Errors after which a connection is closed, up to `Limits.closeAfterErrorsMax`; 0 means never. 410 does not count.
  public var closeAfterErrors = 0
  /// Seconds that a provider token's `iat` may lie ahead, up to `Limits.issuedAheadSecondsMax`; beyond, `InvalidProviderToken`.
  public var issuedAheadSeconds = Limits.providerTokenAgeSeconds
  /// What answers reading an unknown channel.
  public var unknownChannelRead = UnknownChannelRead.badPath
  /// Who gets a body with a new channel.
  public var createdChannelBody = CreatedChannelBody.auto
  /// Whether the stream limit of a connection rises to 1000 once its provider token is found good, even if the push is refused.
  public var raiseAfterRefusedPush = true
  /// What answers a header list that is too large.
  public var headerOverflow = HeaderOverflow.answer431
  /// What becomes of a value with a space around it.
  public var spacedField = SpacedField.trim
  /// The oldest version of TLS.
  public var minimumTLS = MinimumTLS.tls12
  /// Whether a connection that has brought an expired provider token is answered `ExpiredProviderToken` from then on, whatever it
  /// brings, as has been seen.
  public var wedgeAfterExpired = true

  /// The defaults.
  public init() {}
}
