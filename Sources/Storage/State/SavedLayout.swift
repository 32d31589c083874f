// The parts of fixed size are written and read as they lie in memory, in one go; their members leave no gaps.

/// The beginning of a saved push.
struct SavedPushHead {
  var tag = RecordTag.push.rawValue
  var flags: UInt8
  var type: UInt8
  var priority: UInt8
  var lane: UInt8
  var event: UInt8
  var expiration: UInt8
  /// How many budgets paid for it just now, and follow.
  var budgets: UInt8
  var sequence: UInt64
  var token: UInt32
  var upperCase: UInt32
  var high: UInt64
  var low: UInt64
  var received: Int64
}

/// What few pushes have.
struct SavedPushMore {
  var timestamp: Int64
  var warnings: UInt64
  var expiration: Int64
}

/// The beginning of a saved entry of the log.
struct SavedEntryHead {
  var tag: UInt8
  var flags: UInt8
  var type: UInt8
  var priority: UInt8
  var token: UInt32
  var sequence: UInt64
  var route: UInt32
  var upperCase: UInt32
  var high: UInt64
  var low: UInt64
  var received: Int64
}

/// The end of a push.
struct SavedEnd {
  var tag = RecordTag.end.rawValue
  var flags: UInt8
  var disposition: UInt8
  var cause: UInt8
  var token: UInt32
  var sequence: UInt64
}

/// A step without its instant and budget.
struct SavedStep {
  var attempt: UInt16
  var disposition: UInt8
  var cause: UInt8
}
