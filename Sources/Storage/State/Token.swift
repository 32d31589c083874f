import Delivery
import Primitives
import Push

/// No token, push or tail: the number that is never given out.
let none = UInt32.max

/// The hot part of a registration: all that a decision needs, in two cache lines, owning nothing but its block of budgets.
///
/// What is only ever shown or listed (names of widgets, users, devices) stays in the engine.
struct Token {
  struct Flags: OptionSet {
    var rawValue: UInt16
    /// The slot holds a token.
    static let used = Flags(rawValue: 1)
    /// The registration was removed; the slot stays for as long as the push log mentions it.
    static let removed = Flags(rawValue: 2)
    /// No gateway budget applies (WidgetKit Developer Mode).
    static let developerMode = Flags(rawValue: 4)
    /// An upstream called the token bad.
    static let suspect = Flags(rawValue: 8)
    /// The commit that is being prepared must hold this token's new state.
    static let changed = Flags(rawValue: 16)
    /// A delivery that had been paid for before was tried again: the budgets have moved, and are saved when that push ends.
    static let touched = Flags(rawValue: 32)
    /// The app has frequent updates of Live Activities enabled.
    static let frequentUpdates = Flags(rawValue: 64)
    /// Its reloads cost nothing on its platform.
    static let unmetered = Flags(rawValue: 128)
    /// It has terms of its own, which stand beside the table.
    static let ownTerms = Flags(rawValue: 256)
    /// It is retired because its time is over, as the upstream said.
    static let expired = Flags(rawValue: 512)
    /// Another token has taken its place: it goes once nothing waits for it any more.
    static let replaced = Flags(rawValue: 1024)
  }

  /// The first 32 bytes of the token, zeros behind; all of it for the tokens of widgets and apps.
  var head: InlineArray<32, UInt8>
  /// The budget, when there is one.
  var budget = BudgetState.full
  /// The budgets, when there are more; allocated when the token is registered.
  var moreBudgets: UnsafeMutablePointer<BudgetState>?
  /// When the lane must be looked at; `distantFuture` when not by itself.
  var wake = Instant.distantFuture
  /// When it was registered, or registered again.
  var registered: Instant
  /// Since when it has been dead, or its registration removed; `distantPast` while it lives.
  var retiredSince = Instant.distantPast
  /// The latest entry of the push log; 0 when there is none.
  var logHead: UInt64 = 0
  /// The number of the bytes after the first 32.
  var tail = none
  var route: UInt32
  var inFlight = none
  var laneHead = none
  var laneTail = none
  /// Milliseconds; `none` when the app's holds.
  var minimumIntervalMilliseconds = none
  /// Milliseconds; `none` when the app's holds.
  var coalesceMilliseconds = none
  var byteCount: UInt8
  var kind: TokenKind
  var budgetCount: UInt8 = 1
  var laneCount: UInt8 = 0
  var flags: Flags = [.used]
}

/// The bytes of a token after its 32nd.
struct TokenTail {
  var bytes: InlineArray<72, UInt8>
}

extension Token {
  var isActive: Bool { flags.contains(.used) && !flags.contains(.removed) }
  var isRetired: Bool { retiredSince != .distantPast }
  var hasLane: Bool { inFlight != none || laneHead != none }
}

extension Token.Flags {
  /// Has a flag, or not.
  mutating func set(_ flag: Token.Flags, _ isSet: Bool) {
    if isSet { insert(flag) } else { remove(flag) }
  }
}
