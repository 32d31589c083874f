public import Delivery
public import Primitives
public import Push

/// A request that passed the rules: a loop asks the store to accept the push, and finds the answer in `result`.
///
/// Every range lies in the arena of the batch that holds the operation.
public struct AdmitOperation: Sendable {
  /// The loop's own mark, such as the key of the exchange to answer; the store never looks at it.
  public var reply: UInt64
  /// The push's id.
  public var id: PushID
  /// Where it is to go.
  public var token: DeviceToken
  /// The environment of the request's server name; nil means the token's own, which the store fills in where it knows the token.
  public var environment: PushEnvironment?
  /// The push type.
  public var type: PushType
  /// The priority, 10 when the request had none.
  public var priority: Priority
  /// Whether the request had an `apns-priority`.
  public var prioritySent: Bool
  /// The expiration.
  public var expiration: Expiration
  /// What the payload says.
  public var traits: PushTraits
  /// The warnings of the rules.
  public var warnings: PushWarnings
  /// When the request was complete.
  public var received: Instant
  /// The topic as it was sent.
  public var topic: ByteRange
  /// The topic without its suffix.
  public var bundleID: ByteRange
  /// The collapse id; empty when there is none.
  public var collapseID: ByteRange
  /// The payload.
  public var payload: ByteRange
  /// How long its loop waits for the upstream's answer where the push goes at once; nil has it answered as soon as it is durable. The
  /// store never looks at it.
  public var answerTimeout: TimeSpan?
  /// The channel that a start asks to follow; nil for any other push.
  public var channel: ChannelID?
  /// What its warnings are about, as `WarningDetail.text` in the arena; empty where none says more than its sentence.
  public var warningDetails = ByteRange.empty
  /// The store's answer.
  public var result: Admission = .unsettled
  /// What exactly was wrong with a refused one, as text in the arena; empty where the cause's own sentence says all. The store's to fill.
  public internal(set) var detail = ByteRange.empty
  /// Why the content-state is none of the token's attributes type, as text in the arena; empty where it is one, or none is known. The
  /// store's to fill.
  var mismatch = ByteRange.empty
  /// The cause with which the push is refused for that; none where it is not.
  var mismatchCause = Cause.none

  /// An operation with these values; the result is the store's.
  @inlinable @inline(__always) public init(
    reply: UInt64, id: PushID, token: DeviceToken, environment: PushEnvironment? = nil, type: PushType,
    priority: Priority = .immediate, prioritySent: Bool = false, expiration: Expiration = .absent, traits: PushTraits,
    warnings: PushWarnings = [], received: Instant, topic: ByteRange, bundleID: ByteRange, collapseID: ByteRange = .empty,
    payload: ByteRange
  ) {
    self.reply = reply
    self.id = id
    self.token = token
    self.environment = environment
    self.type = type
    self.priority = priority
    self.prioritySent = prioritySent
    self.expiration = expiration
    self.traits = traits
    self.warnings = warnings
    self.received = received
    self.topic = topic
    self.bundleID = bundleID
    self.collapseID = collapseID
    self.payload = payload
  }
}

/// What the attributes types of an app have against the content-state of an update, for the store to go by the one that the token's
/// registration names.
public struct ContentStateQuestion: Sendable {
  /// The index of the update among the batch's admissions.
  public var admit: Int
  /// Whether the app's pushes with a content-state that does not decode are refused.
  public var isStrict: Bool
  /// For each attributes type its name, and what is wrong; nil when all is well.
  public var verdicts: [(attributesType: String, problem: SchemaProblem?)]

  /// A question with these values.
  public init(admit: Int, isStrict: Bool, verdicts: [(attributesType: String, problem: SchemaProblem?)]) {
    self.admit = admit
    self.isStrict = isStrict
    self.verdicts = verdicts
  }

  /// What is wrong for a token of that type. A token whose type nobody has told may be of any: then only what is wrong for all is wrong.
  func problem(of attributesType: String?) -> SchemaProblem? {
    guard let attributesType else { return verdicts.allSatisfy { $0.problem != nil } ? verdicts.first?.problem : nil }
    return verdicts.first { $0.attributesType == attributesType }?.problem
  }
}

