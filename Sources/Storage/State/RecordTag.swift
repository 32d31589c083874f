/// What a record of the journal, or of a saved page, is.
///
/// A journal row holds, for one commit: the new pushes and notes and steps as they came, then the state of each token that changed.
/// Replaying a row twice does no harm: states replace states, entries and steps are added once.
enum RecordTag: UInt8 {
  /// The state of a token, with its live pushes by number.
  case token = 1
  /// An empty slot.
  case empty = 2
  /// A push that was taken in, with its bytes and its first step.
  case push = 3
  /// A push that was accepted and has ended, with its only step.
  case note = 4
  /// A further step.
  case step = 5
  /// An entry of the log with all its steps; in saved pages.
  case entry = 6
  /// Nothing; written to see whether writing works.
  case nothing = 7
}

/// Bits of a saved token.
struct SavedTokenFlags: OptionSet {
  var rawValue: UInt8
  static let removed = SavedTokenFlags(rawValue: 1)
  static let developerMode = SavedTokenFlags(rawValue: 2)
  static let suspect = SavedTokenFlags(rawValue: 4)
  static let retired = SavedTokenFlags(rawValue: 8)
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
}
