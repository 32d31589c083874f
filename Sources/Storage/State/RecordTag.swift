/// What a record of the journal, or of a saved page, is.
///
/// A journal row holds, for one commit: what happened to pushes, as it came, and behind that the whole state of each token of which more
/// changed than the pushes and budgets that those records tell of. Replaying a row twice, or over pages that are ahead of it, does no
/// harm: whole states and budgets replace what was there, pushes, entries and steps are added and taken out once, and whatever a later
/// row changed again is told by that row again.
enum RecordTag: UInt8 {
  /// The state of a token, with its live pushes by number.
  case token = 1
  /// An empty slot.
  case empty = 2
  /// A push that was taken in, with its bytes; in the journal with its first step, and with its token's budgets when they have paid.
  case push = 3
  /// A push that was accepted and has ended, with its only step.
  case note = 4
  /// A further step.
  case step = 5
  /// An entry of the log with all its steps; in saved pages.
  case entry = 6
  /// Nothing; written to see whether writing works.
  case nothing = 7
  /// The instant of the steps that follow in this row.
  case time = 8
  /// A live push has ended, with its last step.
  case end = 9
  /// A token has gone over to another app or environment: whose its pushes before were.
  case formerRoute = 10
  /// The expiration of an entry that was just told of.
  case expiration = 11
  /// The collapse id of an entry that was just told of, and what its warnings are about: see `LogHead`.
  case head = 12
  /// An entry of the log is forgotten.
  case forget = 20
}

/// Bits of a saved token.
struct SavedTokenFlags: OptionSet {
  var rawValue: UInt8
  static let removed = SavedTokenFlags(rawValue: 1)
  static let developerMode = SavedTokenFlags(rawValue: 2)
  static let suspect = SavedTokenFlags(rawValue: 4)
  static let retired = SavedTokenFlags(rawValue: 8)
  static let frequentUpdates = SavedTokenFlags(rawValue: 16)
  static let unmetered = SavedTokenFlags(rawValue: 32)
  static let ownTerms = SavedTokenFlags(rawValue: 64)
  static let expired = SavedTokenFlags(rawValue: 128)
}

/// Bits of a saved push or log entry.
struct SavedPushFlags: OptionSet {
  var rawValue: UInt8
  static let prioritySent = SavedPushFlags(rawValue: 1)
  static let contentState = SavedPushFlags(rawValue: 2)
  static let alert = SavedPushFlags(rawValue: 4)
  static let merged = SavedPushFlags(rawValue: 8)
  static let budget = SavedPushFlags(rawValue: 16)
  static let charged = SavedPushFlags(rawValue: 32)
  /// Topic, collapse id and payload are those of the push before in the same row, as they mostly are for reload signals of one app.
  static let sameBytes = SavedPushFlags(rawValue: 64)
  /// What few have follows: a timestamp, warnings, or the date of the expiration.
  static let more = SavedPushFlags(rawValue: 128)
}

/// Bits of the end of a push.
struct SavedEndFlags: OptionSet {
  var rawValue: UInt8
  /// The log has the last step.
  static let step = SavedEndFlags(rawValue: 1)
  /// What the end adds to the entry follows.
  static let ending = SavedEndFlags(rawValue: 2)
}
