public import Primitives
public import Push

/// What the rules say of one request.
public enum Verdict: Sendable {
  /// It is answered with an error. Apart, so that a verdict is no larger than a push.
  indirect case refused(Refusal)
  /// It is a push that may be admitted.
  case push(ParsedPush)
}

/// A push whose headers and payload have passed every rule; ranges count from the start of the request's header bytes.
public struct ParsedPush: Sendable {
  /// The sender's `apns-id`; nil when the gateway makes one.
  public var id: PushID?
  /// The token from the path.
  public var token: DeviceToken
  /// The push type, sent or told from the topic.
  public var type: PushType
  /// The priority, `immediate` when none was sent.
  public var priority: Priority
  /// Whether `apns-priority` was sent.
  public var prioritySent: Bool
  /// How long it may be stored.
  public var expiration: Expiration
  /// The whole topic: `apns-topic`, or where `hasDefaultTopic`, all of the certificate's default topic.
  public var topic: ByteRange
  /// The bundle id at the topic's start.
  public var bundle: ByteRange
  /// Whether the request names no topic, and `topic` and `bundle` count from the start of `SenderCertificate.defaultTopic`.
  public var hasDefaultTopic: Bool
  /// The `apns-collapse-id`, empty when none was sent.
  public var collapseID: ByteRange
  /// The index of the app in the `AppDirectory`.
  public var app: Int
  /// Where the app's schemas are, of which one that is not listed may have its own.
  var schemas: Int
  /// The index of the sender's key in the `ProviderDirectory`; nil where a certificate stands for it.
  public var provider: Int?
  /// What the payload says about its lane and its activity.
  public var traits: PushTraits
  /// What its sender should know.
  public var warnings: PushWarnings
  /// Which of the app's content-states that of the push is none of, a bit for each in their order; what that means depends on the token.
  public var contentStateMismatches: UInt32
}

/// A request that is answered with an error, with as much of the push as could be read for the log.
public struct Refusal: Sendable {
  /// The reason, which sets the status.
  public var reason: Reason
  /// The header, part of the path or payload field at fault, such as `apns-topic` or `aps.event`.
  public var field: String
  /// What is wrong and what would be right, without a period at its end; on the wire only with `badPayload`.
  public var detail: String
  /// Why, beyond the reason.
  public var cause = Cause.none
  /// The `apns-id` to echo; nil when none was sent or it is not one.
  public var id: PushID?
  /// The token, when the path has one.
  public var token: DeviceToken?
  /// The push type, when the header has one.
  public var type: PushType?
  /// The `apns-topic` in the header bytes, when there is one.
  public var topic: ByteRange?

  /// A refusal of a request of which nothing else is known.
  public init(reason: Reason, field: String, detail: String) {
    self.reason = reason
    self.field = field
    self.detail = detail
  }
}

/// A rule that a request breaks, on its way from the rule to the verdict.
struct Violation: Error {
  var reason: Reason
  var field: String
  var detail: String
  var cause: Cause

  init(_ reason: Reason, _ field: String, _ detail: String, cause: Cause = .none) {
    self.reason = reason
    self.field = field
    self.detail = detail
    self.cause = cause
  }
}

extension RawSpan {
  /// The bytes as text for a detail: in quotes, cut after 80 bytes, control characters replaced.
  var quoted: String {
    let text = extracting(first: 80).string.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? "\u{FFFD}" : String($0) }
    return "\"\(text.joined())\(byteCount > 80 ? "…" : "")\""
  }
}
