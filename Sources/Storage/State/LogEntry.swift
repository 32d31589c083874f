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
  /// Its number; 0 in a slot that holds none.
  var sequence: UInt64
  /// The token's entry before this one; 0 when there is none.
  var previousOfToken: UInt64 = 0
  /// The entry before this one that has the same id; 0 when there is none.
  var previousOfID: UInt64 = 0
  var received: Instant
  var id: PushID
  var mergedInto = PushID(high: 0, low: 0)
  var steps: InlineArray<3, LogStep>
  var token: UInt32
  var route: UInt32
  var warnings: PushWarnings
  /// The number of its further steps.
  var moreSteps = none
  /// The number of its detail.
  var detail = none
  /// The status with which an upstream refused it; 0 when none did.
  var upstreamStatus: UInt16 = 0
  var stepCount: UInt8 = 1
  var type: PushType
  var priority: Priority
  /// The upstream's reason.
  var reason: Reason?
  var isMerged = false

  init(
    sequence: UInt64, received: Instant, id: PushID, token: UInt32, route: UInt32, warnings: PushWarnings, type: PushType,
    priority: Priority, step: LogStep
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
  }
}

/// A sentence of the log, cut to what fits.
struct LogText {
  static let bytesMax = 254
  var bytes: InlineArray<254, UInt8>
  var count: UInt16

  init(_ text: RawSpan) {
    bytes = InlineArray(repeating: 0)
    var count = min(text.byteCount, Self.bytesMax)
    // No half character at the end.
    if count < text.byteCount { while count > 0, text.byte(count) & 0xC0 == 0x80 { count -= 1 } }
    for index in 0..<count { bytes[index] = text.byte(index) }
    self.count = UInt16(count)
  }

  var string: String { bytes.span.bytes.extracting(0..<Int(count)).string }
}
