/// Why a push was answered with an error: the `reason` of the JSON body, with its status.
///
/// Source: Apple, "Handling notification responses from APNs". `badPayload` is ours: strict validation refuses what a device would ignore.
public enum Reason: UInt8, CaseIterable, Sendable {
  case badCollapseID, badDeviceToken, badExpirationDate, badMessageID, badPriority, badTopic, deviceTokenNotForTopic,
    duplicateHeaders
  case idleTimeout, invalidPushType, missingDeviceToken, missingTopic, payloadEmpty, topicDisallowed, badPayload
  case badCertificate, badCertificateEnvironment, expiredProviderToken, forbidden, invalidProviderToken, missingProviderToken
  case unrelatedKeyIDInToken, badEnvironmentKeyInToken
  case missingChannelID, badChannelID, channelNotRegistered, missingPushType, badRequestParams, badRequestPayload
  case cannotCreateChannelConfig, broadcastFeatureNotEnabled, topicMismatch
  case badPath, methodNotAllowed, expiredToken, unregistered, payloadTooLarge
  case tooManyProviderTokenUpdates, tooManyRequests
  case internalServerError, serviceUnavailable, shutdown

  /// The HTTP status of the answer.
  public var status: Int {
    switch self {
    case .badCollapseID, .badDeviceToken, .badExpirationDate, .badMessageID, .badPriority, .badTopic, .deviceTokenNotForTopic,
      .duplicateHeaders, .idleTimeout, .invalidPushType, .missingDeviceToken, .missingTopic, .payloadEmpty, .topicDisallowed,
      .badPayload, .missingChannelID, .badChannelID, .channelNotRegistered, .missingPushType, .badRequestParams,
      .badRequestPayload, .cannotCreateChannelConfig, .broadcastFeatureNotEnabled:
      400
    case .badCertificate, .badCertificateEnvironment, .expiredProviderToken, .forbidden, .invalidProviderToken,
      .missingProviderToken,
      .unrelatedKeyIDInToken, .badEnvironmentKeyInToken, .topicMismatch:
      403
    case .badPath: 404
    case .methodNotAllowed: 405
    case .expiredToken, .unregistered: 410
    case .payloadTooLarge: 413
    case .tooManyProviderTokenUpdates, .tooManyRequests: 429
    case .internalServerError: 500
    case .serviceUnavailable, .shutdown: 503
    }
  }

  /// Whether the provider token is at fault, or that there is none.
  public var isOfProviderToken: Bool {
    switch self {
    case .missingProviderToken, .invalidProviderToken, .expiredProviderToken, .unrelatedKeyIDInToken, .badEnvironmentKeyInToken,
      .tooManyProviderTokenUpdates:
      true
    default: false
    }
  }

  /// The exact text on the wire; where Apple's documentation and its servers differ, the servers' spelling.
  public var text: StaticString {
    switch self {
    case .badCollapseID: "BadCollapseId"
    case .badDeviceToken: "BadDeviceToken"
    case .badExpirationDate: "BadExpirationDate"
    case .badMessageID: "BadMessageId"
    case .badPriority: "BadPriority"
    case .badTopic: "BadTopic"
    case .deviceTokenNotForTopic: "DeviceTokenNotForTopic"
    case .duplicateHeaders: "DuplicateHeaders"
    case .idleTimeout: "IdleTimeout"
    case .invalidPushType: "InvalidPushType"
    case .missingDeviceToken: "MissingDeviceToken"
    case .missingTopic: "MissingTopic"
    case .payloadEmpty: "PayloadEmpty"
    case .topicDisallowed: "TopicDisallowed"
    case .badPayload: "BadPayload"
    case .badCertificate: "BadCertificate"
    case .badCertificateEnvironment: "BadCertificateEnvironment"
    case .expiredProviderToken: "ExpiredProviderToken"
    case .forbidden: "Forbidden"
    case .invalidProviderToken: "InvalidProviderToken"
    case .missingProviderToken: "MissingProviderToken"
    case .unrelatedKeyIDInToken: "UnrelatedKeyIdInToken"
    case .badEnvironmentKeyInToken: "BadEnvironmentKeyInToken"
    case .missingChannelID: "MissingChannelId"
    case .badChannelID: "BadChannelId"
    case .channelNotRegistered: "ChannelNotRegistered"
    case .missingPushType: "MissingPushType"
    case .badRequestParams: "BadRequestParams"
    case .badRequestPayload: "BadRequestPayload"
    case .cannotCreateChannelConfig: "CannotCreateChannelConfig"
    case .broadcastFeatureNotEnabled: "BroadcastFeatureNotEnabled"
    case .topicMismatch: "TopicMismatch"
    case .badPath: "BadPath"
    case .methodNotAllowed: "MethodNotAllowed"
    case .expiredToken: "ExpiredToken"
    case .unregistered: "Unregistered"
    case .payloadTooLarge: "PayloadTooLarge"
    case .tooManyProviderTokenUpdates: "TooManyProviderTokenUpdates"
    case .tooManyRequests: "TooManyRequests"
    case .internalServerError: "InternalServerError"
    case .serviceUnavailable: "ServiceUnavailable"
    case .shutdown: "Shutdown"
    }
  }
}

extension Reason: CustomStringConvertible {
  /// The wire text.
  public var description: String { "\(text)" }

  /// The reason whose wire text is `text`, or nil.
  public init?(_ text: String) {
    guard let match = Reason.allCases.first(where: { $0.description == text }) else { return nil }
    self = match
  }
}
