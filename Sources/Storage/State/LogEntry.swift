import Primitives
import Push

/// One thing that happened to a push, in 24 bytes.
struct LogStep: Equatable {
  var at: Instant
  var budgetBefore: Int32 = 0
  var budgetAfter: Int32 = 0
  /// The attempt's number; 0 for what is no attempt.
  var attempt: UInt16 = 0
  var disposition: Disposition
  var cause: Cause
  var hasBudget = false
}

/// The life of one accepted push in the log.
struct LogEntry {
  // In an order that leaves no gaps: an id has 20 bytes, and what follows it fills the rest of its 24.

  /// Its number; 0 in a slot that holds none.
  var sequence: UInt64
  /// The token's entry before this one; 0 when there is none.
  var previousOfToken: UInt64 = 0
  /// The entry before this one that has the same id; 0 when there is none.
  var previousOfID: UInt64 = 0
  var received: Instant
  var id: PushID
  var token: UInt32
  /// The push that stands for it; `isMerged` tells whether there is one.
  var mergedInto = PushID(high: 0, low: 0)
  var route: UInt32
  var warnings: PushWarnings
  var steps: InlineArray<3, LogStep>
  /// What was wrong, or what the device had to say; in front of it what the warnings are about.
  var detail = LogText()
  /// The status with which an upstream refused it, 0 when none did; with `passedOn` added where the sender was answered that.
  var savedUpstreamStatus: UInt16 = 0
  /// The number of its further steps.
  var moreSteps = none
  /// The expiration that was sent, as Unix seconds, which fill a gap; `none` where there was none, or an earlier version has kept none.
  var savedExpiration = none
  var stepCount: UInt8 = 1
  var type: PushType
  var priority: Priority
  /// The upstream's reason.
  var reason: Reason?

  init(
    sequence: UInt64, received: Instant, id: PushID, token: UInt32, route: UInt32, warnings: PushWarnings, type: PushType,
    priority: Priority, expiration: Expiration = .absent, step: LogStep
  ) {
    self.sequence = sequence
    self.received = received
    self.id = id
    self.token = token
    self.route = route
    self.warnings = warnings
    self.type = type
    self.priority = priority
    steps = InlineArray(repeating: step)
    switch expiration {
    case .absent: break
    case .zero: savedExpiration = 0
    case .at(let date): savedExpiration = UInt32(clamping: min(max(date.unixSeconds, 1), Int64(Self.latestExpiration)))
    }
  }
}

extension LogEntry {
  /// A bit that no status has, so that what earlier versions have saved means what it meant.
  private static let passedOn: UInt16 = 1 << 15

  /// Whether another push stands for it. No push has an id of zeros whose digits are capital letters, so that stands for none.
  var isMerged: Bool { mergedInto.high != 0 || mergedInto.low != 0 || mergedInto.upperCase != .max }

  /// Stands for every date from 2106 on.
  fileprivate static let latestExpiration = none - 1

  /// The expiration that was sent, to the second.
  var expiration: Expiration {
    switch savedExpiration {
    case none: .absent
    case 0: .zero
    case Self.latestExpiration: .at(.distantFuture)
    default: .at(Instant(unixSeconds: Int64(savedExpiration)))
    }
  }

  /// The status with which an upstream refused it; 0 when none did.
  var upstreamStatus: UInt16 {
    get { savedUpstreamStatus & ~Self.passedOn }
    set { savedUpstreamStatus = newValue & ~Self.passedOn | savedUpstreamStatus & Self.passedOn }
  }

  /// Whether the sender was answered the upstream's status.
  var isPassedOn: Bool {
    get { savedUpstreamStatus & Self.passedOn != 0 }
    set { savedUpstreamStatus = upstreamStatus | (newValue ? Self.passedOn : 0) }
  }
}