/// What became of an admission. All but `refused` are answered 200, and are durable by then.
public enum Admission: Hashable, Sendable {
  /// The store has not seen it yet.
  case unsettled
  /// It goes now: the batch's `forwards` hold it.
  case forwarded
  /// It waits in its token's lane, until the instant where that is known.
  case waiting(due: Instant?, Cause)
  /// Another push, which waits, stands for it.
  case merged(into: PushID)
  /// It has ended already: `ignored`, or `expired`.
  case ended(Disposition, Cause)
  /// It is answered with an error. `since` is the time of a 410; `retryAt` is when a 429 for a spent budget could be paid.
  case refused(Reason, Cause, since: Instant?, retryAt: Instant?)

  /// A refusal that has nothing to add.
  public static func refused(_ reason: Reason, _ cause: Cause = .none) -> Admission {
    .refused(reason, cause, since: nil, retryAt: nil)
  }

  /// The push's disposition at this moment.
  public var disposition: Disposition {
    switch self {
    case .unsettled, .waiting: .waiting
    case .forwarded: .forwarding
    case .merged: .merged
    case .ended(let disposition, _): disposition
    case .refused: .refused
    }
  }
}

/// What became of a push that was forwarded.
public struct CompleteOperation: Sendable {
  /// The ticket that came with the push.
  public var ticket: PushTicket
  /// What the upstream's answer, or its silence, means.
  public var outcome: UpstreamOutcome
  /// What the device had to say, as text in the arena; empty when nothing.
  public var detail: ByteRange
  /// Whether a fault on a mock device has made the outcome.
  public var isFault: Bool
  /// The upstream's status, where the sender was answered that; else 0.
  public var passedOn: UInt16 = 0
  /// The upstream's reason, where the sender was answered that.
  public var passedOnReason: Reason?

  /// An operation with these values.
  public init(ticket: PushTicket, outcome: UpstreamOutcome, detail: ByteRange = .empty, isFault: Bool = false) {
    self.ticket = ticket
    self.outcome = outcome
    self.detail = detail
    self.isFault = isFault
  }
}

/// A push that its device let pass, told to the loop that brought the outcome: who watches wants to know which one it was.
public struct IgnoredPush: Sendable {
  /// The push's id.
  public let id: PushID
  /// Where it went.
  public let token: DeviceToken
  /// The push type.
  public let type: PushType
  /// Why the device let it pass, or what it did with one that it has something to say against.
  public let cause: Cause
  /// What the device had to say, as text in the arena; empty when nothing.
  public let detail: ByteRange
}

/// A request that was answered with an error before it reached the store; it goes to the log only, which is saved some time later.
public struct RefusedOperation: Sendable {
  /// The id that was answered.
  public var id: PushID
  /// The token, where the path had one.
  public var token: DeviceToken?
  /// The push type, where it was understood.
  public var type: PushType?
  /// The topic without its suffix, or as much of it as is known; may be empty.
  public var bundleID: ByteRange
  /// Whether that is an app which may be sent to. If not, the push counts as one of the app for which its token is registered.
  public var isAppKnown: Bool
  /// The reason that was answered; nil where a fault has left the request without an answer.
  public var reason: Reason?
  /// Why, beyond the reason.
  public var cause: Cause
  /// What exactly was wrong, as text in the arena; may be empty.
  public var detail: ByteRange
  /// When the request was complete.
  public var received: Instant

  /// An operation with these values.
  public init(
    id: PushID, token: DeviceToken?, type: PushType?, bundleID: ByteRange = .empty, isAppKnown: Bool = true, reason: Reason?,
    cause: Cause = .none, detail: ByteRange = .empty, received: Instant
  ) {
    self.id = id
    self.token = token
    self.type = type
    self.bundleID = bundleID
    self.isAppKnown = isAppKnown
    self.reason = reason
    self.cause = cause
    self.detail = detail
    self.received = received
  }
}
