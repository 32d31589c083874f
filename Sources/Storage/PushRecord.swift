public import Primitives
public import Push

/// The whole life of one push, as the control side shows it.
public struct PushRecord: Hashable, Sendable {
  /// One thing that happened to it.
  public struct Step: Hashable, Sendable {
    /// When.
    public var at: Instant
    /// What it was from then on.
    public var disposition: Disposition
    /// Why.
    public var cause: Cause
    /// Credits of the budget that binds, before; nil where no budget was asked.
    public var budgetBefore: Int?
    /// Credits of the budget that binds, after.
    public var budgetAfter: Int?
    /// Which attempt it was, from 1; nil for what is no attempt.
    public var attempt: Int?
  }

  /// Its place in the log, for paging.
  public var cursor: PushCursor
  /// Its id, in the sender's letter case.
  public var id: PushID
  /// Where it was to go; nil when the request named no token.
  public var token: DeviceToken?
  /// The app; empty when the request did not say.
  public var bundleID: String
  /// Whether the app is only the one for which the token is registered: the request named none that may be sent to.
  public var isOfTokensApp = false
  /// The push type, where it was understood.
  public var type: PushType?
  /// The priority; nil for a push that was refused.
  public var priority: Priority?
  /// The expiration that was sent; `absent` also for a push that was refused.
  public var expiration = Expiration.absent
  /// The collapse id; nil for a push without one, and for one that was refused.
  public var collapseID: String?
  /// When the request was complete.
  public var received: Instant
  /// The status that was answered; 0 where a fault has left the request without an answer.
  public var status: Int
  /// Why it was refused, or the upstream's reason for refusing it.
  public var reason: Reason?
  /// The status with which the upstream refused it.
  public var upstreamStatus: Int?
  /// What became of it.
  public var disposition: Disposition
  /// Why.
  public var cause: Cause
  /// What exactly was wrong, or what the device had to say.
  public var detail: String?
  /// The push that stands for it.
  public var mergedInto: PushID?
  /// What the gateway made it for; nil for a provider's.
  public var errand: PushErrand?
  /// What was sent, where the log keeps it and one push is asked for; nil in lists and events.
  public var payload: [UInt8]?
  /// Why it went at priority 5 in place of 10; nil where it did not.
  public var lowering: PriorityLowering?
  /// The warnings of the rules.
  public var warnings: PushWarnings
  /// What those of them are about that are of a key, a header or a date.
  public var warningDetails: [WarningDetail] = []
  /// What happened to it, in order; at most `Limits.stepsPerPush`, of which the last is the latest.
  public var steps: [Step]
}

extension PushRecord {
  /// Whether it was sent again although an upstream may have had it: an attempt was not answered, or the gateway ended meanwhile.
  public var isSentAgain: Bool {
    var (isUnanswered, isUnderWay) = (false, false)
    var attempt: Int?
    for step in steps {
      switch step.disposition {
      case .forwarding:
        if isUnderWay || isUnanswered { return true }
        (isUnderWay, attempt) = (true, step.attempt)
      case .waiting:
        // An attempt that was not made does not count: such a step has the number of the one before it.
        if isUnderWay, step.cause == .upstreamUnavailable, let attempt, step.attempt == attempt { isUnanswered = true }
        isUnderWay = false
      default: isUnderWay = false
      }
    }
    return false
  }
}

/// A place in the push log; lists go from newer to older.
public struct PushCursor: Hashable, Sendable {
  /// The place among accepted pushes.
  var accepted: UInt64
  /// The place among refused ones.
  var refused: UInt64

  /// The text form used in URLs.
  ///
  /// - Parameter seal: Writes a number so that it does not tell how many pushes there have been, of whatever apps.
  public func text(sealing seal: (UInt64) -> String = { "\($0)" }) -> String { "\(seal(accepted)).\(seal(refused))" }

  init(accepted: UInt64, refused: UInt64) {
    self.accepted = accepted
    self.refused = refused
  }

  /// Whether its push comes after that of `other` in lists, which begin with the newest.
  public func isBehind(_ other: PushCursor) -> Bool { accepted < other.accepted || refused < other.refused }

  /// The cursor that `text` spells, or nil; `open` undoes what `seal` did.
  public init?(text: String, opening open: (Substring) -> UInt64? = { UInt64($0) }) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, let accepted = open(parts[0]), let refused = open(parts[1]) else { return nil }
    self.init(accepted: accepted, refused: refused)
  }
}
